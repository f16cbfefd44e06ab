//! Distinct bytes over time.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::reads::PyReads;
use crate::windows::{span, WorkingSet};

#[pyclass(frozen, name = "WorkingSet", module = "zmysql.locality._engine")]
struct PyWorkingSet(WorkingSet);

#[pymethods]
impl PyWorkingSet {
    fn windows(&self) -> Vec<(u64, u64, u64)> {
        self.0.windows.iter().map(|one| (one.start_ns, one.references, one.distinct_bytes)).collect()
    }

    fn curve(&self) -> Vec<(u64, f64)> {
        self.0.curve.clone()
    }

    fn inter_reference(&self) -> Vec<(u64, u64, u64)> {
        self.0.inter_reference()
    }
}

#[pyfunction]
fn span_ns(py: Python<'_>, reads: &Bound<'_, PyReads>) -> u64 {
    let reads = &reads.get().0;
    let (first_ns, last_ns) = py.detach(|| span(reads));
    last_ns - first_ns
}

#[pyfunction]
fn working_set(
    py: Python<'_>,
    reads: &Bound<'_, PyReads>,
    window_ns: u64,
    lengths_ns: Vec<u64>,
) -> PyResult<PyWorkingSet> {
    if window_ns == 0 {
        return Err(PyValueError::new_err("a window of 0 ns holds nothing"));
    }
    let reads = &reads.get().0;
    Ok(PyWorkingSet(py.detach(|| WorkingSet::new(reads, window_ns, &lengths_ns))))
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyWorkingSet>()?;
    module.add_function(wrap_pyfunction!(span_ns, module)?)?;
    module.add_function(wrap_pyfunction!(working_set, module)?)
}
