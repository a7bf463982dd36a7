//! Native module of the Python package `groundwave`: requests as JSON, arrays as bytes. The package in the folder
//! `groundwave` has the functions that people call.

mod bytes;
mod frames;
mod model;
mod scenario;
mod terrain;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// An error of a request.
fn invalid(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A document as a Python object.
fn object<'py>(py: Python<'py>, document: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(document).map_err(invalid)?;
    py.import("json")?.call_method1("loads", (text,))
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::frames::{Frame, Frames};
    #[pymodule_export]
    use super::model::{coverage, itm, link, link_over, path, presets, version};
    #[pymodule_export]
    use super::scenario::{replay, run, validate};
    #[pymodule_export]
    use super::terrain::Terrain;
}
