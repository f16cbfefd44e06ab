//! What a sample says of the whole, and how far off that may be.
//!
//! # The error
//!
//! Which blocks are in the sample makes two errors. How often they are read: the groups are samples themselves, and
//! nearly independent, so that the spread of their misses gives the standard error of their mean (random groups: Wolter,
//! Introduction to Variance Estimation, 2nd ed., ch. 2). And how many of them are read between two reads of another: a
//! distance of n sampled blocks is off by its nth part times the root of n, the standard deviation of a Poisson
//! variable. So a point of the curve may in truth be that of a cache as much smaller or larger; half the difference of
//! these two is a standard error, and that of their mean from the point between them a bias. Where all blocks are
//! sampled there is no error, hence the finite population correction. Below [`UNRESOLVED`] sampled blocks all that is
//! known is that a smaller cache hits no more than a larger one, and the error says so.
//!
//! How many blocks there are is estimated by Horvitz and Thompson's sum over the sample (1952), whose variance is known.

use super::{Sampled, Tally, GROUPS};

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
    pub(super) groups: [Tally; GROUPS],
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
        self.miss_ratios_at(sizes, self.rate)
    }

    /// The same, with the errors that a sample of a smaller share of the blocks would have: of at most `rate`.
    pub fn miss_ratios_at(&self, sizes: &[u64], rate: f64) -> Vec<Estimate> {
        let references = self.references as f64;
        let groups: Vec<Vec<f64>> = self.groups.iter().map(|group| group.misses(sizes)).collect();
        let around = self.around(sizes, rate).map(|sizes| self.misses(&sizes));
        let of_group: [f64; GROUPS] = std::array::from_fn(|group| match &self.earlier {
            Some(earlier) => (earlier.references[group] as f64).max(1.0),
            None => references / GROUPS as f64,
        });
        let (smallest, resolved, unsampled) = (self.smallest_bytes(), self.resolved_at(rate), self.unsampled(rate));
        let unresolved_hits = 1.0 - (self.misses(&[resolved])[0] / references).clamp(0.0, 1.0);
        let unknown = unsampled > 0.0 && self.groups.iter().any(|group| group.first_reads == 0.0);
        let estimate = |(at, size): (usize, &u64)| {
            if *size < smallest && !unknown {
                return Estimate { value: 1.0, error: 0.0 };
            }
            let value = (groups.iter().map(|group| group[at]).sum::<f64>() / references).clamp(0.0, 1.0);
            let spread = variance_of_mean(std::array::from_fn(|group| groups[group][at] / of_group[group]));
            let [more, fewer] = [0, 1].map(|side| (around[side][at] / references).clamp(0.0, 1.0));
            let (blur, bias) = ((more - fewer) / 2.0, (more + fewer) / 2.0 - value);
            let error = unsampled * (spread * self.rate / rate + blur * blur + bias * bias).sqrt();
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

    fn misses(&self, sizes: &[u64]) -> Vec<f64> {
        let mut sums = vec![0.0; sizes.len()];
        for group in &self.groups {
            sums.iter_mut().zip(group.misses(sizes)).for_each(|(sum, misses)| *sum += misses);
        }
        sums
    }

    /// For each size, that of a cache which is smaller, and of one which is larger, by a standard deviation of how many
    /// blocks of a sample of this rate there are in it.
    fn around(&self, sizes: &[u64], rate: f64) -> [Vec<u64>; 2] {
        let each = self.bytes_per_sampled(rate);
        let off = |size: u64| (size as f64 * each).sqrt() as u64;
        [
            sizes.iter().map(|size| size.saturating_sub(off(*size))).collect(),
            sizes.iter().map(|size| size.saturating_add(off(*size))).collect(),
        ]
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
        let longest = self.groups.iter().filter_map(|group| group.distances.longest());
        longest.reduce(f64::max).map(|distance| distance as u64)
    }

    /// Below this size of a cache the sample says nothing.
    pub fn resolved_bytes(&self) -> u64 {
        self.resolved_at(self.rate)
    }

    fn resolved_at(&self, rate: f64) -> u64 {
        if self.unsampled(rate) == 0.0 {
            return 0;
        }
        (UNRESOLVED * self.bytes_per_sampled(rate)) as u64
    }

    /// What a block of a sample of this rate stands for.
    fn bytes_per_sampled(&self, rate: f64) -> f64 {
        let sampled_bytes: u64 = self.blocks.iter().map(|(_, block)| u64::from(block.size)).sum();
        sampled_bytes as f64 / self.blocks.len().max(1) as f64 / rate
    }

    fn smallest_bytes(&self) -> u64 {
        self.blocks.iter().map(|(_, block)| block.size.into()).min().unwrap_or(1)
    }

    /// The root of the share of the blocks that aren't in a sample of this rate: the finite population correction.
    fn unsampled(&self, rate: f64) -> f64 {
        let rate = rate * self.earlier.map_or(1.0, |earlier| earlier.rate);
        (1.0 - rate).max(0.0).sqrt()
    }
}

/// The variance of the mean of a figure of each group.
fn variance_of_mean(groups: [f64; GROUPS]) -> f64 {
    let count = GROUPS as f64;
    let mean = groups.iter().sum::<f64>() / count;
    groups.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (count * (count - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shards::{group, hash, Sampler, Size};

    #[test]
    fn a_mean_of_groups_varies_less_than_they_do() {
        let spread = std::array::from_fn(|group| if group % 2 == 0 { 0.4 } else { 0.6 });
        assert!((variance_of_mean(spread) - 16.0 * 0.01 / (16.0 * 15.0)).abs() < 1e-12);
        assert_eq!(variance_of_mean([0.5; GROUPS]), 0.0);
    }

    #[test]
    fn a_thinner_sample_is_further_off_by_the_root_of_that() {
        let mut sampler = Sampler::new(Size::rate(0.1));
        (0..400_000u64).for_each(|read| sampler.read(hash(hash(read) % 40_000), 1, 0));
        let sample = sampler.finish();
        let [full, quarter] = [0.1, 0.025].map(|rate| sample.miss_ratios_at(&[20_000], rate)[0]);
        let expected = 2.0 * full.error * (0.975f64 / 0.9).sqrt();
        assert!(full.value == quarter.value && (quarter.error / expected - 1.0).abs() < 0.1, "{full:?} {quarter:?}");
    }

    #[test]
    fn at_a_step_of_the_curve_the_error_is_half_the_step() {
        // A loop over 100,000 blocks, of which a thousand or so are sampled: it hits all or nothing.
        let mut sampler = Sampler::new(Size::rate(0.01));
        (0..300_000u64).for_each(|read| sampler.read(hash(read % 100_000), 1, 0));
        let found = sampler.finish().miss_ratios(&[80_000, 100_000, 120_000]);
        let errors: Vec<f64> = found.iter().map(|one| one.error).collect();
        assert!(errors[1] > 0.3 && errors[0] < 0.03 && errors[2] < 0.03, "{errors:?}");
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
        assert!((found.error - 0.99f64.sqrt() * variance_of_mean(ratios).sqrt()).abs() < 1e-12);
    }
}
