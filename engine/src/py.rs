//! The Python face.

use pyo3::prelude::*;

#[pymodule]
fn _engine(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
