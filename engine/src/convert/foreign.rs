//! What all foreign formats have in common: times from the first access on, and the records that an access reads.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::num::NonZeroU32;

use super::Stopped;
use crate::trace::{Class, Record};

/// All that has no dataset of its own lies in this one.
pub const OBJSET: u64 = 1;
/// An access of more is a wrong column, not a read.
const MAX_ACCESS_BYTES: u64 = 1 << 30;
/// What the names of objects may take in a header; `zmysql/trace/format.py` reads 256 MiB.
const MAX_NAMES_BYTES: usize = 192 << 20;

/// Where in the input something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Line(u64),
    Byte(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(number) => write!(out, "line {number}"),
            Self::Byte(offset) => write!(out, "byte {offset}"),
        }
    }
}

/// Why a foreign trace can't be read. The messages name no file: the caller knows it.
#[derive(Debug)]
pub enum ForeignError {
    /// The input can't be read.
    Io(io::Error),
    /// The compressed data end too early or are damaged after this place.
    Damaged(Place),
    /// Here stands what can't be.
    Malformed { place: Place, why: String },
    /// No record at all; what the reader wanted to see.
    Empty(&'static str),
    /// The caller asked to stop.
    Stopped,
}

impl fmt::Display for ForeignError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(out, "can't be read: {error}"),
            Self::Damaged(place) => {
                write!(out, "is cut off or damaged after {place}: its compressed data end there; copy it again")
            }
            Self::Malformed { place: Place::Line(number), why } => write!(out, "is wrong in line {number}: {why}"),
            Self::Malformed { place: Place::Byte(offset), why } => write!(out, "is wrong at byte {offset}: {why}"),
            Self::Empty(wanted) => write!(out, "holds no read: there is nothing to import; {wanted}"),
            Self::Stopped => write!(out, "was read in part only: the reading was stopped"),
        }
    }
}

impl std::error::Error for ForeignError {}

impl From<Stopped> for ForeignError {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

impl ForeignError {
    /// What a failed read of the input after this place means: decoders say in the kind that the data are bad.
    pub(super) fn reading(error: io::Error, place: Place) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                Self::Damaged(place)
            }
            _ => Self::Io(error),
        }
    }
}

/// What an import found, beside the records.
#[derive(Debug, Default)]
pub struct Found {
    /// Accesses that read at least a record.
    pub accesses: u64,
    /// Accesses of 0 bytes, which read none.
    pub empty: u64,
    /// What is no demand read of data, and was left out.
    pub skipped: Vec<(&'static str, u64)>,
    /// Reads that the source says it lost.
    pub drops: Option<u64>,
    /// From the first access to the latest.
    pub last_ns: u64,
    /// The largest size of a record.
    pub largest_bytes: u32,
    /// Names by (objset, object), where the source has any, in any encoding.
    pub objects: Vec<(u64, u64, Vec<u8>)>,
    /// The datasets with reads.
    pub objsets: Vec<u64>,
}

/// Takes the accesses of a foreign trace, and hands the records that they read to `each`.
pub struct Intake<E> {
    pub found: Found,
    recordsize: NonZeroU32,
    started_ns: Option<u64>,
    each: E,
}

impl<E: FnMut(&Record) -> Result<(), Stopped>> Intake<E> {
    pub fn new(recordsize: NonZeroU32, each: E) -> Self {
        Self { found: Found::default(), recordsize, started_ns: None, each }
    }

    /// The time since the first access; None where this one is before it.
    pub(super) fn since_first(&mut self, time_ns: u64) -> Option<u64> {
        let since = time_ns.checked_sub(*self.started_ns.get_or_insert(time_ns))?;
        self.found.last_ns = self.found.last_ns.max(since);
        Some(since)
    }

    pub(super) fn skip(&mut self, what: &'static str, count: u64) {
        match self.found.skipped.iter_mut().find(|(name, _)| *name == what) {
            Some((_, counted)) => *counted += count,
            None => self.found.skipped.push((what, count)),
        }
    }

    /// Takes a read of `size` bytes from `offset` on of an object, at a time since the first.
    ///
    /// The error is a sentence on what can't be, or None where the caller asked to stop.
    pub(super) fn access(&mut self, time_ns: u64, object: u64, offset: u64, size: u64) -> Result<(), Option<String>> {
        if size > MAX_ACCESS_BYTES {
            return Err(Some(format!("size {size} is more than 1G")));
        }
        if size == 0 {
            self.found.empty += 1;
            return Ok(());
        }
        let last = offset.checked_add(size - 1).ok_or_else(|| Some(format!("offset {offset} is too large")))?;
        let recordsize = u64::from(self.recordsize.get());
        self.found.accesses += 1;
        let (size, class) = (self.recordsize, Class::Unknown);
        for blkid in offset / recordsize..=last / recordsize {
            let record = Record { time_ns, objset: OBJSET, object, level: 0, blkid, size, class };
            (self.each)(&record).map_err(|Stopped| None)?;
        }
        self.found.largest_bytes = size.get();
        Ok(())
    }

    /// Takes a read of one block as it is.
    pub(super) fn record(&mut self, record: &Record) -> Result<(), Stopped> {
        self.found.accesses += 1;
        self.found.largest_bytes = self.found.largest_bytes.max(record.size.get());
        (self.each)(record)
    }

    pub(super) fn recordsize(&self) -> NonZeroU32 {
        self.recordsize
    }

    /// Ends the reading: a source without a read is an error, which says what was wanted.
    pub(super) fn finish(&self, wanted: &'static str) -> Result<(), ForeignError> {
        if self.found.accesses == 0 {
            return Err(ForeignError::Empty(wanted));
        }
        Ok(())
    }
}

/// Numbers the objects of a source by their names, from 1.
#[derive(Default)]
pub(super) struct Names {
    numbers: HashMap<Vec<u8>, u64>,
    header_bytes: usize,
}

impl Names {
    /// The number of a name; None where a header couldn't hold that many.
    pub fn number(&mut self, name: &[u8]) -> Option<u64> {
        if let Some(number) = self.numbers.get(name) {
            return Some(*number);
        }
        // JSON: what isn't plain text takes six characters; a key, quotes and a comma beside it.
        self.header_bytes += 32;
        self.header_bytes +=
            name.iter().map(|byte| if matches!(byte, b' '..=b'~') && *byte != b'"' { 1 } else { 6 }).sum::<usize>();
        if self.header_bytes > MAX_NAMES_BYTES {
            return None;
        }
        let number = self.numbers.len() as u64 + 1;
        self.numbers.insert(name.to_vec(), number);
        Some(number)
    }

    pub fn objects(self) -> Vec<(u64, u64, Vec<u8>)> {
        let mut objects: Vec<_> = self.numbers.into_iter().map(|(name, number)| (OBJSET, number, name)).collect();
        objects.sort_unstable_by_key(|(_, number, _)| *number);
        objects
    }
}

/// A word for a message: quoted, on one line, and not longer than a message bears.
pub(super) fn shown(word: &[u8]) -> String {
    format!("'{}'", String::from_utf8_lossy(&word[..word.len().min(40)]).escape_debug())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A line for each record: time, objset:object, level, blkid, size, class.
    pub fn line(record: &Record) -> String {
        let mut text = Vec::new();
        crate::convert::body::push_line(&mut text, record);
        String::from_utf8(text).unwrap().trim_end().to_owned()
    }

    #[test]
    fn an_access_reads_each_record_it_touches() {
        let mut lines = Vec::new();
        let mut intake = Intake::new(NonZeroU32::new(4096).unwrap(), |record: &Record| {
            lines.push((record.object, record.blkid));
            Ok(())
        });
        intake.access(0, 7, 4095, 2).unwrap();
        intake.access(0, 8, 8192, 4096).unwrap();
        intake.access(0, 9, 0, 0).unwrap();
        assert_eq!((intake.found.accesses, intake.found.empty), (2, 1));
        assert!(intake.access(0, 9, 0, MAX_ACCESS_BYTES + 1).unwrap_err().unwrap().contains("more than 1G"));
        assert!(intake.access(0, 9, u64::MAX, 2).unwrap_err().unwrap().contains("too large"));
        assert_eq!(lines, [(7, 0), (7, 1), (8, 2)]);
    }

    #[test]
    fn names_that_no_header_holds_are_too_many() {
        let mut names = Names::default();
        assert_eq!((names.number(b"a"), names.number(b"b"), names.number(b"a")), (Some(1), Some(2), Some(1)));
        // Six characters of JSON for each byte, so that two of these are too long.
        let long = vec![0xff; 16 << 20];
        assert_eq!((names.number(&long), names.number(&long), names.number(&long[1..])), (Some(3), Some(3), None));
    }

    #[test]
    fn a_word_in_a_message_stays_on_its_line() {
        assert_eq!(shown(b"a\n\x1b[1m"), r"'a\n\u{1b}[1m'");
        assert_eq!(shown(&[b'x'; 50]).len(), 42);
    }
}
