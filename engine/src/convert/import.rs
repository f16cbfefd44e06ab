//! Foreign formats by their names.

use std::io::Read;
use std::num::NonZeroU32;

use super::body::Body;
use super::csv::Columns;
use super::foreign::{ForeignError, Found, Intake, Place};
use super::input::unpacked;
use super::{blkparse, csv, oracle, vscsi, zfs_reads};

/// What a foreign trace is.
#[derive(Clone, Debug)]
pub enum Format {
    Csv(Columns),
    OracleGeneral,
    Vscsi,
    ZfsReads,
    Blkparse,
}

/// Reads a foreign trace, and hands its records to `sink` as [`Body`] does. The input may be compressed.
pub fn import(
    raw: impl Read + Send,
    format: &Format,
    recordsize: NonZeroU32,
    sink: impl FnMut(&[u8], u64) -> bool,
) -> Result<Found, ForeignError> {
    let input = unpacked(raw).map_err(|error| ForeignError::reading(error, Place::Byte(0)))?;
    let mut body = Body::new(sink);
    let mut intake = Intake::new(recordsize, |record: &_| body.push(record));
    match format {
        Format::Csv(columns) => csv::read(input, columns, &mut intake),
        Format::OracleGeneral => oracle::read(input, &mut intake),
        Format::Vscsi => vscsi::read(input, &mut intake),
        Format::ZfsReads => zfs_reads::read(input, &mut intake),
        Format::Blkparse => blkparse::read(input, &mut intake),
    }?;
    let found = intake.found;
    body.finish()?;
    Ok(found)
}

/// Reads any bytes as a foreign trace, and keeps nothing: the entry for a fuzzer.
pub fn import_bytes(bytes: &[u8], format: &Format, recordsize: NonZeroU32) -> Result<Found, ForeignError> {
    import(bytes, format, recordsize, |_, _| true)
}
