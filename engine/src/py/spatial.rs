//! What larger records would bring along.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::reads::PyReads;
use super::{interrupted, TraceUnreadable};
use crate::previous::MAX_READS;
use crate::spatial::{self, Neighbours, Regrouped};

#[pyclass(frozen, get_all, name = "Regrouped", module = "zmysql.locality._engine")]
struct PyRegrouped {
    recordsize: u32,
    distinct_records: u64,
    distinct_bytes: u64,
    wanted_bytes: u64,
    misses: u64,
    missed_bytes: u64,
    first_read_hits: u64,
    neighbour_hits: u64,
    neighbour_hit_bytes: u64,
    neighbour_bytes: u64,
}

impl From<Regrouped> for PyRegrouped {
    fn from(found: Regrouped) -> Self {
        Self {
            recordsize: found.recordsize,
            distinct_records: found.distinct_records,
            distinct_bytes: found.distinct_bytes,
            wanted_bytes: found.wanted_bytes,
            misses: found.misses,
            missed_bytes: found.missed_bytes,
            first_read_hits: found.first_read_hits,
            neighbour_hits: found.neighbour_hits,
            neighbour_hit_bytes: found.neighbour_hit_bytes,
            neighbour_bytes: found.neighbour_bytes,
        }
    }
}

#[pyfunction]
fn own_recordsize(py: Python<'_>, reads: &Bound<'_, PyReads>, recordsizes: Vec<(u64, u64)>) -> Option<u32> {
    let reads = &reads.get().0;
    py.detach(|| spatial::own_recordsize(reads, &known(recordsizes)))
}

#[pyfunction]
fn recordsizes(
    py: Python<'_>,
    reads: &Bound<'_, PyReads>,
    recordsizes: Vec<(u64, u64)>,
    sizes: Vec<u32>,
    cache_bytes: u64,
    threads: Option<usize>,
) -> PyResult<Vec<PyRegrouped>> {
    if let Some(size) = sizes.iter().find(|size| !size.is_power_of_two()) {
        return Err(PyValueError::new_err(format!("a recordsize of {size} is no power of two")));
    }
    let reads = &reads.get().0;
    countable(reads.block.len())?;
    let mut stopped = Ok(());
    let found = py.detach(|| {
        let neighbours = Neighbours::new(reads, &known(recordsizes));
        neighbours.regrouped(&sizes, cache_bytes, threads_or_all(threads), || !interrupted(&mut stopped))
    });
    stopped?;
    Ok(found.unwrap_or_default().into_iter().map(PyRegrouped::from).collect())
}

/// A recordsize beyond 32 bits is none of ZFS, and no block is larger.
fn known(recordsizes: Vec<(u64, u64)>) -> crate::hash::FastMap<u64, u32> {
    recordsizes.into_iter().map(|(objset, bytes)| (objset, u32::try_from(bytes).unwrap_or(u32::MAX))).collect()
}

/// Refuses a trace whose reads can't be numbered in 32 bits.
pub(super) fn countable(reads: usize) -> PyResult<()> {
    if reads > MAX_READS {
        return Err(TraceUnreadable::new_err("holds more than 2^32 reads: cut it, or judge a sample"));
    }
    Ok(())
}

pub(super) fn threads_or_all(threads: Option<usize>) -> usize {
    threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyRegrouped>()?;
    module.add_function(wrap_pyfunction!(own_recordsize, module)?)?;
    module.add_function(wrap_pyfunction!(recordsizes, module)?)
}
