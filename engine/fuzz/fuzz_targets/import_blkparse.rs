//! Any bytes as the text of blkparse.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zmysql_engine::convert::import::Format;

mod foreign;

fuzz_target!(|bytes: &[u8]| foreign::check(bytes, &Format::Blkparse));
