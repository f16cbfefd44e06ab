//! VMware's vscsiStats traces, binary and little-endian, versions 1 and 2 of the record:
//!
//! - 1: serial number (u32), length in bytes (u32), segments (u32), command (u16), version (u16), first sector (u64),
//!   time in µs (u64);
//! - 2: command (u16), version (u16), serial number (u32), length (u32), segments (u32), first sector (u64), time (u64),
//!   response time (u64).
//!
//! The version stands in the high byte of its field.

use std::io::{self, Read};

use super::binary::{u16_at, u32_at, u64_at, Binary};
use super::foreign::{ForeignError, Intake, Place};
use super::Stopped;
use crate::trace::Record;

const VERSION_1_BYTES: usize = 32;
const VERSION_2_BYTES: usize = 40;
const SECTOR_BYTES: u64 = 512;
const DISK: u64 = 1;
/// READ(6), READ(10), READ(16) and READ(12) of SCSI.
const READS: [u16; 4] = [0x08, 0x28, 0x88, 0xa8];

struct Command {
    version: u16,
    code: u16,
    bytes: u32,
    sector: u64,
    time_us: u64,
}

/// Reads the commands that read; the others are counted.
pub fn read<E>(mut source: impl Read, intake: &mut Intake<E>) -> Result<(), ForeignError>
where
    E: FnMut(&Record) -> Result<(), Stopped>,
{
    // The version in its place in the first record says where all else stands.
    let mut head = Vec::new();
    let taken = source.by_ref().take(VERSION_1_BYTES as u64).read_to_end(&mut head);
    taken.map_err(|error| ForeignError::reading(error, Place::Byte(0)))?;
    let first = (head.len() == VERSION_1_BYTES).then(|| (u16_at(&head, 14) >> 8, u16_at(&head, 2) >> 8));
    let whole = io::Cursor::new(head).chain(source);
    match first {
        Some((1, _)) => commands::<_, VERSION_1_BYTES, E>(whole, 1, version_1, intake),
        Some((_, 2)) => commands::<_, VERSION_2_BYTES, E>(whole, 2, version_2, intake),
        _ => {
            let why = "no record of vscsiStats begins here, of version 1 or 2".into();
            Err(ForeignError::Malformed { place: Place::Byte(0), why })
        }
    }
}

fn version_1(record: &[u8; VERSION_1_BYTES]) -> Command {
    Command {
        version: u16_at(record, 14) >> 8,
        code: u16_at(record, 12),
        bytes: u32_at(record, 4),
        sector: u64_at(record, 16),
        time_us: u64_at(record, 24),
    }
}

fn version_2(record: &[u8; VERSION_2_BYTES]) -> Command {
    Command {
        version: u16_at(record, 2) >> 8,
        code: u16_at(record, 0),
        bytes: u32_at(record, 8),
        sector: u64_at(record, 16),
        time_us: u64_at(record, 24),
    }
}

fn commands<R: Read, const N: usize, E>(
    source: R,
    version: u16,
    parse: impl Fn(&[u8; N]) -> Command,
    intake: &mut Intake<E>,
) -> Result<(), ForeignError>
where
    E: FnMut(&Record) -> Result<(), Stopped>,
{
    let mut records = Binary::<_, N>::new(source);
    let mut others = 0;
    while let Some(record) = records.next()? {
        let command = parse(record);
        if command.version != version {
            let found = command.version;
            return Err(records.wrong(format!("a record of version {found} in a trace of version {version}")));
        }
        if !READS.contains(&command.code) {
            others += 1;
            continue;
        }
        let times = command.time_us.checked_mul(1000).zip(command.sector.checked_mul(SECTOR_BYTES));
        let (time_ns, offset) = times.ok_or_else(|| records.wrong("its time or sector is too large"))?;
        // A clock that goes back before its start can't be sorted out in a binary file.
        let since = intake.since_first(time_ns).unwrap_or(0);
        intake.access(since, DISK, offset, command.bytes.into()).map_err(|why| match why {
            Some(why) => records.wrong(format!("{why}: is this a trace of vscsiStats?")),
            None => ForeignError::Stopped,
        })?;
    }
    if others > 0 {
        intake.skip("commands other than reads", others);
    }
    intake.finish("READ commands with a length are reads")
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::convert::foreign::tests::line;

    fn version_1(code: u16, sector: u64, bytes: u32, time_us: u64) -> Vec<u8> {
        let mut record = [[9, 0, 0, 0], bytes.to_le_bytes(), [1, 0, 0, 0]].concat();
        record.extend([code.to_le_bytes(), [7, 1]].concat());
        record.extend([sector.to_le_bytes(), time_us.to_le_bytes()].concat());
        record
    }

    fn version_2(code: u16, sector: u64, bytes: u32, time_us: u64) -> Vec<u8> {
        let mut record = [code.to_le_bytes(), [7, 2]].concat();
        record.extend([[9, 0, 0, 0], bytes.to_le_bytes(), [1, 0, 0, 0]].concat());
        record.extend([sector.to_le_bytes(), time_us.to_le_bytes(), [5; 8]].concat());
        record
    }

    fn import(source: &[u8]) -> Result<(Vec<String>, u64), String> {
        let mut lines = Vec::new();
        let each = |record: &Record| {
            lines.push(line(record));
            Ok(())
        };
        let mut intake = Intake::new(NonZeroU32::new(4096).unwrap(), each);
        read(source, &mut intake).map_err(|error| error.to_string())?;
        let skipped = intake.found.skipped.iter().map(|(_, count)| count).sum();
        Ok((lines, skipped))
    }

    #[test]
    fn both_versions_give_the_reads() {
        for make in [version_1, version_2] {
            let source = [make(0x28, 8, 4096, 50), make(0x2a, 8, 512, 51), make(0x88, 15, 1024, 53)].concat();
            let (lines, skipped) = import(&source).unwrap();
            assert_eq!(lines, ["0 1 1 0 1 4096 -", "3000 1 1 0 1 4096 -", "3000 1 1 0 2 4096 -"]);
            assert_eq!(skipped, 1);
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_offset() {
        let good = version_1(0x28, 8, 4096, 50);
        for (next, said) in [
            (version_2(0x28, 8, 4096, 50), "at byte 32: a record of version"),
            (version_1(0x28, u64::MAX, 4096, 50), "at byte 32: its time or sector is too large"),
            (version_1(0x28, 8, 4096, u64::MAX), "at byte 32: its time or sector is too large"),
            (version_1(0x28, 8, u32::MAX, 50), "at byte 32: size 4294967295 is more than 1G"),
            (good[..31].to_vec(), "at byte 32: the file ends within a record of 32 bytes"),
        ] {
            let error = import(&[good.clone(), next].concat()).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
        assert!(import(b"time,object,offset,size\n1,a,0,1\n").unwrap_err().contains("at byte 0: no record"));
        assert!(import(b"").unwrap_err().contains("at byte 0: no record"));
        assert!(import(&version_1(0x2a, 8, 512, 50)).unwrap_err().contains("holds no read"));
    }
}
