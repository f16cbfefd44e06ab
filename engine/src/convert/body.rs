//! The records of a trace as it is written: lines, in gzip members of their own, so that they can be handed on as they
//! come, and a header can go in front of them.

use std::io::Write;

use flate2::write::GzEncoder;
use flate2::Compression;

use super::Stopped;
use crate::trace::{Class, Record};

/// Text in a member; more gains nothing, and less costs size.
const MEMBER_BYTES: usize = 1 << 20;
/// The fastest: a trace is written once, and what reads it inflates at the same speed whatever the level.
const LEVEL: u32 = 1;

/// Makes gzip members of records, and hands each to `sink` with the number of records in it; false stops.
pub struct Body<S> {
    text: Vec<u8>,
    held: u64,
    records: u64,
    sink: S,
}

impl<S: FnMut(&[u8], u64) -> bool> Body<S> {
    pub fn new(sink: S) -> Self {
        Self { text: Vec::with_capacity(MEMBER_BYTES + 256), held: 0, records: 0, sink }
    }

    pub fn push(&mut self, record: &Record) -> Result<(), Stopped> {
        push_line(&mut self.text, record);
        self.held += 1;
        if self.text.len() >= MEMBER_BYTES {
            self.hand_over()?;
        }
        Ok(())
    }

    /// Hands over what is left, and gives the number of all records.
    pub fn finish(mut self) -> Result<u64, Stopped> {
        if self.held > 0 {
            self.hand_over()?;
        }
        Ok(self.records)
    }

    fn hand_over(&mut self) -> Result<(), Stopped> {
        let mut member = GzEncoder::new(Vec::with_capacity(MEMBER_BYTES / 2), Compression::new(LEVEL));
        let packed = member.write_all(&self.text).and_then(|()| member.finish());
        // Writing to memory fails for want of memory only, which ends the process by itself.
        let go_on = (self.sink)(&packed.map_err(|_| Stopped)?, self.held);
        self.records += self.held;
        self.held = 0;
        self.text.clear();
        if go_on {
            Ok(())
        } else {
            Err(Stopped)
        }
    }
}

/// Appends the line of a record, as [`crate::trace`] reads it.
pub fn push_line(text: &mut Vec<u8>, record: &Record) {
    for number in [record.time_ns, record.objset, record.object, u64::from(record.level), record.blkid] {
        push_number(text, number);
        text.push(b' ');
    }
    push_number(text, u64::from(record.size.get()));
    text.push(b' ');
    text.extend_from_slice(Class::NAMES[record.class as usize].as_bytes());
    text.push(b'\n');
}

pub(super) fn push_number(text: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::trace::{read, Expected};

    fn record(time_ns: u64) -> Record {
        let size = NonZeroU32::new(16384).unwrap();
        Record { time_ns, objset: 54, object: u64::MAX, level: 255, blkid: 0, size, class: Class::L2hit }
    }

    #[test]
    fn lines_are_read_back_as_they_were_written() {
        let (mut packed, mut counted) = (Vec::new(), 0);
        let mut body = Body::new(|member: &[u8], records| {
            packed.extend_from_slice(member);
            counted += records;
            true
        });
        for time_ns in 0..50_000 {
            body.push(&record(time_ns * 977)).unwrap();
        }
        assert_eq!(body.finish().unwrap(), 50_000);
        assert_eq!(counted, 50_000);
        let mut times = 0;
        let each = |read: &Record| {
            assert_eq!(*read, record(times * 977));
            times += 1;
            Ok(())
        };
        let expected = Expected { complete: true, records: Some(50_000) };
        read(flate2::read::MultiGzDecoder::new(packed.as_slice()), expected, each, |_| true).unwrap();
    }

    #[test]
    fn nothing_is_handed_over_where_there_is_nothing() {
        assert_eq!(Body::new(|_: &[u8], _| panic!("there is no record")).finish().unwrap(), 0);
    }

    #[test]
    fn the_sink_can_stop_it() {
        let mut body = Body::new(|_: &[u8], _| false);
        body.push(&record(1)).unwrap();
        assert!(body.finish().is_err());
    }
}
