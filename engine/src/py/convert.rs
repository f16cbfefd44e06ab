//! Traces in and out. What is made goes to Python piece by piece, since the header and the file are its business.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::num::NonZeroU32;
use std::path::PathBuf;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::{interrupted, TraceUnreadable};
use crate::convert::columns::{columns, Columns};
use crate::convert::cut::{cut, Kept, Part};
use crate::convert::foreign::{ForeignError, Found};
use crate::convert::import::{import, Format};
use crate::convert::merge::{merge, Source};
use crate::convert::oracle_out::ExportError;
use crate::convert::summary::{summarise, Summary};
use crate::convert::{csv, csv_out, input, oracle_out};
use crate::trace::{Class, Expected};

/// objset and object.
type Address = (u64, u64);

/// What goes wrong in Python while Rust works: an exception of the sink, or Ctrl-C.
struct Outcome(PyResult<()>);

impl Outcome {
    /// Gives pieces to a callable of Python; false where it raised.
    fn give(&mut self, sink: &Py<PyAny>, piece: &[u8], records: u64) -> bool {
        self.0 = Python::attach(|py| sink.call1(py, (PyBytes::new(py, piece), records)).map(|_| ()));
        self.0.is_ok()
    }
}

/// Looks for Ctrl-C at each reading.
struct Heeding<'a, R> {
    raw: R,
    outcome: &'a mut PyResult<()>,
}

impl<R: Read> Read for Heeding<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if interrupted(self.outcome) {
            return Err(io::Error::other("interrupted"));
        }
        self.raw.read(into)
    }
}

#[pyfunction]
#[pyo3(signature = (path, kind, *, columns, recordsize, sink))]
fn import_foreign<'py>(
    py: Python<'py>,
    path: PathBuf,
    kind: &str,
    columns: Vec<String>,
    recordsize: u32,
    sink: Py<PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let format = match kind {
        "csv" => csv::Columns::named(columns).map(Format::Csv),
        "oracleGeneral" => Some(Format::OracleGeneral),
        "vscsi" => Some(Format::Vscsi),
        "zfs-reads" => Some(Format::ZfsReads),
        "blkparse" => Some(Format::Blkparse),
        _ => None,
    };
    let format = format.ok_or_else(|| PyValueError::new_err(format!("no format, or not its columns: {kind}")))?;
    let recordsize = NonZeroU32::new(recordsize).ok_or_else(|| PyValueError::new_err("a recordsize of 0"))?;
    let (mut signal, mut outcome) = (Ok(()), Outcome(Ok(())));
    let found = py.detach(|| {
        let raw = Heeding { raw: input::open(&path).map_err(ForeignError::Io)?, outcome: &mut signal };
        import(raw, &format, recordsize, |member, records| outcome.give(&sink, member, records))
    });
    signal?;
    outcome.0?;
    found_as_dict(py, found.map_err(|error| TraceUnreadable::new_err(error.to_string()))?)
}

fn found_as_dict(py: Python<'_>, found: Found) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("accesses", found.accesses)?;
    dict.set_item("empty", found.empty)?;
    dict.set_item("skipped", found.skipped)?;
    dict.set_item("drops", found.drops)?;
    dict.set_item("last_ns", found.last_ns)?;
    dict.set_item("largest_bytes", found.largest_bytes)?;
    dict.set_item("objsets", found.objsets)?;
    let objects = found.objects.iter();
    let objects: Vec<_> = objects.map(|(objset, object, name)| (objset, object, PyBytes::new(py, name))).collect();
    dict.set_item("objects", objects)?;
    Ok(dict)
}

#[pyfunction]
#[pyo3(signature = (path, *, complete, records, from_ns, to_ns, objsets, objects, sink))]
#[allow(clippy::too_many_arguments)] // they are keywords in Python
fn cut_trace(
    py: Python<'_>,
    path: PathBuf,
    complete: bool,
    records: Option<u64>,
    from_ns: u64,
    to_ns: Option<u64>,
    objsets: Option<Vec<u64>>,
    objects: Option<Vec<Address>>,
    sink: Py<PyAny>,
) -> PyResult<(u64, Vec<Address>)> {
    let part = Part {
        from_ns,
        to_ns,
        objsets: objsets.map(|objsets| objsets.into_iter().collect()),
        objects: objects.map(|objects| objects.into_iter().collect()),
    };
    let (mut signal, mut outcome) = (Ok(()), Outcome(Ok(())));
    let kept = py.detach(|| {
        let sink = |member: &[u8], records| outcome.give(&sink, member, records);
        cut(&path, Expected { complete, records }, &part, sink, |_| !interrupted(&mut signal))
    });
    signal?;
    outcome.0?;
    let Kept { last_ns, objects, .. } = kept?;
    Ok((last_ns, objects))
}

/// Path, complete, records as the header says, and the start after that of the merged trace.
type SourceArguments = (PathBuf, bool, Option<u64>, u64);

#[pyfunction]
#[pyo3(signature = (sources, *, sink))]
fn merge_traces(py: Python<'_>, sources: Vec<SourceArguments>, sink: Py<PyAny>) -> PyResult<(u64, Vec<Address>)> {
    let sources: Vec<_> = sources
        .into_iter()
        .map(|(path, complete, records, shift_ns)| Source { path, expected: Expected { complete, records }, shift_ns })
        .collect();
    let (mut signal, mut outcome) = (Ok(()), Outcome(Ok(())));
    let merged = py.detach(|| {
        let sink = |member: &[u8], records| outcome.give(&sink, member, records);
        merge(&sources, sink, |_| !interrupted(&mut signal))
    });
    signal?;
    outcome.0?;
    let Kept { last_ns, objects, .. } = merged.map_err(|failed| {
        let name = failed.source.map_or("the merged trace".into(), |number| sources[number].path.display().to_string());
        TraceUnreadable::new_err(format!("{name} {}", failed.error))
    })?;
    Ok((last_ns, objects))
}

#[pyfunction]
#[pyo3(signature = (path, *, complete, records))]
fn summary(py: Python<'_>, path: PathBuf, complete: bool, records: Option<u64>) -> PyResult<Bound<'_, PyDict>> {
    let mut signal = Ok(());
    let counted = py.detach(|| summarise(&path, Expected { complete, records }, |_| !interrupted(&mut signal)));
    signal?;
    let Summary { records, bytes, first_ns, last_ns, out_of_order, classes, objects } = counted?;
    let dict = PyDict::new(py);
    dict.set_item("records", records)?;
    dict.set_item("bytes", bytes)?;
    dict.set_item("first_ns", first_ns)?;
    dict.set_item("last_ns", last_ns)?;
    dict.set_item("out_of_order", out_of_order)?;
    dict.set_item("classes", Class::NAMES.into_iter().zip(classes).collect::<Vec<_>>())?;
    let objects: Vec<_> =
        objects.iter().map(|one| (one.objset, one.object, one.references, one.bytes, one.sequential)).collect();
    dict.set_item("objects", objects)?;
    Ok(dict)
}

#[pyfunction]
#[pyo3(signature = (path, *, complete, records, names, sink))]
fn export_csv(
    py: Python<'_>,
    path: PathBuf,
    complete: bool,
    records: Option<u64>,
    names: Vec<(Address, String)>,
    sink: Py<PyAny>,
) -> PyResult<(u64, u64)> {
    let (mut signal, mut outcome) = (Ok(()), Outcome(Ok(())));
    let done = py.detach(|| {
        let sink = |text: &[u8], rows| outcome.give(&sink, text, rows);
        csv_out::export(&path, Expected { complete, records }, names, sink, |_| !interrupted(&mut signal))
    });
    signal?;
    outcome.0?;
    let done = done?;
    Ok((done.rows, done.left_out))
}

#[pyfunction]
#[pyo3(signature = (path, out, *, complete, records))]
fn export_oracle(
    py: Python<'_>,
    path: PathBuf,
    out: PathBuf,
    complete: bool,
    records: Option<u64>,
) -> PyResult<(u64, u64, u64)> {
    let mut signal = Ok(());
    let done = py.detach(|| {
        let mut file = OpenOptions::new().read(true).write(true).open(out).map_err(ExportError::Writing)?;
        oracle_out::export(&path, Expected { complete, records }, &mut file, |_| !interrupted(&mut signal))
    });
    signal?;
    match done {
        Ok(done) => Ok((done.requests, done.blocks, done.left_out)),
        Err(ExportError::Reading(error)) => Err(error.into()),
        Err(ExportError::Writing(error)) => Err(PyOSError::new_err((error.raw_os_error(), error.to_string()))),
    }
}

#[pyfunction]
#[pyo3(signature = (path, *, complete, records, at_once, sink))]
fn read_columns(
    py: Python<'_>,
    path: PathBuf,
    complete: bool,
    records: Option<u64>,
    at_once: usize,
    sink: Py<PyAny>,
) -> PyResult<u64> {
    let (mut signal, mut outcome) = (Ok(()), Ok(()));
    let give = |some: &Columns| {
        outcome = Python::attach(|py| {
            let columns =
                [&some.time_ns, &some.objset, &some.object, &some.level, &some.blkid, &some.size, &some.class];
            sink.call1(py, (some.records, columns.map(|column| PyBytes::new(py, column)))).map(|_| ())
        });
        outcome.is_ok()
    };
    let expected = Expected { complete, records };
    let done = py.detach(|| columns(&path, expected, at_once, give, |_| !interrupted(&mut signal)));
    signal?;
    outcome?;
    Ok(done?)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(import_foreign, module)?)?;
    module.add_function(wrap_pyfunction!(cut_trace, module)?)?;
    module.add_function(wrap_pyfunction!(merge_traces, module)?)?;
    module.add_function(wrap_pyfunction!(summary, module)?)?;
    module.add_function(wrap_pyfunction!(export_csv, module)?)?;
    module.add_function(wrap_pyfunction!(export_oracle, module)?)?;
    module.add_function(wrap_pyfunction!(read_columns, module)?)
}
