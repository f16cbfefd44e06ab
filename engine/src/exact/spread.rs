//! Inversions between spans of places; and the reads, spread over the spans of the reads before them.

use super::amount::{Amount, Row, LANES};
use super::span::SPAN;
use crate::simd::Kernel;

/// A read: where its block was read before, and what was read since then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry<A> {
    /// The place of the read before, plus 1; 0 for none.
    pub before: u32,
    /// The block's size where bytes are counted.
    pub weight: u32,
    /// All that was read from the place before until now, as often as it was read.
    pub read: A,
}

/// The reads of a stretch of time. Room is taken for all places, but pages that are never written cost nothing.
pub struct Spread<A: Amount> {
    /// `SPAN` elements for each span: the distance, still without the inversions within the span.
    distances: Vec<A>,
    /// The place before, within the span.
    places: Vec<u16>,
    weights: Vec<u32>,
    /// How many reads each span has.
    lens: Vec<u32>,
    /// For each of these, what its reads weigh together.
    sums: Vec<A>,
    /// For each of these, what the reads of later ones weigh, of the same row of [`LANES`].
    fine: Vec<Row<A>>,
    /// For each row, what the reads of later rows weigh, of the same row of rows.
    coarse: Vec<Row<A>>,
}

/// Spans for so many places.
pub fn spans(reads: usize) -> usize {
    reads.div_ceil(SPAN)
}

impl<A: Amount> Spread<A> {
    pub fn new(reads: usize) -> Self {
        let (all, rows) = (spans(reads), spans(reads).div_ceil(LANES));
        Self {
            distances: vec![A::default(); all * SPAN],
            places: vec![0; all * SPAN],
            weights: vec![0; if A::WEIGHTED { all * SPAN } else { 0 }],
            lens: vec![0; all],
            sums: vec![A::default(); all],
            fine: vec![Row::default(); rows],
            coarse: vec![Row::default(); rows.div_ceil(LANES)],
        }
    }

    /// A span's reads, in the order of time.
    pub fn of(&self, span: usize) -> (&[A], &[u16], &[u32]) {
        let begin = span * SPAN;
        let range = begin..begin + self.lens[span] as usize;
        let weights = if A::WEIGHTED { &self.weights[range.clone()] } else { &[] };
        (&self.distances[range.clone()], &self.places[range], weights)
    }
}

/// For each stretch and span: what weighed the reads of later spans in the stretches before.
pub fn later<A: Amount>(spreads: &[Spread<A>]) -> Vec<Vec<A>> {
    let mut before = vec![A::default(); spreads.first().map_or(0, |spread| spread.sums.len())];
    let mut all = Vec::new();
    for spread in spreads {
        all.push(before.clone());
        let mut sum = A::default();
        for (span, before) in before.iter_mut().enumerate().rev() {
            *before = before.plus(sum);
            sum = sum.plus(spread.sums[span]);
        }
    }
    all
}

/// Spreads the next reads.
pub struct Spreading<'a, A: Amount> {
    pub spread: &'a mut Spread<A>,
    pub entries: &'a [Entry<A>],
}

impl<A: Amount> Kernel for Spreading<'_, A> {
    #[inline(always)]
    fn run(self) {
        let Spread { distances, places, weights, lens, sums, fine, coarse } = self.spread;
        let (distances, places, weights) = (&mut distances[..], &mut places[..], &mut weights[..]);
        let (lens, sums, fine, coarse) = (&mut lens[..], &mut sums[..], &mut fine[..], &mut coarse[..]);
        for entry in self.entries {
            let Some(before) = entry.before.checked_sub(1) else { continue };
            let span = before as usize / SPAN;
            let row = span / LANES;
            let later = fine[row].0[span % LANES].plus(coarse[row / LANES].0[row % LANES]);
            let to = span * SPAN + lens[span] as usize % SPAN;
            lens[span] += 1;
            distances[to] = entry.read.minus(later);
            places[to] = before as u16;
            if A::WEIGHTED {
                weights[to] = entry.weight;
            }
            sums[span] = sums[span].plus(A::of(entry.weight));
            fine[row].add_below(span % LANES, entry.weight);
            for rows in &mut coarse[..row / LANES] {
                rows.add_below(LANES, entry.weight);
            }
            coarse[row / LANES].add_below(row % LANES, entry.weight);
        }
    }
}
