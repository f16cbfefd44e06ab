//! The objects of a trace.

use pyo3::prelude::*;

use super::reads::PyReads;
use super::spatial::{countable, threads_or_all};
use crate::objects::{objects as found_objects, ObjectFigures};

#[pyclass(frozen, name = "ObjectFigures", module = "zmysql.locality._engine")]
struct PyObjectFigures(ObjectFigures);

#[pymethods]
impl PyObjectFigures {
    #[getter]
    fn objset(&self) -> u64 {
        self.0.objset
    }

    #[getter]
    fn object(&self) -> u64 {
        self.0.object
    }

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
    fn misses(&self) -> u64 {
        self.0.misses
    }

    fn mrc(&self) -> Vec<(u64, f64)> {
        self.0.mrc.clone()
    }
}

#[pyfunction]
fn objects(
    py: Python<'_>,
    reads: &Bound<'_, PyReads>,
    cache_bytes: u64,
    curves: usize,
    threads: Option<usize>,
) -> PyResult<Vec<PyObjectFigures>> {
    let reads = &reads.get().0;
    countable(reads.block.len())?;
    let found = py.detach(|| found_objects(reads, cache_bytes, curves, threads_or_all(threads)));
    Ok(found.into_iter().map(PyObjectFigures).collect())
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyObjectFigures>()?;
    module.add_function(wrap_pyfunction!(objects, module)?)
}
