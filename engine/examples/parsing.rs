//! Reads a trace's text from memory as often as it is told to, for `make bench`; prints the bytes of the text.

use std::fmt::Write;
use std::hint::black_box;

use zmysql_engine::trace::{read, Expected, Record};

const LINES: u64 = 5_000_000;
const CLASSES: [&str; 4] = ["dbuf", "arc", "miss", "l2hit"];

fn main() {
    let mut text = String::new();
    let mut random = 1u64;
    for line in 0..LINES {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (object, blkid, class) =
            (128 + (random >> 60), (random >> 40) % 4_000_000, CLASSES[(random >> 38) as usize % 4]);
        writeln!(text, "{} 54 {object} 0 {blkid} 16384 {class}", line * 52_417).expect("memory takes it");
    }
    println!("{}", text.len());
    let finished = Expected { complete: true, records: Some(LINES) };
    for _ in 0..std::env::args().nth(1).map_or(5, |runs| runs.parse().expect("a number of runs")) {
        let mut sum = 0u64;
        let each = |record: &Record| {
            sum = sum.wrapping_add(record.blkid ^ record.time_ns);
            Ok(())
        };
        read(text.as_bytes(), finished, each, |_| true).expect("the text is a trace's");
        black_box(sum);
    }
}
