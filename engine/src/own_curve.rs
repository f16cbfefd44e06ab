//! The miss-ratio curve of one file alone, in the memory of its own reads.
//!
//! A distance is found as in [`crate::stack`]. But the reads are known beforehand, and blocks keep their size: so each
//! read has a slot of its own, and nothing is ever moved. Distances are counted by the points of the curve at once.

use std::hint::black_box;

use crate::lru::Sizes;

/// Points of the curve between a size and its double, as many as those of [`crate::curve`].
const POINTS: u64 = 8;
/// Reads whose memory is asked for at once.
const BATCH: usize = 256;
/// Weights that one sum covers.
const SLOTS: usize = 64;
/// Sums that one sum of the next level covers.
const FAN: usize = 16;

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
    pub fn new(sequence: &[u32], blocks: usize, sizes: &Sizes) -> Self {
        match sizes {
            Sizes::Same(size) => Self::count::<u64>(sequence, blocks, |_| 1, u64::from(*size)),
            Sizes::Each(sizes) => Self::count::<Weights>(sequence, blocks, |block| sizes[block as usize], 1),
        }
    }

    /// Counts with weights that are sizes in units of `unit` bytes.
    fn count<G: Group>(sequence: &[u32], blocks: usize, weight: impl Fn(u32) -> u32, unit: u64) -> Self {
        let mut curve = Self {
            counts: vec![0; 64 * POINTS as usize],
            shortest: u64::MAX,
            longest: 0,
            references: sequence.len() as u64,
            distinct_bytes: 0,
        };
        let mut stack = Slots::<G>::new(sequence.len());
        let mut slot_of = vec![0u32; blocks];
        let mut before = [0u32; BATCH];
        let mut seen = 0;
        let mut total = 0;
        for (start, batch) in (0..).step_by(BATCH).zip(sequence.chunks(BATCH)) {
            for ((at, block), before) in (start..).zip(batch).zip(&mut before) {
                *before = std::mem::replace(&mut slot_of[*block as usize], at);
            }
            stack.warm(&before[..batch.len()]);
            for ((at, block), before) in (start..).zip(batch).zip(before) {
                if *block == seen {
                    seen += 1;
                    total += u64::from(weight(*block));
                } else {
                    curve.add((total - stack.take(before as usize)) * unit);
                }
                stack.put(at as usize, weight(*block));
            }
        }
        curve.distinct_bytes = total * unit;
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

/// The weights of [`SLOTS`] reads that follow each other.
trait Group: Copy + Default {
    fn put(&mut self, slot: usize, weight: u32);
    /// Empties a slot, and gives its weight and the sum of those before it.
    fn take(&mut self, slot: usize) -> (u64, u64);
}

/// All weights are 1.
impl Group for u64 {
    fn put(&mut self, slot: usize, _: u32) {
        *self |= 1 << slot;
    }

    fn take(&mut self, slot: usize) -> (u64, u64) {
        *self ^= 1 << slot;
        (1, u64::from((*self & ((1 << slot) - 1)).count_ones()))
    }
}

/// Sizes of blocks, at most 2^24, so that a sum fits.
impl Group for Weights {
    fn put(&mut self, slot: usize, weight: u32) {
        self.0[slot] = weight;
    }

    fn take(&mut self, slot: usize) -> (u64, u64) {
        let weight = std::mem::take(&mut self.0[slot]);
        let before = self.0.iter().zip(0..).map(|(weight, at)| if at < slot as u32 { *weight } else { 0 });
        (u64::from(weight), u64::from(before.sum::<u32>()))
    }
}

#[derive(Clone, Copy)]
struct Weights([u32; SLOTS]);

impl Default for Weights {
    fn default() -> Self {
        Self([0; SLOTS])
    }
}

/// Weights in the order of the reads, 0 where a block was read again later, and sums over them at several levels.
///
/// Each group is summed as a whole, with a mask: a loop up to the slot would end where the processor can't foresee it.
struct Slots<G> {
    groups: Vec<G>,
    /// The first level sums groups, each other one the level before.
    levels: Vec<Vec<[u64; FAN]>>,
}

impl<G: Group> Slots<G> {
    fn new(slots: usize) -> Self {
        let groups = vec![G::default(); slots.div_ceil(SLOTS)];
        let mut levels = Vec::new();
        let mut sums = groups.len();
        while levels.is_empty() || sums > 1 {
            sums = sums.div_ceil(FAN);
            levels.push(vec![[0; FAN]; sums]);
        }
        Self { groups, levels }
    }

    fn put(&mut self, slot: usize, weight: u32) {
        self.groups[slot / SLOTS].put(slot % SLOTS, weight);
        let mut at = slot / SLOTS;
        for level in &mut self.levels {
            level[at / FAN][at % FAN] += u64::from(weight);
            at /= FAN;
        }
    }

    /// Empties a slot, and gives the sum of the weights before it.
    fn take(&mut self, slot: usize) -> u64 {
        let (weight, mut sum) = self.groups[slot / SLOTS].take(slot % SLOTS);
        let mut at = slot / SLOTS;
        for level in &mut self.levels {
            let (group, at_in_group) = (&mut level[at / FAN], at % FAN);
            group[at_in_group] -= weight;
            sum += group.iter().zip(&BEFORE[at_in_group]).map(|(sum, mask)| sum & mask).sum::<u64>();
            at /= FAN;
        }
        sum
    }

    /// Loads what [`Self::take`] of these slots will need, so that the processor waits for many of them at once.
    fn warm(&self, slots: &[u32]) {
        let sums = &self.levels[0];
        black_box(slots.iter().fold(0, |all, slot| all ^ sums[*slot as usize / SLOTS / FAN][0]));
    }
}

/// For each place in a group, a mask of the places before it.
const BEFORE: [[u64; FAN]; FAN] = {
    let mut masks = [[0; FAN]; FAN];
    let mut at = 0;
    while at < FAN * FAN {
        masks[at / FAN][at % FAN] = if at % FAN < at / FAN { u64::MAX } else { 0 };
        at += 1;
    }
    masks
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Curve;
    use crate::exact::Tally;
    use crate::stack::ByteStack;
    use std::num::NonZeroU32;

    /// Reads that come back after any time, over many levels of sums.
    fn sequence(reads: usize) -> Vec<u32> {
        let mut random = 1u64;
        let mut seen = 0;
        let mut next = |at: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let block = ((random >> 33) as u32 % (20 + at as u32 / 7)).min(seen);
            seen = seen.max(block + 1);
            block
        };
        (0..reads).map(&mut next).collect()
    }

    fn check(sizes: &[u32], sequence: &[u32]) {
        let (mut stack, mut distances) = (ByteStack::default(), Vec::new());
        for block in sequence {
            distances.extend(stack.read(*block as usize, NonZeroU32::new(sizes[*block as usize]).unwrap()));
        }
        let expected = Curve::new(Tally::Kept(distances), sequence.len() as u64, stack.distinct_bytes()).points();
        let found = OwnCurve::new(sequence, sizes.len(), &Sizes::from(sizes.to_vec()));
        assert_eq!(found.points(), expected);
    }

    #[test]
    fn equals_the_curve_of_the_stack() {
        let sequence = sequence(70_000);
        let blocks = *sequence.iter().max().unwrap() + 1;
        check(&vec![16384; blocks as usize], &sequence);
        check(&vec![3; blocks as usize], &sequence);
        check(&(0..blocks).map(|block| 512 << (block % 6)).collect::<Vec<_>>(), &sequence);
        check(&(0..blocks).map(|block| 1 + block % 5).collect::<Vec<_>>(), &sequence);
        check(&[16 << 20, 1], &[0, 1, 0, 1, 1]);
        check(&[7], &[0]);
    }

    #[test]
    fn points_are_numbered_by_size() {
        for size in 1..5000 {
            let point = point_from(size);
            assert!(size_at(point).is_some_and(|reached| reached >= size));
            let below = (0..point).rev().find_map(size_at);
            assert!(below < Some(size), "{size}");
        }
        assert_eq!([1, 2, 3, 16, 17, 18].map(|size| size_at(point_from(size))), [1, 2, 3, 16, 18, 18].map(Some));
    }
}
