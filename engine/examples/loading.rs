//! Loads a trace file and prints how long each part of it takes, for `make bench`.

use std::fs::File;
use std::io::{copy, sink};
use std::path::PathBuf;
use std::time::Instant;

use zmysql_engine::reads::Reads;
use zmysql_engine::trace::{read_file, unpack, Expected};

fn main() {
    let path: PathBuf = std::env::args_os().nth(1).expect("a trace file").into();
    let unfinished = Expected { complete: false, records: None };
    let timed = |what: &str, work: &dyn Fn() -> usize| {
        let begun = Instant::now();
        let found = work();
        println!("{what} {:.3} s, {found}", begun.elapsed().as_secs_f64());
    };
    timed("unpack", &|| copy(&mut unpack(File::open(&path).unwrap()).unwrap(), &mut sink()).unwrap() as usize);
    timed("parse", &|| read_file(&path, unfinished, |_| Ok(()), |_| true).unwrap() as usize);
    timed("load", &|| Reads::load(&path, unfinished, |_| true, |_| true).unwrap().blocks.len());
}
