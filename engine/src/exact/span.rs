//! Inversions within a span of places, in tables that fit the first cache (for bytes, the second).

use super::amount::Amount;
use super::rows::{Above, Row, LANES, SLOTS};
use crate::simd::Kernel;

/// Places of a span: they are numbered by 16 bits.
pub const SPAN: usize = 1 << 16;

/// The places of a span that were read again so far.
pub trait Counter<A: Amount>: Default {
    /// Adds places, which are in there for the first time, and takes from each read's distance what weigh the later ones.
    fn add(&mut self, places: &[u16], weights: &[A::Weight], distances: &mut [A]);
}

/// Counts places: a bit for each, and sums over words of bits.
pub struct Bitmap {
    words: [u64; SLOTS],
    above: Above,
}

impl Default for Bitmap {
    fn default() -> Self {
        Self { words: [0; SLOTS], above: Above::default() }
    }
}

impl Counter<u32> for Bitmap {
    #[inline(always)]
    fn add(&mut self, places: &[u16], _weights: &[()], distances: &mut [u32]) {
        let mut above = self.above.adding();
        // In a plain loop: what an iterator's fold calls would be compiled for any processor.
        for (place, distance) in places.iter().zip(distances) {
            let (slot, bit) = (usize::from(*place) / 64, place % 64);
            let word = &mut self.words[slot];
            *distance = distance.minus((*word >> bit).count_ones()).minus(above.add(slot));
            *word |= 1 << bit;
        }
    }
}

/// Sums weights: over the places of a row, over rows, and over rows of rows.
pub struct Sums {
    /// For each place, what weigh the later ones of its row: at most 32 blocks of 16 MiB.
    places: Vec<Row<u32>>,
    /// For each row of places, what weigh the later ones of its row of rows.
    fine: [Row<u64>; SPAN / LANES / LANES],
    /// For each row of rows, what weigh the later ones of its half.
    coarse: [Row<u64>; 2],
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            places: vec![Row::default(); SPAN / LANES],
            fine: [Row::default(); SPAN / LANES / LANES],
            coarse: [Row::default(); 2],
        }
    }
}

impl Counter<u64> for Sums {
    #[inline(always)]
    fn add(&mut self, places: &[u16], weights: &[u32], distances: &mut [u64]) {
        for ((place, weight), distance) in places.iter().zip(weights).zip(distances) {
            let (row, lane) = (usize::from(*place) / LANES, usize::from(*place) % LANES);
            let (top, half) = (row / LANES, row / LANES / LANES);
            let here = u64::from(self.places[row].0[lane]);
            let later = self.fine[top].0[row % LANES].plus(self.coarse[half].0[top % LANES]);
            *distance = distance.minus(here).minus(later);
            self.places[row].add_below(lane, *weight);
            self.fine[top].add_below(row % LANES, u64::from(*weight));
            self.coarse[half].add_below(top % LANES, u64::from(*weight));
            if half == 1 {
                self.coarse[0].add_below(LANES, u64::from(*weight));
            }
        }
    }
}

/// Completes the distances of a span's reads.
pub struct Counting<'a, A: Amount> {
    pub counter: &'a mut A::Counter,
    /// In the order of time.
    pub places: &'a [u16],
    pub weights: &'a [A::Weight],
    /// At first without the inversions within the span.
    pub distances: &'a mut [A],
}

impl<A: Amount> Kernel for Counting<'_, A> {
    #[inline(always)]
    fn run(self) {
        self.counter.add(self.places, self.weights, self.distances);
    }
}
