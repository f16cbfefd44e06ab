//! Folds the records of a trace into the figures of the locality report, in one pass.

use std::num::NonZeroU32;

use crate::curve::{Curve, Distances};
use crate::hash::FastMap;
use crate::stack::ByteStack;
use crate::trace::{Class, Record, TraceError};

/// Records that are counted together.
const BATCH: usize = 1024;

/// Blocks of one object (file) at one level that were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectReads {
    pub objset: u64,
    pub object: u64,
    pub level: u8,
    pub references: u64,
    pub distinct_blocks: u64,
}

/// The figures of a trace.
pub struct Profile {
    pub references: u64,
    pub distinct_blocks: u64,
    /// Each block with the largest size it was read with.
    pub distinct_bytes: u64,
    pub blocks_read_once: u64,
    pub blocks_read_more_than_once: u64,
    pub blocks_read_more_than_twice: u64,
    /// Reads by [`Class`], in the order of [`Class::NAMES`].
    pub classes: [u64; Class::NAMES.len()],
    /// From the earliest record to the latest.
    pub span_ns: u64,
    /// Records with an earlier time than the record before them.
    pub out_of_order: u64,
    pub objects: Vec<ObjectReads>,
    pub curve: Curve,
}

/// Takes records one by one; its memory grows with the number of distinct blocks.
#[derive(Default)]
pub struct Profiler {
    /// (objset, object, level) to the index in `objects`; blocks are then known by that and their blkid.
    object_at: FastMap<(u64, u64, u8), u32>,
    objects: Vec<ObjectReads>,
    block_at: FastMap<(u32, u64), u32>,
    /// For each block: how often it was read, up to 3.
    reads_of: Vec<u8>,
    stack: ByteStack,
    distances: Distances,
    /// Records that aren't in the tables above yet: (object, blkid, size).
    batch: Vec<(u32, u64, NonZeroU32)>,
    batch_blocks: Vec<u32>,
    batch_distances: Vec<u64>,
    references: u64,
    classes: [u64; Class::NAMES.len()],
    first_ns: u64,
    last_ns: u64,
    previous_ns: u64,
    out_of_order: u64,
}

impl Profiler {
    /// Counts a record.
    pub fn record(&mut self, record: &Record) -> Result<(), TraceError> {
        self.clock(record.time_ns);
        self.references += 1;
        self.classes[record.class as usize] += 1;
        let object = self.object(record);
        self.objects[object as usize].references += 1;
        self.batch.push((object, record.blkid, record.size));
        if self.batch.len() == BATCH {
            self.count_batch()?;
        }
        Ok(())
    }

    /// Takes the batch through one table after the other. Each look-up of a large table waits for memory; in a loop of
    /// its own the processor has many of them under way at once.
    fn count_batch(&mut self) -> Result<(), TraceError> {
        for (object, blkid, _) in &self.batch {
            let blocks = self.block_at.len();
            let block = *self.block_at.entry((*object, *blkid)).or_insert(blocks as u32);
            if block as usize == blocks {
                self.objects[*object as usize].distinct_blocks += 1;
            }
            self.batch_blocks.push(block);
        }
        if self.block_at.len() > ByteStack::MAX_BLOCKS {
            return Err(TraceError::TooManyBlocks);
        }
        self.reads_of.resize(self.block_at.len(), 0);
        self.stack.warm(&self.batch_blocks);
        for (block, (_, _, size)) in self.batch_blocks.drain(..).zip(self.batch.drain(..)) {
            let reads = &mut self.reads_of[block as usize];
            *reads = (*reads + 1).min(3);
            self.batch_distances.extend(self.stack.read(block as usize, size));
        }
        self.batch_distances.drain(..).for_each(|distance| self.distances.add(distance));
        Ok(())
    }

    /// The figures of all records so far.
    pub fn finish(mut self) -> Result<Profile, TraceError> {
        self.count_batch()?;
        let mut blocks_by_reads = [0u64; 4];
        for reads in &self.reads_of {
            blocks_by_reads[usize::from(*reads)] += 1;
        }
        Ok(Profile {
            references: self.references,
            distinct_blocks: self.reads_of.len() as u64,
            distinct_bytes: self.stack.distinct_bytes(),
            blocks_read_once: blocks_by_reads[1],
            blocks_read_more_than_once: blocks_by_reads[2] + blocks_by_reads[3],
            blocks_read_more_than_twice: blocks_by_reads[3],
            classes: self.classes,
            span_ns: self.last_ns - self.first_ns,
            out_of_order: self.out_of_order,
            objects: self.objects,
            curve: self.distances.curve(self.references, self.stack.distinct_bytes()),
        })
    }

    fn clock(&mut self, time_ns: u64) {
        if self.references == 0 {
            (self.first_ns, self.last_ns, self.previous_ns) = (time_ns, time_ns, time_ns);
        }
        self.first_ns = self.first_ns.min(time_ns);
        self.last_ns = self.last_ns.max(time_ns);
        self.out_of_order += u64::from(time_ns < self.previous_ns);
        self.previous_ns = time_ns;
    }

    fn object(&mut self, record: &Record) -> u32 {
        let key = (record.objset, record.object, record.level);
        *self.object_at.entry(key).or_insert_with(|| {
            self.objects.push(ObjectReads {
                objset: record.objset,
                object: record.object,
                level: record.level,
                references: 0,
                distinct_blocks: 0,
            });
            self.objects.len() as u32 - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{read, Expected};

    fn profile(lines: &[&str]) -> Profile {
        let mut profiler = Profiler::default();
        let text = lines.join("\n") + "\n";
        let finished = Expected { complete: true, records: None };
        read(text.as_bytes(), finished, |record| profiler.record(record), |_| true).unwrap();
        profiler.finish().unwrap()
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
        ]);
        assert_eq!((profile.references, profile.distinct_blocks, profile.distinct_bytes), (6, 3, 49152));
        assert_eq!(profile.blocks_read_once, 1);
        assert_eq!((profile.blocks_read_more_than_once, profile.blocks_read_more_than_twice), (2, 1));
        assert_eq!(profile.classes, [1, 2, 1, 2, 0, 0, 0]);
        assert_eq!((profile.span_ns, profile.out_of_order), (4, 1));
        assert_eq!([32768, 49152].map(|size| profile.curve.hits(size)), [2, 3]);
        let objects: Vec<_> = profile.objects.iter().map(|o| (o.object, o.references, o.distinct_blocks)).collect();
        assert_eq!(objects, [(7, 5, 2), (8, 1, 1)]);
    }

    #[test]
    fn a_block_is_known_by_objset_object_level_and_blkid() {
        let profile = profile(&[
            "0 1 1 0 1 512 -",
            "0 2 1 0 1 512 -",
            "0 1 2 0 1 512 -",
            "0 1 1 1 1 512 -",
            "0 1 1 0 2 512 -",
            "0 1 1 0 1 512 -",
        ]);
        assert_eq!((profile.distinct_blocks, profile.blocks_read_more_than_once), (5, 1));
        assert_eq!(profile.curve.flat_bytes(), Some(5 * 512));
    }
}
