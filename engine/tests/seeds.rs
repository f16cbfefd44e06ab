//! What the fuzzing begins with, and what it found, is read without a panic.

use std::fs;
use std::io::Read;
use std::path::Path;

use zmysql_engine::trace::{read, unpack, Expected};

const MOST_TEXT_BYTES: u64 = 1 << 20;

#[test]
fn every_seed_is_read_or_refused_in_one_line() {
    let mut read_or_refused = [0, 0];
    for kind in ["text", "packed"] {
        for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(kind)).unwrap() {
            let file = fs::read(entry.unwrap().path()).unwrap();
            for complete in [false, true] {
                let expected = Expected { complete, records: None };
                let found = match unpack(file.as_slice()) {
                    Ok(text) => read(text.take(MOST_TEXT_BYTES), expected, |_| Ok(()), |_| true),
                    Err(error) => Err(error),
                };
                read_or_refused[usize::from(found.is_err())] += 1;
                assert!(found.map_or_else(|error| !error.to_string().contains('\n'), |records| records > 0));
            }
        }
    }
    assert!(read_or_refused[0] > 8 && read_or_refused[1] > 2, "{read_or_refused:?}");
}
