//! Several traces of one host as one, in the order of their times.

use std::path::PathBuf;
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::thread;

use super::body::Body;
use super::cut::{Kept, Taken};
use crate::trace::{read_file, Expected, Record, TraceError};

const BATCH_RECORDS: usize = 4096;
/// Batches of a trace on their way; so the memory needed doesn't depend on the files.
const BATCHES: usize = 4;

/// A trace to merge.
#[derive(Clone, Debug)]
pub struct Source {
    pub path: PathBuf,
    pub expected: Expected,
    /// Its start, after that of the merged trace.
    pub shift_ns: u64,
}

/// A trace that can't be merged.
#[derive(Debug)]
pub struct MergeError {
    /// Which of them; None where it's none's fault.
    pub source: Option<usize>,
    pub error: TraceError,
}

type Batch = Result<Vec<Record>, TraceError>;

/// Merges the traces; of equal times the trace named first comes first. `go_on` hears the records so far.
pub fn merge(
    sources: &[Source],
    sink: impl FnMut(&[u8], u64) -> bool,
    mut go_on: impl FnMut(u64) -> bool,
) -> Result<Kept, MergeError> {
    thread::scope(|scope| {
        let mut inputs = Vec::new();
        for (number, source) in sources.iter().enumerate() {
            let (to, from) = sync_channel(BATCHES);
            let spawned = thread::Builder::new().spawn_scoped(scope, move || send(source, &to));
            spawned.map_err(|error| MergeError { source: Some(number), error: TraceError::Io(error) })?;
            inputs.push(Input { from, batch: Vec::new().into_iter().peekable(), shift_ns: source.shift_ns });
        }
        let stopped = |error| MergeError { source: None, error };
        let (mut body, mut taken, mut merged) = (Body::new(sink), Taken::default(), 0u64);
        loop {
            let mut earliest: Option<(u64, usize)> = None;
            for (number, input) in inputs.iter_mut().enumerate() {
                let next = input.next_time().map_err(|error| MergeError { source: Some(number), error })?;
                earliest = match (earliest, next) {
                    (Some((before, _)), Some(time_ns)) if time_ns >= before => earliest,
                    (_, Some(time_ns)) => Some((time_ns, number)),
                    (_, None) => earliest,
                };
            }
            let Some((time_ns, number)) = earliest else {
                break;
            };
            let Some(record) = inputs[number].batch.next() else {
                break; // there is one: its time was seen
            };
            let record = Record { time_ns, ..record };
            taken.add(&record);
            body.push(&record).map_err(|error| stopped(error.into()))?;
            merged += 1;
            if merged % (1 << 18) == 0 && !go_on(merged) {
                return Err(stopped(TraceError::Stopped));
            }
        }
        body.finish().map(|records| taken.finish(records)).map_err(|error| stopped(error.into()))
    })
}

/// Reads a trace to its end, or until nobody wants its records any more.
fn send(source: &Source, to: &SyncSender<Batch>) {
    let mut batch = Vec::with_capacity(BATCH_RECORDS);
    let each = |record: &Record| {
        batch.push(record.clone());
        if batch.len() < BATCH_RECORDS {
            return Ok(());
        }
        let full = std::mem::replace(&mut batch, Vec::with_capacity(BATCH_RECORDS));
        to.send(Ok(full)).map_err(|_| TraceError::Stopped)
    };
    let read = read_file(&source.path, source.expected, each, |_| true);
    // Fails only where nobody reads any more.
    let _ = to.send(Ok(batch)).and_then(|()| match read {
        Ok(_) => Ok(()),
        Err(error) => to.send(Err(error)),
    });
}

/// The receiving end of a trace.
struct Input {
    from: Receiver<Batch>,
    batch: std::iter::Peekable<std::vec::IntoIter<Record>>,
    shift_ns: u64,
}

impl Input {
    /// The time of the next record on the merged trace's clock; None at the end.
    fn next_time(&mut self) -> Result<Option<u64>, TraceError> {
        loop {
            if let Some(record) = self.batch.peek() {
                return Ok(Some(record.time_ns.saturating_add(self.shift_ns)));
            }
            match self.from.recv() {
                Ok(batch) => self.batch = batch?.into_iter().peekable(),
                Err(_) => return Ok(None),
            }
        }
    }
}
