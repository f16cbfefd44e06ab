//! A trace as columns of little-endian numbers, many records at a time: what a columnar file is made of.

use std::path::Path;

use crate::trace::{read_file, Expected, Record, TraceError};

/// The columns of some records, each as bytes: u64 but for level and class (u8) and size (u32). The class is its place
/// in [`crate::trace::Class::NAMES`].
#[derive(Clone, Debug, Default)]
pub struct Columns {
    pub records: usize,
    pub time_ns: Vec<u8>,
    pub objset: Vec<u8>,
    pub object: Vec<u8>,
    pub level: Vec<u8>,
    pub blkid: Vec<u8>,
    pub size: Vec<u8>,
    pub class: Vec<u8>,
}

impl Columns {
    fn push(&mut self, record: &Record) {
        self.records += 1;
        self.time_ns.extend_from_slice(&record.time_ns.to_le_bytes());
        self.objset.extend_from_slice(&record.objset.to_le_bytes());
        self.object.extend_from_slice(&record.object.to_le_bytes());
        self.level.push(record.level);
        self.blkid.extend_from_slice(&record.blkid.to_le_bytes());
        self.size.extend_from_slice(&record.size.get().to_le_bytes());
        self.class.push(record.class as u8);
    }

    fn clear(&mut self) {
        self.records = 0;
        for column in [&mut self.time_ns, &mut self.objset, &mut self.object, &mut self.level] {
            column.clear();
        }
        for column in [&mut self.blkid, &mut self.size, &mut self.class] {
            column.clear();
        }
    }
}

/// Hands the columns of `at_once` records each time to `sink`, and of fewer at the end.
pub fn columns(
    path: &Path,
    expected: Expected,
    at_once: usize,
    mut sink: impl FnMut(&Columns) -> bool,
    go_on: impl FnMut(u64) -> bool,
) -> Result<u64, TraceError> {
    let mut held = Columns::default();
    let each = |record: &Record| {
        held.push(record);
        if held.records < at_once {
            return Ok(());
        }
        let go_on = sink(&held);
        held.clear();
        if go_on {
            Ok(())
        } else {
            Err(TraceError::Stopped)
        }
    };
    let records = read_file(path, expected, each, go_on)?;
    if held.records > 0 && !sink(&held) {
        return Err(TraceError::Stopped);
    }
    Ok(records)
}
