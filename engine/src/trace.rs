//! Reads the trace format: gzip text, `#` lines, and one read a line,
//! `time_ns objset object level blkid size class`, with single spaces. `zmysql/trace/format.py` describes the header.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::num::NonZeroU32;
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

/// The largest block of ZFS (SPA_MAXBLOCKSIZE).
const MAX_BLOCK_BYTES: u32 = 16 << 20;
/// Text held at once; no record's line is nearly as long.
const BUFFER_BYTES: usize = 1 << 18;
/// Records between two calls of the caller's `go_on`.
const RECORDS_PER_CALL: u64 = 1 << 18;

/// Where a read was served from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Dbuf,
    Arc,
    L2hit,
    Miss,
    /// Joined a read that was already in flight.
    Wait,
    /// Needed no read: a hole, or data that lies in its block pointer.
    Hole,
    /// The trace doesn't say: it was imported.
    Unknown,
}

impl Class {
    /// The words of the trace format, in the order of the variants.
    pub const NAMES: [&'static str; 7] = ["dbuf", "arc", "l2hit", "miss", "wait", "hole", "-"];

    fn parse(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"dbuf" => Self::Dbuf,
            b"arc" => Self::Arc,
            b"l2hit" => Self::L2hit,
            b"miss" => Self::Miss,
            b"wait" => Self::Wait,
            b"hole" => Self::Hole,
            b"-" => Self::Unknown,
            _ => return None,
        })
    }
}

/// A read of one record (block) of ZFS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub time_ns: u64,
    pub objset: u64,
    pub object: u64,
    pub level: u8,
    pub blkid: u64,
    pub size: NonZeroU32,
    pub class: Class,
}

impl Record {
    /// Reads a line without its newline.
    fn parse(line: &[u8]) -> Result<Self, String> {
        let mut fields = line.split(|byte| *byte == b' ');
        let mut field = |name: &str| fields.next().ok_or_else(|| format!("it has no {name}"));
        let record = Self {
            time_ns: number(field("time_ns")?, "time_ns")?,
            objset: number(field("objset")?, "objset")?,
            object: number(field("object")?, "object")?,
            level: number(field("level")?, "level")
                .and_then(|level| u8::try_from(level).map_err(|_| format!("level {level} is more than ZFS has")))?,
            blkid: number(field("blkid")?, "blkid")?,
            size: block_size(number(field("size")?, "size")?)?,
            class: field("class").and_then(|word| {
                Class::parse(word)
                    .ok_or_else(|| format!("class {} is none of {}", shown(word), Class::NAMES.join(", ")))
            })?,
        };
        match fields.next() {
            None => Ok(record),
            Some(_) => Err("it has more than 7 columns".into()),
        }
    }
}

fn number(word: &[u8], name: &str) -> Result<u64, String> {
    let mut value: u64 = 0;
    for byte in word {
        let digit = byte.wrapping_sub(b'0');
        let grown = value.checked_mul(10).and_then(|tens| tens.checked_add(u64::from(digit)));
        value = grown.filter(|_| digit < 10).ok_or_else(|| no_number(word, name))?;
    }
    if word.is_empty() {
        return Err(no_number(word, name));
    }
    Ok(value)
}

#[cold]
fn no_number(word: &[u8], name: &str) -> String {
    format!("{name} {} is no whole number below 2^64", shown(word))
}

fn block_size(bytes: u64) -> Result<NonZeroU32, String> {
    let size = u32::try_from(bytes).ok().filter(|size| *size <= MAX_BLOCK_BYTES);
    size.and_then(NonZeroU32::new).ok_or_else(|| format!("size {bytes} is no size of a ZFS block (1 byte to 16 MiB)"))
}

/// A word for a message: quoted, on one line, and not longer than a message bears.
fn shown(word: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(&word[..word.len().min(40)]))
}

/// Why a trace can't be read. The messages name no file: the caller knows it.
#[derive(Debug)]
pub enum TraceError {
    /// The file can't be opened or read.
    Io(io::Error),
    /// It isn't gzip.
    NotGzip,
    /// The compressed data are damaged after this line.
    Damaged { line: u64 },
    /// A line is no record.
    Malformed { line: u64, why: String },
    /// A finished recording ends too early, after this line.
    Truncated { line: u64 },
    /// A finished recording holds more or fewer records than its header says.
    Miscounted { said: u64, found: u64 },
    /// No record at all.
    Empty,
    /// More distinct blocks than the engine can number.
    TooManyBlocks,
    /// The caller asked to stop.
    Stopped,
}

impl fmt::Display for TraceError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(out, "can't be read: {error}"),
            Self::NotGzip => write!(out, "is no gzip file, so no trace: `zmysql trace import` brings in other traces"),
            Self::Damaged { line } => {
                write!(out, "is damaged after line {line}: copy it again from where it was recorded")
            }
            Self::Malformed { line, why } => write!(
                out,
                "is wrong in line {line}: {why}; look at it with `zcat`, and record or import the trace again"
            ),
            Self::Truncated { line } => {
                write!(out, "is cut off after line {line}: copy it again from where it was recorded")
            }
            Self::Miscounted { said, found } => write!(
                out,
                "holds {found} records where its header says {said}: copy it again from where it was recorded"
            ),
            Self::Empty => write!(out, "holds no records: record while mysqld reads, and for longer"),
            Self::TooManyBlocks => write!(out, "reads more than 2^30 distinct blocks: judge a shorter recording"),
            Self::Stopped => write!(out, "was read in part only: the reading was stopped"),
        }
    }
}

impl std::error::Error for TraceError {}

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
    let mut file = File::open(path).map_err(TraceError::Io)?;
    let mut magic = Vec::new();
    (&mut file).take(2).read_to_end(&mut magic).map_err(TraceError::Io)?;
    if magic != [0x1f, 0x8b] {
        return Err(TraceError::NotGzip);
    }
    let whole = BufReader::with_capacity(BUFFER_BYTES, magic.as_slice().chain(file));
    read(MultiGzDecoder::new(whole), expected, each, go_on)
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
            Ok(Some(line)) => {
                let parsed = Record::parse(line);
                each(&parsed.map_err(|why| lines.malformed(why))?)?;
            }
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

/// The lines of a text that aren't comments. A comment may have any length (the map of objects is one), the other
/// lines must fit into the buffer.
struct Lines<R> {
    text: R,
    buffer: Vec<u8>,
    /// The part of the buffer not yet given out.
    start: usize,
    end: usize,
    /// The start of an over-long comment was dropped; the rest of it is still to come.
    in_comment: bool,
    /// The number of the line given out last, from 1.
    number: u64,
}

impl<R: Read> Lines<R> {
    fn new(text: R) -> Self {
        Self { text, buffer: vec![0; BUFFER_BYTES], start: 0, end: 0, in_comment: false, number: 0 }
    }

    /// The next line that isn't a comment, without its newline; None at the end. What follows the last newline is no
    /// line.
    fn next(&mut self) -> Result<Option<&[u8]>, TraceError> {
        loop {
            let (from, held) = (self.start, &self.buffer[self.start..self.end]);
            if let Some(length) = held.iter().position(|byte| *byte == b'\n') {
                let comment = std::mem::take(&mut self.in_comment) || held[0] == b'#';
                self.start += length + 1;
                self.number += 1;
                if !comment {
                    return Ok(Some(&self.buffer[from..from + length]));
                }
            } else if !self.fill()? {
                return Ok(None);
            }
        }
    }

    fn ends_within_a_line(&self) -> bool {
        self.start < self.end || self.in_comment
    }

    /// Reads on; false at the end of the text.
    fn fill(&mut self) -> Result<bool, TraceError> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.in_comment || (self.end == self.buffer.len() && self.buffer[0] == b'#') {
            self.in_comment = true;
            self.end = 0;
        }
        if self.end == self.buffer.len() {
            self.number += 1;
            return Err(self.malformed(format!("it is longer than {BUFFER_BYTES} bytes")));
        }
        loop {
            return match self.text.read(&mut self.buffer[self.end..]) {
                Ok(0) => Ok(false),
                Ok(read) => {
                    self.end += read;
                    Ok(true)
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    Err(TraceError::Truncated { line: self.number })
                }
                Err(error) if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput) => {
                    Err(TraceError::Damaged { line: self.number })
                }
                Err(error) => Err(TraceError::Io(error)),
            };
        }
    }

    fn malformed(&self, why: String) -> TraceError {
        TraceError::Malformed { line: self.number, why }
    }
}

#[cfg(test)]
mod tests {
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
    fn class_names_are_in_the_order_of_the_variants() {
        for (number, name) in Class::NAMES.into_iter().enumerate() {
            assert_eq!(Class::parse(name.as_bytes()).map(|class| class as usize), Some(number));
        }
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
