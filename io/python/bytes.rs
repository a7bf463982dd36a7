//! Arrays of numbers as bytes.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Numbers as bytes.
pub fn bytes<const N: usize>(
    py: Python<'_>,
    numbers: impl Iterator<Item = [u8; N]>,
) -> Bound<'_, PyBytes> {
    PyBytes::new(py, &numbers.flatten().collect::<Vec<u8>>())
}
