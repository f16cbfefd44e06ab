//! What blkparse(1) prints by default of a trace of blktrace(8), such as
//! `  8,0    3        1     0.000000000   697  Q   R 223490 + 8 [kjournald]`: device, CPU, sequence number, seconds,
//! process id, action, kind (RWBS), first sector, sectors, process.

use std::io::Read;

use super::foreign::{shown, ForeignError, Intake, Names};
use super::lines::Lines;
use super::Stopped;
use crate::trace::Record;

const SECTOR_BYTES: u64 = 512;

/// Takes the reads at the moment they were queued (Q), before requests are merged or split; each device is an object.
pub fn read<E>(text: impl Read, intake: &mut Intake<E>) -> Result<(), ForeignError>
where
    E: FnMut(&Record) -> Result<(), Stopped>,
{
    let mut lines = Lines::new(text);
    let mut devices = Names::default();
    let (mut events, mut others) = (0, 0);
    while let Some(line) = lines.next()? {
        let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
        // The summary at the end and what blkparse says of its input have no device in front.
        let Some(device) = fields.next().filter(|field| is_device(field)) else {
            continue;
        };
        let parsed = Event::parse(fields).map(|event| {
            let is_read = matches!(event, Event::Read { .. });
            (event, if is_read { devices.number(device) } else { None })
        });
        let (event, object) = parsed.map_err(|why| lines.wrong(why))?;
        events += 1;
        let Event::Read { time_ns, sector, sectors } = event else {
            others += u64::from(matches!(event, Event::OtherQueued));
            continue;
        };
        let since = intake.since_first(time_ns).ok_or_else(|| {
            lines.wrong("its time is before the first read's: have blkparse make the text from all files of the trace")
        })?;
        let bytes = sectors.checked_mul(SECTOR_BYTES).zip(sector.checked_mul(SECTOR_BYTES));
        let (size, offset) = bytes.ok_or_else(|| lines.wrong("its sectors are too large"))?;
        let object = object.ok_or_else(|| lines.wrong("too many devices"))?;
        intake
            .access(since, object, offset, size)
            .map_err(|why| why.map_or(ForeignError::Stopped, |why| lines.wrong(why)))?;
    }
    if others > 0 {
        intake.skip("requests other than reads", others);
    }
    intake.found.objects = devices.objects();
    intake.finish(if events == 0 {
        "lines of blkparse begin with a device, such as 8,0"
    } else {
        "events with action Q and kind R are reads: have blktrace record queue events"
    })
}

enum Event {
    /// A read that was queued.
    Read { time_ns: u64, sector: u64, sectors: u64 },
    /// A write, a discard, a flush or a command to the device that was queued.
    OtherQueued,
    /// What happened to a request later, or a message.
    Later,
}

impl Event {
    /// Reads the fields behind the device.
    fn parse<'a>(mut fields: impl Iterator<Item = &'a [u8]>) -> Result<Self, String> {
        let mut field = |name: &str| fields.next().ok_or_else(|| format!("it has no {name}"));
        field("CPU")?;
        field("sequence number")?;
        let time_ns = nanoseconds(field("time")?)?;
        field("process id")?;
        if field("action")? != b"Q" {
            return Ok(Self::Later);
        }
        let kind = field("kind")?;
        let sector = fields.next().unwrap_or_default();
        // A command to the device has no sectors, but its bytes in parentheses.
        if !kind.contains(&b'R') || fields.next() != Some(b"+") {
            return Ok(Self::OtherQueued);
        }
        let sectors = fields.next().ok_or("it has no number of sectors")?;
        Ok(Self::Read { time_ns, sector: number(sector, "sector")?, sectors: number(sectors, "number of sectors")? })
    }
}

/// Major and minor number.
fn is_device(field: &[u8]) -> bool {
    let mut numbers = field.split(|byte| *byte == b',');
    let mut is_number = || numbers.next().is_some_and(|one| !one.is_empty() && one.iter().all(u8::is_ascii_digit));
    is_number() && is_number() && numbers.next().is_none()
}

/// The nanoseconds of a time such as 12.000000345.
fn nanoseconds(word: &[u8]) -> Result<u64, String> {
    let wrong = || format!("time {} is no number of seconds with nine digits behind the point", shown(word));
    let point = word.iter().position(|byte| *byte == b'.').ok_or_else(wrong)?;
    let (seconds, fraction) = (&word[..point], &word[point + 1..]);
    if fraction.len() != 9 {
        return Err(wrong());
    }
    let (seconds, fraction) = (number(seconds, "time")?, number(fraction, "time")?);
    seconds.checked_mul(1_000_000_000).and_then(|ns| ns.checked_add(fraction)).ok_or_else(wrong)
}

fn number(word: &[u8], name: &str) -> Result<u64, String> {
    if matches!(word.len(), 1..=19) && word.iter().all(u8::is_ascii_digit) {
        return Ok(word.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0')));
    }
    Err(format!("{name} {} is no whole number", shown(word)))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::convert::foreign::tests::line;

    fn import(text: &str) -> Result<(Vec<String>, u64), String> {
        let mut lines = Vec::new();
        let each = |record: &Record| {
            lines.push(line(record));
            Ok(())
        };
        let mut intake = Intake::new(NonZeroU32::new(4096).unwrap(), each);
        read(text.as_bytes(), &mut intake).map_err(|error| error.to_string())?;
        let skipped = intake.found.skipped.iter().map(|(_, count)| count).sum();
        Ok((lines, skipped))
    }

    #[test]
    fn reads_are_taken_once_when_they_are_queued() {
        let text = "  8,0    3        1     1.500000000   697  Q   R 8 + 8 [my sqld]\n  8,0    3        2     1.500000100   697  G   R 8 + 8 [mysqld]\n  8,0    3        3     1.600000000     0  C   R 8 + 8 [0]\n259,12   0        9     2.000000001   697  Q  RA 15 + 2 [mysqld]\n  8,0    1        4     2.100000000   697  Q  WS 64 + 8 [mysqld]\n  8,0    1        4     2.100000000   697  Q FWS [mysqld]\n  8,0    1        4     2.100000000   697  Q   R 36 (12 00) [smartd]\n  8,0    1        0     2.200000000     0  m   N cfq697 alloced\nCPU0 (8,0):\n Reads Queued:           2,        5KiB\n";
        let (lines, skipped) = import(text).unwrap();
        assert_eq!(lines, ["0 1 1 0 1 4096 -", "500000001 1 2 0 1 4096 -", "500000001 1 2 0 2 4096 -"]);
        assert_eq!(skipped, 3);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let good = "8,0 3 1 1.000000000 697 Q R 8 + 8 [mysqld]\n";
        for (line, said) in [
            ("8,0 3 1\n", "in line 2: it has no time"),
            ("8,0 3 1 1.5 697 Q R 8 + 8 [a]\n", "in line 2: time '1.5' is no number of seconds"),
            ("8,0 3 1 99999999999.000000000 697 Q R 8 + 8 [a]\n", "in line 2: time '99999999999.000000000'"),
            ("8,0 3 1 1.000000000 697 Q R x + 8 [a]\n", "in line 2: sector 'x'"),
            ("8,0 3 1 1.000000000 697 Q R 8 +\n", "in line 2: it has no number of sectors"),
            ("8,0 3 1 1.000000000 697 Q R 9999999999999999999 + 8 [a]\n", "in line 2: its sectors are too large"),
            ("8,0 3 1 1.000000000 697 Q R 8 + 99999999 [a]\n", "in line 2: size 51199999488 is more than 1G"),
            ("8,0 3 1 0.999999999 697 Q R 8 + 8 [a]\n", "in line 2: its time is before the first read's"),
        ] {
            let error = import(&format!("{good}{line}")).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
        assert!(import("1,a,0,1\n").unwrap_err().contains("begin with a device"));
        assert!(import("8,0 3 1 1.000000000 697 D R 8 + 8 [a]\n").unwrap_err().contains("record queue events"));
    }
}
