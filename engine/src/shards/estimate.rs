//! What a sample says of the whole, and how far off that may be.
//!
//! # The error
//!
//! The groups of a sample are samples themselves, and nearly independent. So the spread of their curves gives the
//! standard error of their mean (random groups: Wolter, Introduction to Variance Estimation, 2nd ed., ch. 2). The
//! whole sample's bias is estimated from them as well: what a sample blurs is in inverse proportion to its rate, so
//! the groups are off by [`GROUPS`] times as much (Quenouille 1956). Where all blocks are sampled there is no error,
//! hence the finite population correction. No group sees what is finer than the sample: below [`UNRESOLVED`] sampled
//! blocks all that is known is that a smaller cache hits no more than a larger one, and the error says so.
//!
//! How many blocks there are is estimated by Horvitz and Thompson's sum over the sample (1952), whose variance is known.

use super::{Sampled, Stack, GROUPS};

/// A distance of fewer sampled blocks is too rough an estimate.
const UNRESOLVED: f64 = 8.0;
/// Points of a curve between a size and its double.
const POINTS_PER_DOUBLING: u64 = 8;

/// A figure and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub error: f64,
}

/// The figures of a sample.
pub struct Sample {
    /// With their hashes, so that the caller can tell which they are.
    pub blocks: Vec<(u64, Sampled)>,
    /// All reads, counted.
    pub references: u64,
    /// The reads of the sampled blocks, those that left the sample included.
    pub sampled: u64,
    /// The share of the blocks that is in the sample.
    pub rate: f64,
    /// Where the reads given in were a sample already, what is known of that.
    pub earlier: Option<Earlier>,
    pub(super) whole: Stack,
    pub(super) groups: [Stack; GROUPS],
}

/// An earlier sampling, by another hash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Earlier {
    /// The share of the blocks that it left.
    pub rate: f64,
    /// The reads that it left, by group. What it dropped wasn't counted, so a hot block that it took or not changes
    /// also the number of reads; that a group's ratio is over its own reads brings this into the error.
    pub references: [u64; GROUPS],
}

impl Sample {
    /// The miss ratios of an LRU cache of each of these sizes in bytes, which rise; it starts empty. After an earlier
    /// sampling, the sizes are those of a cache of its blocks.
    pub fn miss_ratios(&self, sizes: &[u64]) -> Vec<Estimate> {
        let references = self.references as f64;
        let whole = self.whole.misses(sizes);
        let groups: Vec<Vec<f64>> = self.groups.iter().map(|group| group.misses(sizes)).collect();
        let of_group: [f64; GROUPS] = std::array::from_fn(|group| match &self.earlier {
            Some(earlier) => (earlier.references[group] as f64).max(1.0),
            None => references / GROUPS as f64,
        });
        let (smallest, resolved) = (self.smallest_bytes(), self.resolved_bytes());
        let unresolved_hits = 1.0 - (self.whole.misses(&[resolved])[0] / references).clamp(0.0, 1.0);
        let unknown = self.unsampled() > 0.0 && self.groups.iter().any(|group| group.first_reads == 0.0);
        let estimate = |(at, size): (usize, &u64)| {
            if *size < smallest && !unknown {
                return Estimate { value: 1.0, error: 0.0 };
            }
            let value = (whole[at] / references).clamp(0.0, 1.0);
            let error =
                self.unsampled() * error_of(value, std::array::from_fn(|group| groups[group][at] / of_group[group]));
            let least = if unknown {
                1.0
            } else if *size < resolved {
                unresolved_hits
            } else {
                0.0
            };
            Estimate { value, error: error.max(least) }
        };
        sizes.iter().enumerate().map(estimate).collect()
    }

    /// The distinct blocks of the reads given in that fulfil a condition.
    pub fn count(&self, wanted: impl Fn(&Sampled) -> bool) -> Estimate {
        self.total(|block| u64::from(wanted(block)))
    }

    /// The bytes of the distinct blocks of the reads given in.
    pub fn distinct_bytes(&self) -> Estimate {
        self.total(|block| block.size.into())
    }

    fn total(&self, of: impl Fn(&Sampled) -> u64) -> Estimate {
        let (mut sum, mut squares) = (0, 0u128);
        for (_, block) in &self.blocks {
            sum += of(block);
            squares += u128::from(of(block)).pow(2);
        }
        let variance = squares as f64 * (1.0 - self.rate);
        Estimate { value: sum as f64 / self.rate, error: variance.sqrt() / self.rate }
    }

    /// Sizes at which the curve is worth a look: an empty cache, eight for each doubling from where the sample resolves
    /// the distances, and the size from which hardly anything but first reads misses.
    pub fn sizes(&self) -> Vec<u64> {
        let Some(last) = self.flat_bytes() else { return vec![0, self.distinct_bytes().value as u64] };
        let mut sizes = vec![0];
        let mut base = 1u64 << self.resolved_bytes().max(self.smallest_bytes()).max(1).ilog2();
        while base < last {
            let step = (base / POINTS_PER_DOUBLING).max(1);
            let steps = (0..POINTS_PER_DOUBLING).map(|i| base.saturating_add(i * step));
            sizes.extend(steps.filter(|size| (self.resolved_bytes()..last).contains(size) && *size / 2 < base));
            base = base.saturating_mul(2);
        }
        sizes.push(last);
        sizes
    }

    /// The longest distance of the sample, or None where no sampled block is read twice.
    pub fn flat_bytes(&self) -> Option<u64> {
        self.whole.distances.longest().map(|distance| distance as u64)
    }

    /// Below this size of a cache the sample says nothing.
    pub fn resolved_bytes(&self) -> u64 {
        if self.unsampled() == 0.0 {
            return 0;
        }
        let sampled_bytes: u64 = self.blocks.iter().map(|(_, block)| u64::from(block.size)).sum();
        (UNRESOLVED * sampled_bytes as f64 / self.blocks.len().max(1) as f64 / self.rate) as u64
    }

    fn smallest_bytes(&self) -> u64 {
        self.blocks.iter().map(|(_, block)| block.size.into()).min().unwrap_or(1)
    }

    /// The root of the share of the blocks that aren't in the sample: the finite population correction.
    fn unsampled(&self) -> f64 {
        let rate = self.rate * self.earlier.map_or(1.0, |earlier| earlier.rate);
        (1.0 - rate).max(0.0).sqrt()
    }
}

/// The root of the variance and the squared bias of a figure, from the same figure of each group.
fn error_of(whole: f64, groups: [f64; GROUPS]) -> f64 {
    let count = GROUPS as f64;
    let mean = groups.iter().sum::<f64>() / count;
    let variance = groups.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (count * (count - 1.0));
    let bias = (mean - whole) / (count - 1.0);
    (variance + bias * bias).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shards::{group, hash, Sampler, Size};

    #[test]
    fn the_error_is_the_root_of_variance_and_squared_bias() {
        let spread = std::array::from_fn(|group| if group % 2 == 0 { 0.4 } else { 0.6 });
        let of_mean = (16.0 * 0.01 / (16.0 * 15.0f64)).sqrt();
        assert!((error_of(0.5, spread) - of_mean).abs() < 1e-12);
        assert!((error_of(0.2, [0.5; GROUPS]) - 0.3 / 15.0).abs() < 1e-12);
    }

    #[test]
    fn after_an_earlier_sampling_a_group_is_judged_by_its_own_reads() {
        // Each block is read ten times in a row, those of one group a hundred times: all miss once.
        let mut sampler = Sampler::new(Size::rate(1.0));
        let (mut references, mut blocks) = ([0; GROUPS], [0; GROUPS]);
        for block in 0..3200u64 {
            let group = group(hash(block));
            blocks[group] += 1;
            for _ in 0..if group == 3 { 100 } else { 10 } {
                references[group] += 1;
                sampler.read(hash(block), 512, 0);
            }
        }
        let mut sample = sampler.finish();
        sample.earlier = Some(Earlier { rate: 0.01, references });
        let found = sample.miss_ratios(&[1 << 30])[0];
        let whole = 3200.0 / references.iter().sum::<u64>() as f64;
        let ratios = std::array::from_fn(|group| f64::from(blocks[group]) / references[group] as f64);
        assert!((found.value - whole).abs() < 1e-12);
        assert!((found.error - 0.99f64.sqrt() * error_of(whole, ratios)).abs() < 1e-12);
    }
}
