//! Where each block was read before, of blocks with ids of any kind: by a partition on their hash.
//!
//! One table of all blocks would miss the processor's cache at each read. So the reads are split by hash into
//! [`PARTS`], each with a table that fits; and within a chunk of time, so that also the splitting stays in the cache.

use super::{in_parallel, Spread, Stretch};
use crate::hash::FastMap;
use crate::simd::{Kernel, Level};

/// Reads of a chunk: a place within it has 16 bits, and its columns fit the second cache.
pub const CHUNK: usize = 1 << 16;
const PARTS: usize = 256;
/// Ids are scrambled within so many bits: a partition's number, and 32 that tell its blocks apart.
const ID_BITS: u32 = 40;
const ID_MASK: u64 = (1 << ID_BITS) - 1;
/// Larger ids are numbered from here on.
const LARGE: u64 = 1 << (ID_BITS - 1);

/// Scrambles ids of 40 bits, one to one: odd factors, and a shift that mixes the upper half into the lower.
#[inline(always)]
fn scrambled(id: u64) -> u64 {
    let mixed = id.wrapping_mul(0x9E_3779_B97F_4A7D) & ID_MASK;
    (mixed ^ (mixed >> 20)).wrapping_mul(0xFF_51AF_D7ED_558D) & ID_MASK
}

/// Undoes [`scrambled`]: with the inverse factors, and the same shift, which undoes itself.
fn unscrambled(mixed: u64) -> u64 {
    let half = mixed.wrapping_mul(inverse(0xFF_51AF_D7ED_558D)) & ID_MASK;
    (half ^ (half >> 20)).wrapping_mul(inverse(0x9E_3779_B97F_4A7D)) & ID_MASK
}

/// What an odd factor has to be multiplied by to give 1 in 64 bits; each step doubles the bits that are right.
fn inverse(factor: u64) -> u64 {
    (0..5).fold(factor, |found, _| found.wrapping_mul(2u64.wrapping_sub(factor.wrapping_mul(found))))
}

/// Scrambles ids, and takes them apart: what tells a block from the others of its partition, and which that is.
struct Scramble<'a> {
    ids: &'a [u64],
    keys: &'a mut [u32],
    parts: &'a mut [u8],
}

impl Kernel for Scramble<'_> {
    #[inline(always)]
    fn run(self) {
        for ((id, key), part) in self.ids.iter().zip(self.keys).zip(self.parts) {
            let mixed = scrambled(*id);
            *key = mixed as u32;
            *part = (mixed >> 32) as u8;
        }
    }
}

/// The reads of a trace, by the ids of their blocks.
pub struct Ids {
    level: Level,
    chunks: Vec<Chunk>,
    reads: usize,
    large: FastMap<u64, u64>,
    /// Used again for each chunk.
    taken: Vec<u64>,
    keys: Vec<u32>,
    parts: Vec<u8>,
}

/// Reads of a stretch of time, in the order of their partition, and in time within it.
struct Chunk {
    /// What tells a block from the others of its partition; later the place of the read before, plus 1, or 0.
    keys: Vec<u32>,
    /// For each of these: its place in the chunk.
    places: Vec<u16>,
    /// Where each partition begins, and the end.
    starts: [u32; PARTS + 1],
}

impl Ids {
    pub fn new(level: Level) -> Self {
        Self {
            level,
            chunks: Vec::new(),
            reads: 0,
            large: FastMap::default(),
            taken: Vec::with_capacity(CHUNK),
            keys: vec![0; CHUNK],
            parts: vec![0; CHUNK],
        }
    }

    /// Takes the next [`CHUNK`] reads; fewer only at the end.
    pub fn add(&mut self, ids: impl Iterator<Item = u64>) {
        self.taken.clear();
        self.taken.extend(ids);
        assert!(self.reads % CHUNK == 0 && self.taken.len() <= CHUNK, "only the last chunk may be short");
        if self.taken.iter().fold(0, |any, id| any | id) >= LARGE {
            self.number_large();
        }
        let (keys, parts) = (&mut self.keys[..self.taken.len()], &mut self.parts[..self.taken.len()]);
        self.level.run(Scramble { ids: &self.taken, keys, parts });
        self.chunks.push(Chunk::new(keys, parts));
        self.reads += self.taken.len();
    }

    /// Takes the reads that follow, which were taken apart from these: by another thread.
    pub fn append(&mut self, mut next: Self) {
        assert!(self.reads % CHUNK == 0, "only the last chunk may be short");
        if next.large.is_empty() {
            self.chunks.append(&mut next.chunks);
            self.reads += next.reads;
            return;
        }
        // Each numbered the large ids in its own way: these are taken again.
        let names: FastMap<u64, u64> = next.large.iter().map(|(id, number)| (*number, *id)).collect();
        for chunk in next.chunks {
            let mut ids = vec![0; chunk.keys.len()];
            for (part, range) in chunk.starts.windows(2).enumerate() {
                let range = range[0] as usize..range[1] as usize;
                for (key, place) in chunk.keys[range.clone()].iter().zip(&chunk.places[range]) {
                    let id = unscrambled((part as u64) << 32 | u64::from(*key));
                    ids[usize::from(*place)] = *names.get(&id).unwrap_or(&id);
                }
            }
            self.add(ids.into_iter());
        }
    }

    #[cold]
    fn number_large(&mut self) {
        for id in self.taken.iter_mut().filter(|id| **id >= LARGE) {
            let number = LARGE + self.large.len() as u64;
            *id = *self.large.entry(*id).or_insert(number);
        }
    }

    pub fn len(&self) -> usize {
        self.reads
    }

    pub fn is_empty(&self) -> bool {
        self.reads == 0
    }

    /// Finds the places before, and gives the reads in so many stretches, and the number of distinct blocks.
    pub fn stretches(mut self, threads: usize) -> (Vec<Resolved>, usize) {
        let found = in_parallel(shares(&mut self.chunks, threads), |mut shares| {
            let mut table = Table::default();
            let mut blocks = 0;
            for part in 0..shares.first().map_or(0, Share::parts) {
                table.clear();
                shares.iter_mut().for_each(|share| share.resolve(part, &mut table));
                blocks += table.used;
            }
            blocks
        });
        let each = self.chunks.len().div_ceil(threads).max(1);
        let mut stretches = Vec::new();
        let mut chunks = self.chunks.into_iter();
        for begin in (0..self.reads).step_by(each * CHUNK) {
            stretches.push(Resolved { begin, chunks: chunks.by_ref().take(each).collect() });
        }
        (stretches, found.into_iter().sum())
    }

    /// How many blocks are read how often: (times, blocks), times rising.
    pub fn reads_per_block(mut self, threads: usize) -> Vec<(u32, u64)> {
        let found = in_parallel(shares(&mut self.chunks, threads), |mut shares| {
            let mut table = Table::default();
            let mut blocks: FastMap<u32, u64> = FastMap::default();
            for part in 0..shares.first().map_or(0, Share::parts) {
                table.clear();
                shares.iter_mut().for_each(|share| share.count(part, &mut table));
                for slot in table.slots.iter().filter(|slot| slot.1 != 0) {
                    *blocks.entry(slot.1).or_default() += 1;
                }
            }
            blocks
        });
        let mut all = std::collections::BTreeMap::new();
        found.into_iter().flatten().for_each(|(times, blocks)| *all.entry(times).or_default() += blocks);
        all.into_iter().collect()
    }
}

impl Chunk {
    fn new(keys: &[u32], parts: &[u8]) -> Self {
        // Two counts in turn: a hot block's would wait for itself.
        let mut counts = [[0u32; PARTS]; 2];
        for pair in parts.chunks(2) {
            for (counts, part) in counts.iter_mut().zip(pair) {
                counts[usize::from(*part)] += 1;
            }
        }
        let mut starts = [0; PARTS + 1];
        for part in 0..PARTS {
            starts[part + 1] = starts[part] + counts[0][part] + counts[1][part];
        }
        let mut next: [u32; PARTS] = std::array::from_fn(|part| starts[part]);
        let (mut sorted, mut places) = (vec![0; keys.len()], vec![0; keys.len()]);
        for (place, (key, part)) in keys.iter().zip(parts).enumerate() {
            let to = next[usize::from(*part)] as usize;
            next[usize::from(*part)] += 1;
            sorted[to] = *key;
            places[to] = place as u16;
        }
        Self { keys: sorted, places, starts }
    }
}

/// Reads of which the places before are known.
pub struct Resolved {
    begin: usize,
    chunks: Vec<Chunk>,
}

impl Stretch<u32> for Resolved {
    fn spread<'a>(&'a mut self, over: &mut Spread<'a, u32>) {
        let mut in_order = vec![0; CHUNK];
        for (chunk, begin) in self.chunks.iter_mut().zip((self.begin..).step_by(CHUNK)) {
            for (before, place) in chunk.keys.iter().zip(&chunk.places) {
                in_order[usize::from(*place)] = *before;
            }
            let in_order = &in_order[..chunk.keys.len()];
            over.reuse(&mut chunk.keys, &mut chunk.places);
            over.add_places(begin, in_order);
        }
    }
}

/// A thread's partitions of a chunk.
struct Share<'a> {
    begin: u32,
    starts: &'a [u32],
    keys: &'a mut [u32],
    places: &'a [u16],
}

/// Gives each thread some of the partitions, of all chunks.
fn shares(chunks: &mut [Chunk], threads: usize) -> Vec<Vec<Share<'_>>> {
    let bounds: Vec<usize> = (0..=threads).map(|thread| thread * PARTS / threads).collect();
    let mut shares: Vec<Vec<Share>> = (0..threads).map(|_| Vec::with_capacity(chunks.len())).collect();
    for (at, chunk) in chunks.iter_mut().enumerate() {
        let mut rest = &mut chunk.keys[..];
        for (shares, bounds) in shares.iter_mut().zip(bounds.windows(2)) {
            let starts = &chunk.starts[bounds[0]..=bounds[1]];
            let range = starts[0] as usize..starts[starts.len() - 1] as usize;
            let (keys, others) = rest.split_at_mut(range.len());
            rest = others;
            shares.push(Share { begin: (at * CHUNK) as u32, starts, keys, places: &chunk.places[range] });
        }
    }
    shares
}

impl Share<'_> {
    fn parts(&self) -> usize {
        self.starts.len() - 1
    }

    fn range(&self, part: usize) -> std::ops::Range<usize> {
        (self.starts[part] - self.starts[0]) as usize..(self.starts[part + 1] - self.starts[0]) as usize
    }

    /// Replaces each key by the place of the read before, and keeps the place of this one.
    fn resolve(&mut self, part: usize, table: &mut Table) {
        let range = self.range(part);
        let keys = &mut self.keys[range.clone()];
        table.make_room(keys.len());
        let mut places = self.places[range].iter();
        let begin = self.begin + 1;
        table.visit(keys, |key, seen| {
            *key = *seen;
            *seen = begin + places.next().map_or(0, |place| u32::from(*place));
        });
    }

    /// Counts the reads of each block.
    fn count(&mut self, part: usize, table: &mut Table) {
        let range = self.range(part);
        let keys = &mut self.keys[range];
        table.make_room(keys.len());
        table.visit(keys, |_, seen| *seen += 1);
    }
}

/// What is known of each block of a partition: open addressing with linear probing.
struct Table {
    /// (key, something that isn't 0); 0 in a free slot.
    slots: Vec<(u32, u32)>,
    used: usize,
}

impl Default for Table {
    fn default() -> Self {
        Self { slots: vec![(0, 0); 1 << 10], used: 0 }
    }
}

impl Table {
    fn clear(&mut self) {
        self.slots.fill((0, 0));
        self.used = 0;
    }

    /// Calls `visit` with each key and what is known of it, 0 at first; it must leave something else.
    #[inline(always)]
    fn visit(&mut self, keys: &mut [u32], mut visit: impl FnMut(&mut u32, &mut u32)) {
        let (mask, shift) = (self.slots.len() - 1, 32 - self.slots.len().ilog2());
        let slots = &mut self.slots[..=mask];
        let mut used = self.used;
        for key in keys {
            let mut at = (*key >> shift) as usize;
            loop {
                let slot = &mut slots[at & mask];
                // The key's slot or a free one: asked at once, as the processor often guesses wrongly which. The key of a
                // free slot may happen to be the same, if it is 0.
                if (slot.0 ^ *key).min(slot.1) == 0 {
                    used += usize::from(slot.1 == 0);
                    slot.0 = *key;
                    visit(key, &mut slot.1);
                    break;
                }
                at += 1;
            }
        }
        self.used = used;
    }

    /// Grows until so many more leave half of the slots free.
    fn make_room(&mut self, more: usize) {
        while (self.used + more) * 2 > self.slots.len() {
            let larger = vec![(0, 0); self.slots.len() * 2];
            let (shift, mask) = (32 - larger.len().ilog2(), larger.len() - 1);
            for slot in std::mem::replace(&mut self.slots, larger).into_iter().filter(|slot| slot.1 != 0) {
                let mut at = (slot.0 >> shift) as usize;
                while self.slots[at & mask].1 != 0 {
                    at += 1;
                }
                self.slots[at & mask] = slot;
            }
        }
    }
}
