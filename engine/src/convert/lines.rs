//! The lines of a foreign text, with their numbers.

use std::io::Read;

use super::foreign::{ForeignError, Place};

/// No line of these formats is nearly as long; a text without lines must not fill the memory.
const BUFFER_BYTES: usize = 1 << 18;

/// Gives the lines of a text one by one.
pub struct Lines<R> {
    text: R,
    buffer: Vec<u8>,
    /// The part of the buffer not yet given out.
    start: usize,
    end: usize,
    /// The number of the line given out last, from 1.
    pub number: u64,
}

impl<R: Read> Lines<R> {
    pub fn new(text: R) -> Self {
        Self { text, buffer: vec![0; BUFFER_BYTES], start: 0, end: 0, number: 0 }
    }

    /// The next line without its newline; None at the end. The last one needs no newline.
    pub fn next(&mut self) -> Result<Option<&[u8]>, ForeignError> {
        let mut looked = self.start;
        loop {
            if let Some(length) = self.buffer[looked..self.end].iter().position(|byte| *byte == b'\n') {
                let from = self.start;
                self.start = looked + length + 1;
                self.number += 1;
                return Ok(Some(&self.buffer[from..self.start - 1]));
            }
            let held = self.end - self.start;
            if !self.fill()? {
                if held == 0 {
                    return Ok(None);
                }
                self.number += 1;
                self.start = self.end;
                return Ok(Some(&self.buffer[..held]));
            }
            looked = held;
        }
    }

    /// The error of something wrong in the line given out last.
    pub fn wrong(&self, why: impl Into<String>) -> ForeignError {
        ForeignError::Malformed { place: Place::Line(self.number), why: why.into() }
    }

    /// Moves what is held to the front and reads on; false at the end.
    fn fill(&mut self) -> Result<bool, ForeignError> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() {
            self.number += 1;
            return Err(self.wrong(format!("it is longer than {BUFFER_BYTES} bytes")));
        }
        loop {
            match self.text.read(&mut self.buffer[self.end..]) {
                Ok(read) => {
                    self.end += read;
                    return Ok(read > 0);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(ForeignError::reading(error, Place::Line(self.number))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_given_with_their_numbers_and_the_last_needs_no_newline() {
        let long = "x".repeat(BUFFER_BYTES - 1);
        let text = format!("a\n\n{long}\nb");
        let mut lines = Lines::new(text.as_bytes());
        for (number, wanted) in ["a", "", &long, "b"].into_iter().enumerate() {
            assert_eq!(lines.next().unwrap(), Some(wanted.as_bytes()));
            assert_eq!(lines.number, number as u64 + 1);
        }
        assert!(lines.next().unwrap().is_none());
    }

    #[test]
    fn an_endless_line_is_named() {
        let text = format!("a\n{}", "x".repeat(2 * BUFFER_BYTES));
        let mut lines = Lines::new(text.as_bytes());
        lines.next().unwrap();
        assert!(lines.next().unwrap_err().to_string().starts_with("is wrong in line 2: it is longer than"));
    }
}
