//! A trace in memory, as columns: the number of a block for each read, and what each block is.
//!
//! Every analysis that looks at the reads more than once starts from here: 13 bytes a read, 16 a distinct block. What
//! was prefetched or written isn't among them: it is counted.

use std::hash::BuildHasher;
use std::hint::black_box;
use std::path::Path;

use crate::hash::{FastMap, Mix, Numbers};
use crate::trace::{read_file, Class, Expected, Record, TraceError};

/// Records whose blocks are numbered together.
const BATCH: usize = 1024;
/// Blocks that can be numbered; others of the engine's tables have no room for more.
const MAX_BLOCKS: usize = 1 << 30;
/// Reads whose places the analyses can number.
const MAX_READS: usize = u32::MAX as usize - 1;

/// A level of an object (a file, for level 0) of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Object {
    pub objset: u64,
    pub object: u64,
    pub level: u8,
}

impl Object {
    /// That of a record.
    pub fn of(record: &Record) -> Self {
        Self { objset: record.objset, object: record.object, level: record.level }
    }
}

/// A block of ZFS that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub blkid: u64,
    /// Its index in [`Reads::objects`].
    pub object: u32,
    /// The largest that it was read with: the last block of a file grows.
    pub size: u32,
}

/// Objects and blocks are numbered in the order of their first read; the columns have an entry for each read.
#[derive(Default)]
pub struct Reads {
    pub objects: Vec<Object>,
    pub blocks: Vec<Block>,
    /// Its index in [`Reads::blocks`].
    pub block: Vec<u32>,
    pub time_ns: Vec<u64>,
    pub class: Vec<Class>,
    /// Those of the wanted records that are no reads, by [`Class`], in the order of [`Class::NAMES`].
    pub passed_over: [u64; Class::NAMES.len()],
}

impl Reads {
    /// Reads a trace file, and keeps the reads that are wanted; `go_on` is asked now and then with the number of all
    /// records so far.
    pub fn load(
        path: &Path,
        expected: Expected,
        mut wanted: impl FnMut(&Record) -> bool,
        go_on: impl FnMut(u64) -> bool,
    ) -> Result<Self, TraceError> {
        let mut loader = Loader::default();
        let each = |record: &Record| if wanted(record) { loader.add(record) } else { Ok(()) };
        let records = read_file(path, expected, each, go_on)?;
        let reads = loader.finish();
        if reads.passed_over.iter().sum::<u64>() == records {
            return Err(TraceError::Empty);
        }
        Ok(reads)
    }
}

/// Numbers objects and blocks as they come.
#[derive(Default)]
pub struct Loader {
    reads: Reads,
    object_at: FastMap<Object, u32>,
    /// The object read last, which is often the next one's too.
    last: Option<(Object, u32)>,
    block_at: Numbers,
    hashing: Mix,
    /// Blocks that have no number yet, their hashes, and blocks that they may be.
    batch: Vec<Block>,
    hashes: Vec<u64>,
    guesses: Vec<u32>,
}

impl Loader {
    pub fn add(&mut self, record: &Record) -> Result<(), TraceError> {
        if !record.class.is_read() {
            self.reads.passed_over[record.class as usize] += 1;
            return Ok(());
        }
        let object = Object::of(record);
        let object = match self.last {
            Some((last, number)) if last == object => number,
            _ => self.number_of(object),
        };
        self.batch.push(Block { blkid: record.blkid, object, size: record.size.get() });
        self.reads.time_ns.push(record.time_ns);
        self.reads.class.push(record.class);
        if self.batch.len() == BATCH {
            self.number_batch();
            if self.reads.blocks.len() > MAX_BLOCKS || self.reads.block.len() > MAX_READS {
                return Err(TraceError::TooLong);
            }
        }
        Ok(())
    }

    pub fn finish(mut self) -> Reads {
        self.number_batch();
        self.reads
    }

    fn number_of(&mut self, object: Object) -> u32 {
        let objects = &mut self.reads.objects;
        let number = *self.object_at.entry(object).or_insert_with(|| {
            objects.push(object);
            objects.len() as u32 - 1
        });
        self.last = Some((object, number));
        number
    }

    /// Takes the batch through one table after the other: in a loop of its own the processor waits for many places of a
    /// table at once.
    fn number_batch(&mut self) {
        let (blocks, hashing) = (&mut self.reads.blocks, &self.hashing);
        let hash_of = |block: &Block| hashing.hash_one((block.object, block.blkid));
        self.block_at.reserve(self.batch.len(), |number| hash_of(&blocks[number as usize]));
        self.hashes.extend(self.batch.iter().map(hash_of));
        self.guesses.extend(self.hashes.iter().filter_map(|hash| self.block_at.guess(*hash)));
        black_box(self.guesses.drain(..).fold(0, |all, guess| all ^ blocks[guess as usize].blkid));
        for (block, hash) in self.batch.drain(..).zip(self.hashes.drain(..)) {
            let next = blocks.len() as u32;
            let number = self.block_at.number(hash, next, |number| {
                let known = &blocks[number as usize];
                (known.object, known.blkid) == (block.object, block.blkid)
            });
            if number == next {
                blocks.push(block);
            }
            let size = &mut blocks[number as usize].size;
            *size = block.size.max(*size);
            self.reads.block.push(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::trace::read;

    #[test]
    fn blocks_and_objects_are_numbered_by_their_first_read() {
        let text = "1 9 7 0 5 512 miss\n2 9 8 0 5 512 arc\n3 9 7 0 5 1024 dbuf\n4 9 7 1 5 512 -\n";
        let mut loader = Loader::default();
        let expected = Expected { complete: true, records: None };
        read(text.as_bytes(), expected, |record| loader.add(record), |_| true).unwrap();
        let reads = loader.finish();
        assert_eq!(reads.block, [0, 1, 0, 2]);
        assert_eq!(reads.time_ns, [1, 2, 3, 4]);
        assert_eq!(reads.class, [Class::Miss, Class::Arc, Class::Dbuf, Class::Unknown]);
        let blocks: Vec<_> = reads.blocks.iter().map(|block| (block.object, block.blkid, block.size)).collect();
        assert_eq!(blocks, [(0, 5, 1024), (1, 5, 512), (2, 5, 512)]);
        assert_eq!(reads.objects[2], Object { objset: 9, object: 7, level: 1 });
    }

    #[test]
    fn what_was_prefetched_or_written_is_only_counted() {
        let lines = ["1 9 7 0 5 512 write", "2 9 8 0 5 512 prefetch", "3 9 8 0 5 512 direct", "4 9 8 0 5 512 write"];
        let mut loader = Loader::default();
        let expected = Expected { complete: true, records: Some(4) };
        read((lines.join("\n") + "\n").as_bytes(), expected, |record| loader.add(record), |_| true).unwrap();
        let reads = loader.finish();
        assert_eq!((reads.time_ns, reads.class, reads.blocks.len()), (vec![3], vec![Class::Direct], 1));
        assert_eq!(reads.passed_over, [0, 0, 0, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(reads.objects, [Object { objset: 9, object: 8, level: 0 }]);
    }

    #[test]
    fn numbers_are_those_of_a_plain_map_over_many_batches_and_growths() {
        let mut loader = Loader::default();
        let mut known = std::collections::HashMap::new();
        let mut expected = Vec::new();
        let mut random = 1u64;
        for time_ns in 0..100_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (object, level, blkid) = (random >> 61, (random >> 59) as u8 % 2, (random >> 32) % (1 + time_ns / 8));
            let size = NonZeroU32::new(512 << (random >> 30 & 3)).unwrap();
            let record = Record { time_ns, objset: 5, object, level, blkid, size, class: Class::Arc };
            loader.add(&record).unwrap();
            let next = known.len();
            let block = known.entry((object, level, blkid)).or_insert((next, 0));
            block.1 = block.1.max(size.get());
            expected.push(block.0 as u32);
        }
        let reads = loader.finish();
        assert_eq!(reads.block, expected);
        assert_eq!(reads.blocks.len(), known.len());
        for ((object, level, blkid), (number, size)) in known {
            let block = reads.blocks[number];
            let of = reads.objects[block.object as usize];
            assert_eq!((of.object, of.level, block.blkid, block.size), (object, level, blkid, size));
        }
    }
}
