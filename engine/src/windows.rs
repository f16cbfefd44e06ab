//! Distinct bytes over time: working sets (Denning 1968), and the time between two reads of a block.
//!
//! The clock never goes back: a record with an earlier time than the one before it counts as if it had come with that.

use std::hint::black_box;

use crate::reads::Reads;

/// Reads whose memory is asked for at once.
const BATCH: usize = 256;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    pub start_ns: u64,
    pub references: u64,
    pub distinct_bytes: u64,
}

pub struct WorkingSet {
    /// One follows the other, from the first read on.
    pub windows: Vec<Window>,
    /// (length, mean distinct bytes of all windows of that length within the trace), then the whole trace.
    pub curve: Vec<(u64, f64)>,
    /// Reads of a block that was read before, by the bits that the time since needs.
    inter_reference: [u64; 65],
}

impl WorkingSet {
    /// Looks at windows of `window_ns`, which isn't 0, and at each of `lengths_ns` below the trace's span.
    pub fn new(reads: &Reads, window_ns: u64, lengths_ns: &[u64]) -> Self {
        let (first_ns, last_ns) = span(reads);
        let lengths = lengths_ns.iter().filter(|length| **length < last_ns - first_ns);
        let mut means: Vec<Mean> = lengths.map(|length| Mean::new(*length, first_ns, last_ns)).collect();
        let mut found = Self { windows: Vec::new(), curve: Vec::new(), inter_reference: [0; 65] };
        let mut last_of = vec![0; reads.blocks.len()];
        let mut seen = 0;
        let mut window = Window { start_ns: first_ns, ..Window::default() };
        let mut clock_ns = first_ns;
        for (blocks, times) in reads.block.chunks(BATCH).zip(reads.time_ns.chunks(BATCH)) {
            black_box(blocks.iter().fold(0, |all, block| all ^ last_of[*block as usize]));
            black_box(blocks.iter().fold(0, |all, block| all ^ reads.blocks[*block as usize].size));
            for (block, time_ns) in blocks.iter().zip(times) {
                clock_ns = clock_ns.max(*time_ns);
                // A distance from the start, so that nothing overflows.
                while clock_ns - window.start_ns >= window_ns {
                    let next = Window { start_ns: window.start_ns + window_ns, ..Window::default() };
                    found.windows.push(std::mem::replace(&mut window, next));
                }
                let size = u64::from(reads.blocks[*block as usize].size);
                let before_ns = std::mem::replace(&mut last_of[*block as usize], clock_ns);
                window.references += 1;
                // Blocks are numbered in the order of their first reads.
                let first_read = *block == seen;
                if first_read || before_ns < window.start_ns {
                    window.distinct_bytes += size;
                }
                if first_read {
                    seen += 1;
                } else {
                    found.inter_reference[(u64::BITS - (clock_ns - before_ns).leading_zeros()) as usize] += 1;
                    means.iter_mut().for_each(|mean| mean.add(size, before_ns, clock_ns));
                }
            }
        }
        found.windows.push(window);
        for (block, last_of) in reads.blocks.iter().zip(last_of) {
            means.iter_mut().for_each(|mean| mean.add(u64::from(block.size), last_of, last_ns));
        }
        let distinct_bytes: u64 = reads.blocks.iter().map(|block| u64::from(block.size)).sum();
        found.curve = means.iter().map(|mean| (mean.length_ns, mean.value())).collect();
        found.curve.push((last_ns - first_ns, distinct_bytes as f64));
        found
    }

    /// (from, to, reads): the time since the last read of the block, in doublings from the shortest to the longest.
    pub fn inter_reference(&self) -> Vec<(u64, u64, u64)> {
        let counts = &self.inter_reference;
        let (Some(first), Some(last)) = (counts.iter().position(|n| *n > 0), counts.iter().rposition(|n| *n > 0))
        else {
            return Vec::new();
        };
        let from = |bits: usize| if bits == 0 { 0 } else { 1 << (bits - 1) };
        let to = |bits: usize| if bits == 64 { u64::MAX } else { 1 << bits };
        (first..=last).map(|bits| (from(bits), to(bits), counts[bits])).collect()
    }
}

/// From the time of the first read to the latest of all.
pub fn span(reads: &Reads) -> (u64, u64) {
    let first_ns = reads.time_ns.first().copied().unwrap_or(0);
    (first_ns, reads.time_ns.iter().copied().fold(first_ns, u64::max))
}

/// Averages the distinct bytes of all windows (end - length, end] that lie within the trace.
///
/// A block read at some time is in a window from then until its next read takes its place there, or until the window's
/// length has passed. So each read adds its block's size times that part of this time which lies at possible ends.
struct Mean {
    length_ns: u64,
    first_end_ns: u64,
    last_ns: u64,
    sum: u128,
}

impl Mean {
    fn new(length_ns: u64, first_ns: u64, last_ns: u64) -> Self {
        Self { length_ns, first_end_ns: first_ns + length_ns, last_ns, sum: 0 }
    }

    /// Counts a block that was read at `from_ns`, and then at `to_ns` again, or no more until there.
    fn add(&mut self, size: u64, from_ns: u64, to_ns: u64) {
        let start = from_ns.max(self.first_end_ns);
        let end = from_ns.saturating_add(self.length_ns).min(to_ns);
        self.sum += u128::from(size) * u128::from(end.saturating_sub(start));
    }

    fn value(&self) -> f64 {
        self.sum as f64 / (self.last_ns - self.first_end_ns) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reads::Loader;
    use crate::trace::{read, Expected};

    fn reads(times_and_blocks: &[(u64, u64)]) -> Reads {
        let line = |(time, block): &(u64, u64)| format!("{time} 1 7 0 {block} 512 miss\n");
        let text: String = times_and_blocks.iter().map(line).collect();
        let mut loader = Loader::default();
        let expected = Expected { complete: true, records: None };
        read(text.as_bytes(), expected, |record| loader.add(record), |_| true).unwrap();
        loader.finish()
    }

    #[test]
    fn a_block_counts_once_in_each_window() {
        let found = WorkingSet::new(&reads(&[(10, 0), (11, 0), (14, 1), (15, 0), (31, 1)]), 5, &[]);
        let windows: Vec<_> =
            found.windows.iter().map(|one| (one.start_ns, one.references, one.distinct_bytes)).collect();
        assert_eq!(windows, [(10, 3, 1024), (15, 1, 512), (20, 0, 0), (25, 0, 0), (30, 1, 512)]);
    }

    #[test]
    fn a_mean_is_over_all_windows_within_the_trace() {
        // Windows of 4 end from 4 to 10: block 0 is in those that end before 4, block 1 from 6 on.
        let found = WorkingSet::new(&reads(&[(0, 0), (6, 1), (10, 2)]), 100, &[4, 10, 11]);
        assert_eq!(found.curve, [(4, 512.0 * 4.0 / 6.0), (10, 1536.0)]);
    }

    #[test]
    fn the_clock_may_jump_to_its_end() {
        let found = WorkingSet::new(&reads(&[(0, 0), (u64::MAX, 0), (5, 0)]), u64::MAX, &[u64::MAX - 1]);
        assert_eq!(found.inter_reference().first(), Some(&(0, 1, 1)));
        assert_eq!(found.inter_reference().last(), Some(&(1 << 63, u64::MAX, 1)));
        assert_eq!(found.windows.len(), 2);
    }
}
