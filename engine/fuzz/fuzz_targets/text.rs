//! Any text: no panic, and the same records and the same refusal when it comes in small pieces, which are never read by
//! the quick way, as when it comes at once.
#![no_main]

use std::io::{self, Read};

use libfuzzer_sys::fuzz_target;
use zmysql_engine::trace::{read, Expected, Record};

struct InPieces<'a>(&'a [u8]);

impl Read for InPieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = into.len().min(100);
        self.0.read(&mut into[..most])
    }
}

fn found(text: impl Read, expected: Expected) -> (Vec<Record>, Result<u64, String>) {
    let mut records = Vec::new();
    let each = |record: &Record| {
        records.push(record.clone());
        Ok(())
    };
    let read = read(text, expected, each, |_| true).map_err(|error| error.to_string());
    (records, read)
}

fuzz_target!(|text: &[u8]| {
    let complete = text.len() % 2 == 0;
    let expected = Expected { complete, records: None };
    let whole = found(text, expected);
    assert_eq!(whole, found(InPieces(text), expected));
    assert!(whole.1.map_or_else(|said| !said.contains('\n'), |records| records > 0));
});
