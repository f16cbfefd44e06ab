//! Which blocks are sampled: that alone is done for every read.

use super::GROUPS;
use crate::simd::{Kernel, Level};

/// Reads that are looked at in one loop.
const CHUNK: usize = 1024;
/// Blocks whose hashes are looked at together: one register of AVX-512, two of AVX2.
const LANES: usize = 8;

/// The hash by which blocks are sampled: SplitMix64's finaliser (Stafford's mix 13) but for its last step, which mixes
/// low bits that aren't looked at. It has no seed, so that the same trace gives the same figures, and different blocks
/// have different hashes.
#[inline(always)]
pub fn hash(block: u64) -> u64 {
    // Without the constant 0 would be its own hash, and always sampled.
    let mixed = (block ^ (block >> 30) ^ 0x9E37_79B9).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB)
}

/// The group of a hash: bits that say nothing of whether it is sampled.
#[inline(always)]
pub fn group(hash: u64) -> usize {
    (hash >> 28) as usize % GROUPS
}

/// Takes the sampled blocks out of others.
#[derive(Clone, Copy)]
pub struct Sieve {
    pub(super) level: Level,
    pub(super) last: u64,
}

impl Sieve {
    /// Adds the hashes of the sampled ones of some blocks.
    pub fn sift(&self, blocks: &[u64], kept: &mut Vec<u64>) {
        self.level.run(Sift { blocks, last: self.last, kept });
    }
}

struct Sift<'a> {
    blocks: &'a [u64],
    last: u64,
    kept: &'a mut Vec<u64>,
}

impl Kernel for Sift<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { blocks, last, kept } = self;
        let mut held = [0; CHUNK];
        for chunk in blocks.chunks(CHUNK) {
            let mut count = 0;
            // Written in any case, and kept if the count goes on: a branch would be guessed wrong too often.
            let mut hold = |hash: u64| {
                held[count % CHUNK] = hash;
                count += usize::from(hash <= last);
            };
            let mut eights = chunk.chunks_exact(LANES);
            for eight in eights.by_ref() {
                let hashes: [u64; LANES] = std::array::from_fn(|lane| hash(eight[lane]));
                // Of a small sample, most often none.
                if hashes.iter().fold(false, |any, hash| any | (*hash <= last)) {
                    hashes.into_iter().for_each(&mut hold);
                }
            }
            eights.remainder().iter().for_each(|block| hold(hash(*block)));
            kept.extend_from_slice(&held[..count]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_in_order() {
        for length in [0, 1, 7, 8, 9, CHUNK, 3 * CHUNK + 13] {
            let blocks: Vec<u64> = (0..length as u64).map(|block| block << (block % 50)).collect();
            for last in [0, u64::MAX / 100, u64::MAX / 2, u64::MAX] {
                let expected: Vec<u64> = blocks.iter().map(|block| hash(*block)).filter(|hash| *hash <= last).collect();
                for level in Level::available() {
                    let mut kept = Vec::new();
                    Sieve { level, last }.sift(&blocks, &mut kept);
                    assert_eq!(kept, expected);
                }
            }
        }
    }

    #[test]
    fn hashes_of_neighbours_fall_evenly_below_any_rate_and_into_groups() {
        for stride in [1, 8, 1 << 20, 1 << 40] {
            let mut counts = [0u32; GROUPS];
            for block in 0..160_000u64 {
                let hash = hash(block * stride);
                if hash <= u64::MAX / 10 {
                    counts[group(hash)] += 1;
                }
            }
            // 1000 are expected, with a standard deviation of 31.
            assert!(counts.iter().all(|count| (870..1130).contains(count)), "{stride}: {counts:?}");
        }
    }
}
