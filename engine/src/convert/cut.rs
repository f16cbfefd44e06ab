//! A part of a trace: some time of it, some datasets, some files.

use std::collections::HashSet;
use std::path::Path;

use super::body::Body;
use super::Stopped;
use crate::hash::FastMap;
use crate::trace::{read_file, Expected, Record, TraceError};

/// What to keep; None keeps all.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// From this time on, which becomes the start.
    pub from_ns: u64,
    /// Before this time.
    pub to_ns: Option<u64>,
    pub objsets: Option<HashSet<u64>>,
    pub objects: Option<HashSet<(u64, u64)>>,
}

impl Part {
    fn holds(&self, record: &Record) -> bool {
        record.time_ns >= self.from_ns
            && self.to_ns.is_none_or(|to_ns| record.time_ns < to_ns)
            && self.objsets.as_ref().is_none_or(|objsets| objsets.contains(&record.objset))
            && self.objects.as_ref().is_none_or(|objects| objects.contains(&(record.objset, record.object)))
    }
}

/// What a part holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Kept {
    pub records: u64,
    /// The latest time in the part, from its own start.
    pub last_ns: u64,
    /// (objset, object) that are read in it.
    pub objects: Vec<(u64, u64)>,
}

/// Copies the records of a part; their times are from the part's start on. `go_on` is as in [`read_file`].
pub fn cut(
    path: &Path,
    expected: Expected,
    part: &Part,
    sink: impl FnMut(&[u8], u64) -> bool,
    go_on: impl FnMut(u64) -> bool,
) -> Result<Kept, TraceError> {
    let mut body = Body::new(sink);
    let mut taken = Taken::default();
    let each = |record: &Record| {
        if !part.holds(record) {
            return Ok(());
        }
        let record = Record { time_ns: record.time_ns - part.from_ns, ..record.clone() };
        taken.add(&record);
        body.push(&record).map_err(TraceError::from)
    };
    read_file(path, expected, each, go_on)?;
    Ok(taken.finish(body.finish()?))
}

/// Notes what goes into a trace.
#[derive(Default)]
pub(super) struct Taken {
    objects: FastMap<(u64, u64), ()>,
    last: Option<(u64, u64)>,
    last_ns: u64,
}

impl Taken {
    pub fn add(&mut self, record: &Record) {
        self.last_ns = self.last_ns.max(record.time_ns);
        let object = (record.objset, record.object);
        if self.last != Some(object) {
            self.last = Some(object);
            self.objects.insert(object, ());
        }
    }

    pub fn finish(self, records: u64) -> Kept {
        let mut objects: Vec<_> = self.objects.into_keys().collect();
        objects.sort_unstable();
        Kept { records, last_ns: self.last_ns, objects }
    }
}

impl From<Stopped> for TraceError {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}
