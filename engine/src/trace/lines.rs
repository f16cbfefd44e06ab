//! The records of a text, line by line, through one buffer.

use std::io::{self, Read};

use super::{Record, TraceError};

/// Text held at once; no record's line is nearly as long.
pub(super) const BUFFER_BYTES: usize = 1 << 18;

/// The lines of a text that aren't comments. A comment may have any length (the map of objects is one), the other
/// lines must fit into the buffer.
pub(super) struct Lines<R> {
    text: R,
    buffer: Vec<u8>,
    /// The part of the buffer not yet given out.
    start: usize,
    end: usize,
    /// What of that part is known to hold no newline.
    searched: usize,
    /// The start of an over-long comment was dropped; the rest of it is still to come.
    in_comment: bool,
    /// The number of the line given out last, from 1.
    pub number: u64,
}

impl<R: Read> Lines<R> {
    pub fn new(text: R) -> Self {
        Self { text, buffer: vec![0; BUFFER_BYTES], start: 0, end: 0, searched: 0, in_comment: false, number: 0 }
    }

    /// The next record; None at the end. What follows the last newline is no line.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Record>, TraceError> {
        if !self.in_comment {
            if let Some((record, length)) = Record::quick(&self.buffer[self.start..self.end]) {
                self.start += length;
                self.searched = 0;
                self.number += 1;
                return Ok(Some(record));
            }
        }
        self.next_of_any_line()
    }

    #[inline(never)]
    fn next_of_any_line(&mut self) -> Result<Option<Record>, TraceError> {
        loop {
            let held = &self.buffer[self.start..self.end];
            if let Some(more) = held[self.searched..].iter().position(|byte| *byte == b'\n') {
                let line = &held[..self.searched + more];
                let comment = std::mem::take(&mut self.in_comment) || line.first() == Some(&b'#');
                let parsed = (!comment).then(|| Record::parse(line));
                self.start += line.len() + 1;
                self.searched = 0;
                self.number += 1;
                if let Some(record) = parsed {
                    return record.map(Some).map_err(|why| self.malformed(why));
                }
            } else if !self.fill()? {
                return Ok(None);
            }
        }
    }

    pub fn ends_within_a_line(&self) -> bool {
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
        self.searched = self.end;
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
