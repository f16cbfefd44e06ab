//! Hits of an LRU cache at every size, from a tally of reuse distances.

use std::sync::Arc;

use crate::exact::Tally;

/// Points of a printed curve between a size and its double.
const POINTS_PER_DOUBLING: u64 = 8;

/// The exact hits of an LRU cache that starts empty, as a function of its size in bytes or blocks.
#[derive(Clone)]
pub struct Curve {
    steps: Steps,
    references: u64,
    /// The size of all blocks together.
    distinct: u64,
}

#[derive(Clone)]
enum Steps {
    /// The hits at each multiple of `unit`.
    Dense { unit: u64, hits: Arc<Vec<u32>> },
    /// (size, hits of a cache of that size), at each size where the hits grow, in order.
    Sparse(Arc<Vec<(u64, u32)>>),
}

impl Curve {
    /// Of a trace with so many reads, first reads included, of blocks of this size together.
    pub fn new(tally: Tally, references: u64, distinct: u64) -> Self {
        let steps = match tally {
            Tally::Counts { unit, mut reads } => {
                for at in 1..reads.len() {
                    reads[at] += reads[at - 1];
                }
                Steps::Dense { unit, hits: Arc::new(reads) }
            }
            Tally::Kept(mut distances) => {
                distances.sort_unstable();
                let mut steps: Vec<(u64, u32)> = Vec::new();
                for (hits, distance) in (1..).zip(distances) {
                    match steps.last_mut().filter(|step| step.0 == distance) {
                        Some(step) => step.1 = hits,
                        None => steps.push((distance, hits)),
                    }
                }
                Steps::Sparse(Arc::new(steps))
            }
        };
        Self { steps, references, distinct }
    }

    /// The same, with sizes that are so many times as large.
    pub fn times(&self, factor: u64) -> Self {
        let steps = match &self.steps {
            Steps::Dense { unit, hits } => Steps::Dense { unit: unit * factor, hits: hits.clone() },
            Steps::Sparse(steps) => {
                Steps::Sparse(Arc::new(steps.iter().map(|(size, hits)| (size * factor, *hits)).collect()))
            }
        };
        Self { steps, references: self.references, distinct: self.distinct * factor }
    }

    /// The hits of a cache of this size.
    pub fn hits(&self, cache: u64) -> u64 {
        match &self.steps {
            Steps::Dense { unit, hits } => {
                let at = usize::try_from(cache / unit).unwrap_or(usize::MAX);
                hits.get(at).or(hits.last()).map_or(0, |hits| u64::from(*hits))
            }
            Steps::Sparse(steps) => {
                let reached = steps.partition_point(|step| step.0 <= cache);
                reached.checked_sub(1).map_or(0, |last| u64::from(steps[last].1))
            }
        }
    }

    /// The smallest cache whose misses are the first reads only, or None where no block is read twice.
    pub fn flat(&self) -> Option<u64> {
        let most = self.hits(u64::MAX);
        (most > 0).then(|| self.size_with(most))
    }

    /// The smallest cache with so many hits.
    fn size_with(&self, wanted: u64) -> u64 {
        match &self.steps {
            Steps::Dense { unit, hits } => hits.partition_point(|hits| u64::from(*hits) < wanted) as u64 * unit,
            Steps::Sparse(steps) => steps[steps.partition_point(|step| u64::from(step.1) < wanted)].0,
        }
    }

    /// Exact (cache size, miss ratio) pairs: an empty cache, eight sizes for each doubling from the shortest distance
    /// on, and the size from which only first reads miss.
    pub fn points(&self) -> Vec<(u64, f64)> {
        let miss_ratio = |size| (self.references - self.hits(size)) as f64 / self.references as f64;
        self.sizes().into_iter().map(|size| (size, miss_ratio(size))).collect()
    }

    /// (from, to, reads whose distance is more than `from` and at most `to`), between the sizes of the points.
    pub fn histogram(&self) -> Vec<(u64, u64, u64)> {
        let sizes = self.sizes();
        let ranges = sizes.windows(2).map(|pair| (pair[0], pair[1], self.hits(pair[1]) - self.hits(pair[0])));
        ranges.filter(|range| range.2 > 0).collect()
    }

    fn sizes(&self) -> Vec<u64> {
        let last = self.flat().unwrap_or(self.distinct);
        let mut sizes = vec![0];
        let mut base = if self.flat().is_some() { 1 << self.size_with(1).ilog2() } else { last };
        while base < last {
            let step = (base / POINTS_PER_DOUBLING).max(1);
            sizes.extend(
                (0..POINTS_PER_DOUBLING).map(|i| base + i * step).filter(|size| *size < last && *size < 2 * base),
            );
            base *= 2;
        }
        sizes.push(last);
        sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sparse(distances: &[u64], references: u64, distinct: u64) -> Curve {
        Curve::new(Tally::Kept(distances.to_vec()), references, distinct)
    }

    #[test]
    fn hits_grow_at_the_distances() {
        let dense = Curve::new(Tally::Counts { unit: 10, reads: vec![0, 2, 0, 1] }, 6, 30);
        for curve in [sparse(&[10, 30, 10], 6, 30), dense] {
            assert_eq!([0, 9, 10, 29, 30, u64::MAX].map(|size| curve.hits(size)), [0, 0, 2, 2, 3, 3]);
            assert_eq!(curve.flat(), Some(30));
            assert_eq!(curve.times(2).hits(59), 2);
            assert_eq!(curve.times(2).flat(), Some(60));
        }
    }

    #[test]
    fn points_run_from_an_empty_cache_to_where_the_curve_goes_flat() {
        let curve = sparse(&[16384, 1_000_000], 4, 2_000_000);
        let points = curve.points();
        assert_eq!(points.first(), Some(&(0, 1.0)));
        assert_eq!(points[1], (16384, 0.75));
        assert_eq!(points.last(), Some(&(1_000_000, 0.5)));
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 >= pair[1].1));
        assert_eq!(curve.histogram(), [(0, 16384, 1), (983_040, 1_000_000, 1)]);
    }

    #[test]
    fn without_a_second_read_nothing_hits() {
        for curve in [sparse(&[], 5, 80), Curve::new(Tally::Counts { unit: 16, reads: vec![0; 6] }, 5, 80)] {
            assert_eq!((curve.hits(u64::MAX), curve.flat()), (0, None));
            assert_eq!(curve.points(), [(0, 1.0), (80, 1.0)]);
            assert_eq!(curve.histogram(), []);
        }
    }
}
