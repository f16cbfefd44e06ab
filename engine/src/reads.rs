//! A trace in memory, as columns: the number of a block for each read, and what each block is.
//!
//! Every analysis that looks at the reads more than once starts from here: 13 bytes a read, 16 a distinct block.

use std::hash::BuildHasher;
use std::hint::black_box;
use std::path::Path;

use crate::hash::{FastMap, Mix};
use crate::trace::{read_file, Class, Expected, Record, TraceError};

/// Records whose blocks are numbered together.
const BATCH: usize = 1024;
/// Blocks that can be numbered; others of the engine's tables have no room for more.
const MAX_BLOCKS: usize = 1 << 30;

/// A level of an object (a file, for level 0) of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Object {
    pub objset: u64,
    pub object: u64,
    pub level: u8,
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
}

impl Reads {
    /// Reads a trace file; `go_on` is asked now and then with the number of records so far.
    pub fn load(path: &Path, expected: Expected, go_on: impl FnMut(u64) -> bool) -> Result<Self, TraceError> {
        let mut loader = Loader::default();
        read_file(path, expected, |record| loader.add(record), go_on)?;
        Ok(loader.finish())
    }
}

/// Numbers objects and blocks as they come.
#[derive(Default)]
pub struct Loader {
    reads: Reads,
    object_at: FastMap<Object, u32>,
    /// The object read last, which is often the next one's too.
    last: Option<(Object, u32)>,
    block_at: BlockNumbers,
    /// Blocks that have no number yet.
    batch: Vec<Block>,
}

impl Loader {
    pub fn add(&mut self, record: &Record) -> Result<(), TraceError> {
        let object = Object { objset: record.objset, object: record.object, level: record.level };
        let object = match self.last {
            Some((last, number)) if last == object => number,
            _ => self.number_of(object),
        };
        self.batch.push(Block { blkid: record.blkid, object, size: record.size.get() });
        self.reads.time_ns.push(record.time_ns);
        self.reads.class.push(record.class);
        if self.batch.len() == BATCH {
            self.number_batch();
            if self.reads.blocks.len() > MAX_BLOCKS {
                return Err(TraceError::TooManyBlocks);
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

    fn number_batch(&mut self) {
        let reads = &mut self.reads;
        self.block_at.warm(&self.batch, &reads.blocks);
        for block in self.batch.drain(..) {
            let number = self.block_at.number(block, &mut reads.blocks);
            let size = &mut reads.blocks[number as usize].size;
            *size = block.size.max(*size);
            reads.block.push(number);
        }
    }
}

/// A hash table from a block to its number, by open addressing. It holds no keys: those are in [`Reads::blocks`].
#[derive(Default)]
struct BlockNumbers {
    /// The high half is that of the block's hash, the low half its number and 1; 0 is a free place.
    places: Vec<u64>,
    hashing: Mix,
    /// The hashes of the batch that [`Self::warm`] was given, in its order, and how many of them were taken.
    hashes: Vec<u64>,
    taken: usize,
}

impl BlockNumbers {
    /// Makes room for a batch, and loads what finding its blocks will need. In loops of their own the processor waits
    /// for many places at once, and then for many blocks at once.
    fn warm(&mut self, batch: &[Block], blocks: &[Block]) {
        if 4 * (blocks.len() + batch.len()) > 3 * self.places.len() {
            self.grow(blocks);
        }
        self.taken = 0;
        self.hashes.clear();
        self.hashes.extend(batch.iter().map(|block| self.hashing.hash_one((block.object, block.blkid))));
        let last = self.places.len() - 1;
        let found = self.hashes.iter().map(|hash| self.places[*hash as usize & last] as u32 as usize);
        let found: Vec<usize> = found.collect();
        black_box(
            found.into_iter().filter_map(|next| blocks.get(next.checked_sub(1)?)).fold(0, |all, b| all ^ b.blkid),
        );
    }

    /// The number of the next block of the batch, which is added to the blocks where it is new.
    fn number(&mut self, block: Block, blocks: &mut Vec<Block>) -> u32 {
        let hash = self.hashes[self.taken];
        self.taken += 1;
        let last = self.places.len() - 1;
        let mut at = hash as usize & last;
        loop {
            let place = self.places[at];
            if place == 0 {
                blocks.push(block);
                self.places[at] = (hash >> 32 << 32) | blocks.len() as u64;
                return blocks.len() as u32 - 1;
            }
            let number = place as u32 - 1;
            if (place ^ hash) >> 32 == 0 {
                let known = &blocks[number as usize];
                if (known.object, known.blkid) == (block.object, block.blkid) {
                    return number;
                }
            }
            at = (at + 1) & last;
        }
    }

    fn grow(&mut self, blocks: &[Block]) {
        let places = (2 * self.places.len()).max(4 * BATCH);
        self.places = Vec::new(); // before the new ones need memory
        self.places.resize(places, 0);
        for (number, block) in blocks.iter().enumerate() {
            let hash = self.hashing.hash_one((block.object, block.blkid));
            let mut at = hash as usize & (places - 1);
            while self.places[at] != 0 {
                at = (at + 1) & (places - 1);
            }
            self.places[at] = (hash >> 32 << 32) | (number as u64 + 1);
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
