//! An LRU cache of one size over numbered items, in the order of a sequence that is known beforehand.
//!
//! The list of an LRU cache is the sequence of reads itself: the cache holds what was last read at or after some point,
//! the tail. So an item needs its last read only, and there are no links to follow.

use std::hint::black_box;

/// Reads whose memory is asked for at once, so that the processor doesn't wait for one after the other.
const BATCH: usize = 256;
/// Batches between two calls of the caller's `go_on`.
const BATCHES_PER_CALL: usize = 1 << 12;

/// An item of the cache, and what the caller keeps with it, side by side in memory.
#[derive(Clone, Copy, Default)]
pub struct Item<T> {
    /// Its last read, counted from 1; 0 before the first.
    last: u32,
    kept: T,
}

/// The sizes of items, or of parts of them; most often all are the same, which saves a look into memory.
pub enum Sizes {
    Same(u32),
    Each(Vec<u32>),
}

impl Sizes {
    pub fn of(&self, item: u32) -> u64 {
        u64::from(match self {
            Self::Same(size) => *size,
            Self::Each(sizes) => sizes[item as usize],
        })
    }
}

impl From<Vec<u32>> for Sizes {
    fn from(sizes: Vec<u32>) -> Self {
        match sizes.first() {
            Some(first) if sizes.iter().all(|size| size == first) => Self::Same(*first),
            _ => Self::Each(sizes),
        }
    }
}

/// Reads the items of `sequence` in order through an empty cache of `cache_bytes`, and tells `each` of every read: its
/// number, counted from 1, the item, what is kept with that, and whether it is a hit.
///
/// A read hits exactly if the sizes of the distinct items since the last read of its item, its own included, sum to at
/// most the cache's size. `go_on` is asked now and then; false ends the run.
pub fn run<T: Clone + Default>(
    sequence: &[u32],
    items: usize,
    sizes: &Sizes,
    cache_bytes: u64,
    mut each: impl FnMut(u32, u32, &mut T, bool),
    mut go_on: impl FnMut() -> bool,
) {
    let mut items = vec![Item::<T>::default(); items];
    let mut read = 0;
    // The reads up to this one are no more in the cache, unless they were read again.
    let mut tail = 0;
    let mut oldest = sequence.iter();
    let mut used_bytes = 0;
    for (batches, batch) in sequence.chunks(BATCH).enumerate() {
        warm(batch, &items);
        warm(&oldest.as_slice()[..BATCH.min(oldest.len())], &items);
        for which in batch {
            read += 1;
            let item = &mut items[*which as usize];
            let hit = item.last > tail;
            item.last = read;
            each(read, *which, &mut item.kept, hit);
            if hit {
                continue;
            }
            used_bytes += sizes.of(*which);
            while used_bytes > cache_bytes {
                let Some(which) = oldest.next() else { break };
                tail += 1;
                used_bytes -= if items[*which as usize].last == tail { sizes.of(*which) } else { 0 };
            }
        }
        if batches & (BATCHES_PER_CALL - 1) == 0 && !go_on() {
            return;
        }
    }
}

fn warm<T>(sequence: &[u32], items: &[Item<T>]) {
    black_box(sequence.iter().fold(0, |all, which| all ^ items[*which as usize].last));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(sequence: &[u32], sizes: &[u32], cache_bytes: u64) -> Vec<bool> {
        let mut hits = Vec::new();
        let each = |_, _, (): &mut (), hit| hits.push(hit);
        run(sequence, sizes.len(), &Sizes::from(sizes.to_vec()), cache_bytes, each, || true);
        hits
    }

    #[test]
    fn what_was_read_longest_ago_goes_first() {
        assert_eq!(hits(&[0, 1, 0, 2, 0, 1], &[1, 1, 1], 2), [false, false, true, false, true, false]);
    }

    #[test]
    fn a_large_item_evicts_several_and_one_larger_than_the_cache_all() {
        assert_eq!(hits(&[0, 1, 2, 1, 0], &[1, 1, 2], 3), [false, false, false, true, false]);
        assert_eq!(hits(&[0, 2, 0, 2], &[1, 1, 4], 3), [false, false, false, false]);
        assert_eq!(hits(&[0, 0], &[1], 0), [false, false]);
    }

    #[test]
    fn a_run_can_be_ended() {
        let mut reads = 0;
        let sequence = vec![0; 2 * BATCH];
        run(&sequence, 1, &Sizes::Same(1), 1, |_, _, (): &mut (), _| reads += 1, || false);
        assert_eq!(reads, BATCH);
    }
}
