//! The miss-ratio curve of one file alone, in the memory of its own reads.
//!
//! A distance is found as in [`crate::stack`]. But the reads are known beforehand, and blocks keep their size: so each
//! read has a slot of its own, and nothing is ever moved. Distances are counted by the points of the curve at once.

use std::hint::black_box;

/// Points of the curve between a size and its double, as many as those of [`crate::curve`].
const POINTS: u64 = 8;
/// Reads whose memory is asked for at once.
const BATCH: usize = 256;
/// Sums that one sum of the next level covers.
const FAN: usize = 64;

/// Counts the distances of a sequence of reads by the points of the curve.
pub struct OwnCurve {
    /// Reads by the first point that is at least their distance.
    counts: Vec<u64>,
    shortest: u64,
    longest: u64,
    references: u64,
    distinct_bytes: u64,
}

impl OwnCurve {
    /// The blocks of `sequence` are numbered from 0 in the order of their first reads; `sizes` are theirs.
    pub fn new(sequence: &[u32], sizes: &[u32]) -> Self {
        let mut curve = Self {
            counts: vec![0; 64 * POINTS as usize],
            shortest: u64::MAX,
            longest: 0,
            references: sequence.len() as u64,
            distinct_bytes: 0,
        };
        let mut stack = Slots::new(sequence.len());
        let mut slot_of = vec![0u32; sizes.len()];
        let mut before = [0u32; BATCH];
        let mut seen = 0;
        for (start, batch) in (0..).step_by(BATCH).zip(sequence.chunks(BATCH)) {
            for ((at, block), before) in (start..).zip(batch).zip(&mut before) {
                *before = std::mem::replace(&mut slot_of[*block as usize], at);
            }
            black_box(before[..batch.len()].iter().fold(0, |all, slot| all ^ stack.sizes[*slot as usize]));
            for ((at, block), before) in (start..).zip(batch).zip(before) {
                let size = sizes[*block as usize];
                if *block == seen {
                    seen += 1;
                    curve.distinct_bytes += u64::from(size);
                } else {
                    curve.add(curve.distinct_bytes - stack.below(before as usize));
                    stack.take(before as usize);
                }
                stack.put(at as usize, size);
            }
        }
        curve
    }

    fn add(&mut self, distance: u64) {
        self.shortest = self.shortest.min(distance);
        self.longest = self.longest.max(distance);
        self.counts[point_from(distance)] += 1;
    }

    /// (cache bytes, miss ratio), exact: the same sizes as [`crate::curve::Curve::points`] has.
    pub fn points(&self) -> Vec<(u64, f64)> {
        let last = if self.longest == 0 { self.distinct_bytes } else { self.longest };
        let first = if self.longest == 0 { last } else { 1 << self.shortest.ilog2() };
        let mut points = vec![(0, 1.0)];
        let mut misses = self.references;
        for (at, count) in self.counts.iter().enumerate().skip(point_from(first)) {
            let Some(size) = size_at(at) else { continue };
            misses -= count;
            if size >= last {
                misses = self.references - self.counts.iter().sum::<u64>();
                points.push((last, misses as f64 / self.references as f64));
                break;
            }
            points.push((size, misses as f64 / self.references as f64));
        }
        points
    }
}

/// The number of the smallest point that isn't below this size, which is from 1 to 2^60.
fn point_from(size: u64) -> usize {
    let doublings = size.ilog2();
    let floor = u64::from(doublings) * POINTS + ((size * POINTS) >> doublings) % POINTS;
    let beyond = (size * POINTS) & ((1 << doublings) - 1) != 0;
    (floor + u64::from(beyond)) as usize
}

/// The size of a point; None where sizes are too small for that many between them.
fn size_at(point: usize) -> Option<u64> {
    let (doublings, eighths) = (point as u64 / POINTS, point as u64 % POINTS);
    let scaled = (POINTS + eighths) << doublings;
    (scaled & (POINTS - 1) == 0).then_some(scaled / POINTS)
}

/// Sizes in the order of the reads, 0 where a block was read again later, and sums over them at several levels.
struct Slots {
    sizes: Vec<u32>,
    /// Each level sums [`FAN`] entries of the one before.
    levels: Vec<Vec<u64>>,
}

impl Slots {
    fn new(slots: usize) -> Self {
        let mut levels = Vec::new();
        let mut sums = slots.div_ceil(FAN);
        loop {
            levels.push(vec![0; sums]);
            if sums <= FAN {
                return Self { sizes: vec![0; slots], levels };
            }
            sums = sums.div_ceil(FAN);
        }
    }

    fn put(&mut self, slot: usize, size: u32) {
        self.sizes[slot] = size;
        let mut at = slot;
        for level in &mut self.levels {
            at /= FAN;
            level[at] += u64::from(size);
        }
    }

    fn take(&mut self, slot: usize) {
        let size = std::mem::take(&mut self.sizes[slot]);
        let mut at = slot;
        for level in &mut self.levels {
            at /= FAN;
            level[at] -= u64::from(size);
        }
    }

    /// The sum of the sizes before a slot.
    fn below(&self, slot: usize) -> u64 {
        let sizes = &self.sizes[slot / FAN * FAN..slot];
        let mut sum: u64 = sizes.iter().map(|size| u64::from(*size)).sum();
        let mut at = slot;
        for level in &self.levels {
            at /= FAN;
            sum += level[at / FAN * FAN..at].iter().sum::<u64>();
        }
        sum
    }
}
