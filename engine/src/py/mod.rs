//! The Python face, one file for each analysis: `zmysql/locality/_engine.pyi` documents it.

mod convert;
mod objects;
mod profile;
mod reads;
mod shards;
mod simulate;
mod spatial;
mod windows;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::trace::TraceError;

create_exception!(_engine, TraceUnreadable, PyException);

impl From<TraceError> for PyErr {
    fn from(error: TraceError) -> Self {
        TraceUnreadable::new_err(error.to_string())
    }
}

/// Asks Python whether Ctrl-C was pressed, which it can't do while the engine works; then the work is to stop.
fn interrupted(found: &mut PyResult<()>) -> bool {
    *found = Python::attach(|py| py.check_signals());
    found.is_err()
}

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("TraceUnreadable", module.py().get_type::<TraceUnreadable>())?;
    convert::register(module)?;
    profile::register(module)?;
    reads::register(module)?;
    spatial::register(module)?;
    windows::register(module)?;
    objects::register(module)?;
    shards::register(module)?;
    simulate::register(module)
}
