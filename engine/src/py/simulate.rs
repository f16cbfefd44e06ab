//! The simulation of OpenZFS's caches.

use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::interrupted;
use super::reads::PyReads;
use crate::sim::{simulate as run, Case, Outcome, Parameters, Replay};

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
#[pyo3(signature = (reads, cases, parameters, *, skip_ns, passes, restarts, sample, kept, threads))]
fn simulate<'py>(
    py: Python<'py>,
    reads: &PyReads,
    cases: Vec<(Option<u32>, u64, u64, u64)>,
    #[pyo3(from_py_with = self::parameters)] parameters: Parameters,
    skip_ns: u64,
    passes: u32,
    restarts: bool,
    sample: f64,
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
    let replay = Replay { skip_ns, passes, restarts, sample, kept };
    let stopped = Mutex::new(Ok(()));
    let go_on = || match &mut *stopped.lock().unwrap_or_else(|error| error.into_inner()) {
        found @ Ok(()) => !interrupted(found),
        Err(_) => false,
    };
    let outcomes = py.detach(|| run(&reads.0, &cases, &parameters, &replay, threads, go_on));
    stopped.into_inner().unwrap_or_else(|error| error.into_inner())?;
    outcomes.unwrap_or_default().iter().map(|outcome| as_dict(py, outcome)).collect()
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(simulate, module)?)
}
