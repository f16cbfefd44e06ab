//! A record of a trace, and how it is read from its line: [`Record::parse`] says what is wrong with a line, and
//! [`Record::quick`] reads the usual line several times faster.

use std::num::NonZeroU32;

use super::digits::{word_at, Number};

/// The largest block of ZFS (SPA_MAXBLOCKSIZE).
const MAX_BLOCK_BYTES: u32 = 16 << 20;
/// The bytes that [`Record::quick`] looks at; the lines that it reads are shorter.
const QUICK_BYTES: usize = 128;

/// Where a read was served from, or what else was done to a record.
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
    /// Direct I/O read it from the disks, past the ARC.
    Direct,
    /// No read: the prefetcher asked for it.
    Prefetch,
    /// No read: it was written.
    Write,
}

impl Class {
    /// The words of the trace format, in the order of the variants.
    pub const NAMES: [&'static str; 10] =
        ["dbuf", "arc", "l2hit", "miss", "wait", "hole", "-", "direct", "prefetch", "write"];

    const ALL: [Self; 10] = [
        Self::Dbuf,
        Self::Arc,
        Self::L2hit,
        Self::Miss,
        Self::Wait,
        Self::Hole,
        Self::Unknown,
        Self::Direct,
        Self::Prefetch,
        Self::Write,
    ];

    /// Whether somebody waited for the record: what looks for locality passes over the others.
    #[inline]
    pub fn is_read(self) -> bool {
        !matches!(self, Self::Prefetch | Self::Write)
    }

    fn parse(word: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|class| Self::NAMES[*class as usize].as_bytes() == word)
    }

    /// The class whose name and newline are the first bytes of a word, and their length. `prefetch` is too long.
    fn quick(word: u64) -> Option<(Self, usize)> {
        /// These bits of the first two letters, or of one and the newline, tell the names apart.
        const fn place(word: u64) -> usize {
            ((word >> 5) ^ (word >> 1)) as usize % 16
        }
        /// In each name's place: the name with its newline, the bits that these take of a word, and the class.
        const LINE_ENDS: [(u64, u64, Class); 16] = {
            let mut ends = [(1, 0, Class::Unknown); 16];
            let mut at = 0;
            while at < Class::ALL.len() {
                let name = Class::NAMES[at].as_bytes();
                if name.len() == size_of::<u64>() {
                    at += 1;
                    continue;
                }
                let mut end = (b'\n' as u64) << (8 * name.len());
                let mut letter = 0;
                while letter < name.len() {
                    end |= (name[letter] as u64) << (8 * letter);
                    letter += 1;
                }
                assert!(ends[place(end)].0 == 1, "two names in one place");
                ends[place(end)] = (end, u64::MAX >> (56 - 8 * name.len()), Class::ALL[at]);
                at += 1;
            }
            ends
        };
        let (end, bits, class) = LINE_ENDS[place(word)];
        (word & bits == end).then_some((class, bits.count_ones() as usize / 8))
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
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
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

    /// Reads the line at the start of a text, and gives its length with the newline. None says only that this isn't
    /// the place to read it: it may be wrong, a comment, have numbers of sixteen digits, or end near the text's end.
    #[inline]
    pub(super) fn quick(text: &[u8]) -> Option<(Self, usize)> {
        let text: &[u8; QUICK_BYTES] = text.first_chunk()?;
        let time_ns = Number::at(text, 0)?;
        let objset = Number::at(text, time_ns.end)?;
        let object = Number::at(text, objset.end)?;
        let level = Number::at(text, object.end)?;
        let blkid = Number::at(text, level.end)?;
        let size = Number::at(text, blkid.end)?;
        let (class, length) = Class::quick(word_at(text, size.end)).or_else(|| prefetch_at(text, size.end))?;
        let record = Self {
            time_ns: time_ns.value,
            objset: objset.value,
            object: object.value,
            level: u8::try_from(level.value).ok()?,
            blkid: blkid.value,
            size: NonZeroU32::new(size.value.try_into().ok()?).filter(|size| size.get() <= MAX_BLOCK_BYTES)?,
            class,
        };
        Some((record, size.end + length))
    }
}

/// The class that, with its newline, is longer than a word.
#[inline(never)]
fn prefetch_at(text: &[u8; QUICK_BYTES], start: usize) -> Option<(Class, usize)> {
    const END: &[u8] = b"prefetch\n";
    text[start..].starts_with(END).then_some((Class::Prefetch, END.len()))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What both ways of reading make of a line; they agree, or the quick one leaves it to the other.
    fn both(line: &str) -> (Result<Record, String>, bool) {
        let text = format!("{line}\n{}", "x".repeat(QUICK_BYTES));
        let parsed = Record::parse(line.as_bytes());
        let quick = Record::quick(text.as_bytes());
        if let Some((record, length)) = &quick {
            assert_eq!((Ok(record), *length), (parsed.as_ref(), line.len() + 1), "{line:?}");
        }
        (parsed, quick.is_some())
    }

    #[test]
    fn class_names_are_in_the_order_of_the_variants() {
        for (number, name) in Class::NAMES.into_iter().enumerate() {
            assert_eq!(Class::parse(name.as_bytes()).map(|class| class as usize), Some(number));
        }
    }

    #[test]
    fn only_what_was_prefetched_or_written_was_not_read() {
        let others: Vec<_> = Class::ALL.into_iter().filter(|class| !class.is_read()).collect();
        assert_eq!(others, [Class::Prefetch, Class::Write]);
    }

    #[test]
    fn the_usual_line_is_read_quickly() {
        for class in Class::NAMES {
            for line in [
                "0 0 0 0 0 512",
                "12345678 54 128 0 17 16384",
                "123456789012345 18446744 99999999 255 4294967295 16777216",
                "00000000 007 1 00 9 0000000001",
            ] {
                let (parsed, quick) = both(&format!("{line} {class}"));
                assert!(parsed.is_ok() && quick, "{line:?}");
            }
        }
    }

    #[test]
    fn numbers_of_any_length_are_read() {
        let digits = "18446744073709551615";
        for length in 1..=digits.len() {
            let (parsed, quick) = both(&format!("{0} 2 {0} 0 {0} 512 -", &digits[..length]));
            assert_eq!(parsed.unwrap().time_ns, digits[..length].parse::<u64>().unwrap());
            assert_eq!(quick, length < 16);
        }
    }

    #[test]
    fn what_is_wrong_is_never_read_quickly() {
        for (number, good) in ["5", "54", "128", "0", "17", "16384", "miss"].into_iter().enumerate() {
            for wrong in
                ["", " ", "-1", "1:", "/", "1a", "12345678:", "99999999999999999999", "\u{661}", "#", "hit", "miss "]
            {
                let mut fields = ["5", "54", "128", "0", "17", "16384", "miss"];
                fields[number] = wrong;
                let (parsed, quick) = both(&fields.join(" "));
                assert!(parsed.is_err() && !quick, "{good} as {wrong:?}");
            }
        }
        for line in ["5 54 128 256 17 512 -", "5 54 128 0 17 0 -", "5 54 128 0 17 16777217 -", "5 5 1 0 1 512 -\r", ""]
        {
            let (parsed, quick) = both(line);
            assert!(parsed.is_err() && !quick, "{line:?}");
        }
    }

    #[test]
    fn near_the_end_of_the_text_nothing_is_read_quickly() {
        let text = format!("5 54 128 0 17 16384 miss\n{}", "x".repeat(QUICK_BYTES));
        assert!(Record::quick(&text.as_bytes()[..QUICK_BYTES]).is_some());
        assert!(Record::quick(&text.as_bytes()[..QUICK_BYTES - 1]).is_none());
    }
}
