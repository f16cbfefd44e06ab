//! The objects (files) of a trace, all levels of each together: reads, misses in a shared cache, and a curve of each.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

use crate::hash::FastMap;
use crate::lru::{self, Item};
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

/// The reads of a file: the numbers of its blocks, and their sizes.
#[derive(Default)]
struct Own {
    sequence: Vec<u32>,
    sizes: Vec<u32>,
}

/// The objects, the most read first, with curves for that many of them.
pub fn objects(reads: &Reads, cache_bytes: u64, curves: usize, threads: usize) -> Vec<ObjectFigures> {
    let (mut files, homes) = files(reads);
    reads.block.iter().for_each(|block| files[homes[*block as usize].file as usize].references += 1);
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_unstable_by_key(|at| {
        let file = &files[*at];
        (std::cmp::Reverse(file.references), file.objset, file.object)
    });
    let with_curve = &order[..curves.min(order.len())];
    let owns = own_reads(reads, &homes, &files, with_curve);
    let misses = Mutex::new(Vec::new());
    let found = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    // Takes one analysis after the other, the cache of all first, then the largest files.
    let work = || loop {
        match next.fetch_add(1, Ordering::Relaxed) {
            0 => *misses.lock().expect("no analysis panics") = shared_misses(reads, &homes, files.len(), cache_bytes),
            at if at > owns.len() => break,
            at => {
                let points = OwnCurve::new(&owns[at - 1].sequence, &owns[at - 1].sizes).points();
                found.lock().expect("no analysis panics").push((with_curve[at - 1], points));
            }
        }
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

/// The reads of the wanted files, each with blocks numbered for itself.
fn own_reads(reads: &Reads, homes: &[Home], files: &[ObjectFigures], wanted: &[usize]) -> Vec<Own> {
    let mut place = vec![usize::MAX; files.len()];
    wanted.iter().enumerate().for_each(|(at, file)| place[*file] = at);
    let room = |file: &usize| Own {
        sequence: Vec::with_capacity(files[*file].references as usize),
        sizes: Vec::with_capacity(files[*file].distinct_blocks as usize),
    };
    let mut owns: Vec<Own> = wanted.iter().map(room).collect();
    for (home, block) in homes.iter().zip(&reads.blocks) {
        if let Some(own) = owns.get_mut(place[home.file as usize]) {
            own.sizes.push(block.size);
        }
    }
    for block in &reads.block {
        let home = homes[*block as usize];
        if let Some(own) = owns.get_mut(place[home.file as usize]) {
            own.sequence.push(home.number);
        }
    }
    owns
}

/// The misses of each file in an LRU cache that all share.
fn shared_misses(reads: &Reads, homes: &[Home], files: usize, cache_bytes: u64) -> Vec<u64> {
    let mut misses = vec![0; files];
    let blocks = reads.blocks.iter().zip(homes);
    let mut items: Vec<Item<u32>> = blocks.map(|(block, home)| Item::new(block.size, home.file)).collect();
    let each = |_, item: &mut Item<u32>, hit: bool| misses[item.kept as usize] += u64::from(!hit);
    lru::run(&reads.block, &mut items, cache_bytes, each, || true);
    misses
}
