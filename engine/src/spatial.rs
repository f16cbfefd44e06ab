//! What larger records would bring along: the reads of a trace regrouped, in an LRU cache of one size.
//!
//! A file's blocks are regrouped where it has records of a power of two. Three things stay as they are: blocks of files
//! whose records are larger than wanted, files of one block smaller than their dataset's recordsize (a larger one
//! wouldn't make that block larger), and indirect blocks.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::hash::FastMap;
use crate::lru::{self, Sizes};
use crate::previous::{previous_reads, NONE};
use crate::reads::{Block, Object, Reads};

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

/// A trace whose blocks are numbered so that neighbours lie side by side.
pub struct Neighbours {
    places: Vec<Place>,
    /// For each object: the size of its records, where they can be regrouped.
    units: Vec<Option<u32>>,
    /// The place of the block of each read.
    sequence: Vec<u32>,
    previous: Vec<u32>,
}

/// A block among its neighbours.
#[derive(Clone, Copy)]
struct Place {
    blkid: u64,
    object: u32,
    size: u32,
}

/// The records at some size, by number.
struct Records {
    /// For each place.
    of: Vec<u32>,
    number: usize,
    sizes: Sizes,
    /// The sizes of the trace's blocks in them.
    units: Sizes,
}

impl Neighbours {
    /// `recordsizes` are those of datasets, by objset, where they are known.
    pub fn new(reads: &Reads, recordsizes: &FastMap<u64, u32>) -> Self {
        let units = units(reads, recordsizes);
        let blocks = reads.blocks.iter().zip(0u32..);
        let mut order: Vec<(u32, u64, u32)> = blocks.map(|(block, at)| (block.object, block.blkid, at)).collect();
        order.sort_unstable();
        let mut place_of = vec![0; reads.blocks.len()];
        let mut places = Vec::with_capacity(reads.blocks.len());
        for (object, blkid, at) in order {
            place_of[at as usize] = places.len() as u32;
            let size = reads.blocks[at as usize].size;
            places.push(Place { blkid, object, size });
        }
        let sequence: Vec<u32> = reads.block.iter().map(|block| place_of[*block as usize]).collect();
        let previous = previous_reads(&sequence, places.len());
        Self { places, units, sequence, previous }
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
        // Asked here, too: other threads may take all sizes before this one takes any.
        let stopped = AtomicBool::new(!go_on());
        let going = || !stopped.load(Ordering::Relaxed);
        // Takes sizes until none is left.
        let work = |go_on: &mut dyn FnMut() -> bool| {
            let mut found = Vec::new();
            while let Some(size) = sizes.get(next.fetch_add(1, Ordering::Relaxed)) {
                found.push(self.at(*size, cache_bytes, go_on));
            }
            found
        };
        let mut found = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads.min(sizes.len())).map(|_| scope.spawn(|| work(&mut || going()))).collect();
            let mut found = work(&mut || {
                stopped.fetch_or(!go_on(), Ordering::Relaxed);
                going()
            });
            found.extend(others.into_iter().flat_map(|other| other.join().expect("no analysis panics")));
            found
        });
        found.sort_by_key(|one| sizes.iter().position(|size| *size == one.recordsize));
        going().then_some(found)
    }

    fn at(&self, recordsize: u32, cache_bytes: u64, go_on: &mut dyn FnMut() -> bool) -> Regrouped {
        let mut records = self.records(recordsize);
        let mut found = Regrouped {
            recordsize,
            distinct_records: records.number as u64,
            distinct_bytes: (0..records.number as u32).map(|record| records.sizes.of(record)).sum(),
            ..Regrouped::default()
        };
        let sequence: Vec<u32> = self.sequence.iter().map(|place| records.of[*place as usize]).collect();
        records.of = Vec::new();
        // With each record its last miss is kept.
        let each = |read: u32, record, missed: &mut u32, hit: bool| {
            let unit = records.units.of(record);
            found.wanted_bytes += unit;
            if hit {
                let previous = self.previous[read as usize - 1];
                // The read that missed is itself a read of the block that it wanted.
                let came_along = previous < *missed;
                found.first_read_hits += u64::from(previous == NONE);
                found.neighbour_hits += u64::from(came_along);
                found.neighbour_hit_bytes += if came_along { unit } else { 0 };
            } else {
                *missed = read;
                found.misses += 1;
                found.missed_bytes += records.sizes.of(record);
                found.neighbour_bytes += records.sizes.of(record) - unit;
            }
        };
        lru::run(&sequence, records.number, &records.sizes, cache_bytes, each, go_on);
        found
    }

    fn records(&self, recordsize: u32) -> Records {
        let (mut sizes, mut units) = (Vec::new(), Vec::new());
        let mut before = None;
        let record_of = self.places.iter().map(|place| {
            let (shift, size, unit) = match self.units[place.object as usize] {
                Some(unit) if unit < recordsize => (recordsize.ilog2() - unit.ilog2(), recordsize, unit),
                _ => (0, place.size, place.size),
            };
            let address = Some((place.object, place.blkid >> shift));
            if before != address {
                before = address;
                sizes.push(size);
                units.push(unit);
            }
            sizes.len() as u32 - 1
        });
        let of = record_of.collect();
        Records { of, number: sizes.len(), sizes: sizes.into(), units: units.into() }
    }
}

/// The record size of the files with the most reads, among those that can be regrouped; the smaller one of two.
pub fn own_recordsize(reads: &Reads, recordsizes: &FastMap<u64, u32>) -> Option<u32> {
    let units = units(reads, recordsizes);
    let mut reads_of = vec![0u64; units.len()];
    // Where all files have one size, there is nothing to count.
    if units.iter().flatten().any(|unit| Some(unit) != units.iter().flatten().next()) {
        reads.block.iter().for_each(|block| reads_of[reads.blocks[*block as usize].object as usize] += 1);
    }
    let mut reads_at = FastMap::default();
    for (unit, reads) in units.into_iter().zip(reads_of) {
        *unit.map(|unit| reads_at.entry(unit).or_insert(0)).unwrap_or(&mut 0) += reads;
    }
    reads_at.into_iter().max_by_key(|(unit, reads)| (*reads, Reverse(*unit))).map(|(unit, _)| unit)
}

/// For each object: the size of its records where they can be regrouped.
fn units(reads: &Reads, recordsizes: &FastMap<u64, u32>) -> Vec<Option<u32>> {
    let mut largest = vec![0u32; reads.objects.len()];
    let mut one_block = vec![true; reads.objects.len()];
    for Block { blkid, object, size } in &reads.blocks {
        let largest = &mut largest[*object as usize];
        *largest = (*largest).max(*size);
        one_block[*object as usize] &= *blkid == 0;
    }
    let unit = |object: &Object, size: u32, one_block: bool| {
        let small = one_block && recordsizes.get(&object.objset).is_some_and(|recordsize| size < *recordsize);
        (object.level == 0 && size.is_power_of_two() && !small).then_some(size)
    };
    let sizes = largest.into_iter().zip(one_block);
    reads.objects.iter().zip(sizes).map(|(object, (size, one_block))| unit(object, size, one_block)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reads::Loader;
    use crate::trace::{read, Expected};

    fn neighbours(lines: &str, recordsizes: &[(u64, u32)]) -> (Neighbours, Option<u32>) {
        let mut loader = Loader::default();
        let expected = Expected { complete: true, records: None };
        read(lines.as_bytes(), expected, |record| loader.add(record), |_| true).unwrap();
        let (reads, recordsizes) = (loader.finish(), recordsizes.iter().copied().collect());
        (Neighbours::new(&reads, &recordsizes), own_recordsize(&reads, &recordsizes))
    }

    fn at(neighbours: &Neighbours, recordsize: u32, cache_bytes: u64) -> Regrouped {
        neighbours.regrouped(&[recordsize], cache_bytes, 1, || true).unwrap().remove(0)
    }

    const NEIGHBOURS: &str = "1 1 7 0 0 512 miss\n2 1 7 0 1 512 miss\n3 1 7 0 3 512 miss\n4 1 7 0 1 512 miss\n";

    #[test]
    fn a_neighbour_is_a_hit_before_its_first_read_and_counts_once() {
        let found = at(&neighbours(NEIGHBOURS, &[]).0, 1024, 1 << 20);
        assert_eq!((found.distinct_records, found.misses, found.missed_bytes), (2, 2, 2048));
        assert_eq!((found.first_read_hits, found.neighbour_hits, found.neighbour_hit_bytes), (1, 1, 512));
        assert_eq!((found.wanted_bytes, found.neighbour_bytes), (2048, 1024));
    }

    #[test]
    fn a_neighbour_read_after_its_record_was_evicted_and_came_again_counts_again() {
        let found = at(&neighbours(NEIGHBOURS, &[]).0, 1024, 1024);
        assert_eq!((found.misses, found.neighbour_hits), (3, 1));
        let again = format!("{NEIGHBOURS}5 1 7 0 0 512 miss\n");
        let found = at(&neighbours(&again, &[]).0, 1024, 1024);
        assert_eq!((found.misses, found.first_read_hits, found.neighbour_hits), (3, 1, 2));
    }

    #[test]
    fn small_files_odd_sizes_and_indirect_blocks_stay_as_they_are() {
        let kept = "1 1 7 0 0 512 miss\n2 1 8 0 0 1536 miss\n3 1 9 1 1 512 miss\n3 1 9 1 2 512 miss\n";
        let (found, own) = neighbours(kept, &[(1, 1024)]);
        assert_eq!(own, None);
        assert_eq!(at(&found, 4096, 1 << 20).distinct_bytes, 512 + 1536 + 512 + 512);
        // One block in a dataset whose recordsize isn't known, and two blocks.
        let regrouped = "4 2 7 0 0 512 miss\n5 1 10 0 0 512 miss\n6 1 10 0 1 512 miss\n";
        let (found, own) = neighbours(regrouped, &[(1, 1024)]);
        assert_eq!(own, Some(512));
        assert_eq!(at(&found, 4096, 1 << 20).distinct_bytes, 4096 + 4096);
    }

    #[test]
    fn the_size_of_most_reads_is_the_traces_own() {
        let large = "1 1 8 0 0 131072 miss\n".repeat(4);
        assert_eq!(neighbours(NEIGHBOURS, &[]).1, Some(512));
        assert_eq!(neighbours(&format!("{NEIGHBOURS}{large}"), &[]).1, Some(512), "the smaller of two");
        assert_eq!(neighbours(&format!("{NEIGHBOURS}{large}{large}"), &[]).1, Some(131_072));
    }

    #[test]
    fn it_can_be_stopped() {
        assert_eq!(neighbours(NEIGHBOURS, &[]).0.regrouped(&[512, 1024, 2048], 1024, 2, || false), None);
    }
}
