//! Reads the trace format: text inside gzip or zstd, `#` lines, and one read a line,
//! `time_ns objset object level blkid size class`, with single spaces. `zmysql/trace/format.py` describes the header.
//!
//! The memory needed doesn't depend on the length of the file.

mod ahead;
mod digits;
mod error;
mod lines;
mod record;
mod unpack;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

pub use error::TraceError;
use lines::Lines;
pub use record::{Class, Record};
pub use unpack::unpack;

/// Records between two calls of the caller's `go_on`.
const RECORDS_PER_CALL: u64 = 1 << 18;

/// What the header says about the whole recording.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// The recording came to its end; if not, it may be cut off anywhere.
    pub complete: bool,
    /// The records it holds, where the header knows.
    pub records: Option<u64>,
}

/// Reads a trace file, hands each record to `each`, and gives their number. `go_on` hears the records so far now and
/// then, and stops the reading with false.
pub fn read_file(
    path: &Path,
    expected: Expected,
    each: impl FnMut(&Record) -> Result<(), TraceError>,
    go_on: impl FnMut(u64) -> bool,
) -> Result<u64, TraceError> {
    let text = unpack(File::open(path).map_err(TraceError::Io)?)?;
    ahead::read_ahead(text, |text| read(text, expected, each, go_on)).map_err(TraceError::Io)?
}

/// The lines that a trace file begins with and that are comments, as far as they can be had, and up to `most_bytes`.
pub fn header(path: &Path, most_bytes: u64) -> Result<Vec<u8>, TraceError> {
    let mut text = BufReader::new(unpack(File::open(path).map_err(TraceError::Io)?)?.take(most_bytes));
    let mut lines = Vec::new();
    loop {
        let begun = lines.len();
        match text.read_until(b'\n', &mut lines) {
            Ok(0) | Err(_) => return Ok(lines),
            Ok(_) if lines[begun] != b'#' => {
                lines.truncate(begun);
                return Ok(lines);
            }
            Ok(_) => {}
        }
    }
}

/// Reads the text of a trace, as [`read_file`] does.
pub fn read(
    text: impl Read,
    expected: Expected,
    mut each: impl FnMut(&Record) -> Result<(), TraceError>,
    mut go_on: impl FnMut(u64) -> bool,
) -> Result<u64, TraceError> {
    let mut lines = Lines::new(text);
    let mut records = 0;
    let whole = loop {
        match lines.next() {
            Ok(Some(record)) => each(&record)?,
            Ok(None) => break !lines.ends_within_a_line(),
            Err(TraceError::Truncated { .. }) if !expected.complete => break true,
            Err(error) => return Err(error),
        }
        records += 1;
        if records % RECORDS_PER_CALL == 0 && !go_on(records) {
            return Err(TraceError::Stopped);
        }
    };
    if expected.complete && !whole {
        return Err(TraceError::Truncated { line: lines.number });
    }
    match expected.records {
        Some(said) if expected.complete && said != records => Err(TraceError::Miscounted { said, found: records }),
        _ if records == 0 => Err(TraceError::Empty),
        _ => Ok(records),
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::lines::BUFFER_BYTES;
    use super::*;

    const FINISHED: Expected = Expected { complete: true, records: None };
    const CUT_OFF: Expected = Expected { complete: false, records: None };

    fn records_of(text: &str, expected: Expected) -> Result<Vec<Record>, String> {
        let mut records = Vec::new();
        let each = |record: &Record| {
            records.push(record.clone());
            Ok(())
        };
        read(text.as_bytes(), expected, each, |_| true).map_err(|error| error.to_string())?;
        Ok(records)
    }

    #[test]
    fn a_record_has_its_fields_in_order() {
        let records = records_of("# zmysql-trace: 1\n1234567 54 128 0 17 16384 miss\n", FINISHED).unwrap();
        let expected = Record {
            time_ns: 1_234_567,
            objset: 54,
            object: 128,
            level: 0,
            blkid: 17,
            size: NonZeroU32::new(16384).unwrap(),
            class: Class::Miss,
        };
        assert_eq!(records, [expected]);
    }

    #[test]
    fn a_malformed_line_is_named_with_its_number() {
        for (line, why) in [
            ("", "time_ns \"\""),
            ("1 2 3 0 4 512", "no class"),
            ("1 2 3 0 4 512 miss 5", "more than 7"),
            ("1  2 3 0 4 512 miss", "objset \"\""),
            ("-1 2 3 0 4 512 miss", "time_ns \"-1\""),
            ("1 2 3 0 18446744073709551616 512 miss", "blkid"),
            ("1 2 3 0 4 0 miss", "size 0"),
            ("1 2 3 0 4 9223372036854775808 miss", "size 9223372036854775808"),
            ("1 2 3 256 4 512 miss", "level 256"),
            ("1 2 3 0 4 512 hit", "class \"hit\""),
            ("1 2 3 0 4 512 prefetc", "class \"prefetc\""),
            ("1 2 3 0 4 512 prefetched", "class \"prefetched\""),
            ("1 2 3 0 4 512 miss\r", "class"),
        ] {
            let text = format!("# columns: x\n1 2 3 0 4 512 miss\n{line}\n1 2 3 0 4 512 miss\n");
            let said = records_of(&text, CUT_OFF).unwrap_err();
            assert!(said.starts_with("is wrong in line 3:") && said.contains(why), "{line:?}: {said}");
        }
    }

    #[test]
    fn a_comment_may_be_longer_than_the_buffer_but_a_record_may_not() {
        let comment = format!("# objects: {}\n", "x".repeat(3 * BUFFER_BYTES));
        assert_eq!(records_of(&format!("{comment}1 2 3 0 4 512 -\n{comment}"), FINISHED).unwrap().len(), 1);
        let endless = "1".repeat(2 * BUFFER_BYTES);
        assert!(records_of(&endless, FINISHED).unwrap_err().contains("is wrong in line 1: it is longer than"));
    }

    #[test]
    fn the_rest_of_a_long_comment_is_no_record_whatever_it_looks_like() {
        // The buffer is full of comment just where what looks like a record begins.
        let comment = format!("#{}1 2 3 0 4 512 -\n", "x".repeat(BUFFER_BYTES - 1));
        assert_eq!(records_of(&format!("{comment}{}", "1 2 3 0 5 512 -\n".repeat(20)), FINISHED).unwrap().len(), 20);
    }

    #[test]
    fn only_a_recording_that_was_cut_off_may_end_within_a_line() {
        let text = "1 2 3 0 4 512 -\n1 2 3 0 5 512 -";
        assert_eq!(records_of(text, CUT_OFF).unwrap().len(), 1);
        assert!(records_of(text, FINISHED).unwrap_err().contains("cut off after line 1"));
        assert!(records_of("# columns: x\n", CUT_OFF).unwrap_err().contains("no records"));
    }

    #[test]
    fn the_number_of_records_must_be_what_the_header_says() {
        let expected = Expected { complete: true, records: Some(2) };
        assert!(records_of("1 2 3 0 4 512 -\n", expected)
            .unwrap_err()
            .contains("holds 1 records where its header says 2"));
    }

    #[test]
    fn the_caller_can_stop_the_reading() {
        let text = "1 2 3 0 4 512 -\n".repeat(RECORDS_PER_CALL as usize);
        let stopped = read(text.as_bytes(), FINISHED, |_| Ok(()), |_| false);
        assert!(matches!(stopped, Err(TraceError::Stopped)));
    }
}
