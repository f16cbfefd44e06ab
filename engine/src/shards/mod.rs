//! Miss-ratio curves from a sample of the blocks: SHARDS (Waldspurger, Park, Garthwaite and Ahmad, FAST '15).
//!
//! # The sample
//!
//! A block is in the sample if its hash is at most a threshold, so that all of its reads are in it or none. Among the
//! sampled blocks distances are smaller by the rate of the sampling. At a fixed rate the threshold stays. At a fixed
//! size it begins with all blocks, and when there are too many, the one with the largest hash leaves and the threshold
//! falls below it; a read counts with the inverse of the rate of its time, which comes to the same as the paper's
//! scaling of all earlier counts.
//!
//! A distance is estimated as the block's own size, which is known, and the bytes of the sampled blocks above it over
//! the rate. (The paper scales the block itself too, which makes every distance too long by a block or so of the
//! sample.)
//!
//! # The correction
//!
//! The sampled reads are rarely as many as expected, since a few hot blocks are in the sample or aren't. The paper's
//! SHARDS-adj adds the difference to the shortest distances, where hot blocks would be. Said otherwise: the misses of
//! the sample, over the rate, estimate the misses, and the reads are counted, not estimated.
//!
//! The sampled blocks also fall into [`GROUPS`] by other bits of the hash, each with a histogram of its own; from their
//! spread comes part of the [`Estimate`]'s error.

mod estimate;
mod histogram;
mod recency;
mod share;
mod sift;
mod survey;

use std::collections::BinaryHeap;
use std::hint::black_box;
use std::sync::mpsc::sync_channel;
use std::thread;

use crate::hash::Numbers;
use crate::simd::Level;
pub use estimate::{Earlier, Estimate, Sample};
use histogram::Histogram;
use recency::Recency;
pub use share::Share;
pub use sift::Sieve;
pub use sift::{group, hash};
pub use survey::{ObjectSurvey, Survey, Surveyor};

/// Groups of the sampled blocks.
pub const GROUPS: usize = 16;
/// Sampled reads that are counted in one go.
const CHUNK: usize = 1024;
/// Reads that a thread sifts for another, many enough that the other hardly waits.
const PART: usize = 1 << 17;
/// How much is sampled: the rate falls to `rate` while there are more than `blocks` blocks in the sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// The least share of the blocks, from 0 to 1.
    pub rate: f64,
    /// The least number of blocks.
    pub blocks: usize,
}

impl Size {
    /// A fixed rate.
    pub fn rate(rate: f64) -> Self {
        Self { rate, blocks: 0 }
    }

    /// A fixed size: the memory needed doesn't grow.
    pub fn blocks(blocks: usize) -> Self {
        Self { rate: 0.0, blocks: blocks.max(1) }
    }
}

/// Takes reads as they come; its memory grows with the sampled blocks only.
pub struct Sampler {
    level: Level,
    /// A block with a hash of at most this is sampled.
    last: u64,
    /// That won't fall below this, nor while the sample has no more blocks than `most`.
    least: u64,
    most: usize,
    /// The hashes of the sample, as long as it may lose some.
    largest: BinaryHeap<u64>,
    number_of: Numbers,
    /// By number; those of blocks that left are given again.
    blocks: Vec<Block>,
    free: Vec<u32>,
    recency: Recency,
    groups: [Tally; GROUPS],
    references: u64,
    sampled: u64,
    /// Sampled reads that aren't counted yet: hashes with sizes and tags, then numbers, then distances.
    batch: Vec<(u64, u32, u32)>,
    numbers: Vec<u32>,
    distances: Vec<(usize, f64)>,
}

/// A block of the sample.
#[derive(Clone, Copy, Default)]
struct Block {
    hash: u64,
    sampled: Sampled,
    /// Where it is in the order of the last reads.
    slot: u32,
}

/// What was found of a group: the weights of distances, and of first reads.
#[derive(Default)]
struct Tally {
    distances: Histogram,
    first_reads: f64,
}

impl Sampler {
    pub fn new(size: Size) -> Self {
        // The cast stops at the largest number, which is the rate 1.
        let least = (size.rate * 2f64.powi(64)) as u64;
        Self {
            level: Level::best(),
            last: if size.blocks == 0 { least } else { u64::MAX },
            least,
            most: size.blocks,
            largest: BinaryHeap::new(),
            number_of: Numbers::default(),
            blocks: Vec::new(),
            free: Vec::new(),
            recency: Recency::default(),
            groups: Default::default(),
            references: 0,
            sampled: 0,
            batch: Vec::with_capacity(CHUNK),
            numbers: Vec::with_capacity(CHUNK),
            distances: Vec::with_capacity(CHUNK),
        }
    }

    /// The share of the blocks that is sampled now.
    pub fn rate(&self) -> f64 {
        (self.last as f64 + 1.0) / 2f64.powi(64)
    }

    /// Reads a block, given its [`hash`], of this size in bytes (1 or more). Its tag is the caller's.
    #[inline]
    pub fn read(&mut self, hash: u64, size: u32, tag: u32) {
        self.references += 1;
        if hash <= self.last {
            self.hold(hash, size, tag);
        }
    }

    /// Reads blocks that are known by numbers, all of one size. At a fixed rate another thread sifts them.
    pub fn read_all(&mut self, blocks: &[u64], size: u32) {
        let Some(sieve) = self.sieve().filter(|_| blocks.len() >= 2 * PART) else {
            let mut kept = Vec::new();
            // In small parts, since at a fixed size the rate falls meanwhile.
            for part in blocks.chunks(4 * CHUNK) {
                Sieve { level: self.level, last: self.last }.sift(part, &mut kept);
                self.read_sifted(part.len(), &kept, size);
                kept.clear();
            }
            return;
        };
        thread::scope(|scope| {
            let (sifted, to_count) = sync_channel(4);
            scope.spawn(move || {
                for part in blocks.chunks(PART) {
                    let mut kept = Vec::new();
                    sieve.sift(part, &mut kept);
                    sifted.send((part.len(), kept)).expect("the other end takes all");
                }
            });
            to_count.into_iter().for_each(|(reads, kept)| self.read_sifted(reads, &kept, size));
        });
    }

    /// What takes the sampled blocks out of others, in any thread; None where the rate may still fall.
    pub fn sieve(&self) -> Option<Sieve> {
        (self.last == self.least).then_some(Sieve { level: self.level, last: self.last })
    }

    /// Reads blocks, all of one size, of which some are sampled: those that a sieve found, by their hashes.
    pub fn read_sifted(&mut self, reads: usize, hashes: &[u64], size: u32) {
        self.references += reads as u64;
        hashes.iter().for_each(|hash| self.hold(*hash, size, 0));
    }

    #[inline]
    fn hold(&mut self, hash: u64, size: u32, tag: u32) {
        self.batch.push((hash, size, tag));
        if self.batch.len() == CHUNK {
            self.count_batch();
        }
    }

    /// Takes the batch through one table after the other: in a loop of its own the processor waits for many places of a
    /// table at once. Blocks leave the sample between batches, so that all of a batch is sampled at one rate.
    fn count_batch(&mut self) {
        let last = self.last;
        self.batch.retain(|(hash, ..)| *hash <= last);
        self.number_batch();
        let touched =
            self.numbers.iter().fold(0, |all, number| all ^ self.recency.touch(self.blocks[*number as usize].slot));
        black_box(touched);
        self.sampled += self.batch.len() as u64;
        let weight = 1.0 / self.rate();
        for ((hash, size, tag), number) in self.batch.drain(..).zip(self.numbers.drain(..)) {
            let group = group(hash);
            let known = &mut self.blocks[number as usize].sampled;
            known.reads = known.reads.saturating_add(1);
            if known.reads == 1 {
                (known.size, known.tag) = (size, tag);
                self.groups[group].first_reads += weight;
            } else {
                let own = known.size;
                known.size = size.max(own);
                let above = self.recency.take(number, &self.blocks);
                self.distances.push((group, f64::from(own) + above as f64 * weight));
            }
            self.recency.push(number, &mut self.blocks);
        }
        for (group, distance) in self.distances.drain(..) {
            self.groups[group].distances.add(distance, weight);
        }
        while self.largest.len() > self.most && self.last > self.least {
            self.drop_largest();
        }
    }

    /// Gives each block of the batch its number.
    fn number_batch(&mut self) {
        self.number_of.reserve(self.batch.len(), |number| self.blocks[number as usize].hash);
        self.numbers.extend(self.batch.iter().filter_map(|(hash, ..)| self.number_of.guess(*hash)));
        black_box(self.numbers.drain(..).fold(0, |all, guess| all ^ self.blocks[guess as usize].hash));
        for (hash, ..) in &self.batch {
            let next = self.free.last().copied().unwrap_or(self.blocks.len() as u32);
            let number = self.number_of.number(*hash, next, |number| self.blocks[number as usize].hash == *hash);
            if number == next {
                if self.free.pop().is_none() {
                    self.blocks.push(Block::default());
                }
                self.blocks[number as usize] = Block { hash: *hash, ..Block::default() };
                if self.last > self.least {
                    self.largest.push(*hash);
                }
            }
            self.numbers.push(number);
        }
    }

    fn drop_largest(&mut self) {
        let Some(hash) = self.largest.pop().filter(|hash| *hash > self.least) else {
            self.last = self.least;
            self.largest = BinaryHeap::new();
            return;
        };
        self.last = hash - 1;
        let blocks = &self.blocks;
        let number = self.number_of.number(hash, u32::MAX - 1, |number| blocks[number as usize].hash == hash);
        self.number_of.remove(number, |number| blocks[number as usize].hash);
        self.recency.take(number, blocks);
        self.free.push(number);
    }

    /// The figures of all reads so far.
    pub fn finish(mut self) -> Sample {
        self.count_batch();
        let rate = self.rate();
        let left: std::collections::HashSet<u32> = self.free.into_iter().collect();
        let blocks = self.blocks.into_iter().enumerate().filter(|(number, _)| !left.contains(&(*number as u32)));
        Sample {
            blocks: blocks.map(|(_, block)| (block.hash, block.sampled)).collect(),
            references: self.references,
            sampled: self.sampled,
            rate,
            earlier: None,
            groups: self.groups,
        }
    }
}

impl Tally {
    fn misses(&self, sizes: &[u64]) -> Vec<f64> {
        self.distances.above(sizes).into_iter().map(|above| above + self.first_reads).collect()
    }
}

/// What is known of a block of the sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sampled {
    /// Exact, up to 2^32 - 1.
    pub reads: u32,
    /// The largest that it was read with.
    pub size: u32,
    /// What the caller gave at its first read.
    pub tag: u32,
}

#[cfg(test)]
mod tests;
