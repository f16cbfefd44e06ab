//! CSV with a time, an object, an offset and a size in each row, as Python's csv module reads it.

use std::io::Read;

use super::foreign::{shown, ForeignError, Intake, Names};
use super::lines::Lines;
use super::Stopped;
use crate::trace::Record;

/// The limit of Python's csv module.
const MAX_FIELD_BYTES: usize = 131_072;

/// Where each value stands in a row.
#[derive(Clone, Debug)]
pub struct Columns {
    /// The names in their order, for the first row and for messages.
    pub names: Vec<String>,
    pub time: usize,
    pub object: usize,
    pub offset: usize,
    pub size: usize,
}

impl Columns {
    /// Finds the columns among their names; None where one is missing.
    pub fn named(names: Vec<String>) -> Option<Self> {
        let find = |wanted: &str| names.iter().position(|name| name == wanted);
        let (time, object, offset, size) = (find("time")?, find("object")?, find("offset")?, find("size")?);
        Some(Self { names, time, object, offset, size })
    }
}

/// Reads the rows. A first row with the columns' names is skipped, as are empty ones.
pub fn read<E>(text: impl Read, columns: &Columns, intake: &mut Intake<E>) -> Result<(), ForeignError>
where
    E: FnMut(&Record) -> Result<(), Stopped>,
{
    let mut rows = Rows { lines: Lines::new(text), row: Vec::new(), ends: Vec::new() };
    let mut names = Names::default();
    let mut first = true;
    while rows.next()? {
        let header = std::mem::take(&mut first) && rows.is(&columns.names);
        if header || rows.ends.is_empty() {
            continue;
        }
        if rows.ends.len() != columns.names.len() {
            let (has, named) = (rows.ends.len(), columns.names.len());
            return Err(rows
                .lines
                .wrong(format!("it has {has} columns, and --columns names {named}: ignore one with -")));
        }
        let time = rows.number(columns, columns.time, "time", "nanoseconds")?;
        let offset = rows.number(columns, columns.offset, "offset", "bytes")?;
        let size = rows.number(columns, columns.size, "size", "bytes")?;
        let since = intake
            .since_first(time)
            .ok_or_else(|| rows.lines.wrong(format!("time {time} is before the first row's: sort the rows by time")))?;
        let object = if size == 0 { Some(0) } else { names.number(rows.field(columns.object)) };
        let object = object.ok_or_else(|| {
            rows.lines.wrong("more objects than a header can hold: take a column of fewer values as the object")
        })?;
        intake.access(since, object, offset, size).map_err(|why| match why {
            Some(why) => rows.lines.wrong(format!("{why}: are the columns in this order?")),
            None => ForeignError::Stopped,
        })?;
    }
    intake.found.objects = names.objects();
    intake.finish("rows with a size above 0 are reads")
}

/// The rows of a CSV text, one at a time.
struct Rows<R> {
    lines: Lines<R>,
    /// The fields of the row, one after the other, without quotes.
    row: Vec<u8>,
    /// Where each ends in it.
    ends: Vec<usize>,
}

impl<R: Read> Rows<R> {
    /// Goes to the next row; false at the end.
    fn next(&mut self) -> Result<bool, ForeignError> {
        self.row.clear();
        self.ends.clear();
        let mut state = State::FieldStart;
        let mut first = self.lines.number == 0;
        loop {
            let Some(line) = self.lines.next()? else {
                if state == State::FieldStart {
                    return Ok(false);
                }
                break; // the text ends within quotes
            };
            let line =
                if std::mem::take(&mut first) { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
            if state == State::FieldStart {
                if line.is_empty() || line == b"\r" {
                    return Ok(true);
                }
                if !line.contains(&b'"') {
                    plain(line, &mut self.row, &mut self.ends);
                    break;
                }
            }
            state = quoted(line, state, &mut self.row, &mut self.ends);
            if state != State::Quoted {
                break;
            }
            self.row.push(b'\n');
            if self.row.len() - self.ends.last().unwrap_or(&0) > MAX_FIELD_BYTES {
                break; // a quote that nobody closes
            }
        }
        if state == State::Quoted {
            self.ends.push(self.row.len());
        }
        if self.row.len() > MAX_FIELD_BYTES && (0..self.ends.len()).any(|at| self.field(at).len() > MAX_FIELD_BYTES) {
            return Err(self.lines.wrong(format!("it is no CSV: field larger than field limit ({MAX_FIELD_BYTES})")));
        }
        Ok(true)
    }

    fn field(&self, at: usize) -> &[u8] {
        let from = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.row[from..self.ends[at]]
    }

    fn is(&self, names: &[String]) -> bool {
        let fields = || (0..self.ends.len()).map(|at| self.field(at).trim_ascii());
        fields().eq(names.iter().map(|name| name.as_bytes()))
    }

    fn number(&self, columns: &Columns, at: usize, name: &str, unit: &str) -> Result<u64, ForeignError> {
        let digits = self.field(at).trim_ascii();
        // Nineteen digits are below 2^64, and nanoseconds since 1970 have as many.
        if matches!(digits.len(), 1..=19) && digits.iter().all(u8::is_ascii_digit) {
            return Ok(digits.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0')));
        }
        let (word, order) = (shown(self.field(at)), columns.names.join(","));
        Err(self.lines.wrong(format!("{name} {word} is no whole number of {unit}; --columns is {order}")))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    FieldStart,
    Unquoted,
    Quoted,
    /// A quote within quotes: the end of them, or one that is meant.
    QuoteInQuoted,
}

/// Takes a line without quotes apart.
fn plain(line: &[u8], row: &mut Vec<u8>, ends: &mut Vec<usize>) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    for field in line.split(|byte| *byte == b',') {
        row.extend_from_slice(field);
        ends.push(row.len());
    }
}

/// Takes a line with quotes apart, in the state that the line before left.
fn quoted(line: &[u8], mut state: State, row: &mut Vec<u8>, ends: &mut Vec<usize>) -> State {
    for (at, byte) in line.iter().enumerate() {
        let last_return = *byte == b'\r' && at + 1 == line.len();
        state = match (state, *byte) {
            (State::Quoted, b'"') => State::QuoteInQuoted,
            (State::Quoted, byte) => {
                row.push(byte);
                State::Quoted
            }
            (State::FieldStart, b'"') => State::Quoted,
            (State::QuoteInQuoted, b'"') => {
                row.push(b'"');
                State::Quoted
            }
            (_, b',') => {
                ends.push(row.len());
                State::FieldStart
            }
            (state, _) if last_return => state,
            (_, byte) => {
                row.push(byte);
                State::Unquoted
            }
        };
    }
    if state != State::Quoted {
        ends.push(row.len());
    }
    state
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::convert::foreign::tests::line;

    fn import(text: &str, names: &str) -> Result<(Vec<String>, Vec<String>), String> {
        let mut lines = Vec::new();
        let each = |record: &Record| {
            lines.push(line(record));
            Ok(())
        };
        let mut intake = Intake::new(NonZeroU32::new(512).unwrap(), each);
        let columns = Columns::named(names.split(',').map(String::from).collect()).unwrap();
        read(text.as_bytes(), &columns, &mut intake).map_err(|error| error.to_string())?;
        let objects = intake.found.objects.iter().map(|(_, _, name)| String::from_utf8_lossy(name).into_owned());
        let objects = objects.collect();
        Ok((lines, objects))
    }

    #[test]
    fn rows_become_records_with_times_from_the_first_on() {
        let text = "\u{feff}time, object ,offset,size\r\n100,a,0,1\r\n\r\n250,b,511,2\n200,a,9,0\n 300 ,a,512,1";
        let (lines, objects) = import(text, "time,object,offset,size").unwrap();
        assert_eq!(lines, ["0 1 1 0 0 512 -", "150 1 2 0 0 512 -", "150 1 2 0 1 512 -", "200 1 1 0 1 512 -"]);
        assert_eq!(objects, ["a", "b"]);
    }

    #[test]
    fn quotes_are_as_in_pythons_csv() {
        for (field, name) in [
            ("\"a, \"\"b\"\"\"", "a, \"b\""),
            ("\"a\nb\r\nc\"", "a\nb\r\nc"),
            ("a\"b\"", "a\"b\""),
            ("\"a\"b\"c\"", "ab\"c\""),
            ("\"\"", ""),
        ] {
            let text = format!("{field},1,0,1\nx,2,0,1\n");
            let (lines, objects) = import(&text, "object,time,offset,size").unwrap();
            assert_eq!((lines.len(), objects), (2, vec![name.to_owned(), "x".to_owned()]), "{field}");
            let text = format!("1,0,1,{field}\r\n2,0,1,x\r\n");
            assert_eq!(import(&text, "time,offset,size,object").unwrap().1, [name, "x"], "{field}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let endless = format!("1,0,1,\"{}", "a\n".repeat(MAX_FIELD_BYTES));
        for (text, said) in [
            ("1,0,1,a\n\n1,0,1\n", "in line 3: it has 3 columns, and --columns names 4"),
            ("1,0,1,\"a\nb\"\n1.5,0,1,a\n", "in line 3: time '1.5' is no whole number of nanoseconds"),
            ("1,-1,1,a\n", "in line 1: offset '-1' is no whole number of bytes"),
            ("1,0,99999999999999999999,a\n", "in line 1: size '99999999999999999999'"),
            ("1,0,,a\n", "in line 1: size ''"),
            ("5,0,1,a\n4,0,1,a\n", "in line 2: time 4 is before the first row's"),
            ("1,0,1073741825,a\n", "in line 1: size 1073741825 is more than 1G: are the columns in this order?"),
            (&endless, "it is no CSV: field larger than field limit"),
            ("time,offset,size,object\n", "holds no read"),
            ("\n\n", "holds no read"),
            ("", "holds no read"),
        ] {
            let error = import(text, "time,offset,size,object").unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
