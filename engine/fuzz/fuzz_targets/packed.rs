//! Any file, taken as gzip, zstd or text: no panic, and no more memory than libFuzzer grants.
#![no_main]

use std::io::Read;

use libfuzzer_sys::fuzz_target;
use zmysql_engine::trace::{read, unpack, Expected};

/// A bomb's text has no end in sight; so much of it is enough.
const MOST_TEXT_BYTES: u64 = 1 << 20;

fuzz_target!(|file: &[u8]| {
    let expected = Expected { complete: file.len() % 2 == 0, records: None };
    if let Ok(text) = unpack(file) {
        if let Err(error) = read(text.take(MOST_TEXT_BYTES), expected, |_| Ok(()), |_| true) {
            assert!(!error.to_string().contains('\n'));
        }
    }
});
