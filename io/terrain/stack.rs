//! Tiles and geoid joined into the one terrain a process uses.

use std::path::Path;

use groundwave_systems::terrain::{CurveRow, Flat, GeoPoint, Terrain, TerrainSource, TerrainUse};
use thiserror::Error;

use super::geoid::{Geoid, GeoidError};
use super::read::HgtError;
use super::tiles::{DirectoryError, TileDirectory};

/// Reasons for refusing the configured terrain.
#[derive(Debug, Error)]
pub enum TerrainError {
    /// The tile directory cannot be read.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// A tile cannot be decoded.
    #[error(transparent)]
    Tile(#[from] HgtError),
    /// The geoid cannot be used.
    #[error(transparent)]
    Geoid(#[from] GeoidError),
}

/// Tiles, or flat ground at 0 m without them, and a geoid, or no undulation without it.
#[derive(Debug, Default)]
pub struct TerrainStack {
    tiles: Option<TileDirectory>,
    geoid: Option<Geoid>,
}

impl TerrainStack {
    /// Joins what there is.
    #[must_use]
    pub fn new(tiles: Option<TileDirectory>, geoid: Option<Geoid>) -> Self {
        Self { tiles, geoid }
    }

    /// Opens what is configured: a directory of tiles and a geoid file, either may be absent.
    ///
    /// # Errors
    /// When one that is configured cannot be used. Tiles are not decoded yet.
    pub fn open(tiles: Option<&Path>, geoid: Option<&Path>) -> Result<Self, TerrainError> {
        Ok(Self {
            tiles: tiles.map(TileDirectory::open).transpose()?,
            geoid: geoid.map(Geoid::open).transpose()?,
        })
    }

    /// Decodes every tile once, see [`TileDirectory::check`].
    ///
    /// # Errors
    /// The first tile that cannot be decoded.
    pub fn check(&self) -> Result<(), TerrainError> {
        self.tiles
            .as_ref()
            .map_or(Ok(()), |tiles| Ok(tiles.check()?))
    }

    /// The tiles, for their faults and warnings.
    #[must_use]
    pub fn tiles(&self) -> Option<&TileDirectory> {
        self.tiles.as_ref()
    }

    fn surface(&self) -> &dyn Terrain {
        const SEA_LEVEL: Flat = Flat {
            elevation_msl_m: 0.0,
        };
        self.tiles.as_ref().map_or(&SEA_LEVEL, |tiles| tiles)
    }
}

impl Terrain for TerrainStack {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], elevation_msl_m: &mut [f64]) -> TerrainUse {
        self.surface().sample(lat_deg, lon_deg, elevation_msl_m)
    }

    fn sample_curves(&self, rows: &mut [CurveRow<'_>]) {
        self.surface().sample_curves(rows);
    }

    fn undulation_m(&self, at: GeoPoint) -> f64 {
        self.geoid
            .as_ref()
            .map_or(0.0, |geoid| geoid.undulation_m(at))
    }

    fn resolution_arcsec(&self, at: GeoPoint) -> Option<f64> {
        self.surface().resolution_arcsec(at)
    }

    fn describe(&self) -> TerrainSource {
        TerrainSource {
            has_geoid: self.geoid.is_some(),
            ..self.surface().describe()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_configuration_the_earth_is_flat_and_says_so() {
        let stack = TerrainStack::open(None, None).unwrap();
        let at = GeoPoint::new(51.0, -114.0).unwrap();
        assert_eq!(stack.elevation_msl_m(at), Some(0.0));
        assert_eq!(stack.undulation_m(at), 0.0);
        assert_eq!(stack.describe().name, "flat earth at 0 m");
        assert!(!stack.describe().has_geoid && stack.tiles().is_none());
        stack.check().unwrap();
    }

    #[test]
    fn a_configured_source_that_is_absent_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let absent = folder.path().join("absent");
        let error = TerrainStack::open(Some(&absent), None).unwrap_err();
        assert!(
            matches!(error, TerrainError::Directory(_)) && error.to_string().contains("absent")
        );
        let error = TerrainStack::open(None, Some(&absent)).unwrap_err();
        assert!(matches!(error, TerrainError::Geoid(_)) && error.to_string().contains("absent"));
    }

    #[test]
    fn flat_ground_may_have_a_geoid_and_tiles_may_lack_one() {
        let geoid = Geoid::decode(&vec![0x01; 2_076_480]).unwrap();
        let stack = TerrainStack::new(None, Some(geoid));
        let at = GeoPoint::new(51.0, -114.0).unwrap();
        assert!((stack.undulation_m(at) - 2.57).abs() < 1e-6);
        assert!(stack.describe().has_geoid);
        let folder = tempfile::tempdir().unwrap();
        let tiles = TileDirectory::open(folder.path()).unwrap();
        let stack = TerrainStack::new(Some(tiles), None);
        assert_eq!(stack.elevation_msl_m(at), None);
        assert_eq!(stack.describe().name, "0 SRTM tiles");
    }
}
