//! A terrain that is replaced while it is in use.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::{
    Cover, CoverKind, CurveRow, GeoPoint, KnownGround, PostWindow, Terrain, TerrainSource,
    TerrainUse,
};

/// A terrain whose source is replaced while others read it. Each read is of one source; a computation of
/// several reads takes [`SharedTerrain::current`] once.
pub struct SharedTerrain(RwLock<Arc<dyn Terrain>>);

impl SharedTerrain {
    /// Shares a terrain.
    #[must_use]
    pub fn new(terrain: Arc<dyn Terrain>) -> Self {
        Self(RwLock::new(terrain))
    }

    /// The present source.
    #[must_use]
    pub fn current(&self) -> Arc<dyn Terrain> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the source; reads in progress end with the one before.
    pub fn replace(&self, terrain: Arc<dyn Terrain>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = terrain;
    }
}

impl Terrain for SharedTerrain {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], elevation_msl_m: &mut [f64]) -> TerrainUse {
        self.current().sample(lat_deg, lon_deg, elevation_msl_m)
    }

    fn sample_curves(&self, rows: &mut [CurveRow<'_>]) {
        self.current().sample_curves(rows);
    }

    fn copy_posts(&self, window: &PostWindow, posts: &mut [i16]) -> bool {
        self.current().copy_posts(window, posts)
    }

    fn undulation_m(&self, at: GeoPoint) -> f64 {
        self.current().undulation_m(at)
    }

    fn has_geoid(&self) -> bool {
        self.current().has_geoid()
    }

    fn resolution_arcsec(&self, at: GeoPoint) -> Option<f64> {
        self.current().resolution_arcsec(at)
    }

    fn is_fine_surface(&self, at: GeoPoint) -> bool {
        self.current().is_fine_surface(at)
    }

    fn has_fine_surface(&self) -> bool {
        self.current().has_fine_surface()
    }

    fn sample_cover(&self, lat_deg: &[f64], lon_deg: &[f64], cover: &mut [Cover]) {
        self.current().sample_cover(lat_deg, lon_deg, cover);
    }

    fn has_cover(&self) -> bool {
        self.current().has_cover()
    }

    fn describe(&self) -> TerrainSource {
        self.current().describe()
    }

    fn known_ground(&self) -> Vec<KnownGround> {
        self.current().known_ground()
    }

    fn files(&self) -> BTreeMap<String, String> {
        self.current().files()
    }

    fn file_digest(&self, name: &str) -> Option<String> {
        self.current().file_digest(name)
    }

    fn cover_kind(&self, at: GeoPoint) -> CoverKind {
        self.current().cover_kind(at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Flat, NoTerrain};
    use super::*;

    #[test]
    fn replacement_gives_other_heights_and_present_readers_keep_theirs() {
        let at = GeoPoint::new(57.0, 11.0).unwrap();
        let shared = SharedTerrain::new(Arc::new(NoTerrain { elevation_msl_m: f64::NAN }));
        let before = shared.current();
        assert_eq!(shared.elevation_msl_m(at), None);
        assert_eq!(shared.known_ground(), []);
        shared.replace(Arc::new(Flat { elevation_msl_m: 40.0 }));
        assert_eq!(shared.elevation_msl_m(at), Some(40.0));
        assert_eq!(shared.known_ground().len(), 1);
        assert_eq!(shared.describe().name, "flat earth at 40 m");
        assert_eq!(before.elevation_msl_m(at), None);
    }
}
