//! The textbook caches, in blocks of one size: LRU, and ARC as in its paper (Megiddo and Modha, FAST '03). OpenZFS's ARC
//! is another; these validate the machinery, as other simulators have them too: hit counts equal libCacheSim's.
//!
//! Lists are logs: a block that moves is appended again, and its old entry is skipped once it comes to the end, so that
//! the next victims lie in a row and can be looked at ahead of time. Waiting for memory is all that takes time here.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use crate::hash::FastMap;
use crate::reads::Reads;

/// More distinct blocks can't be numbered within a log.
pub const MOST_BLOCKS: usize = 1 << 28;

/// Which cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Lru,
    Arc,
}

/// How many reads, and how many victims, are looked at before their turn.
const READS_AHEAD: usize = 24;
const VICTIMS_AHEAD: usize = 12;
/// On no list.
const NOWHERE: u32 = u32::MAX;
/// A place is a list in the upper two bits, and an index into its log in the others.
const INDEX_BITS: u32 = 30;

/// Gives the hits of a cache of each size in blocks, on so many threads. With `sample` below 1, of that share of the
/// blocks in caches smaller by as much, as an estimate for all (mini-simulation, ATC '17).
pub fn hits(reads: &Reads, algorithm: Algorithm, sizes: &[u64], sample: f64, threads: usize) -> Vec<u64> {
    let sampled = (sample < 1.0).then(|| Sampled::new(reads, sample));
    let (blocks, distinct) = match &sampled {
        Some(sampled) => (&sampled.blocks[..], sampled.distinct),
        None => (&reads.block[..], reads.blocks.len()),
    };
    let references = reads.block.len() as u64;
    let of_size = |size: u64| {
        let size = ((size as f64 * sample).round() as u64).clamp(1, distinct.max(1) as u64) as usize;
        let misses = blocks.len() as u64 - one_size(blocks, distinct, algorithm, size);
        // Reads that the sample has too many or too few of are hits (SHARDS-adj).
        references - ((misses as f64 / sample).round() as u64).min(references)
    };
    let found: Vec<AtomicU64> = sizes.iter().map(|_| AtomicU64::new(0)).collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..threads.clamp(1, sizes.len().max(1)) {
            scope.spawn(|| {
                while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < sizes.len()) {
                    let hits = if sizes[at] == 0 { 0 } else { of_size(sizes[at]) };
                    found[at].store(hits, Ordering::Relaxed);
                }
            });
        }
    });
    found.into_iter().map(AtomicU64::into_inner).collect()
}

fn one_size(blocks: &[u32], distinct: usize, algorithm: Algorithm, size: usize) -> u64 {
    match algorithm {
        Algorithm::Lru => Lru::new(distinct, size).hits(blocks),
        Algorithm::Arc => PaperArc::new(distinct, size).hits(blocks),
    }
}

/// The reads of a share of the blocks, numbered anew so that their states lie close together.
struct Sampled {
    blocks: Vec<u32>,
    distinct: usize,
}

impl Sampled {
    fn new(reads: &Reads, sample: f64) -> Self {
        let limit = (sample * 2f64.powi(64)) as u64;
        let chosen = |block: &u32| hash(u64::from(*block)) < limit;
        let mut distinct = 0;
        let mut numbers = FastMap::default();
        let mut number = |block: u32| {
            *numbers.entry(block).or_insert_with(|| {
                distinct += 1;
                distinct - 1
            })
        };
        let blocks = reads.block.iter().copied().filter(chosen).map(&mut number).collect();
        Self { blocks, distinct: distinct as usize }
    }
}

fn hash(block: u64) -> u64 {
    let mut hash = (block + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    hash ^ (hash >> 33)
}

/// A list from the oldest to the newest block, as a ring with gaps where blocks left it.
struct Log {
    tag: u32,
    ring: Vec<u32>,
    /// Counts of entries appended and taken off ever; their places in the ring are these modulo its size.
    end: usize,
    start: usize,
    length: usize,
}

impl Log {
    fn new(list: u32) -> Self {
        Self { tag: list << INDEX_BITS, ring: vec![0; 64], end: 0, start: 0, length: 0 }
    }

    fn push(&mut self, block: u32, places: &mut [u32]) {
        if self.end - self.start == self.ring.len() {
            self.close_gaps(places);
        }
        let index = self.end & (self.ring.len() - 1);
        self.ring[index] = block;
        places[block as usize] = self.tag | index as u32;
        self.end += 1;
        self.length += 1;
    }

    /// Takes off the oldest block, which leaves its place as it is.
    fn pop(&mut self, places: &[u32]) -> u32 {
        let mask = self.ring.len() - 1;
        self.length -= 1;
        loop {
            let index = self.start & mask;
            let block = self.ring[index];
            let ahead = self.ring[(self.start + VICTIMS_AHEAD) & mask];
            std::hint::black_box(places[ahead as usize]);
            self.start += 1;
            if places[block as usize] == self.tag | index as u32 {
                return block;
            }
        }
    }

    /// Makes as much room as there are blocks, or more.
    fn close_gaps(&mut self, places: &mut [u32]) {
        let mask = self.ring.len() - 1;
        let mut ring = Vec::with_capacity((2 * self.length).next_power_of_two().max(self.ring.len()));
        for at in self.start..self.end {
            let block = self.ring[at & mask];
            if places[block as usize] == self.tag | (at & mask) as u32 {
                places[block as usize] = self.tag | ring.len() as u32;
                ring.push(block);
            }
        }
        (self.start, self.end) = (0, ring.len());
        ring.resize(ring.capacity().next_power_of_two(), 0);
        self.ring = ring;
    }
}

fn look_ahead(places: &[u32], blocks: &[u32], at: usize) {
    if let Some(block) = blocks.get(at + READS_AHEAD) {
        std::hint::black_box(places[*block as usize]);
    }
}

struct Lru {
    places: Vec<u32>,
    list: Log,
    size: usize,
}

impl Lru {
    fn new(distinct: usize, size: usize) -> Self {
        Self { places: vec![NOWHERE; distinct], list: Log::new(0), size }
    }

    fn hits(mut self, blocks: &[u32]) -> u64 {
        let mut hits = 0;
        for (at, block) in blocks.iter().enumerate() {
            look_ahead(&self.places, blocks, at);
            if self.places[*block as usize] != NOWHERE {
                hits += 1;
                self.list.length -= 1;
            } else if self.list.length == self.size {
                let victim = self.list.pop(&self.places);
                self.places[victim as usize] = NOWHERE;
            }
            self.list.push(*block, &mut self.places);
        }
        hits
    }
}

/// T1 (read once), T2 (read more often) and their ghosts B1 and B2, with the paper's names; `p` is T1's target.
struct PaperArc {
    places: Vec<u32>,
    t1: Log,
    t2: Log,
    b1: Log,
    b2: Log,
    p: f64,
    c: usize,
}

const T1: u32 = 0;
const T2: u32 = 1;
const B1: u32 = 2;
const B2: u32 = 3;

impl PaperArc {
    fn new(distinct: usize, c: usize) -> Self {
        let [t1, t2, b1, b2] = [T1, T2, B1, B2].map(Log::new);
        Self { places: vec![NOWHERE; distinct], t1, t2, b1, b2, p: 0.0, c }
    }

    fn hits(mut self, blocks: &[u32]) -> u64 {
        let mut hits = 0;
        for (at, block) in blocks.iter().enumerate() {
            look_ahead(&self.places, blocks, at);
            hits += u64::from(self.read(*block));
        }
        hits
    }

    fn read(&mut self, block: u32) -> bool {
        let place = self.places[block as usize];
        let list = if place == NOWHERE { NOWHERE } else { place >> INDEX_BITS };
        match list {
            T1 => self.t1.length -= 1,
            T2 => self.t2.length -= 1,
            B1 => {
                let step = (self.b2.length as f64 / self.b1.length as f64).max(1.0);
                self.p = (self.p + step).min(self.c as f64);
                self.b1.length -= 1;
            }
            B2 => {
                let step = (self.b1.length as f64 / self.b2.length as f64).max(1.0);
                self.p = (self.p - step).max(0.0);
                self.b2.length -= 1;
            }
            _ => (),
        }
        if list > T2 {
            // The block's ghost is off its list, also for what is evicted now.
            self.places[block as usize] = NOWHERE;
            if self.t1.length + self.t2.length == self.c {
                if list == NOWHERE {
                    self.make_room();
                } else {
                    self.replace(list == B2);
                }
            }
        }
        if list == NOWHERE {
            self.t1.push(block, &mut self.places);
        } else {
            self.t2.push(block, &mut self.places);
        }
        list <= T2
    }

    /// Case IV: the block is on no list.
    fn make_room(&mut self) {
        if self.t1.length + self.b1.length == self.c {
            let oldest = if self.b1.length > 0 { &mut self.b1 } else { &mut self.t1 };
            let whole_t1 = oldest.tag == T1;
            let dropped = oldest.pop(&self.places);
            self.places[dropped as usize] = NOWHERE;
            if whole_t1 {
                return;
            }
        } else if self.t1.length + self.t2.length + self.b1.length + self.b2.length >= 2 * self.c && self.b2.length > 0
        {
            let dropped = self.b2.pop(&self.places);
            self.places[dropped as usize] = NOWHERE;
        }
        self.replace(false);
    }

    /// REPLACE: the oldest block of T1 or T2 becomes a ghost.
    fn replace(&mut self, ghost_of_t2: bool) {
        let t1 = self.t1.length as f64;
        let from_t1 = t1 > 0.0 && (t1 > self.p || (t1 == self.p && ghost_of_t2)) || self.t2.length == 0;
        let (from, to) = if from_t1 { (&mut self.t1, &mut self.b1) } else { (&mut self.t2, &mut self.b2) };
        let victim = from.pop(&self.places);
        to.push(victim, &mut self.places);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Class;

    fn reads(blocks: Vec<u32>) -> Reads {
        let distinct = blocks.iter().max().map_or(0, |most| *most as usize + 1);
        let block = |blkid| crate::reads::Block { blkid: blkid as u64, object: 0, size: 4096 };
        Reads {
            objects: Vec::new(),
            blocks: (0..distinct).map(block).collect(),
            time_ns: (0..blocks.len() as u64).collect(),
            class: vec![Class::Unknown; blocks.len()],
            passed_over: Default::default(),
            block: blocks,
        }
    }

    /// The paper's lists as vectors, the oldest first.
    #[derive(Default)]
    struct Naive {
        lists: [Vec<u32>; 4],
        p: f64,
    }

    impl Naive {
        fn read(&mut self, block: u32, c: usize) -> bool {
            let found = self.lists.iter().position(|list| list.contains(&block));
            let [_, _, b1, b2] = self.lists.each_ref().map(Vec::len);
            match found {
                Some(2) => self.p = (self.p + (b2 as f64 / b1 as f64).max(1.0)).min(c as f64),
                Some(3) => self.p = (self.p - (b1 as f64 / b2 as f64).max(1.0)).max(0.0),
                _ => (),
            }
            self.lists.iter_mut().for_each(|list| list.retain(|other| *other != block));
            let [t1, t2, b1, b2] = self.lists.each_ref().map(Vec::len);
            let full = t1 + t2 == c;
            match found {
                Some(0 | 1) => (),
                Some(list) if full => self.replace(list == 3),
                None if full && t1 + b1 == c && b1 == 0 => drop(self.lists[0].remove(0)),
                None if full => {
                    if t1 + b1 == c {
                        self.lists[2].remove(0);
                    } else if t1 + t2 + b1 + b2 >= 2 * c {
                        self.lists[3].remove(0);
                    }
                    self.replace(false);
                }
                _ => (),
            }
            self.lists[usize::from(found.is_some())].push(block);
            matches!(found, Some(0 | 1))
        }

        fn replace(&mut self, ghost_of_t2: bool) {
            let t1 = self.lists[0].len() as f64;
            let from = if t1 > 0.0 && (t1 > self.p || (ghost_of_t2 && t1 == self.p)) { 0 } else { 1 };
            let victim = self.lists[from].remove(0);
            self.lists[from + 2].push(victim);
        }
    }

    fn random(seed: u64, length: usize, spread: u32) -> Vec<u32> {
        let mut state = seed;
        let mut draw = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32
        };
        // Low numbers are read more often; now and then a stretch is read in a row.
        (0..length)
            .map(|at| if at / 100 % 7 == 6 { at as u32 % spread } else { draw() % (draw() % spread + 1) })
            .collect()
    }

    #[test]
    fn arc_equals_the_paper() {
        for (seed, c) in [(1, 1), (2, 2), (3, 7), (4, 40), (5, 120), (6, 299), (7, 1000)] {
            let blocks = random(seed, 6000, 300);
            let mut naive = Naive::default();
            let expected = blocks.iter().filter(|block| naive.read(**block, c)).count() as u64;
            assert_eq!(hits(&reads(blocks), Algorithm::Arc, &[c as u64], 1.0, 1), [expected]);
        }
    }

    #[test]
    fn lru_equals_a_list() {
        let blocks = random(9, 6000, 300);
        for c in [1, 2, 50, 200, 299, 300] {
            let mut list: Vec<u32> = Vec::new();
            let mut expected = 0;
            for block in &blocks {
                let before = list.len();
                list.retain(|other| other != block);
                expected += u64::from(list.len() < before);
                list.push(*block);
                if list.len() > c {
                    list.remove(0);
                }
            }
            assert_eq!(hits(&reads(blocks.clone()), Algorithm::Lru, &[c as u64], 1.0, 1), [expected]);
        }
    }

    #[test]
    fn sizes_keep_their_order_on_several_threads() {
        let trace = reads(random(11, 5000, 200));
        let sizes = [150, 0, 3, 40, 3, 1 << 40];
        let together = hits(&trace, Algorithm::Arc, &sizes, 1.0, 3);
        let alone: Vec<u64> = sizes.iter().flat_map(|size| hits(&trace, Algorithm::Arc, &[*size], 1.0, 1)).collect();
        assert_eq!(together, alone);
        assert_eq!((together[1], together[5]), (0, 5000 - trace.blocks.len() as u64));
    }

    #[test]
    fn a_sample_comes_close() {
        let trace = reads(random(12, 200_000, 20_000));
        for algorithm in [Algorithm::Lru, Algorithm::Arc] {
            let sizes = [2000, 8000, 16_000];
            let whole = hits(&trace, algorithm, &sizes, 1.0, 1);
            let sample = hits(&trace, algorithm, &sizes, 0.1, 1);
            for (whole, sample) in whole.iter().zip(sample) {
                assert!(whole.abs_diff(sample) < 6000, "{whole} {sample}");
            }
        }
    }
}
