//! For each read of a trace, which read was the last one of the same block.

use crate::reads::Reads;

/// In place of a read, where there was none before.
pub const NONE: u32 = u32::MAX;

/// Reads that can be told apart.
pub const MAX_READS: usize = NONE as usize;

/// The number of the last read of the same block, for each read; [`NONE`] at first reads.
///
/// There may be at most [`MAX_READS`] reads.
pub fn previous_reads(reads: &Reads) -> Vec<u32> {
    assert!(reads.block.len() <= MAX_READS);
    let mut last = vec![NONE; reads.blocks.len()];
    let numbered = reads.block.iter().zip(0..);
    numbered.map(|(block, read)| std::mem::replace(&mut last[*block as usize], read)).collect()
}
