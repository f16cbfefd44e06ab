//! Where each block was read before, of blocks that are numbered: a table of the last reads.

use super::spread::{Entry, BATCH};
use super::{Spread, Stretch};
use crate::reads::Block;

/// The places before of all reads, plus 1, or 0.
pub fn places(block: &[u32], blocks: usize) -> Vec<u32> {
    let mut last = vec![0; blocks];
    (1..).zip(block).map(|(place, block)| std::mem::replace(&mut last[*block as usize], place)).collect()
}

/// Reads whose distances are wanted in blocks.
pub struct InBlocks<'a> {
    /// The place of the first.
    pub begin: usize,
    /// What [`places`] found for them.
    pub before: &'a [u32],
}

impl Stretch<u32> for InBlocks<'_> {
    fn spread<'a>(&'a mut self, over: &mut Spread<'a, u32>) {
        over.add_places(self.begin, self.before);
    }
}

/// All reads of a trace, whose distances are wanted in bytes.
pub struct InBytes<'a> {
    pub block: &'a [u32],
    pub blocks: &'a [Block],
}

impl Stretch<u64> for InBytes<'_> {
    fn spread<'a>(&'a mut self, over: &mut Spread<'a, u64>) {
        // For each block: the place of its last read, plus 1, the bytes that were read before that, and its size.
        let mut last: Vec<(u32, u32, u64)> = self.blocks.iter().map(|block| (0, block.size, 0)).collect();
        let mut entries = Vec::with_capacity(BATCH);
        let (mut now, mut bytes) = (0, 0);
        for blocks in self.block.chunks(BATCH) {
            entries.clear();
            entries.extend(blocks.iter().filter_map(|block| {
                let last = &mut last[*block as usize];
                let entry = (last.0 > 0).then(|| Entry { before: last.0 - 1, weight: last.1, read: bytes - last.2 });
                now += 1;
                (last.0, last.2) = (now, bytes);
                bytes += u64::from(last.1);
                entry
            }));
            over.add(&mut entries);
        }
    }
}
