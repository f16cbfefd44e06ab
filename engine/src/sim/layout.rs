//! The records of a trace's files at some record size, and the indirect blocks above them.

use crate::hash::FastMap;
use crate::reads::{Block, Object, Reads};

use super::parameters::Parameters;

/// No block.
pub const NONE: u32 = u32::MAX;

/// A block: a record of a file (level 0), or an indirect block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    pub index: u64,
    pub file: u32,
    /// The indirect block that points to it, or [`NONE`] where the file's dnode does.
    pub parent: u32,
    /// Uncompressed, and as it lies on disk and in the ARC.
    pub bytes: u32,
    pub physical: u32,
    pub level: u8,
    /// Metadata of the file system: an indirect block, or a block of a level above 0 in the trace.
    pub metadata: bool,
}

/// An object of the trace (a file), with the same number as in [`Reads`], in records.
#[derive(Clone, Copy, Debug)]
pub struct File {
    pub record_bytes: u32,
    /// The last record that the trace knows of.
    pub last: u64,
    pub metadata: bool,
}

/// Blocks with numbers in a row.
#[derive(Default)]
struct Numbered {
    first: u32,
    records: Vec<Record>,
    at: FastMap<(u32, u8, u64), u32>,
}

/// The blocks of all files that the trace reads, and the indirect blocks above them.
pub struct Layout {
    /// For each block of the trace: its record.
    pub of_block: Vec<u32>,
    pub files: Vec<File>,
    shape: Shape,
    blocks: Numbered,
}

/// The blocks of a layout, and more that prefetch finds as it goes.
pub struct Blocks<'a> {
    layout: &'a Layout,
    more: Numbered,
}

/// What the layout has to know of the pool.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    compressratio: f64,
    metadata_compressratio: f64,
    sector_bytes: u64,
    indirect_bytes: u64,
    fanout_shift: u32,
    /// The share of the records that is simulated: indirect blocks are shared by all of them, so that theirs is the
    /// share of their bytes.
    kept: f64,
}

impl Shape {
    pub fn new(parameters: &Parameters, kept: f64) -> Self {
        let fanout = (parameters.indirect_bytes / parameters.blkptr_bytes).max(2);
        Self {
            compressratio: parameters.compressratio,
            metadata_compressratio: parameters.metadata_compressratio,
            sector_bytes: parameters.sector_bytes,
            indirect_bytes: parameters.indirect_bytes,
            fanout_shift: fanout.ilog2(),
            kept,
        }
    }

    fn physical(&self, bytes: u64, ratio: f64) -> u64 {
        if ratio <= 1.0 {
            return bytes;
        }
        ((bytes as f64 / ratio) as u64).max(1).next_multiple_of(self.sector_bytes).min(bytes)
    }

    /// The block at this place, without its parent.
    pub fn record(&self, file: u32, of: &File, level: u8, index: u64) -> Record {
        let (bytes, physical) = if level == 0 {
            let bytes = u64::from(of.record_bytes);
            let ratio = if of.metadata { self.metadata_compressratio } else { self.compressratio };
            (bytes, self.physical(bytes, ratio))
        } else {
            let physical = self.physical(self.indirect_bytes, self.metadata_compressratio);
            (self.share(self.indirect_bytes), self.share(physical))
        };
        let metadata = level > 0 || of.metadata;
        Record { index, file, parent: NONE, bytes: bytes as u32, physical: physical as u32, level, metadata }
    }

    fn share(&self, bytes: u64) -> u64 {
        ((bytes as f64 * self.kept).round() as u64).max(1)
    }

    /// The place of the parent of a block, where it has one: dnodes have one block pointer.
    pub fn parent(&self, of: &File, level: u8, index: u64) -> Option<(u8, u64)> {
        let last = of.last.checked_shr(u32::from(level) * self.fanout_shift).unwrap_or(0);
        (last > 0 && !of.metadata).then_some((level + 1, index >> self.fanout_shift))
    }
}

impl Layout {
    /// Lays the trace's files out in records of `recordsize`. Files with larger blocks keep theirs; a file that is
    /// smaller than a record is one block of its size.
    pub fn new(reads: &Reads, recordsize: Option<u32>, shape: Shape) -> Self {
        let read = files_as_read(reads);
        let files: Vec<File> = read.iter().map(|file| in_records(*file, recordsize)).collect();
        let mut blocks = Numbered::default();
        let number = |block: &Block| {
            let (was, file) = (&read[block.object as usize], &files[block.object as usize]);
            let index = if file.record_bytes == was.record_bytes {
                block.blkid
            } else {
                (u128::from(block.blkid) * u128::from(was.record_bytes) / u128::from(file.record_bytes)) as u64
            };
            number(&mut blocks, None, &files, &shape, (block.object, 0, index))
        };
        let of_block = reads.blocks.iter().map(number).collect();
        Self { of_block, files, shape, blocks }
    }

    /// The file, and the record in it, that a block of the trace is in.
    pub fn place(&self, block: u32) -> (u32, u64) {
        let record = &self.blocks.records[self.of_block[block as usize] as usize];
        (record.file, record.index)
    }

    /// An indirect block points to two to the power of this.
    pub fn fanout_shift(&self) -> u32 {
        self.shape.fanout_shift
    }

    /// The blocks that the trace reads, and those above them.
    fn len(&self) -> usize {
        self.blocks.records.len()
    }
}

impl<'a> Blocks<'a> {
    pub fn new(layout: &'a Layout) -> Self {
        Self { layout, more: Numbered { first: layout.len() as u32, ..Numbered::default() } }
    }

    /// Moves them out, and leaves those of the layout alone.
    pub fn take(&mut self) -> Self {
        let layout = self.layout;
        std::mem::replace(self, Self::new(layout))
    }

    pub fn get(&self, number: u32) -> &Record {
        match number.checked_sub(self.more.first) {
            None => &self.layout.blocks.records[number as usize],
            Some(at) => &self.more.records[at as usize],
        }
    }

    pub fn len(&self) -> usize {
        self.more.first as usize + self.more.records.len()
    }

    /// The number of the block at this place of a file.
    pub fn number(&mut self, file: u32, level: u8, index: u64) -> u32 {
        let layout = self.layout;
        number(&mut self.more, Some(&layout.blocks), &layout.files, &layout.shape, (file, level, index))
    }
}

/// Gives the number of the block at a place: a known one, or a new one for it and for those above it.
fn number(new: &mut Numbered, known: Option<&Numbered>, files: &[File], shape: &Shape, place: (u32, u8, u64)) -> u32 {
    if let Some(number) = known.and_then(|known| known.at.get(&place)).or_else(|| new.at.get(&place)) {
        return *number;
    }
    let (file, level, index) = place;
    let of = &files[file as usize];
    let mut record = shape.record(file, of, level, index);
    if let Some((level, index)) = shape.parent(of, level, index) {
        record.parent = number(new, known, files, shape, (file, level, index));
    }
    new.records.push(record);
    let number = new.first + new.records.len() as u32 - 1;
    new.at.insert(place, number);
    number
}

/// The objects of the trace with the blocks that they were read in: all blocks of a file have one size.
fn files_as_read(reads: &Reads) -> Vec<File> {
    let file = |object: &Object| File { record_bytes: 0, last: 0, metadata: object.level > 0 };
    let mut files: Vec<File> = reads.objects.iter().map(file).collect();
    for block in &reads.blocks {
        let file = &mut files[block.object as usize];
        file.record_bytes = file.record_bytes.max(block.size);
        file.last = file.last.max(block.blkid);
    }
    files
}

fn in_records(file: File, recordsize: Option<u32>) -> File {
    let bytes = u128::from(file.record_bytes);
    let file_bytes = (u128::from(file.last) + 1) * bytes;
    match recordsize {
        Some(size) if !file.metadata && file.record_bytes < size => {
            let record_bytes = file_bytes.min(u128::from(size)) as u32;
            File { record_bytes, last: ((file_bytes - 1) / u128::from(record_bytes)) as u64, ..file }
        }
        _ => file,
    }
}
