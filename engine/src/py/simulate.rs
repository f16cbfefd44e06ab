//! The simulation of OpenZFS's caches.

use std::num::NonZeroU32;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::interrupted;
use super::reads::PyReads;
use crate::reads::Loader;
use crate::sim::{self, classic, simulate as run, Case, Outcome, Parameters, Replay};
use crate::trace::{Class, Record};

/// Takes the parameters from the attributes of a Python object.
fn parameters(given: &Bound<'_, PyAny>) -> PyResult<Parameters> {
    macro_rules! take {
        ($($name:ident),+ $(,)?) => { Ok(Parameters { $($name: given.getattr(stringify!($name))?.extract()?),+ }) };
    }
    take!(
        zfs_arc_meta_balance,
        zfs_max_recordsize,
        zfs_arc_min_prefetch_ms,
        zfs_arc_evict_batch_limit,
        zfs_multilist_num_sublists,
        arc_mintime_ms,
        arc_meta,
        arc_pd,
        arc_pm,
        dbuf_cache_shift,
        dbuf_cache_lowater_pct,
        zfs_prefetch_disable,
        zfetch_max_streams,
        zfetch_min_sec_reap,
        zfetch_max_sec_reap,
        zfetch_min_distance,
        zfetch_max_distance,
        zfetch_max_idistance,
        zfetch_max_reorder,
        zfetch_hole_shift,
        l2arc_write_max,
        l2arc_write_boost,
        l2arc_headroom,
        l2arc_headroom_boost,
        l2arc_feed_secs,
        l2arc_feed_min_ms,
        l2arc_feed_again,
        l2arc_noprefetch,
        l2arc_mfuonly,
        l2arc_meta_percent,
        l2arc_prefetch_reads,
        l2arc_rebuild_enabled,
        l2arc_rebuild_blocks_min_l2size,
        compressratio,
        metadata_compressratio,
        sector_bytes,
        indirect_bytes,
        blkptr_bytes,
        data_in_arc,
        metadata_in_arc,
        data_in_l2arc,
        metadata_in_l2arc,
        arc_warm,
        arc_other_bytes,
        hdr_full_bytes,
        hdr_l2only_bytes,
        buf_bytes,
        dbuf_bytes,
    )
}

fn as_dict<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    macro_rules! put {
        ($($name:ident),+ $(,)?) => { $(found.set_item(stringify!($name), &outcome.$name)?;)+ };
    }
    put!(
        references,
        buffer_pool_hits,
        dbuf_hits,
        arc_hits,
        l2arc_hits,
        misses,
        holes,
        metadata_hits,
        metadata_l2arc_hits,
        metadata_misses,
        prefetches,
        disk_reads,
        disk_read_bytes,
        l2arc_read_bytes,
        l2arc_written_bytes,
        l2arc_held_bytes,
        l2arc_header_bytes,
        arc_size_bytes,
        warmup_ns,
        object_misses,
    );
    Ok(found)
}

#[pyfunction]
#[pyo3(signature = (reads, cases, parameters, replay, *, kept, threads))]
fn simulate<'py>(
    py: Python<'py>,
    reads: &PyReads,
    cases: Vec<(Option<u32>, u64, u64, u64)>,
    #[pyo3(from_py_with = self::parameters)] parameters: Parameters,
    replay: &Bound<'py, PyAny>,
    kept: f64,
    threads: usize,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let case = |(recordsize, arc_bytes, l2arc_bytes, buffer_pool_bytes)| Case {
        recordsize,
        arc_bytes,
        l2arc_bytes,
        buffer_pool_bytes,
    };
    let cases: Vec<Case> = cases.into_iter().map(case).collect();
    let replay = Replay {
        skip_ns: replay.getattr("skip_ns")?.extract()?,
        passes: replay.getattr("passes")?.extract()?,
        restarts: replay.getattr("restarts")?.extract()?,
        sample: replay.getattr("sample")?.extract()?,
        kept,
    };
    let mut stopped = Ok(());
    let go_on = || stopped.is_ok() && !interrupted(&mut stopped);
    let outcomes = py.detach(|| run(&reads.0, &cases, &parameters, &replay, threads, go_on));
    stopped?;
    outcomes.unwrap_or_default().iter().map(|outcome| as_dict(py, outcome)).collect()
}

#[pyfunction]
#[pyo3(signature = (reads, algorithm, sizes, *, sample, threads))]
fn classic_hits(
    py: Python<'_>,
    reads: &PyReads,
    algorithm: &str,
    sizes: Vec<u64>,
    sample: f64,
    threads: usize,
) -> PyResult<Vec<u64>> {
    let algorithm = match algorithm {
        "lru" => classic::Algorithm::Lru,
        "arc" => classic::Algorithm::Arc,
        other => return Err(PyValueError::new_err(format!("{other:?} is neither lru nor arc"))),
    };
    if reads.0.blocks.len() > classic::MOST_BLOCKS {
        return Err(PyValueError::new_err("the trace has more than 2^28 distinct blocks"));
    }
    Ok(py.detach(|| classic::hits(&reads.0, algorithm, &sizes, sample, threads)))
}

/// The reads of one file's blocks of 16K, a microsecond apart.
#[pyfunction]
fn reads_of(py: Python<'_>, blkids: &[u8]) -> PyResult<PyReads> {
    let blkids = blkids.chunks_exact(8);
    if !blkids.remainder().is_empty() {
        return Err(PyValueError::new_err("blkids must be 8 bytes each, least significant first"));
    }
    py.detach(|| {
        let mut loader = Loader::default();
        let size = NonZeroU32::new(16384).unwrap_or(NonZeroU32::MIN);
        for (at, blkid) in blkids.enumerate() {
            let blkid = blkid.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
            let time_ns = at as u64 * 1000;
            loader.add(&Record { time_ns, objset: 1, object: 1, level: 0, blkid, size, class: Class::Unknown })?;
        }
        Ok(PyReads(loader.finish()))
    })
}

#[pyfunction]
fn smallest_recordsize(reads: &PyReads) -> Option<u32> {
    sim::smallest_recordsize(&reads.0)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(classic_hits, module)?)?;
    module.add_function(wrap_pyfunction!(reads_of, module)?)?;
    module.add_function(wrap_pyfunction!(smallest_recordsize, module)?)?;
    module.add_function(wrap_pyfunction!(simulate, module)?)
}
