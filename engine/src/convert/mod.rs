//! Traces in and out: foreign formats to ours ([`csv`], [`oracle`], [`vscsi`], [`zfs_reads`], [`blkparse`]), ours to
//! theirs ([`csv_out`], [`oracle_out`], [`columns`]), and ours to ours ([`cut`], [`merge`]). All of it streams.
//!
//! Only the records are handled here, as gzip members of lines ([`body`]); the header is the caller's.

mod binary;
pub mod blkparse;
pub mod body;
pub mod columns;
pub mod csv;
pub mod csv_out;
pub mod cut;
pub mod foreign;
pub mod import;
pub mod input;
mod lines;
pub mod merge;
pub mod oracle;
pub mod oracle_out;
pub mod summary;
pub mod vscsi;
pub mod zfs_reads;

/// The one who takes the output asked to stop.
#[derive(Debug)]
pub struct Stopped;
