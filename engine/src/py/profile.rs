//! The exact figures of a trace.

use std::num::NonZeroUsize;

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

use super::reads::PyReads;
use crate::curve::Curve;
use crate::profile::{needed_bytes, sizes_differ, Profile};
use crate::trace::Class;

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
        self.0.distinct_blocks - self.0.blocks_read_more_than(1)
    }

    #[getter]
    fn blocks_read_more_than_once(&self) -> u64 {
        self.0.blocks_read_more_than(1)
    }

    #[getter]
    fn blocks_read_more_than_twice(&self) -> u64 {
        self.0.blocks_read_more_than(2)
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
        self.0.bytes.flat()
    }

    fn classes(&self) -> Vec<(&'static str, u64)> {
        Class::NAMES.into_iter().zip(self.0.classes).collect()
    }

    fn objects(&self) -> Vec<(u64, u64, u8, u64, u64)> {
        let objects = self.0.objects.iter();
        objects.map(|o| (o.object.objset, o.object.object, o.object.level, o.references, o.distinct_blocks)).collect()
    }

    fn reads_per_block(&self) -> Vec<(u32, u64)> {
        self.0.reads_per_block.clone()
    }

    #[pyo3(signature = (cache_sizes, *, blocks = false))]
    fn hits(&self, cache_sizes: Vec<u64>, blocks: bool) -> Vec<u64> {
        cache_sizes.into_iter().map(|size| self.curve(blocks).hits(size)).collect()
    }

    #[pyo3(signature = (*, blocks = false))]
    fn mrc(&self, blocks: bool) -> Vec<(u64, f64)> {
        self.curve(blocks).points()
    }

    #[pyo3(signature = (*, blocks = false))]
    fn reuse_distances(&self, blocks: bool) -> Vec<(u64, u64, u64)> {
        self.curve(blocks).histogram()
    }
}

impl PyProfile {
    fn curve(&self, blocks: bool) -> &Curve {
        if blocks {
            &self.0.blocks
        } else {
            &self.0.bytes
        }
    }
}

#[pyfunction]
#[pyo3(signature = (reads, *, threads = None))]
fn profile(py: Python<'_>, reads: &PyReads, threads: Option<NonZeroUsize>) -> PyResult<PyProfile> {
    let found = py.detach(|| Profile::new(&reads.0, taken(threads)));
    found.map(PyProfile).ok_or_else(|| PyOverflowError::new_err("there are more than 2^32 - 2 reads"))
}

#[pyfunction]
#[pyo3(signature = (reads, *, threads = None))]
fn profile_needs_bytes(reads: &PyReads, threads: Option<NonZeroUsize>) -> u64 {
    let (count, blocks) = (reads.0.block.len(), reads.0.blocks.len());
    needed_bytes(count, blocks, sizes_differ(&reads.0), taken(threads))
}

fn taken(threads: Option<NonZeroUsize>) -> usize {
    threads.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyProfile>()?;
    module.add_function(wrap_pyfunction!(profile, module)?)?;
    module.add_function(wrap_pyfunction!(profile_needs_bytes, module)?)
}
