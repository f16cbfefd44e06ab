//! Any bytes as CSV.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zmysql_engine::convert::csv::Columns;
use zmysql_engine::convert::import::Format;

mod foreign;

fuzz_target!(|bytes: &[u8]| {
    let names = ["time", "object", "offset", "size"].map(String::from).to_vec();
    foreign::check(bytes, &Format::Csv(Columns::named(names).expect("all four are there")));
});
