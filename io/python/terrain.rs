//! Terrain of links, profiles, coverages and scenarios.

use std::path::PathBuf;
use std::sync::Arc;

use groundwave_bindings::document::read;
use groundwave_bindings::elevation::{Elevation, Extent};
use groundwave_model::radio::Model;
use groundwave_model::terrain::{Flat, GeoPoint, NoTerrain, Posts, Terrain as Ground};
use groundwave_terrain::memory::usual_budget_bytes;
use groundwave_terrain::{LandCover, OffTiles, TerrainStack};
use pyo3::prelude::*;

use crate::bytes::bytes;
use crate::{invalid, object};

/// Ground heights and a geoid.
#[pyclass(frozen, module = "groundwave")]
pub struct Terrain {
    pub ground: Arc<dyn Ground>,
    /// The same where it is made of files.
    stack: Option<Arc<TerrainStack>>,
}

impl Terrain {
    /// Ground of unknown height.
    pub fn none() -> Arc<dyn Ground> {
        Arc::new(NoTerrain::default())
    }

    /// Files: what off-tile ground is, the height between posts, and a folder of land cover.
    pub fn files(
        folders: &[PathBuf],
        geoid: Option<&PathBuf>,
        posts: Posts,
        flat_earth: bool,
        land_cover: Option<&PathBuf>,
    ) -> PyResult<Self> {
        let cover = land_cover.map(|folder| LandCover::open(folder)).transpose();
        let stack = TerrainStack::open_folders(folders, geoid.map(PathBuf::as_path), posts);
        let off_tiles = if flat_earth { OffTiles::SeaLevel } else { OffTiles::Unknown };
        let stack = stack.map_err(invalid)?.with_budget(usual_budget_bytes());
        let stack = stack.off_tiles(off_tiles).with_cover(cover.map_err(invalid)?);
        let stack = Arc::new(stack);
        Ok(Self { ground: stack.clone(), stack: Some(stack) })
    }

    /// Fails where a file that was read is damaged: its samples would count as missing.
    pub fn check(&self) -> PyResult<()> {
        let fault = self.stack.as_ref().and_then(|stack| stack.fault());
        fault.map_or(Ok(()), |fault| Err(invalid(fault)))
    }

    /// Ground of one height.
    pub fn of_flat(elevation_msl_m: f64) -> Self {
        Self { ground: Arc::new(Flat { elevation_msl_m }), stack: None }
    }
}

#[pymethods]
impl Terrain {
    #[staticmethod]
    #[pyo3(signature = (folders, geoid=None, posts="interpolated", flat_earth=false, land_cover=None))]
    fn open(
        folders: Vec<PathBuf>,
        geoid: Option<PathBuf>,
        posts: &str,
        flat_earth: bool,
        land_cover: Option<PathBuf>,
    ) -> PyResult<Self> {
        let posts = match posts {
            "interpolated" => Posts::Interpolated,
            "nearest" => Posts::Nearest,
            other => {
                let what = format!("invalid posts: found {other:?}, allowed interpolated, nearest");
                return Err(invalid(what));
            }
        };
        Self::files(&folders, geoid.as_ref(), posts, flat_earth, land_cover.as_ref())
    }

    #[staticmethod]
    fn flat(elevation_msl_m: f64) -> PyResult<Self> {
        if !(-20_000.0..=20_000.0).contains(&elevation_msl_m) {
            let what =
                format!("invalid height: found {elevation_msl_m} m, allowed -20000 to 20000 m");
            return Err(invalid(what));
        }
        Ok(Self::of_flat(elevation_msl_m))
    }

    /// Terrain of an array of little-endian 32-bit floats.
    #[staticmethod]
    fn array(extent: &str, heights: &[u8]) -> PyResult<Self> {
        let extent: Extent = read(extent).map_err(invalid)?;
        let heights: Vec<f32> =
            heights.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        let elevation = Elevation::new(extent, heights).map_err(invalid)?;
        Ok(Self { ground: Arc::new(elevation), stack: None })
    }

    /// Heights above mean sea level at positions, as 64-bit floats; NaN where there is none.
    fn heights<'py>(
        &self,
        py: Python<'py>,
        lat_deg: Vec<f64>,
        lon_deg: Vec<f64>,
    ) -> PyResult<Bound<'py, pyo3::types::PyBytes>> {
        if lat_deg.len() != lon_deg.len() {
            let (lat, lon) = (lat_deg.len(), lon_deg.len());
            return Err(invalid(format!(
                "invalid positions: found {lat} latitudes and {lon} longitudes, allowed as many of each"
            )));
        }
        for (&lat, &lon) in lat_deg.iter().zip(&lon_deg) {
            GeoPoint::wrapping(lat, lon).map_err(invalid)?;
        }
        let mut heights_msl_m = vec![f64::NAN; lat_deg.len()];
        py.detach(|| self.ground.sample(&lat_deg, &lon_deg, &mut heights_msl_m));
        self.check()?;
        Ok(bytes(py, heights_msl_m.iter().map(|height_m| height_m.to_le_bytes())))
    }

    /// Model of environments that name none.
    #[getter]
    fn model<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object(py, &Model::where_unnamed(self.ground.has_cover()))
    }

    /// Name, sources and attributions.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object(py, &self.ground.describe())
    }

    fn __repr__(&self) -> String {
        format!("<groundwave.Terrain: {}>", self.ground.describe().name)
    }
}
