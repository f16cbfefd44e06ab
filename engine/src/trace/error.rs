//! What can be wrong with a trace, in the words that a person sees.

use std::fmt;
use std::io;

/// Why a trace can't be read. The messages name no file: the caller knows it.
#[derive(Debug)]
pub enum TraceError {
    /// The file can't be opened or read.
    Io(io::Error),
    /// It is neither gzip, nor zstd, nor the text of a trace.
    Foreign,
    /// The compressed data are damaged after this line.
    Damaged { line: u64 },
    /// A line is no record.
    Malformed { line: u64, why: String },
    /// A finished recording ends too early, after this line.
    Truncated { line: u64 },
    /// A finished recording holds more or fewer records than its header says.
    Miscounted { said: u64, found: u64 },
    /// No record at all.
    Empty,
    /// More reads or distinct blocks than the engine can number.
    TooLong,
    /// The caller asked to stop.
    Stopped,
}

impl fmt::Display for TraceError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(out, "can't be read: {error}"),
            Self::Foreign => {
                write!(out, "is no gzip or zstd file, so no trace: `zmysql trace import` brings in other traces")
            }
            Self::Damaged { line } => {
                write!(out, "is damaged after line {line}: copy it again from where it was recorded")
            }
            Self::Malformed { line, why } => write!(
                out,
                "is wrong in line {line}: {why}; look at it with `zcat`, and record or import the trace again"
            ),
            Self::Truncated { line } => {
                write!(out, "is cut off after line {line}: copy it again from where it was recorded")
            }
            Self::Miscounted { said, found } => write!(
                out,
                "holds {found} records where its header says {said}: copy it again from where it was recorded"
            ),
            Self::Empty => write!(out, "holds no records: record while mysqld reads, and for longer"),
            Self::TooLong => write!(
                out,
                "has 2^32 reads or more, or more than 2^30 distinct blocks: `zmysql locality report FILE --sample auto` \
                 judges a sample of the blocks, and `zmysql trace cut` takes out a part"
            ),
            Self::Stopped => write!(out, "was read in part only: the reading was stopped"),
        }
    }
}

impl std::error::Error for TraceError {}
