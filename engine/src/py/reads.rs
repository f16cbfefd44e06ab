//! A trace that is kept in memory, for every analysis that looks at it more than once.

use std::borrow::Cow;
use std::num::NonZeroU64;
use std::path::PathBuf;

use pyo3::prelude::*;

use super::interrupted;
use crate::reads::Reads;
use crate::shards::Share;
use crate::trace::Expected;

#[pyclass(frozen, name = "Reads", module = "zmysql.locality._engine")]
pub(super) struct PyReads(pub Reads);

#[pymethods]
impl PyReads {
    fn __len__(&self) -> usize {
        self.0.block.len()
    }

    fn objects(&self) -> Vec<(u64, u64, u8)> {
        self.0.objects.iter().map(|o| (o.objset, o.object, o.level)).collect()
    }
}

#[pyfunction]
#[pyo3(signature = (path, *, complete, records, one_in = NonZeroU64::MIN))]
fn load(py: Python<'_>, path: PathBuf, complete: bool, records: Option<u64>, one_in: NonZeroU64) -> PyResult<PyReads> {
    let mut stopped = Ok(());
    let mut share = Share::one_in(one_in);
    let expected = Expected { complete, records };
    let go_on = |_| !interrupted(&mut stopped);
    let loaded = py.detach(|| match one_in {
        NonZeroU64::MIN => Reads::load(&path, expected, |_| true, go_on),
        _ => Reads::load(&path, expected, |record| share.holds(record), go_on),
    });
    stopped?;
    Ok(PyReads(loaded?))
}

#[pyfunction]
fn header(py: Python<'_>, path: PathBuf, most_bytes: u64) -> PyResult<Cow<'static, [u8]>> {
    Ok(py.detach(|| crate::trace::header(&path, most_bytes))?.into())
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyReads>()?;
    module.add_function(wrap_pyfunction!(load, module)?)?;
    module.add_function(wrap_pyfunction!(header, module)?)
}
