//! The objects (files) of a trace, all levels of each together: reads, misses in a shared cache, and a curve of each.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

use crate::hash::FastMap;
use crate::lru::{self, Sizes};
use crate::own_curve::OwnCurve;
use crate::reads::Reads;

/// The figures of an object. Each is exact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectFigures {
    pub objset: u64,
    pub object: u64,
    pub references: u64,
    pub distinct_blocks: u64,
    pub distinct_bytes: u64,
    /// Its misses in an LRU cache that all objects share.
    pub misses: u64,
    /// (cache bytes, miss ratio) of an LRU cache for this object alone; empty where it wasn't asked for.
    pub mrc: Vec<(u64, f64)>,
}

/// Where a block belongs.
#[derive(Clone, Copy)]
struct Home {
    file: u32,
    /// Its number among the blocks of the file, in the order of their first reads.
    number: u32,
}

/// The objects, the most read first, with curves for that many of them.
pub fn objects(reads: &Reads, cache_bytes: u64, curves: usize, threads: usize) -> Vec<ObjectFigures> {
    let (mut files, homes) = files(reads);
    let mut own_reads = own_reads(reads, &homes, files.len());
    for (file, own) in files.iter_mut().zip(&own_reads) {
        file.references = own.len() as u64;
    }
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_unstable_by_key(|at| (Reverse(files[*at].references), files[*at].objset, files[*at].object));
    order.iter().skip(curves).for_each(|at| own_reads[*at] = Vec::new());
    let misses = Mutex::new(Vec::new());
    let found = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    // Takes one analysis after the other: the cache that all share, then the largest files.
    let work = || loop {
        let Some(before) = next.fetch_add(1, Ordering::Relaxed).checked_sub(1) else {
            *misses.lock().expect("no analysis panics") = shared_misses(reads, &homes, files.len(), cache_bytes);
            continue;
        };
        let Some(at) = order.iter().take(curves).nth(before) else { break };
        let sizes = own_sizes(reads, &homes, *at);
        let points = OwnCurve::new(&own_reads[*at], files[*at].distinct_blocks as usize, &sizes).points();
        found.lock().expect("no analysis panics").push((*at, points));
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    for (file, misses) in files.iter_mut().zip(misses.into_inner().expect("no analysis panics")) {
        file.misses = misses;
    }
    for (at, points) in found.into_inner().expect("no analysis panics") {
        files[at].mrc = points;
    }
    order.iter().map(|at| std::mem::take(&mut files[*at])).collect()
}

/// The files, and where each block belongs.
fn files(reads: &Reads) -> (Vec<ObjectFigures>, Vec<Home>) {
    let mut files: Vec<ObjectFigures> = Vec::new();
    let mut file_at = FastMap::default();
    let file_of: Vec<u32> = reads
        .objects
        .iter()
        .map(|one| {
            *file_at.entry((one.objset, one.object)).or_insert_with(|| {
                files.push(ObjectFigures { objset: one.objset, object: one.object, ..ObjectFigures::default() });
                files.len() as u32 - 1
            })
        })
        .collect();
    let homes = reads
        .blocks
        .iter()
        .map(|block| {
            let file = file_of[block.object as usize];
            let figures = &mut files[file as usize];
            figures.distinct_blocks += 1;
            figures.distinct_bytes += u64::from(block.size);
            Home { file, number: figures.distinct_blocks as u32 - 1 }
        })
        .collect();
    (files, homes)
}

/// The reads of each file, with blocks numbered for itself.
fn own_reads(reads: &Reads, homes: &[Home], files: usize) -> Vec<Vec<u32>> {
    let mut own_reads = vec![Vec::new(); files];
    for block in &reads.block {
        let home = homes[*block as usize];
        own_reads[home.file as usize].push(home.number);
    }
    own_reads
}

/// The sizes of a file's blocks.
fn own_sizes(reads: &Reads, homes: &[Home], file: usize) -> Sizes {
    let own = reads.blocks.iter().zip(homes).filter(|(_, home)| home.file as usize == file);
    own.map(|(block, _)| block.size).collect::<Vec<_>>().into()
}

/// The misses of each file in an LRU cache that all share.
fn shared_misses(reads: &Reads, homes: &[Home], files: usize, cache_bytes: u64) -> Vec<u64> {
    let mut misses = vec![0; files];
    let sizes = reads.blocks.iter().map(|block| block.size).collect::<Vec<_>>().into();
    let each = |_, block: u32, (): &mut (), hit: bool| {
        if !hit {
            misses[homes[block as usize].file as usize] += 1;
        }
    };
    lru::run(&reads.block, reads.blocks.len(), &sizes, cache_bytes, each, || true);
    misses
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reads::Loader;
    use crate::trace::{read, Expected};

    #[test]
    fn levels_are_joined_and_the_most_read_come_first() {
        let text = "1 1 7 0 0 512 -\n1 1 8 0 0 512 -\n1 1 8 1 0 1024 -\n1 1 8 0 0 512 -\n1 1 7 0 0 512 -\n";
        let mut loader = Loader::default();
        let expected = Expected { complete: true, records: None };
        read(text.as_bytes(), expected, |record| loader.add(record), |_| true).unwrap();
        let reads = loader.finish();
        for threads in [0, 1, 3] {
            let found = objects(&reads, 1536, 1, threads);
            let eight = ObjectFigures {
                objset: 1,
                object: 8,
                references: 3,
                distinct_blocks: 2,
                distinct_bytes: 1536,
                misses: 2,
                mrc: found[0].mrc.clone(),
            };
            assert_eq!(found[0], eight);
            assert_eq!(found[0].mrc.last(), Some(&(1536, 2.0 / 3.0)));
            assert_eq!((found[1].object, found[1].misses, found[1].mrc.len()), (7, 2, 0));
        }
    }
}
