//! The exact figures of a trace: counts, and the reuse distances of its reads.

use std::collections::BTreeMap;

use crate::curve::Curve;
use crate::exact::{self, last, Tally};
use crate::reads::{Object, Reads};
use crate::simd::Level;
use crate::trace::Class;

/// Blocks of one object (file) at one level that were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectReads {
    pub object: Object,
    pub references: u64,
    pub distinct_blocks: u64,
}

/// The figures of a trace.
pub struct Profile {
    pub references: u64,
    pub distinct_blocks: u64,
    /// Each block with the largest size it was read with.
    pub distinct_bytes: u64,
    /// (times, blocks that were read so often), times rising.
    pub reads_per_block: Vec<(u32, u64)>,
    /// Records by [`Class`], in the order of [`Class::NAMES`]; those that are no reads are in no other figure.
    pub classes: [u64; Class::NAMES.len()],
    /// From the earliest record to the latest.
    pub span_ns: u64,
    /// Records with an earlier time than the record before them.
    pub out_of_order: u64,
    pub objects: Vec<ObjectReads>,
    /// Hits by the size of a cache in bytes, and in blocks.
    pub bytes: Curve,
    pub blocks: Curve,
}

impl Profile {
    /// Takes as many threads as it is given; fails where places of reads don't fit 32 bits.
    pub fn new(reads: &Reads, threads: usize) -> Option<Self> {
        if reads.block.len() >= u32::MAX as usize {
            return None;
        }
        let (objects, reads_per_block) = counted(reads);
        let mut classes = reads.passed_over;
        reads.class.iter().for_each(|class| classes[*class as usize] += 1);
        let times = &reads.time_ns;
        let (first, last) = times.iter().fold((u64::MAX, 0), |(first, last), time| (first.min(*time), last.max(*time)));
        let (bytes, blocks) = curves(reads, threads, Level::best());
        Some(Self {
            references: reads.block.len() as u64,
            distinct_blocks: reads.blocks.len() as u64,
            distinct_bytes: distinct_bytes(reads),
            reads_per_block,
            classes,
            span_ns: last.saturating_sub(first),
            out_of_order: times.windows(2).filter(|pair| pair[1] < pair[0]).count() as u64,
            objects,
            bytes,
            blocks,
        })
    }

    /// Blocks that were read more than so often.
    pub fn blocks_read_more_than(&self, times: u32) -> u64 {
        self.reads_per_block.iter().filter(|count| count.0 > times).map(|count| count.1).sum()
    }
}

/// What [`Profile::new`] takes at most, on top of the reads.
pub fn needed_bytes(reads: usize, blocks: usize, sizes_differ: bool, threads: usize) -> u64 {
    let (reads, blocks, threads) = (reads as u64, blocks as u64, threads as u64);
    // The place before and the spread; the tables of last reads and of counts; and each thread's tally.
    let in_blocks = reads * (4 + 6) + blocks * (4 + 4) + blocks * 4 * threads;
    // Besides these, the curve in blocks that is there already; a tally of bytes is at most 8 bytes a read.
    let in_bytes = if sizes_differ { reads * (14 + 8) + blocks * (16 + 4) } else { 0 };
    in_blocks.max(in_bytes)
}

/// Whether blocks differ in size.
pub fn sizes_differ(reads: &Reads) -> bool {
    reads.blocks.windows(2).any(|pair| pair[0].size != pair[1].size)
}

fn distinct_bytes(reads: &Reads) -> u64 {
    reads.blocks.iter().map(|block| u64::from(block.size)).sum()
}

/// Counts the reads of each object, and how many blocks are read how often.
fn counted(reads: &Reads) -> (Vec<ObjectReads>, Vec<(u32, u64)>) {
    let mut times = vec![0u32; reads.blocks.len()];
    reads.block.iter().for_each(|block| times[*block as usize] += 1);
    let new = |object: &Object| ObjectReads { object: *object, references: 0, distinct_blocks: 0 };
    let mut objects: Vec<ObjectReads> = reads.objects.iter().map(new).collect();
    let mut blocks_by_times = BTreeMap::new();
    for (block, times) in reads.blocks.iter().zip(times) {
        let object = &mut objects[block.object as usize];
        object.references += u64::from(times);
        object.distinct_blocks += 1;
        *blocks_by_times.entry(times).or_default() += 1;
    }
    (objects, blocks_by_times.into_iter().collect())
}

/// The curves in bytes and in blocks.
fn curves(reads: &Reads, threads: usize, level: Level) -> (Curve, Curve) {
    let (count, blocks) = (reads.block.len(), reads.blocks.len());
    let before = last::places(&reads.block, blocks);
    let each = count.div_ceil(threads.max(1)).max(1);
    let stretches = before.chunks(each).enumerate();
    let stretches = stretches.map(|(at, before)| last::InBlocks { begin: at * each, before }).collect();
    let tally = exact::distances(count, stretches, &Tally::new(1, blocks as u64, count), level);
    drop(before);
    let in_blocks = Curve::new(tally, count as u64, blocks as u64);
    if !sizes_differ(reads) {
        let size = reads.blocks.first().map_or(1, |block| block.size.into());
        return (in_blocks.times(size), in_blocks);
    }
    let unit = reads.blocks.iter().fold(0, |unit, block| gcd(block.size, unit));
    let all = distinct_bytes(reads);
    let stretch = last::InBytes { block: &reads.block, blocks: &reads.blocks };
    let tally = exact::distances(count, vec![stretch], &Tally::new(unit.into(), all, count), level);
    (Curve::new(tally, count as u64, all), in_blocks)
}

fn gcd(mut one: u32, mut other: u32) -> u32 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reads::Loader;
    use crate::trace::{read, Expected};

    fn profile(lines: &[&str]) -> Profile {
        let mut loader = Loader::default();
        let text = lines.join("\n") + "\n";
        let finished = Expected { complete: true, records: None };
        read(text.as_bytes(), finished, |record| loader.add(record), |_| true).unwrap();
        Profile::new(&loader.finish(), 2).unwrap()
    }

    #[test]
    fn counts_blocks_by_how_often_they_are_read() {
        let profile = profile(&[
            "5 1 7 0 0 16384 miss",
            "6 1 7 0 1 16384 miss",
            "7 1 7 0 0 16384 dbuf",
            "9 1 8 0 0 16384 arc",
            "8 1 7 0 0 16384 arc",
            "9 1 7 0 1 16384 l2hit",
            "1 1 7 0 0 16384 write",
            "2 1 9 0 0 65536 write",
        ]);
        assert_eq!((profile.references, profile.distinct_blocks, profile.distinct_bytes), (6, 3, 49152));
        assert_eq!(profile.reads_per_block, [(1, 1), (2, 1), (3, 1)]);
        assert_eq!([0, 1, 2, 3].map(|times| profile.blocks_read_more_than(times)), [3, 2, 1, 0]);
        assert_eq!(profile.classes, [1, 2, 1, 2, 0, 0, 0, 0, 0, 2]);
        assert_eq!((profile.span_ns, profile.out_of_order), (4, 1));
        assert_eq!([32768, 49152].map(|size| profile.bytes.hits(size)), [2, 3]);
        assert_eq!([1, 2, 3].map(|size| profile.blocks.hits(size)), [0, 2, 3]);
        let objects: Vec<_> =
            profile.objects.iter().map(|o| (o.object.object, o.references, o.distinct_blocks)).collect();
        assert_eq!(objects, [(7, 5, 2), (8, 1, 1)]);
    }

    #[test]
    fn a_block_has_the_largest_size_it_was_read_with_from_the_first() {
        let profile = profile(&["1 1 7 0 0 512 -", "2 1 7 0 1 512 -", "3 1 7 0 0 1024 -", "4 1 7 0 1 512 -"]);
        assert_eq!([1535, 1536].map(|size| profile.bytes.hits(size)), [0, 2]);
        assert_eq!(profile.bytes.flat(), Some(1536));
        assert_eq!(profile.blocks.flat(), Some(2));
    }

    #[test]
    fn needs_more_where_sizes_differ_and_in_proportion() {
        assert!(needed_bytes(1000, 500, true, 1) > needed_bytes(1000, 500, false, 1));
        assert_eq!(needed_bytes(2000, 1000, true, 1), 2 * needed_bytes(1000, 500, true, 1));
    }
}
