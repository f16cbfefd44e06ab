//! Writes a synthetic trace for measurements: `traces zipf|uniform|scan REFERENCES oracle|ids|trace.gz FILE`.
//!
//! The same arguments give the same file on every machine: only integers and exactly rounded divisions go into it.
//! Prints what it wrote as JSON. A trace.gz begins with what standard input holds: the header.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use flate2::write::GzEncoder;
use flate2::Compression;

/// SplitMix64 (Steele, Lea and Flood, OOPSLA '14).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Below 1, with 53 bits.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }
}

/// Ranks with weight 1 / rank (Zipf with exponent 1).
struct Zipf {
    cumulated: Vec<f64>,
}

impl Zipf {
    fn new(ranks: u64) -> Self {
        let mut sum = 0.0;
        Self {
            cumulated: (1..=ranks)
                .map(|rank| {
                    sum += 1.0 / rank as f64;
                    sum
                })
                .collect(),
        }
    }

    fn draw(&self, random: &mut Random) -> u64 {
        let at = random.unit() * self.cumulated[self.cumulated.len() - 1];
        self.cumulated.partition_point(|sum| *sum <= at) as u64
    }
}

/// Gives each rank a block, scattered over the range as hot rows are over a table.
fn scattered(rank: u64, blocks: u64) -> u64 {
    // A prime, so that no two ranks share a block.
    (u128::from(rank) * 2_654_435_761 % u128::from(blocks)) as u64
}

/// Calls `emit` with each block, from 0.
fn generate(kind: &str, references: u64, mut emit: impl FnMut(u64) -> io::Result<()>) -> io::Result<()> {
    let mut random = Random(7);
    match kind {
        // Half as many blocks as references: of 10 M, zipf finds 3.1 M in 20 M references, and uniform 8.6 M.
        "zipf" => {
            let blocks = (references / 2).max(1);
            let zipf = Zipf::new(blocks);
            (0..references).try_for_each(|_| emit(scattered(zipf.draw(&mut random), blocks)))
        }
        "uniform" => (0..references).try_for_each(|_| emit(random.below((references / 2).max(1)))),
        // Reads of rows, and a scan of another table that goes on where it stopped, in turn: 2 of 5 reads are the
        // scan's, which comes round once and a half.
        "scan" => {
            let rows = (references / 4).max(1);
            let table = (references * 26 / 100).max(1);
            let zipf = Zipf::new(rows);
            let stretch = (references / 50).max(1);
            let mut scanned = 0;
            (0..references).try_for_each(|at| {
                if at % stretch * 5 < stretch * 2 {
                    scanned += 1;
                    emit(rows + (scanned - 1) % table)
                } else {
                    emit(scattered(zipf.draw(&mut random), rows))
                }
            })
        }
        _ => Err(io::Error::other("no such kind of trace")),
    }
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, references, form, path] = &arguments[..] else {
        return Err(io::Error::other("usage: traces zipf|uniform|scan REFERENCES oracle|ids|trace.gz FILE"));
    };
    let references: u64 = references.parse().map_err(io::Error::other)?;
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut seen = vec![false; references as usize + 2];
    let mut distinct = 0u64;
    let mut count = |block: u64| {
        distinct += u64::from(!seen[block as usize]);
        seen[block as usize] = true;
    };
    let mut at = 0u64;
    match form.as_str() {
        "oracle" => generate(kind, references, |block| {
            count(block);
            out.write_all(&((at / 1_000_000) as u32).to_le_bytes())?;
            // libCacheSim has no id 0 everywhere.
            out.write_all(&(block + 1).to_le_bytes())?;
            out.write_all(&1u32.to_le_bytes())?;
            at += 1;
            out.write_all(&(-2i64).to_le_bytes())
        })?,
        "ids" => generate(kind, references, |block| {
            count(block);
            out.write_all(&(block + 1).to_le_bytes())
        })?,
        "trace.gz" => {
            let mut out = GzEncoder::new(&mut out, Compression::fast());
            io::copy(&mut io::stdin(), &mut out)?;
            generate(kind, references, |block| {
                count(block);
                at += 1;
                writeln!(out, "{} 1 2 0 {block} 16384 miss", at * 10_000)
            })?;
            out.finish()?;
        }
        _ => return Err(io::Error::other("no such form of trace")),
    }
    out.flush()?;
    println!("{{\"references\": {references}, \"distinct\": {distinct}}}");
    Ok(())
}
