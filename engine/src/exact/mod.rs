//! Exact LRU reuse distances of a whole trace at once, by algorithms that stay in the processor's caches.
//!
//! # What a reuse distance is here
//!
//! The LRU stack holds every block seen, the last read on top. The distance of a read is the number of blocks (or the
//! sum of their sizes) from the top down to the block read, itself included. An LRU cache of C blocks (bytes) holds the
//! longest part of the stack, from the top, that comes to at most C; so a read hits exactly if its distance is at most
//! C. This is the inclusion property (Mattson 1970): one pass answers for every C at once.
//!
//! # How it is counted
//!
//! Let a read at place t have the read of the same block before it at place p. Of the reads from p to t, those count
//! whose block isn't read again before t; so the distance is all that was read from p on, less what was read again:
//! less the reads before t whose own "before" lies after p. Such pairs are inversions of the sequence of "before"s.
//!
//! 1. [`ids`] or [`last`]: for each read, the place before.
//! 2. [`spans`]: inversions between spans of places, in the order of time.
//! 3. [`spread`]: each read goes to the span of its "before".
//! 4. [`span`]: inversions within a span, in tables that fit the first cache.
//! 5. [`tally`]: how many reads have each distance.
//!
//! All steps run on as many threads as they are given, and nothing in them depends on how many.

mod amount;
pub mod ids;
pub mod last;
mod rows;
mod span;
mod spans;
mod spread;
mod tally;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::simd::Level;

pub use amount::Amount;
pub use spread::Entry;
use spread::{Room, Spread};
pub use tally::Tally;

/// Reads in the order of time, that follow those of the stretches before it.
pub trait Stretch<A: Amount>: Send {
    /// Spreads its reads, in order.
    fn spread<'a>(&'a mut self, over: &mut Spread<'a, A>);
}

/// Tallies the reuse distances of a trace of `reads` reads that comes in stretches: one for each thread.
pub fn distances<A: Amount>(reads: usize, mut stretches: Vec<impl Stretch<A>>, tally: &Tally, level: Level) -> Tally {
    let threads = stretches.len();
    let mut rooms: Vec<_> = stretches.iter().map(|_| Room::new(reads)).collect();
    let spreads = in_parallel(stretches.iter_mut().zip(&mut rooms).collect(), |(stretch, room)| {
        let mut spread = Spread::new(reads, room, level);
        stretch.spread(&mut spread);
        spread
    });
    let later = spread::later(&spreads);
    let next = AtomicUsize::new(0);
    let tallies = in_parallel((0..threads).collect(), |_| {
        let mut tally = tally.empty();
        let mut distances = Vec::new();
        loop {
            let span = next.fetch_add(1, Ordering::Relaxed);
            if span >= spans::spans(reads) {
                return tally;
            }
            let mut counter = A::Counter::default();
            for (spread, later) in spreads.iter().zip(&later) {
                for (partial, places, weights) in spread.of(span) {
                    distances.clear();
                    distances.extend(partial.iter().map(|distance| distance.minus(later[span])));
                    level.run(span::Counting { counter: &mut counter, places, weights, distances: &mut distances });
                    tally.add(&distances);
                }
            }
        }
    });
    tallies.into_iter().reduce(Tally::plus).unwrap_or_else(|| tally.empty())
}

/// Does the same with each, at once.
fn in_parallel<T: Send, R: Send>(parts: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    if parts.len() == 1 {
        return parts.into_iter().map(work).collect();
    }
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = parts.into_iter().map(|part| scope.spawn(move || work(part))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::reads::Block;
    use crate::stack::ByteStack;

    /// Blocks that are read again soon, later and never: places of over two spans, and more than a row of spans' worth
    /// of inversions.
    fn reads(count: usize) -> Vec<u32> {
        let mut state = 1u64;
        let mut names = std::collections::HashMap::new();
        let reads = (0..count).map(|at| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let drawn = (state >> 33) as usize;
            match drawn % 4 {
                0 => drawn / 4 % 50,
                1 => drawn / 4 % 20_000,
                2 => at,
                _ => drawn / 4 % count,
            }
        });
        reads
            .map(|name| {
                let next = names.len() as u32;
                *names.entry(name).or_insert(next)
            })
            .collect()
    }

    fn blocks(reads: &[u32], size: impl Fn(u32) -> u32) -> Vec<Block> {
        let count = reads.iter().max().map_or(0, |last| last + 1);
        (0..count).map(|number| Block { blkid: number.into(), object: 0, size: size(number) }).collect()
    }

    /// The distances of the reads, sorted, one read after the other.
    fn expected(reads: &[u32], blocks: &[Block]) -> Vec<u64> {
        let mut stack = ByteStack::default();
        let size = |block: u32| NonZeroU32::new(blocks[block as usize].size).unwrap();
        let mut all: Vec<u64> = reads.iter().filter_map(|block| stack.read(*block as usize, size(*block))).collect();
        all.sort_unstable();
        all
    }

    fn sorted(tally: Tally) -> Vec<u64> {
        match tally {
            Tally::Kept(mut distances) => {
                distances.sort_unstable();
                distances
            }
            Tally::Counts { unit, reads } => {
                let each = (0..).zip(reads).map(|(at, reads)| std::iter::repeat_n(at * unit, reads as usize));
                each.flatten().collect()
            }
        }
    }

    #[test]
    fn distances_in_blocks_are_those_of_a_stack_at_each_level_on_any_threads() {
        let reads = reads(200_000);
        let blocks = blocks(&reads, |_| 1);
        let expected = expected(&reads, &blocks);
        let before = last::places(&reads, blocks.len());
        for level in Level::available() {
            for each in [reads.len(), 70_000, 1 << 16] {
                let stretches = before.chunks(each).enumerate();
                let stretches = stretches.map(|(at, before)| last::InBlocks { begin: at * each, before }).collect();
                let tally = distances(reads.len(), stretches, &Tally::new(1, blocks.len() as u64, reads.len()), level);
                assert_eq!(sorted(tally), expected);
            }
        }
    }

    #[test]
    fn distances_in_bytes_are_those_of_a_stack_at_each_level() {
        let reads = reads(150_000);
        const LARGEST: u32 = 16 << 20;
        for size in [|n| 4096u32 << (n % 6), |n| 1 + n % 9973, |_| LARGEST, |n| 12_288 * (1 + n % 3)] {
            let blocks = blocks(&reads, size);
            let expected = expected(&reads, &blocks);
            let all = blocks.iter().map(|block| u64::from(block.size)).sum();
            for level in Level::available() {
                for unit in [1, 4096, 12_288, LARGEST] {
                    if blocks.iter().any(|block| block.size % unit != 0) {
                        continue;
                    }
                    let stretch = last::InBytes { block: &reads, blocks: &blocks };
                    let tally = Tally::new(unit.into(), all, reads.len());
                    assert_eq!(sorted(distances(reads.len(), vec![stretch], &tally, level)), expected);
                }
            }
        }
    }

    #[test]
    fn ids_of_any_kind_find_the_same_places_and_counts() {
        let reads = reads(3 * ids::CHUNK + 12_345);
        let blocks = blocks(&reads, |_| 1);
        let expected = expected(&reads, &blocks);
        let mut times = vec![0u32; blocks.len()];
        reads.iter().for_each(|block| times[*block as usize] += 1);
        // Small ones from 0, ones that go up to 2^64, and ones on both sides of where numbering begins.
        for id in [|n| n, |n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15), |n| (1 << 39) - 1000 + n] {
            for (threads, level) in Level::available().into_iter().flat_map(|level| [(1, level), (3, level)]) {
                let taken = || {
                    let mut ids = ids::Ids::new(level);
                    let mut later = ids::Ids::new(level);
                    for (at, chunk) in reads.chunks(ids::CHUNK).enumerate() {
                        let to = if at < 2 { &mut ids } else { &mut later };
                        to.add(chunk.iter().map(|n| id(u64::from(*n))));
                    }
                    ids.append(later);
                    ids
                };
                let (stretches, distinct) = taken().stretches(threads);
                assert_eq!(distinct, blocks.len());
                let tally = Tally::new(1, distinct as u64, reads.len());
                assert_eq!(sorted(distances(reads.len(), stretches, &tally, Level::best())), expected);
                let counted = taken().reads_per_block(threads);
                assert!(counted.windows(2).all(|pair| pair[0].0 < pair[1].0));
                for (often, count) in counted {
                    assert_eq!(times.iter().filter(|times| **times == often).count() as u64, count);
                }
            }
        }
    }
}
