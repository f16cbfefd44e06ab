//! How many reads have each reuse distance.

use super::amount::Amount;

/// Counts distances: in an array where that is small enough, otherwise all are kept.
pub enum Tally {
    /// The number of reads at each multiple of `unit`.
    Counts { unit: u64, reads: Vec<u32> },
    /// Each read's distance.
    Kept(Vec<u64>),
}

impl Tally {
    /// For distances that are multiples of `unit`, up to `most`, of so many reads.
    pub fn new(unit: u64, most: u64, reads: usize) -> Self {
        match usize::try_from(most / unit) {
            // Keeping a distance takes as much as two counts.
            Ok(steps) if steps <= 2 * reads => Self::Counts { unit, reads: vec![0; steps + 1] },
            _ => Self::Kept(Vec::new()),
        }
    }

    /// Another that counts nothing yet. Not a clone: that would read, and so fill, all of the zeros.
    pub(super) fn empty(&self) -> Self {
        match self {
            Self::Counts { unit, reads } => Self::Counts { unit: *unit, reads: vec![0; reads.len()] },
            Self::Kept(_) => Self::Kept(Vec::new()),
        }
    }

    /// Counts these.
    pub(super) fn add<A: Amount>(&mut self, distances: &[A]) {
        match self {
            Self::Counts { unit: 1, reads } => {
                distances.iter().for_each(|distance| reads[distance.bytes_or_blocks() as usize] += 1);
            }
            Self::Counts { unit, reads } if unit.is_power_of_two() => {
                let shift = unit.ilog2();
                distances.iter().for_each(|distance| reads[(distance.bytes_or_blocks() >> shift) as usize] += 1);
            }
            Self::Counts { unit, reads } => {
                distances.iter().for_each(|distance| reads[(distance.bytes_or_blocks() / *unit) as usize] += 1);
            }
            Self::Kept(kept) => kept.extend(distances.iter().map(|distance| distance.bytes_or_blocks())),
        }
    }

    /// Counts what both counted.
    pub(super) fn plus(mut self, other: Self) -> Self {
        match (&mut self, other) {
            (Self::Counts { reads, .. }, Self::Counts { reads: others, .. }) => {
                reads.iter_mut().zip(others).for_each(|(reads, others)| *reads += others);
            }
            (Self::Kept(kept), Self::Kept(others)) => kept.extend(others),
            _ => unreachable!("both are clones of one"),
        }
        self
    }
}
