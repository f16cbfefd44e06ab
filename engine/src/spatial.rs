//! What larger records would bring along: the reads of a trace regrouped, in an LRU cache of one size.
//!
//! A file's blocks are regrouped where it has records of a power of two. Three things stay as they are: blocks of files
//! whose records are larger than wanted, files of one block smaller than their dataset's recordsize (a larger one
//! wouldn't make that block larger), and indirect blocks.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::hash::FastMap;
use crate::lru::{self, Item};
use crate::previous::{previous_reads, NONE};
use crate::reads::Reads;

/// The figures of a trace regrouped into records of one size. Each is exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Regrouped {
    pub recordsize: u32,
    pub distinct_records: u64,
    pub distinct_bytes: u64,
    /// The sizes of all reads as they are in the trace.
    pub wanted_bytes: u64,
    pub misses: u64,
    pub missed_bytes: u64,
    /// Hits of a block that was never read before.
    pub first_read_hits: u64,
    /// Hits of a block that came along with another, the first since.
    pub neighbour_hits: u64,
    pub neighbour_hit_bytes: u64,
    /// Of each missed record all but the block that was wanted.
    pub neighbour_bytes: u64,
}

/// A trace whose blocks are in order, so that neighbours lie side by side.
pub struct Neighbours<'a> {
    reads: &'a Reads,
    /// For each object: the size of its records where they can be regrouped.
    unit: Vec<Option<u32>>,
    places: Vec<Place>,
    previous: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    object: u32,
    blkid: u64,
    block: u32,
}

/// What a record keeps in the cache: the number of its last miss, and the size of the trace's blocks in it.
#[derive(Clone, Copy, Default)]
struct Record {
    missed: u32,
    unit: u32,
}

impl<'a> Neighbours<'a> {
    /// `recordsizes` are those of datasets, by objset, where they are known.
    pub fn new(reads: &'a Reads, recordsizes: &FastMap<u64, u32>) -> Self {
        let block_at = |(block, number): (&crate::reads::Block, u32)| Place {
            object: block.object,
            blkid: block.blkid,
            block: number,
        };
        let mut places: Vec<Place> = reads.blocks.iter().zip(0..).map(block_at).collect();
        places.sort_unstable();
        Self { reads, unit: units(reads, recordsizes), places, previous: previous_reads(reads) }
    }

    /// The figures at each of these sizes, powers of two, for a cache of `cache_bytes`; None if `go_on` says false,
    /// which the calling thread asks now and then.
    pub fn regrouped(
        &self,
        sizes: &[u32],
        cache_bytes: u64,
        threads: usize,
        mut go_on: impl FnMut() -> bool,
    ) -> Option<Vec<Regrouped>> {
        let next = AtomicUsize::new(0);
        let stopped = AtomicBool::new(false);
        // Takes sizes until none is left.
        let work = |go_on: &mut dyn FnMut() -> bool| {
            let mut found = Vec::new();
            while let Some(size) = sizes.get(next.fetch_add(1, Ordering::Relaxed)) {
                found.push(self.at(*size, cache_bytes, go_on));
            }
            found
        };
        let mut found = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads.min(sizes.len()))
                .map(|_| scope.spawn(|| work(&mut || !stopped.load(Ordering::Relaxed))))
                .collect();
            let mut found = work(&mut || {
                if !stopped.load(Ordering::Relaxed) && !go_on() {
                    stopped.store(true, Ordering::Relaxed);
                }
                !stopped.load(Ordering::Relaxed)
            });
            found.extend(others.into_iter().flat_map(|thread| thread.join().expect("no analysis panics")));
            found
        });
        found.sort_unstable_by_key(|one| sizes.iter().position(|size| *size == one.recordsize));
        (!stopped.into_inner()).then_some(found)
    }

    fn at(&self, recordsize: u32, cache_bytes: u64, go_on: &mut dyn FnMut() -> bool) -> Regrouped {
        let (record_of, mut records) = self.group(recordsize);
        let mut found = Regrouped {
            recordsize,
            distinct_records: records.len() as u64,
            distinct_bytes: records.iter().map(|record| u64::from(record.size)).sum(),
            ..Regrouped::default()
        };
        let sequence: Vec<u32> = self.reads.block.iter().map(|block| record_of[*block as usize]).collect();
        drop(record_of);
        let each = |read: u32, record: &mut Item<Record>, hit: bool| {
            let unit = u64::from(record.kept.unit);
            found.wanted_bytes += unit;
            if hit {
                let previous = self.previous[read as usize];
                // The read that missed is itself a read of the block that it wanted.
                let came_along = previous == NONE || previous < record.kept.missed;
                found.first_read_hits += u64::from(previous == NONE);
                found.neighbour_hits += u64::from(came_along);
                found.neighbour_hit_bytes += if came_along { unit } else { 0 };
            } else {
                record.kept.missed = read;
                found.misses += 1;
                found.missed_bytes += u64::from(record.size);
                found.neighbour_bytes += u64::from(record.size) - unit;
            }
        };
        lru::run(&sequence, &mut records, cache_bytes, each, go_on);
        found
    }

    /// The record of each block, and the records.
    fn group(&self, recordsize: u32) -> (Vec<u32>, Vec<Item<Record>>) {
        let mut record_of = vec![0; self.reads.blocks.len()];
        let mut records: Vec<Item<Record>> = Vec::new();
        let mut before = None;
        for place in &self.places {
            let regrouped = self.unit[place.object as usize].filter(|unit| *unit < recordsize);
            let address = match regrouped {
                Some(unit) => (place.object, place.blkid / u64::from(recordsize / unit)),
                None => (place.object, place.blkid),
            };
            if before.replace(address) != Some(address) {
                let size = self.reads.blocks[place.block as usize].size;
                let (size, unit) = regrouped.map_or((size, size), |unit| (recordsize, unit));
                records.push(Item::new(size, Record { missed: 0, unit }));
            }
            record_of[place.block as usize] = records.len() as u32 - 1;
        }
        (record_of, records)
    }

    /// The record size of the files with the most reads, among those that can be regrouped.
    pub fn own_recordsize(&self) -> Option<u32> {
        own_recordsize(self.reads, &self.unit)
    }
}

/// The record size of the files with the most reads, among those that can be regrouped; the smaller one of two.
pub fn own_recordsize(reads: &Reads, unit: &[Option<u32>]) -> Option<u32> {
    let mut reads_at: Vec<(u32, u64)> = Vec::new();
    let mut reads_of = vec![0u64; reads.objects.len()];
    reads.block.iter().for_each(|block| reads_of[reads.blocks[*block as usize].object as usize] += 1);
    for (unit, count) in unit.iter().zip(reads_of) {
        let Some(unit) = unit else { continue };
        match reads_at.iter_mut().find(|entry| entry.0 == *unit) {
            Some(entry) => entry.1 += count,
            None => reads_at.push((*unit, count)),
        }
    }
    reads_at.into_iter().max_by_key(|(unit, count)| (*count, std::cmp::Reverse(*unit))).map(|(unit, _)| unit)
}

/// For each object: the size of its records where they can be regrouped.
pub fn units(reads: &Reads, recordsizes: &FastMap<u64, u32>) -> Vec<Option<u32>> {
    let mut largest = vec![0u32; reads.objects.len()];
    let mut one_block = vec![true; reads.objects.len()];
    for block in &reads.blocks {
        let object = block.object as usize;
        largest[object] = largest[object].max(block.size);
        one_block[object] &= block.blkid == 0;
    }
    let unit = |(object, size): (&crate::reads::Object, u32), one_block: bool| {
        let small = one_block && recordsizes.get(&object.objset).is_some_and(|recordsize| size < *recordsize);
        (object.level == 0 && size.is_power_of_two() && !small).then_some(size)
    };
    reads.objects.iter().zip(largest).zip(one_block).map(|(object, one_block)| unit(object, one_block)).collect()
}
