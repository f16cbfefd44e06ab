//! What a trace holds, without looking for what is read again: memory grows with the objects only.

use std::path::Path;

use crate::hash::FastMap;
use crate::trace::{read_file, Class, Expected, Record, TraceError};

/// The reads of an object, over all of its levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectReads {
    pub objset: u64,
    pub object: u64,
    pub references: u64,
    pub bytes: u64,
    /// References to the data record that was read last, or to the one behind it.
    pub sequential: u64,
}

/// The counts of a trace; bytes and objects are of the reads, all else of all records.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub records: u64,
    /// The bytes of all reads together.
    pub bytes: u64,
    pub first_ns: u64,
    pub last_ns: u64,
    /// Records with an earlier time than the one before.
    pub out_of_order: u64,
    /// Records by [`Class`], in the order of [`Class::NAMES`].
    pub classes: [u64; Class::NAMES.len()],
    /// Most reads first.
    pub objects: Vec<ObjectReads>,
}

/// Counts a trace in one pass; `go_on` is as in [`read_file`].
pub fn summarise(path: &Path, expected: Expected, go_on: impl FnMut(u64) -> bool) -> Result<Summary, TraceError> {
    let mut counting = Counting::default();
    let each = |record: &Record| {
        counting.add(record);
        Ok(())
    };
    counting.summary.records = read_file(path, expected, each, go_on)?;
    Ok(counting.finish())
}

#[derive(Default)]
struct Counting {
    summary: Summary,
    at: FastMap<(u64, u64), usize>,
    /// The blkid behind the last one, by object.
    next: Vec<u64>,
    begun: bool,
    before_ns: u64,
}

impl Counting {
    fn add(&mut self, record: &Record) {
        let summary = &mut self.summary;
        let time_ns = record.time_ns;
        if !std::mem::replace(&mut self.begun, true) {
            (summary.first_ns, self.before_ns) = (time_ns, time_ns);
        }
        summary.first_ns = summary.first_ns.min(time_ns);
        summary.last_ns = summary.last_ns.max(time_ns);
        summary.out_of_order += u64::from(time_ns < std::mem::replace(&mut self.before_ns, time_ns));
        summary.classes[record.class as usize] += 1;
        if !record.class.is_read() {
            return;
        }
        let at = *self.at.entry((record.objset, record.object)).or_insert_with(|| {
            summary.objects.push(ObjectReads { objset: record.objset, object: record.object, ..Default::default() });
            self.next.push(0);
            summary.objects.len() - 1
        });
        let object = &mut summary.objects[at];
        // A first read at the file's beginning goes on from nowhere: it counts as what a scan begins with.
        if record.level == 0 {
            let next = std::mem::replace(&mut self.next[at], record.blkid.saturating_add(1));
            object.sequential += u64::from(record.blkid == next || record.blkid.checked_add(1) == Some(next));
        }
        object.references += 1;
        object.bytes += u64::from(record.size.get());
    }

    fn finish(mut self) -> Summary {
        self.summary.bytes = self.summary.objects.iter().map(|object| object.bytes).sum();
        let key = |one: &ObjectReads| (std::cmp::Reverse(one.references), one.objset, one.object);
        self.summary.objects.sort_unstable_by_key(key);
        self.summary
    }
}
