//! A trace as oracleGeneral: see [`super::oracle`]. Blocks are numbered from 1 in the order of their first read, and each
//! request says when its block is requested next, which a second pass from the end of the file fills in.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::binary::u64_at;
use super::oracle::REQUEST_BYTES;
use crate::hash::FastMap;
use crate::trace::{read_file, Expected, Record, TraceError};

const SECOND_NS: u64 = 1_000_000_000;
const NEVER: i64 = -1;
/// Requests that the second pass holds at once.
const CHUNK_REQUESTS: u64 = 1 << 18;

/// What was written.
#[derive(Debug, PartialEq, Eq)]
pub struct Requests {
    pub requests: u64,
    pub blocks: u64,
    /// Records that are no reads.
    pub left_out: u64,
}

/// Writes the requests into an empty file that can also be read. Memory grows with the distinct blocks.
pub fn export(
    path: &Path,
    expected: Expected,
    out: &mut File,
    mut go_on: impl FnMut(u64) -> bool,
) -> Result<Requests, ExportError> {
    let mut blocks: FastMap<(u64, u64, u8, u64), u64> = FastMap::default();
    let mut writer = BufWriter::with_capacity(1 << 20, &mut *out);
    let mut failed = None;
    let mut requests = 0;
    let each = |record: &Record| {
        if !record.class.is_read() {
            return Ok(());
        }
        requests += 1;
        let next = blocks.len() as u64 + 1;
        let id = *blocks.entry((record.objset, record.object, record.level, record.blkid)).or_insert(next);
        let seconds = u32::try_from(record.time_ns / SECOND_NS).unwrap_or(u32::MAX);
        let mut request = [0; REQUEST_BYTES];
        request[..4].copy_from_slice(&seconds.to_le_bytes());
        request[4..12].copy_from_slice(&id.to_le_bytes());
        request[12..16].copy_from_slice(&record.size.get().to_le_bytes());
        request[16..].copy_from_slice(&NEVER.to_le_bytes());
        writer.write_all(&request).map_err(|error| {
            failed = Some(error);
            TraceError::Stopped
        })
    };
    let read = read_file(path, expected, each, &mut go_on);
    if let Some(error) = failed {
        return Err(ExportError::Writing(error));
    }
    let left_out = read.map_err(ExportError::Reading)? - requests;
    let flushed = writer.flush();
    drop(writer);
    flushed.map_err(ExportError::Writing)?;
    let blocks = blocks.len() as u64;
    fill_in(out, requests, blocks, go_on)?;
    Ok(Requests { requests, blocks, left_out })
}

/// What failed: reading the trace, or writing the export.
#[derive(Debug)]
pub enum ExportError {
    Reading(TraceError),
    Writing(io::Error),
}

/// Fills in when each block is requested next, from the last request to the first.
fn fill_in(out: &mut File, requests: u64, blocks: u64, mut go_on: impl FnMut(u64) -> bool) -> Result<(), ExportError> {
    let mut next = vec![NEVER; blocks as usize + 1];
    let mut chunk = Vec::new();
    let mut end = requests;
    while end > 0 {
        if !go_on(end) {
            return Err(ExportError::Reading(TraceError::Stopped));
        }
        let start = end.saturating_sub(CHUNK_REQUESTS);
        let place = SeekFrom::Start(start * REQUEST_BYTES as u64);
        let filled = (|| {
            chunk.resize((end - start) as usize * REQUEST_BYTES, 0);
            out.seek(place)?;
            out.read_exact(&mut chunk)?;
            for (at, request) in chunk.chunks_exact_mut(REQUEST_BYTES).enumerate().rev() {
                let next = &mut next[u64_at(request, 4) as usize];
                request[16..].copy_from_slice(&next.to_le_bytes());
                *next = (start + at as u64) as i64;
            }
            out.seek(place)?;
            out.write_all(&chunk)
        })();
        filled.map_err(ExportError::Writing)?;
        end = start;
    }
    Ok(())
}
