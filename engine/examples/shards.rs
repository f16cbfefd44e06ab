//! Samples reads and prints how fast, for `make bench`.
//!
//! shards memory FILE RATE|BLOCKS RUNS   u64 ids, held in memory before the clock starts
//! shards oracle FILE RATE|BLOCKS SIZE…  a file of libCacheSim's oracleGeneral, as a whole process; prints for caches of
//!                                       these sizes the miss ratio and its standard error
//! shards endless REFERENCES BLOCKS      reads made as they are sampled, and the peak memory of the process

use std::fs::File;
use std::thread;
use std::time::Instant;

use memmap2::Mmap;
use zmysql_engine::shards::{hash, Sample, Sampler, Size};

const RECORD: usize = 24;
/// Records whose ids are taken at once: they stay in the first cache.
const AT_ONCE: usize = 1 << 12;
/// One unit: these files know no bytes.
const SIZE: u32 = 1;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["memory", file, size, runs] => memory(file, parsed(size), runs.parse().expect("a number of runs")),
        ["oracle", file, size, ref caches @ ..] => {
            let caches: Vec<u64> = caches.iter().map(|cache| cache.parse().expect("a size")).collect();
            show(&oracle(file, parsed(size)), &caches);
        }
        ["endless", references, blocks] => endless(references.parse().expect("a number of reads"), parsed(blocks)),
        _ => panic!("see the top of this file"),
    }
}

fn parsed(size: &str) -> Size {
    if size.contains('.') {
        Size::rate(size.parse().expect("a rate"))
    } else {
        Size::blocks(size.parse().expect("a number of blocks"))
    }
}

fn memory(file: &str, size: Size, runs: u32) {
    let bytes = std::fs::read(file).expect("a file of ids");
    let ids: Vec<u64> = bytes.chunks_exact(8).map(|id| u64::from_le_bytes(id.try_into().unwrap())).collect();
    drop(bytes);
    for _ in 0..runs {
        let begun = Instant::now();
        let mut sampler = Sampler::new(size);
        sampler.read_all(&ids, SIZE);
        let sample = sampler.finish();
        let seconds = begun.elapsed().as_secs_f64();
        println!("{:.1} M reads/s, {} sampled", ids.len() as f64 / seconds / 1e6, sample.sampled);
    }
}

/// Records of 24 bytes, with the id after a time of 4 bytes. libCacheSim maps the file, so we do. At a fixed rate two
/// threads take the sampled ones out of half of it each, which is mostly work of the kernel, and nearly all there is.
fn oracle(file: &str, size: Size) -> Sample {
    let file = File::open(file).expect("a file of records");
    // SAFETY: nothing writes to the file meanwhile.
    let bytes = unsafe { Mmap::map(&file) }.expect("a file that can be mapped");
    let mut sampler = Sampler::new(size);
    let Some(sieve) = sampler.sieve() else {
        each_ids(&bytes, |ids| sampler.read_all(ids, SIZE));
        return sampler.finish();
    };
    let sifted = |records| {
        let (mut reads, mut kept) = (0, Vec::new());
        each_ids(records, |ids| {
            reads += ids.len();
            sieve.sift(ids, &mut kept);
        });
        (reads, kept)
    };
    let (first, second) = bytes.split_at(bytes.len() / RECORD / 2 * RECORD);
    thread::scope(|scope| {
        let second = scope.spawn(|| sifted(second));
        let (reads, kept) = sifted(first);
        sampler.read_sifted(reads, &kept, SIZE);
        let (reads, kept) = second.join().expect("a thread that ends well");
        sampler.read_sifted(reads, &kept, SIZE);
    });
    sampler.finish()
}

fn each_ids(records: &[u8], mut take: impl FnMut(&[u64])) {
    let mut ids = Vec::with_capacity(AT_ONCE);
    for some in records.chunks(AT_ONCE * RECORD) {
        ids.clear();
        ids.extend(some.chunks_exact(RECORD).map(|record| u64::from_le_bytes(record[4..12].try_into().unwrap())));
        take(&ids);
    }
}

fn show(sample: &Sample, sizes: &[u64]) {
    for (size, found) in sizes.iter().zip(sample.miss_ratios(sizes)) {
        println!("{size} {:.6} {:.6}", found.value, found.error);
    }
}

/// Each ten reads have a new block among those that they may read; most go back to earlier ones, the later the likelier.
fn endless(references: u64, size: Size) {
    let begun = Instant::now();
    let mut sampler = Sampler::new(size);
    let mut ids = vec![0; 1 << 16];
    for start in (0..references).step_by(ids.len()) {
        for (at, id) in ids.iter_mut().enumerate() {
            let newest = (start + at as u64) / 10;
            let draw = u128::from(hash(start + at as u64) >> 11);
            *id = newest - ((u128::from(newest) * draw * draw) >> 106) as u64;
        }
        sampler.read_all(&ids[..ids.len().min((references - start) as usize)], SIZE);
    }
    let sample = sampler.finish();
    println!(
        "{references} reads in {:.1} s, {:.0} distinct blocks",
        begun.elapsed().as_secs_f64(),
        sample.count(|_| true).value
    );
}
