//! For each read of a trace, which read was the last one of the same block.

/// In place of a read, where there was none before.
pub const NONE: u32 = 0;

/// Reads that can be told apart.
pub const MAX_READS: usize = u32::MAX as usize;

/// The last read of the same block, for each read: counted from 1, [`NONE`] at first reads.
///
/// `sequence` has the blocks that are read, numbered below `blocks`, and at most [`MAX_READS`] of them.
pub fn previous_reads(sequence: &[u32], blocks: usize) -> Vec<u32> {
    assert!(sequence.len() <= MAX_READS);
    let mut last = vec![NONE; blocks];
    sequence.iter().zip(1..).map(|(block, read)| std::mem::replace(&mut last[*block as usize], read)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_counted_from_one() {
        assert_eq!(previous_reads(&[0, 1, 0, 0, 2, 1], 3), [NONE, NONE, 1, 3, NONE, 2]);
        assert!(previous_reads(&[], 0).is_empty());
    }
}
