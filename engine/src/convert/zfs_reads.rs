//! The kernel's own history of reads, `/proc/spl/kstat/zfs/POOL/reads` (OpenZFS on Linux, `module/zfs/spa_stats.c`):
//! what arc_read() was asked for, with id, time in ns, objset, object, level, blkid, flags, origin (mostly empty),
//! process id and process.
//!
//! The kernel keeps the last `zfs_read_history` of them, so several captures may be joined in one file: what was read
//! before is known by its id, and a gap in the ids are lost reads.

use std::io::Read;

use super::foreign::{shown, ForeignError, Intake};
use super::lines::Lines;
use super::Stopped;
use crate::trace::{Class, Record};

/// Flags in `include/sys/arc.h` of OpenZFS, from 0.6.5 on.
const PREFETCH: u32 = 1 << 2;
const CACHED: u32 = 1 << 3;

/// Takes the demand reads of data; prefetch and metadata (the pool's own objset, indirect blocks, dnodes) are counted.
pub fn read<E>(text: impl Read, intake: &mut Intake<E>) -> Result<(), ForeignError>
where
    E: FnMut(&Record) -> Result<(), Stopped>,
{
    let mut lines = Lines::new(text);
    let mut seen = Seen::default();
    let (mut rows, mut metadata, mut prefetch, mut repeated) = (0u64, 0, 0, 0);
    while let Some(line) = lines.next()? {
        let Some(row) = Row::parse(line).map_err(|why| lines.wrong(why))? else {
            continue;
        };
        rows += 1;
        if !seen.is_new(&row) {
            repeated += 1;
            continue;
        }
        // Times are taken before the history's lock, so neighbours may have changed places.
        let time_ns = intake.since_first(row.time_ns).unwrap_or(0);
        let Some((objset, object, blkid)) = row.data() else {
            metadata += 1;
            continue;
        };
        if row.flags & PREFETCH != 0 {
            prefetch += 1;
            continue;
        }
        if !intake.found.objsets.contains(&objset) {
            intake.found.objsets.push(objset);
        }
        let class = if row.flags & CACHED != 0 { Class::Arc } else { Class::Unknown };
        let size = intake.recordsize();
        intake.record(&Record { time_ns, objset, object, level: 0, blkid, size, class })?;
    }
    for (what, count) in [("reads of metadata", metadata), ("prefetches", prefetch), ("rows seen before", repeated)] {
        if count > 0 {
            intake.skip(what, count);
        }
    }
    intake.found.drops = Some(seen.lost);
    intake.finish(if rows == 0 {
        "set the module's parameter zfs_read_history to the number of reads to keep, and capture the file again"
    } else {
        "demand reads of files' data are reads"
    })
}

/// A row of the history; what may be negative stands for something that is no data.
struct Row {
    id: u64,
    time_ns: u64,
    objset: u64,
    object: i64,
    level: i64,
    blkid: i64,
    flags: u32,
}

impl Row {
    /// Reads a line; None for the two lines of a heading, and for empty ones.
    fn parse(line: &[u8]) -> Result<Option<Self>, String> {
        let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
        let Some(first) = fields.clone().next() else {
            return Ok(None);
        };
        // Older versions have a line of seven numbers above the names: 23 0 0x01 500 56000 4896113145 418199471302.
        let numbers =
            fields.clone().count() == 7 && fields.clone().next_back().is_some_and(|last| !last.starts_with(b"0x"));
        if first == b"UID" || numbers {
            return Ok(None);
        }
        let mut field =
            |name: &str| fields.next().map(|word| (word, name.to_owned())).ok_or(format!("it has no {name}"));
        let row = Self {
            id: decimal(field("UID")?)?,
            time_ns: decimal(field("start")?)?,
            objset: hex(field("objset")?)?,
            object: decimal(field("object")?)?,
            level: decimal(field("level")?)?,
            blkid: decimal(field("blkid")?)?,
            flags: hex(field("aflags")?)
                .and_then(|flags| u32::try_from(flags).map_err(|_| "its aflags are too large".into()))?,
        };
        field("process")?;
        Ok(Some(row))
    }

    /// objset, object and blkid, where it is a block of a file, a directory or the like.
    fn data(&self) -> Option<(u64, u64, u64)> {
        let (object, blkid) = (u64::try_from(self.object).ok()?, u64::try_from(self.blkid).ok()?);
        (self.objset != 0 && object != 0 && self.level == 0).then_some((self.objset, object, blkid))
    }
}

/// What of the history was read already.
#[derive(Default)]
struct Seen {
    last: Option<(u64, u64)>,
    lost: u64,
}

impl Seen {
    /// Whether a row comes after all before it; ids that begin anew at a later time are those of a new import of the
    /// pool.
    fn is_new(&mut self, row: &Row) -> bool {
        if let Some((id, time_ns)) = self.last {
            if row.id <= id && row.time_ns <= time_ns {
                return false;
            }
            if row.id > id {
                self.lost = self.lost.saturating_add(row.id - id - 1);
            }
        }
        self.last = Some((row.id, self.last.map_or(0, |(_, time_ns)| time_ns).max(row.time_ns)));
        true
    }
}

fn decimal<N: std::str::FromStr>((word, name): (&[u8], String)) -> Result<N, String> {
    let number = std::str::from_utf8(word).ok().and_then(|text| text.parse().ok());
    number.ok_or_else(|| format!("{name} {} is no whole number", shown(word)))
}

fn hex((word, name): (&[u8], String)) -> Result<u64, String> {
    let digits = word.strip_prefix(b"0x").and_then(|digits| std::str::from_utf8(digits).ok());
    let number = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    number.ok_or_else(|| format!("{name} {} is no hexadecimal number", shown(word)))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::convert::foreign::tests::line;
    use crate::convert::foreign::Found;

    const HEAD: &str = "23 0 0x01 500 56000 4896113145 418199471302\nUID      start            objset   object   level    blkid    aflags   origin                   pid      process\n";

    fn row(id: u64, time_ns: u64, rest: &str) -> String {
        format!("{id:<8} {time_ns:<16} {rest}                              27903    connection      \n")
    }

    fn import(text: &str) -> Result<(Vec<String>, Found), String> {
        let mut lines = Vec::new();
        let each = |record: &Record| {
            lines.push(line(record));
            Ok(())
        };
        let mut intake = Intake::new(NonZeroU32::new(16384).unwrap(), each);
        read(text.as_bytes(), &mut intake).map_err(|error| error.to_string())?;
        let found = intake.found;
        Ok((lines, found))
    }

    #[test]
    fn demand_reads_of_data_are_taken() {
        let rows = [
            row(1, 1000, "0x37     33090    0        7        0x12"),
            row(2, 1010, "0x37     33090    0        8        0x1a"),
            row(3, 1005, "0x37     33090    0        9        0x16"), // prefetch
            row(4, 1020, "0x37     33090    1        0        0x12"),
            row(5, 1030, "0x0      55       0        0        0x12"),
            row(6, 1040, "0x37     0        0        3        0x12"),
            row(7, 1050, "0x37     -1       -2       -1       0x12"),
            row(8, 999, "0x36     4        0        0        0x18"),
        ];
        let (lines, found) = import(&format!("{HEAD}{}\n", rows.concat())).unwrap();
        assert_eq!(lines, ["0 55 33090 0 7 16384 -", "10 55 33090 0 8 16384 arc", "0 54 4 0 0 16384 arc"]);
        assert_eq!(found.skipped, [("reads of metadata", 4), ("prefetches", 1)]);
        assert_eq!((found.drops, found.last_ns, found.accesses), (Some(0), 50, 3));
        assert_eq!(found.objsets, [55, 54]);
    }

    #[test]
    fn captures_may_overlap_and_lack_what_came_between() {
        let at = |id: u64| row(id, 100 * id + 100, "0x37     9        0        7        0x12");
        let first = [HEAD.into(), at(1), at(2), at(3)].concat();
        let second = [HEAD.into(), at(2), at(3), at(4)].concat();
        let third = [HEAD.into(), at(9), at(10)].concat();
        let anew = row(0, 5000, "0x37     9        0        7        0x12");
        let (lines, found) = import(&[first, second, third, anew].concat()).unwrap();
        assert_eq!(lines.len(), 7);
        assert_eq!((found.drops, found.skipped), (Some(4), vec![("rows seen before", 2)]));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (rest, said) in [
            ("55       9        0        7        0x12", "objset '55' is no hexadecimal number"),
            ("0x37     x        0        7        0x12", "object 'x' is no whole number"),
            ("0x37     9        0        7        0x1ffffffff", "aflags are too large"),
        ] {
            let error = import(&format!("{HEAD}{}", row(1, 1, rest))).unwrap_err();
            assert!(error.starts_with("is wrong in line 3: ") && error.contains(said), "{error}");
        }
        assert!(import(&format!("{HEAD}1 2 3\n")).unwrap_err().contains("line 3: objset '3'"));
        let cut_off = format!("{HEAD}{}", &row(1, 1, "0x37     9        0        7        0x12")[..70]);
        assert!(import(&cut_off).unwrap_err().contains("line 3: it has no process"));
        assert!(import(HEAD).unwrap_err().contains("zfs_read_history"));
        let metadata = row(1, 1, "0x0     9        0        7        0x12");
        assert!(import(&metadata).unwrap_err().contains("demand reads"));
    }
}
