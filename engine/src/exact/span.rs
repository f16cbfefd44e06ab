//! Inversions within a span of places, in tables that fit the first cache (for bytes, the second).

use super::amount::{Amount, Row, BELOW_16, LANES};
use crate::simd::Kernel;

/// Places of a span: they are numbered by 16 bits.
pub const SPAN: usize = 1 << 16;

/// The places of a span that were read again so far.
pub trait Counter<A>: Default {
    /// Adds a place, which is in there for the first time, and gives what weigh the later ones.
    fn add(&mut self, place: u16, weight: u32) -> A;
}

/// Counts places: a bit for each, and sums over words of bits, in two steps.
pub struct Bitmap {
    words: [u64; SPAN / 64],
    /// For each word, the bits in later words of its row.
    fine: [[u16; LANES]; SPAN / 64 / LANES],
    /// For each row, the bits in later rows.
    coarse: [u16; LANES],
}

impl Default for Bitmap {
    fn default() -> Self {
        Self { words: [0; SPAN / 64], fine: [[0; LANES]; SPAN / 64 / LANES], coarse: [0; LANES] }
    }
}

impl Counter<u32> for Bitmap {
    #[inline(always)]
    fn add(&mut self, place: u16, _weight: u32) -> u32 {
        let word = usize::from(place) / 64;
        let (row, lane) = (word / LANES, word % LANES);
        let bit = place % 64;
        let here = (self.words[word] >> bit).count_ones();
        let later = u32::from(self.fine[row][lane]) + u32::from(self.coarse[row]);
        self.words[word] |= 1 << bit;
        add_one_below(&mut self.fine[row], lane);
        add_one_below(&mut self.coarse, row);
        here + later
    }
}

#[inline(always)]
fn add_one_below(row: &mut [u16; LANES], lane: usize) {
    let mut sums = *row;
    for (sum, below) in sums.iter_mut().zip(&BELOW_16.0[lane]) {
        *sum = sum.wrapping_sub(*below);
    }
    *row = sums;
}

/// Sums weights: over the places of a row, over rows, and over rows of rows.
pub struct Sums {
    /// For each place, what weigh the later ones of its row: at most 32 blocks of 16 MiB.
    places: Vec<[u32; LANES]>,
    /// For each row of places, what weigh the later ones of its row of rows.
    fine: [Row<u64>; SPAN / LANES / LANES],
    /// For each row of rows, what weigh the later ones of its half.
    coarse: [Row<u64>; 2],
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            places: vec![[0; LANES]; SPAN / LANES],
            fine: [Row::default(); SPAN / LANES / LANES],
            coarse: [Row::default(); 2],
        }
    }
}

impl Counter<u64> for Sums {
    #[inline(always)]
    fn add(&mut self, place: u16, weight: u32) -> u64 {
        let (row, lane) = (usize::from(place) / LANES, usize::from(place) % LANES);
        let (top, half) = (row / LANES, row / LANES / LANES);
        let places = &mut self.places[row];
        let here = u64::from(places[lane]);
        let later = self.fine[top].0[row % LANES].plus(self.coarse[half].0[top % LANES]);
        let mut sums = *places;
        for (sum, below) in sums.iter_mut().zip(u32::below(lane)) {
            *sum += weight & below;
        }
        *places = sums;
        self.fine[top].add_below(row % LANES, weight);
        self.coarse[half].add_below(top % LANES, weight);
        if half == 1 {
            self.coarse[0].add_below(LANES, weight);
        }
        here.plus(later)
    }
}

/// Completes the distances of a span's reads.
pub struct Counting<'a, A: Amount> {
    pub counter: &'a mut A::Counter,
    /// Distances without the inversions within the span, places and weights, in the order of time.
    pub reads: (&'a [A], &'a [u16], &'a [u32]),
    /// What weighed the reads of later spans before all of these.
    pub later: A,
    pub distances: &'a mut Vec<A>,
}

impl<A: Amount> Kernel for Counting<'_, A> {
    #[inline(always)]
    fn run(self) {
        let (distances, places, weights) = self.reads;
        let (counter, later) = (self.counter, self.later);
        // In plain loops: what an iterator's fold calls would be compiled for any processor.
        self.distances.resize(distances.len(), A::default());
        let reads = self.distances.iter_mut().zip(distances).zip(places);
        if A::WEIGHTED {
            for (((whole, distance), place), weight) in reads.zip(weights) {
                *whole = distance.minus(later).minus(counter.add(*place, *weight));
            }
        } else {
            for ((whole, distance), place) in reads {
                *whole = distance.minus(later).minus(counter.add(*place, 1));
            }
        }
    }
}
