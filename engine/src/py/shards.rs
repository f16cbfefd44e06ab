//! The figures of a trace that is read once, with a sample of its blocks.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::PathBuf;

use pyo3::prelude::*;

use super::interrupted;
use crate::shards::{Estimate, Size, Survey, Surveyor};
use crate::trace::{read_file, Class, Expected};

#[pyclass(frozen, name = "Survey", module = "zmysql.locality._engine")]
struct PySurvey(Survey);

#[pymethods]
impl PySurvey {
    #[getter]
    fn rate(&self) -> f64 {
        self.0.sample.rate
    }

    #[getter]
    fn references(&self) -> u64 {
        self.0.sample.references
    }

    #[getter]
    fn sampled_references(&self) -> u64 {
        self.0.sample.sampled
    }

    #[getter]
    fn sampled_blocks(&self) -> usize {
        self.0.sample.blocks.len()
    }

    #[getter]
    fn resolved_bytes(&self) -> u64 {
        self.0.sample.resolved_bytes()
    }

    #[getter]
    fn flat_bytes(&self) -> Option<u64> {
        self.0.sample.flat_bytes()
    }

    #[getter]
    fn span_ns(&self) -> u64 {
        self.0.span_ns
    }

    #[getter]
    fn out_of_order(&self) -> u64 {
        self.0.out_of_order
    }

    fn classes(&self) -> Vec<(&'static str, u64)> {
        Class::NAMES.into_iter().zip(self.0.classes).collect()
    }

    fn objects(&self) -> Vec<(u64, u64, u8, u64, u64)> {
        let objects = self.0.objects.iter();
        objects.map(|o| (o.object.objset, o.object.object, o.object.level, o.references, o.sampled_blocks)).collect()
    }

    fn distinct_bytes(&self) -> (f64, f64) {
        pair(self.0.sample.distinct_bytes())
    }

    #[pyo3(signature = (least_times, most_times = u32::MAX))]
    fn blocks_read(&self, least_times: u32, most_times: u32) -> (f64, f64) {
        pair(self.0.sample.count(|block| (least_times..=most_times).contains(&block.reads)))
    }

    fn reads_per_block(&self) -> Vec<(u32, u64)> {
        let mut blocks = BTreeMap::new();
        for (_, block) in &self.0.sample.blocks {
            *blocks.entry(block.reads).or_insert(0) += 1;
        }
        blocks.into_iter().collect()
    }

    fn sizes(&self) -> Vec<u64> {
        self.0.sample.sizes()
    }

    fn share(&self, one_in: NonZeroU64) -> (u64, u64) {
        self.0.share(one_in)
    }

    #[pyo3(signature = (cache_bytes, *, rate = None))]
    fn miss_ratios(&self, py: Python<'_>, cache_bytes: Vec<u64>, rate: Option<f64>) -> Vec<(f64, f64)> {
        let sample = &self.0.sample;
        let found = py.detach(|| sample.miss_ratios_at(&cache_bytes, rate.unwrap_or(sample.rate)));
        found.into_iter().map(pair).collect()
    }
}

fn pair(found: Estimate) -> (f64, f64) {
    (found.value, found.error)
}

#[pyfunction]
#[pyo3(signature = (path, *, complete, records, rate, blocks, kept))]
fn survey(
    py: Python<'_>,
    path: PathBuf,
    complete: bool,
    records: Option<u64>,
    rate: f64,
    blocks: usize,
    kept: f64,
) -> PyResult<PySurvey> {
    let mut stopped = Ok(());
    let mut surveyor = Surveyor::new(Size { rate, blocks }, kept);
    let read = py.detach(|| {
        let each = |record: &_| {
            surveyor.record(record);
            Ok(())
        };
        read_file(&path, Expected { complete, records }, each, |_| !interrupted(&mut stopped))
    });
    stopped?;
    read?;
    Ok(PySurvey(py.detach(|| surveyor.finish())))
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PySurvey>()?;
    module.add_function(wrap_pyfunction!(survey, module)?)
}
