//! Hits of an LRU cache at every size, from a histogram of reuse distances.

use crate::hash::FastMap;

/// Points of a printed curve between a size and its double.
const POINTS_PER_DOUBLING: u64 = 8;

/// Counts reuse distances as they come.
///
/// The distances that occur are at most as many as the reads; where all blocks have the same size, at most as many as
/// the distinct blocks.
#[derive(Default)]
pub struct Distances {
    reads_at: FastMap<u64, u64>,
}

impl Distances {
    /// Counts a read at this distance in bytes.
    pub fn add(&mut self, distance_bytes: u64) {
        *self.reads_at.entry(distance_bytes).or_default() += 1;
    }

    /// The curve of a trace with this many reads, first reads included.
    pub fn curve(&self, references: u64, distinct_bytes: u64) -> Curve {
        let mut steps: Vec<(u64, u64)> = self.reads_at.iter().map(|(distance, reads)| (*distance, *reads)).collect();
        steps.sort_unstable();
        let mut hits = 0;
        for step in &mut steps {
            hits += step.1;
            step.1 = hits;
        }
        Curve { steps, references, distinct_bytes }
    }
}

/// The exact hits of an LRU byte cache, as a function of its size.
pub struct Curve {
    /// (cache bytes, hits of a cache of that size), at each size where the hits grow, in order.
    steps: Vec<(u64, u64)>,
    references: u64,
    distinct_bytes: u64,
}

impl Curve {
    /// The hits of a cache of this size that starts empty.
    pub fn hits(&self, cache_bytes: u64) -> u64 {
        let reached = self.steps.partition_point(|step| step.0 <= cache_bytes);
        reached.checked_sub(1).map_or(0, |last| self.steps[last].1)
    }

    /// The smallest cache whose misses are the first reads only, or None where no block is read twice.
    pub fn flat_bytes(&self) -> Option<u64> {
        self.steps.last().map(|step| step.0)
    }

    /// Exact (cache bytes, miss ratio) pairs: an empty cache, eight sizes for each doubling from the shortest distance
    /// on, and the size from which only first reads miss.
    pub fn points(&self) -> Vec<(u64, f64)> {
        let last = self.flat_bytes().unwrap_or(self.distinct_bytes);
        let mut sizes = vec![0];
        let mut base = self.steps.first().map_or(last, |step| 1 << step.0.ilog2());
        while base < last {
            let step = (base / POINTS_PER_DOUBLING).max(1);
            sizes.extend(
                (0..POINTS_PER_DOUBLING).map(|i| base + i * step).filter(|size| *size < last && *size < 2 * base),
            );
            base *= 2;
        }
        sizes.push(last);
        sizes.into_iter().map(|size| (size, self.miss_ratio(size))).collect()
    }

    fn miss_ratio(&self, cache_bytes: u64) -> f64 {
        (self.references - self.hits(cache_bytes)) as f64 / self.references as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(distances: &[u64], references: u64, distinct_bytes: u64) -> Curve {
        let mut counted = Distances::default();
        distances.iter().for_each(|distance| counted.add(*distance));
        counted.curve(references, distinct_bytes)
    }

    #[test]
    fn hits_grow_at_the_distances() {
        let curve = curve(&[10, 30, 10], 6, 30);
        assert_eq!([0, 9, 10, 29, 30, u64::MAX].map(|size| curve.hits(size)), [0, 0, 2, 2, 3, 3]);
        assert_eq!(curve.flat_bytes(), Some(30));
    }

    #[test]
    fn points_run_from_an_empty_cache_to_where_the_curve_goes_flat() {
        let points = curve(&[16384, 1_000_000], 4, 2_000_000).points();
        assert_eq!(points.first(), Some(&(0, 1.0)));
        assert_eq!(points[1], (16384, 0.75));
        assert_eq!(points.last(), Some(&(1_000_000, 0.5)));
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 >= pair[1].1));
    }

    #[test]
    fn without_a_second_read_nothing_hits() {
        let curve = curve(&[], 5, 80);
        assert_eq!((curve.hits(u64::MAX), curve.flat_bytes()), (0, None));
        assert_eq!(curve.points(), [(0, 1.0), (80, 1.0)]);
    }
}
