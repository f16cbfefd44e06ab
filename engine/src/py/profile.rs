//! The figures of a trace that is read once, and not kept.

use std::path::PathBuf;

use pyo3::prelude::*;

use super::interrupted;
use crate::profile::{Profile, Profiler};
use crate::trace::{read_file, Class, Expected};

#[pyclass(frozen, name = "Profile", module = "zmysql.locality._engine")]
struct PyProfile(Profile);

#[pymethods]
impl PyProfile {
    #[getter]
    fn references(&self) -> u64 {
        self.0.references
    }

    #[getter]
    fn distinct_blocks(&self) -> u64 {
        self.0.distinct_blocks
    }

    #[getter]
    fn distinct_bytes(&self) -> u64 {
        self.0.distinct_bytes
    }

    #[getter]
    fn blocks_read_once(&self) -> u64 {
        self.0.blocks_read_once
    }

    #[getter]
    fn blocks_read_more_than_once(&self) -> u64 {
        self.0.blocks_read_more_than_once
    }

    #[getter]
    fn blocks_read_more_than_twice(&self) -> u64 {
        self.0.blocks_read_more_than_twice
    }

    #[getter]
    fn span_ns(&self) -> u64 {
        self.0.span_ns
    }

    #[getter]
    fn out_of_order(&self) -> u64 {
        self.0.out_of_order
    }

    #[getter]
    fn flat_bytes(&self) -> Option<u64> {
        self.0.curve.flat_bytes()
    }

    fn classes(&self) -> Vec<(&'static str, u64)> {
        Class::NAMES.into_iter().zip(self.0.classes).collect()
    }

    fn objects(&self) -> Vec<(u64, u64, u8, u64, u64)> {
        let objects = self.0.objects.iter();
        objects.map(|o| (o.objset, o.object, o.level, o.references, o.distinct_blocks)).collect()
    }

    fn hits(&self, cache_bytes: Vec<u64>) -> Vec<u64> {
        cache_bytes.into_iter().map(|bytes| self.0.curve.hits(bytes)).collect()
    }

    fn mrc(&self) -> Vec<(u64, f64)> {
        self.0.curve.points()
    }
}

#[pyfunction]
#[pyo3(signature = (path, *, complete, records))]
fn profile(py: Python<'_>, path: PathBuf, complete: bool, records: Option<u64>) -> PyResult<PyProfile> {
    let mut stopped = Ok(());
    let mut profiler = Profiler::default();
    let expected = Expected { complete, records };
    let read =
        py.detach(|| read_file(&path, expected, |record| profiler.record(record), |_| !interrupted(&mut stopped)));
    stopped?;
    Ok(PyProfile(read.and_then(|_| py.detach(|| profiler.finish()))?))
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyProfile>()?;
    module.add_function(wrap_pyfunction!(profile, module)?)
}
