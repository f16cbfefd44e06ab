//! Inversions between spans of places.

use super::amount::Amount;
use super::rows::{Above, Row, LANES, SLOTS};
use super::span::SPAN;
use super::spread::{Entry, BATCH};

/// What was read again so far, by the span of the read before.
pub trait Spans<A: Amount>: Send + Sync {
    fn new(spans: usize) -> Self;
    /// Adds reads, at most [`BATCH`], and takes from what was read since then what weigh those of later spans.
    fn add(&mut self, entries: &mut [Entry<A>]);
}

/// Counts reads.
pub struct Counts {
    /// For each span, the reads of later ones, but the latest.
    settled: Vec<u32>,
    /// The latest, in groups of [`SLOTS`] spans.
    groups: Vec<Above>,
    /// For each group, the latest of later ones.
    later: Vec<u32>,
    latest: usize,
}

impl Counts {
    #[cold]
    fn settle(&mut self) {
        for ((spans, group), later) in self.settled.chunks_mut(SLOTS).zip(&self.groups).zip(&self.later) {
            for (slot, settled) in spans.iter_mut().enumerate() {
                *settled += group.of(slot) + later;
            }
        }
        self.groups.fill(Above::default());
        self.later.fill(0);
        self.latest = 0;
    }
}

impl Spans<u32> for Counts {
    fn new(spans: usize) -> Self {
        let groups = spans.div_ceil(SLOTS);
        Self { settled: vec![0; spans], groups: vec![Above::default(); groups], later: vec![0; groups], latest: 0 }
    }

    #[inline(always)]
    fn add(&mut self, entries: &mut [Entry<u32>]) {
        if self.latest + BATCH > u16::MAX.into() {
            self.settle();
        }
        self.latest += entries.len();
        let group_of = |entry: &Entry<u32>| entry.span() / SLOTS;
        for entries in entries.chunk_by_mut(|one, other| group_of(one) == group_of(other)) {
            let group = group_of(&entries[0]);
            let (mut above, later) = (self.groups[group].adding(), self.later[group]);
            for entry in &mut *entries {
                let found = self.settled[entry.span()] + later + above.add(entry.span() % SLOTS);
                entry.read = entry.read.minus(found);
            }
            self.later[..group].iter_mut().for_each(|later| *later += entries.len() as u32);
        }
    }
}

/// Sums bytes.
pub struct Bytes {
    /// For each span, what the reads of later ones weigh, of the same row of [`LANES`].
    fine: Vec<Row<u64>>,
    /// For each row, what the reads of later rows weigh, of the same row of rows.
    coarse: Vec<Row<u64>>,
}

impl Spans<u64> for Bytes {
    fn new(spans: usize) -> Self {
        let rows = spans.div_ceil(LANES);
        Self { fine: vec![Row::default(); rows], coarse: vec![Row::default(); rows.div_ceil(LANES)] }
    }

    #[inline(always)]
    fn add(&mut self, entries: &mut [Entry<u64>]) {
        for entry in entries {
            let (span, weight) = (entry.span(), u64::from(entry.weight));
            let (row, top) = (span / LANES, span / LANES / LANES);
            let later = self.fine[row].0[span % LANES].plus(self.coarse[top].0[row % LANES]);
            entry.read = entry.read.minus(later);
            self.fine[row].add_below(span % LANES, weight);
            for rows in &mut self.coarse[..top] {
                rows.add_below(LANES, weight);
            }
            self.coarse[top].add_below(row % LANES, weight);
        }
    }
}

/// Spans for so many places.
pub fn spans(reads: usize) -> usize {
    reads.div_ceil(SPAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds sums over more than two groups of spans against plain ones: first all over, and then many in few spans, of
    /// which more than 16 bits count come after the first.
    fn hold_against_plain_sums<A: Amount + PartialEq + std::fmt::Debug>(weight: impl Fn(u32) -> A::Weight) {
        let all = 2 * SLOTS + 300;
        let (mut spans, mut plain) = (A::Spans::new(all), vec![A::default(); all]);
        let mut state = 1u64;
        for batch in 0..200 {
            let mut drawn = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let span = if batch < 100 { (state >> 40) as usize % all } else { (state >> 60) as usize * 60 };
                Entry { before: (span * SPAN) as u32, weight: weight((state >> 50) as u32), read: A::default() }
            };
            let mut entries: Vec<Entry<A>> = (0..BATCH).map(|_| drawn()).collect();
            spans.add(&mut entries);
            for (at, entry) in entries.iter().enumerate() {
                if at % 97 == 0 {
                    let later = plain[entry.span() + 1..].iter().fold(A::default(), |sum, of_span| sum.plus(*of_span));
                    assert_eq!(entry.read, A::default().minus(later));
                }
                plain[entry.span()] = plain[entry.span()].plus(A::of(entry.weight));
            }
        }
    }

    #[test]
    fn later_spans_weigh_what_plain_sums_say() {
        hold_against_plain_sums::<u32>(|_| ());
        hold_against_plain_sums::<u64>(|weight| weight);
    }
}
