//! Records of a fixed size in a binary foreign trace, with their offsets.

use std::io::{ErrorKind, Read};

use super::foreign::{ForeignError, Place};

const BUFFER_BYTES: usize = 1 << 18;

/// Gives the records of a source one by one; each has `N` bytes.
pub struct Binary<R, const N: usize> {
    source: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// The offset of the record given out last.
    pub offset: u64,
    /// That of the next.
    next_offset: u64,
}

impl<R: Read, const N: usize> Binary<R, N> {
    pub fn new(source: R) -> Self {
        Self { source, buffer: vec![0; BUFFER_BYTES], start: 0, end: 0, offset: 0, next_offset: 0 }
    }

    /// The next record; None at the end. A source that ends within a record is an error.
    pub fn next(&mut self) -> Result<Option<&[u8; N]>, ForeignError> {
        while self.end - self.start < N {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) if self.end == 0 => return Ok(None),
                Ok(0) => {
                    self.offset = self.next_offset;
                    return Err(self.wrong(format!("the file ends within a record of {N} bytes: copy it again")));
                }
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(ForeignError::reading(error, Place::Byte(self.next_offset))),
            }
        }
        let from = self.start;
        self.start += N;
        self.offset = self.next_offset;
        self.next_offset += N as u64;
        Ok(self.buffer[from..self.end].first_chunk())
    }

    /// The error of something wrong in the record given out last.
    pub fn wrong(&self, why: impl Into<String>) -> ForeignError {
        ForeignError::Malformed { place: Place::Byte(self.offset), why: why.into() }
    }
}

/// The little-endian numbers in a record.
pub fn u16_at(record: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([record[at], record[at + 1]])
}

pub fn u32_at(record: &[u8], at: usize) -> u32 {
    u32::from(u16_at(record, at)) | u32::from(u16_at(record, at + 2)) << 16
}

pub fn u64_at(record: &[u8], at: usize) -> u64 {
    u64::from(u32_at(record, at)) | u64::from(u32_at(record, at + 4)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time, as a pipe may.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            self.0.read(&mut into[..1])
        }
    }

    #[test]
    fn records_come_whole_and_with_their_offsets() {
        let mut records = Binary::<_, 3>::new(Trickle(b"abcdefgh"));
        for (record, offset) in [(b"abc", 0), (b"def", 3)] {
            assert_eq!(records.next().unwrap(), Some(record));
            assert_eq!(records.offset, offset);
        }
        assert!(records.next().unwrap_err().to_string().starts_with("is wrong at byte 6: the file ends within"));
    }

    #[test]
    fn numbers_are_little_endian() {
        let record = [0, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(u16_at(&record, 1), 0x0201);
        assert_eq!(u32_at(&record, 1), 0x0403_0201);
        assert_eq!(u64_at(&record, 1), 0x0807_0605_0403_0201);
    }
}
