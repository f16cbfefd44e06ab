//! A trace in memory, as columns: the number of a block for each read, and what each block is.
//!
//! Every analysis that looks at the reads more than once starts from here: 13 bytes a read, 16 a distinct block.

use std::path::Path;

use crate::hash::FastMap;
use crate::trace::{read_file, Class, Expected, Record, TraceError};

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
        Ok(loader.reads)
    }
}

/// Numbers objects and blocks as they come.
#[derive(Default)]
pub struct Loader {
    reads: Reads,
    object_at: FastMap<Object, u32>,
    block_at: FastMap<(u32, u64), u32>,
}

impl Loader {
    pub fn add(&mut self, record: &Record) -> Result<(), TraceError> {
        let reads = &mut self.reads;
        let object = Object { objset: record.objset, object: record.object, level: record.level };
        let object = *self.object_at.entry(object).or_insert_with(|| {
            reads.objects.push(object);
            reads.objects.len() as u32 - 1
        });
        let block = *self.block_at.entry((object, record.blkid)).or_insert_with(|| {
            reads.blocks.push(Block { blkid: record.blkid, object, size: 0 });
            reads.blocks.len() as u32 - 1
        });
        if reads.blocks.len() > u32::MAX as usize {
            return Err(TraceError::TooManyBlocks);
        }
        let size = &mut reads.blocks[block as usize].size;
        *size = record.size.get().max(*size);
        reads.block.push(block);
        reads.time_ns.push(record.time_ns);
        reads.class.push(record.class);
        Ok(())
    }

    pub fn finish(self) -> Reads {
        self.reads
    }
}

#[cfg(test)]
mod tests {
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
}
