//! Links, profiles and coverages.

use std::sync::Arc;

use groundwave_bindings::coverage::CoverageDocument;
use groundwave_bindings::document::{read, write};
use groundwave_bindings::itm::{ItmInputs, loss_db};
use groundwave_bindings::link::LinkRequest;
use groundwave_model::terrain::Terrain as Ground;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::bytes::bytes;
use crate::invalid;
use crate::terrain::Terrain;

/// 64-bit floats of bytes.
fn floats(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
}

/// Calls `work` with the ground, without the lock of the interpreter, and checks the files it read.
fn over<T: Send>(
    py: Python<'_>,
    terrain: Option<&Terrain>,
    work: impl FnOnce(&dyn Ground) -> Result<T, groundwave_bindings::Invalid> + Send,
) -> PyResult<T> {
    let ground = terrain.map_or_else(Terrain::none, |terrain| Arc::clone(&terrain.ground));
    let outcome = py.detach(|| work(&*ground)).map_err(invalid)?;
    terrain.map_or(Ok(()), Terrain::check)?;
    Ok(outcome)
}

#[pyfunction]
#[pyo3(signature = (request, terrain=None))]
pub fn link(py: Python<'_>, request: &str, terrain: Option<&Terrain>) -> PyResult<String> {
    let request: LinkRequest = read(request).map_err(invalid)?;
    over(py, terrain, |ground| write(&groundwave_bindings::link::link(&request, ground)?))
}

#[pyfunction]
pub fn link_over(py: Python<'_>, request: &str, heights: &[u8]) -> PyResult<String> {
    let request: LinkRequest = read(request).map_err(invalid)?;
    let heights = floats(heights);
    over(py, None, |_| write(&groundwave_bindings::link::link_over(&request, &heights)?))
}

#[pyfunction]
#[pyo3(signature = (request, terrain=None))]
pub fn path<'py>(
    py: Python<'py>,
    request: &str,
    terrain: Option<&Terrain>,
) -> PyResult<(String, Bound<'py, PyBytes>)> {
    let request: LinkRequest = read(request).map_err(invalid)?;
    let answer = over(py, terrain, |ground| groundwave_bindings::path::path(&request, ground))?;
    let values = bytes(py, answer.values.iter().map(|value| value.to_le_bytes()));
    Ok((write(&answer).map_err(invalid)?, values))
}

#[pyfunction]
#[pyo3(signature = (request, terrain=None))]
pub fn coverage<'py>(
    py: Python<'py>,
    request: &str,
    terrain: Option<&Terrain>,
) -> PyResult<(String, Bound<'py, PyBytes>)> {
    let document: CoverageDocument = read(request).map_err(invalid)?;
    let work = |ground: &dyn Ground| groundwave_bindings::coverage::coverage(&document, ground);
    let answer = over(py, terrain, work)?;
    let values = bytes(py, answer.values.iter().map(|value| value.to_le_bytes()));
    Ok((write(&answer).map_err(invalid)?, values))
}

/// Losses of profiles of `samples` heights each.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the inputs of NTIA's program, in its order")]
pub fn itm<'py>(
    py: Python<'py>,
    heights: &[u8],
    samples: usize,
    step_m: f64,
    tx_agl_m: f64,
    rx_agl_m: f64,
    climate: u8,
    refractivity_n_units: f64,
    frequency_mhz: f64,
    polarization: u8,
    permittivity: f64,
    conductivity_s_m: f64,
    mdvar: u8,
    quantile_percent: [f64; 3],
) -> PyResult<Bound<'py, PyBytes>> {
    let [time_percent, location_percent, situation_percent] = quantile_percent;
    let inputs = ItmInputs {
        step_m,
        tx_agl_m,
        rx_agl_m,
        climate,
        refractivity_n_units,
        frequency_mhz,
        polarization,
        permittivity,
        conductivity_s_m,
        mdvar,
        time_percent,
        location_percent,
        situation_percent,
    };
    let heights = floats(heights);
    let losses = py.detach(|| {
        let profiles = heights.chunks_exact(samples.max(1));
        profiles.map(|profile| loss_db(profile, &inputs)).collect::<Result<Vec<_>, _>>()
    });
    Ok(bytes(py, losses.map_err(invalid)?.iter().map(|loss| loss.to_le_bytes())))
}

#[pyfunction]
pub fn presets() -> PyResult<String> {
    groundwave_bindings::station::presets().map_err(invalid)
}

#[pyfunction]
pub fn version() -> &'static str {
    groundwave_bindings::version()
}
