//! The exact curve, or reference counts, of an oracleGeneral file, as a whole process; each record counts as a block.
//!
//! `exact curve FILE THREADS LEVEL SIZE…` prints the miss ratio of an LRU cache of each size, in blocks;
//! `exact counts FILE THREADS` how many blocks are read once, more than once and more than twice. LEVEL is 0 for
//! portable code, more for what the processor has, or "best".

use std::fs::File;
use std::io;
use std::thread;

use memmap2::MmapOptions;

use zmysql_engine::curve::Curve;
use zmysql_engine::exact::ids::{Ids, CHUNK};
use zmysql_engine::exact::{distances, Tally};
use zmysql_engine::simd::Level;

/// u32 time, u64 id, u32 size, i64 next access.
const RECORD: usize = 24;

/// Takes the records from `begin` up to `end`. They are mapped a chunk at a time, as mapped pages count as memory.
fn read(path: &str, begin: usize, end: usize, level: Level) -> io::Result<Ids> {
    let file = File::open(path)?;
    let mut ids = Ids::new(level);
    for from in (begin..end).step_by(CHUNK) {
        let mut window = MmapOptions::new();
        window.offset((from * RECORD) as u64).len(CHUNK.min(end - from) * RECORD);
        // SAFETY: nothing writes to the file meanwhile.
        let records = unsafe { window.map(&file) }?;
        let fields = records.chunks_exact(RECORD).map(|record| record[4..12].try_into());
        ids.add(fields.map(|id| u64::from_le_bytes(id.unwrap_or_default())));
    }
    Ok(ids)
}

/// Takes all records, on so many threads.
fn read_all(path: &str, threads: usize, level: Level) -> io::Result<Ids> {
    let records = File::open(path)?.metadata()?.len() as usize / RECORD;
    let each = records.div_ceil(threads).next_multiple_of(CHUNK);
    let part = |begin: usize| read(path, begin, records.min(begin + each), level);
    thread::scope(|scope| {
        let later: Vec<_> = (each..records).step_by(each).map(|begin| scope.spawn(move || part(begin))).collect();
        let mut all = part(0)?;
        for part in later {
            all.append(part.join().map_err(|_| io::Error::other("a thread panicked"))??);
        }
        Ok(all)
    })
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["curve", path, threads, level, sizes @ ..] => {
            let levels = Level::available();
            let level = level.parse().map_or(Level::best(), |level: usize| levels[level.min(levels.len() - 1)]);
            let threads = threads.parse().map_err(io::Error::other)?;
            let ids = read_all(path, threads, level)?;
            let reads = ids.len();
            let (stretches, blocks) = ids.stretches(threads);
            let tally = distances(reads, stretches, &Tally::new(1, blocks as u64, reads), level);
            let curve = Curve::new(tally, reads as u64, blocks as u64);
            for size in sizes {
                let hits = curve.hits(size.parse().map_err(io::Error::other)?);
                println!("{size} {:.6}", (reads as u64 - hits) as f64 / reads as f64);
            }
        }
        ["counts", path, threads] => {
            let threads = threads.parse().map_err(io::Error::other)?;
            let counts = read_all(path, threads, Level::best())?.reads_per_block(threads);
            let more_than = |often| counts.iter().filter(|(times, _)| *times > often).map(|(_, blocks)| blocks).sum();
            let [all, twice, thrice]: [u64; 3] = [0, 1, 2].map(more_than);
            println!("{} {twice} {thrice}", all - twice);
        }
        _ => return Err(io::Error::other("usage: exact curve FILE THREADS LEVEL SIZE… | exact counts FILE THREADS")),
    }
    Ok(())
}
