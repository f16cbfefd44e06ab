//! Reads, spread over the spans of the reads before them.

use super::amount::Amount;
use super::span::SPAN;
use super::spans::{spans, Spans};
use crate::simd::{Kernel, Level};

/// Entries that are handed on at once: they stay in the first cache.
pub const BATCH: usize = 1024;
/// Reads of a span that are kept together.
const PIECE: usize = 1 << 13;

/// A read of a block that was read before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry<A: Amount> {
    /// The place of the read before.
    pub before: u32,
    pub weight: A::Weight,
    /// All that was read from the place before until now, as often as it was read.
    pub read: A,
}

impl<A: Amount> Entry<A> {
    #[inline(always)]
    pub fn span(&self) -> usize {
        self.before as usize / SPAN
    }
}

/// Memory for reads.
struct Piece<'a, A: Amount> {
    /// The distance, still without the inversions within the span.
    distances: &'a mut [A; PIECE],
    /// The place before, within the span.
    places: &'a mut [u16; PIECE],
    weights: &'a mut [A::Weight; PIECE],
}

fn pieces<'a, A: Amount>(
    distances: &'a mut [A],
    places: &'a mut [u16],
    weights: &'a mut [A::Weight],
) -> impl Iterator<Item = Piece<'a, A>> {
    let (distances, places) = (distances.chunks_exact_mut(PIECE), places.chunks_exact_mut(PIECE));
    distances.zip(places).zip(weights.chunks_exact_mut(PIECE)).filter_map(|((distances, places), weights)| {
        let (distances, places, weights) = (distances.try_into(), places.try_into(), weights.try_into());
        Some(Piece { distances: distances.ok()?, places: places.ok()?, weights: weights.ok()? })
    })
}

/// Memory for all reads, of which each span may leave a piece unfilled. Pages that are never written cost nothing.
pub struct Room<A: Amount> {
    distances: Vec<A>,
    places: Vec<u16>,
    weights: Vec<A::Weight>,
}

impl<A: Amount> Room<A> {
    pub fn new(reads: usize) -> Self {
        let all = (reads / PIECE + spans(reads)) * PIECE;
        Self { distances: vec![A::default(); all], places: vec![0; all], weights: vec![A::Weight::default(); all] }
    }
}

/// The reads of a stretch of time.
pub struct Spread<'a, A: Amount> {
    pieces: Vec<Piece<'a, A>>,
    /// Those that aren't taken yet; the last is the next.
    free: Vec<Piece<'a, A>>,
    /// For each span: its pieces, and where its next read goes, counted over all pieces.
    of_span: Vec<Vec<usize>>,
    next: Vec<usize>,
    spans: A::Spans,
    level: Level,
}

impl<'a, A: Amount> Spread<'a, A> {
    /// For stretches of so many reads together, and in room for these.
    pub fn new(reads: usize, room: &'a mut Room<A>, level: Level) -> Self {
        let all = spans(reads);
        let mut free: Vec<_> = pieces(&mut room.distances, &mut room.places, &mut room.weights).collect();
        free.reverse();
        let spans = A::Spans::new(all);
        Self { pieces: Vec::new(), free, of_span: vec![Vec::new(); all], next: vec![0; all], spans, level }
    }

    /// Spreads the next reads, at most [`BATCH`].
    pub fn add(&mut self, entries: &mut [Entry<A>]) {
        self.level.run(Spreading { spread: self, entries });
    }

    /// A span's reads, in the order of time: their distances without the inversions within the span, places and weights.
    pub fn of(&self, span: usize) -> impl Iterator<Item = (&[A], &[u16], &[A::Weight])> {
        self.of_span[span].iter().map(move |number| {
            let piece = &self.pieces[*number];
            let len = PIECE.min(self.next[span] - number * PIECE);
            (&piece.distances[..len], &piece.places[..len], &piece.weights[..len])
        })
    }

    /// What a span's reads weigh together.
    fn weight(&self, span: usize) -> A {
        let weights = self.of(span).flat_map(|(_, _, weights)| weights);
        weights.fold(A::default(), |sum, weight| sum.plus(A::of(*weight)))
    }
}

impl<'a> Spread<'a, u32> {
    /// Spreads the next reads, of blocks that count 1 each: from their places before, plus 1, or 0 for a first read.
    pub fn add_places(&mut self, begin: usize, before: &[u32]) {
        let mut entries = [Entry::default(); BATCH];
        let mut now = begin as u32;
        for before in before.chunks(BATCH) {
            let mut kept = 0;
            for before in before {
                now += 1;
                entries[kept % BATCH] =
                    Entry { before: before.wrapping_sub(1), weight: (), read: now.wrapping_sub(*before) };
                // Without a branch: the processor would often guess wrongly which are first reads.
                kept += usize::from(*before > 0);
            }
            self.add(&mut entries[..kept]);
        }
    }

    /// Takes memory of a chunk that is done: to clear other memory would take the kernel longer than all work on a read.
    pub fn reuse(&mut self, distances: &'a mut [u32], places: &'a mut [u16]) {
        // Of no size.
        let weights = vec![(); distances.len()].leak();
        self.free.extend(pieces(distances, places, weights));
    }
}

/// For each stretch and span: what weighed the reads of later spans in the stretches before.
pub fn later<A: Amount>(spreads: &[Spread<'_, A>]) -> Vec<Vec<A>> {
    let mut all = Vec::new();
    let mut before = vec![A::default(); spreads.first().map_or(0, |spread| spread.next.len())];
    for (at, spread) in spreads.iter().enumerate() {
        all.push(before.clone());
        let mut sum = A::default();
        for (span, before) in before.iter_mut().enumerate().rev().take_while(|_| at + 1 < spreads.len()) {
            *before = before.plus(sum);
            sum = sum.plus(spread.weight(span));
        }
    }
    all
}

struct Spreading<'s, 'a, A: Amount> {
    spread: &'s mut Spread<'a, A>,
    entries: &'s mut [Entry<A>],
}

impl<A: Amount> Kernel for Spreading<'_, '_, A> {
    #[inline(always)]
    fn run(self) {
        let Spread { pieces, free, of_span, next, spans, .. } = self.spread;
        spans.add(self.entries);
        for entry in self.entries {
            let next = &mut next[entry.span()];
            if *next % PIECE == 0 {
                *next = pieces.len() * PIECE;
                of_span[entry.span()].push(pieces.len());
                pieces.push(free.pop().expect("there is room for all"));
            }
            let (piece, at) = (&mut pieces[*next / PIECE], *next % PIECE);
            piece.distances[at] = entry.read;
            piece.places[at] = entry.before as u16;
            piece.weights[at] = entry.weight;
            *next += 1;
        }
    }
}
