//! A trace as CSV: time in ns, object, offset and size in bytes, with these names in the first row.

use std::path::Path;

use super::body::push_number;
use super::Stopped;
use crate::hash::FastMap;
use crate::trace::{read_file, Expected, Record, TraceError};

const CHUNK_BYTES: usize = 1 << 20;

/// How many rows there are, and the records that no row can stand for: reads of indirect blocks, which have no place in
/// the object's bytes, and what is no read.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rows {
    pub rows: u64,
    pub left_out: u64,
}

/// Writes the rows, piece by piece, to `sink`. `names` are those of (objset, object); the others are `objset:object`.
pub fn export(
    path: &Path,
    expected: Expected,
    names: Vec<((u64, u64), String)>,
    mut sink: impl FnMut(&[u8], u64) -> bool,
    go_on: impl FnMut(u64) -> bool,
) -> Result<Rows, TraceError> {
    let mut fields: FastMap<(u64, u64), Vec<u8>> = names.into_iter().map(|(at, name)| (at, quoted(&name))).collect();
    let mut text = b"time,object,offset,size\n".to_vec();
    let (mut done, mut held) = (Rows::default(), 0);
    let each = |record: &Record| {
        // A block of an object has the size of all its blocks, so that its number gives its place.
        let offset = record.blkid.checked_mul(u64::from(record.size.get()));
        let Some(offset) = offset.filter(|_| record.level == 0 && record.class.is_read()) else {
            done.left_out += 1;
            return Ok(());
        };
        push_number(&mut text, record.time_ns);
        text.push(b',');
        let address = (record.objset, record.object);
        text.extend_from_slice(fields.entry(address).or_insert_with(|| format!("{}:{}", address.0, address.1).into()));
        for number in [offset, u64::from(record.size.get())] {
            text.push(b',');
            push_number(&mut text, number);
        }
        text.push(b'\n');
        held += 1;
        if text.len() >= CHUNK_BYTES {
            done.rows += held;
            if !sink(&text, std::mem::take(&mut held)) {
                return Err(TraceError::Stopped);
            }
            text.clear();
        }
        Ok(())
    };
    read_file(path, expected, each, go_on)?;
    done.rows += held;
    if !sink(&text, held) {
        return Err(Stopped.into());
    }
    Ok(done)
}

/// A field in quotes where it needs them.
fn quoted(name: &str) -> Vec<u8> {
    if name.contains(['"', ',', '\n', '\r']) || name.starts_with(' ') {
        return format!("\"{}\"", name.replace('"', "\"\"")).into_bytes();
    }
    name.as_bytes().to_vec()
}
