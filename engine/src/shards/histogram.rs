//! A histogram of distances that needs the same memory whatever comes.

/// Mantissa bits that tell buckets apart: 128 buckets between a distance and its double.
const BITS: u32 = 7;
const SHIFT: u32 = f64::MANTISSA_DIGITS - 1 - BITS;
/// The bucket of a distance of 1.
const FIRST: usize = 1.0f64.to_bits() as usize >> SHIFT;
/// Distances from 2^64 on are counted as if just below.
const BUCKETS: usize = 64 << BITS;

/// How much weight lies at which distance in bytes, from 1 on. A bucket is 0.8 % of its distance wide, or less; its
/// upper edge belongs to it, as a cache of that size hits.
#[derive(Clone, Default)]
pub struct Histogram {
    /// Up to the last that isn't empty.
    weights: Vec<f64>,
}

impl Histogram {
    pub fn add(&mut self, distance: f64, weight: f64) {
        let bucket = ((distance.max(1.0).to_bits() - 1) as usize >> SHIFT).saturating_sub(FIRST).min(BUCKETS - 1);
        if bucket >= self.weights.len() {
            self.weights.resize(bucket + 1, 0.0);
        }
        self.weights[bucket] += weight;
    }

    /// The weight at distances above each of these sizes, which rise. Within a bucket it is taken to be spread evenly.
    pub fn above(&self, sizes: &[u64]) -> Vec<f64> {
        let mut above = Vec::with_capacity(sizes.len());
        let mut sum = 0.0;
        let mut next = self.weights.len();
        for size in sizes.iter().rev() {
            let size = *size as f64;
            while next > 0 && edge(next - 1) >= size {
                next -= 1;
                sum += self.weights[next];
            }
            let part = match next.checked_sub(1) {
                Some(within) if size < edge(next) => {
                    self.weights[within] * (edge(next) - size) / (edge(next) - edge(within))
                }
                _ => 0.0,
            };
            above.push(sum + part);
        }
        above.reverse();
        above
    }

    /// The upper edge of the last bucket with weight in it.
    pub fn longest(&self) -> Option<f64> {
        (!self.weights.is_empty()).then(|| edge(self.weights.len()))
    }
}

/// Where a bucket begins.
fn edge(bucket: usize) -> f64 {
    f64::from_bits(((bucket + FIRST) as u64) << SHIFT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weight_lies_above_smaller_sizes() {
        let mut histogram = Histogram::default();
        for (distance, weight) in [(1.0, 1.0), (1000.0, 2.0), (1e6, 4.0), (1e300, 8.0)] {
            histogram.add(distance, weight);
        }
        assert_eq!(histogram.above(&[0, 2, 990, 1010, 1_010_000]), [15.0, 14.0, 14.0, 12.0, 8.0]);
        assert_eq!(histogram.longest(), Some(2f64.powi(64)));
    }

    #[test]
    fn within_a_bucket_weight_is_spread_evenly() {
        let mut histogram = Histogram::default();
        histogram.add(1032.0, 1.0);
        assert_eq!(histogram.above(&[1024, 1026, 1028, 1030, 1032]), [1.0, 0.75, 0.5, 0.25, 0.0]);
    }
}
