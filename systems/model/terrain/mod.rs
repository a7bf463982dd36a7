//! Terrain as the model sees it: heights above mean sea level, the geoid and paths over both.
//!
//! This module names what it needs (the trait [`Terrain`]) and reads no files; the layer that owns
//! files, `io/terrain`, supplies tiles and a geoid. Everything here is a pure function of its
//! arguments.
//!
//! - [`GeoPoint`]: a checked WGS84 position
//! - [`geodesic`]: distance and bearing on the ellipsoid
//! - [`Path`]: evenly spaced positions along a geodesic
//! - [`Profile`]: the terrain heights along a path, gaps filled and disclosed

mod cover;
mod curve;
pub mod geodesic;
mod heights;
mod known;
mod mercator;
mod path;
mod point;
mod posts;
mod profile;
mod projection;
mod shared;
pub(crate) mod short;
#[doc(hidden)]
pub mod test_ground;
mod tile;
mod used;

use std::collections::BTreeMap;

use serde::Serialize;

pub use groundwave_projection::Utm;

pub use cover::{COVER_STEP_M, Cover, CoverKind, CoverSource};
pub(crate) use cover::{clutter_heights_agl_m, cover_points};
pub use curve::{Curve, CurveRow};
pub use heights::{Ground, HeightKind, HeightKinds, HeightSource, Posts, VerticalDatum};
pub use known::{PathGround, SWAPPED, UNKNOWN_RATIO_MAX, is_swapped};
pub use mercator::{GROUND_SIDE, KnownGround, TILE_SIDE, TileGround, WebTile, ZOOM as WEB_ZOOM};
pub(crate) use path::step_m;
pub use path::{BadPath, MAX_PATH_M, Path};
pub use point::{BadPoint, GeoPoint};
pub use posts::{POST_VOID, PostWindow};
pub(crate) use profile::fill_gaps;
pub use profile::{Profile, earth_bulge_m, sample_filled, sample_profile};
pub use projection::{Albers, Azimuthal, Origin, Projection};
pub use shared::SharedTerrain;
pub use tile::{BadTileName, TileId};
pub use used::{TerrainUse, TileSet};

/// A source of ground heights and of the geoid.
pub trait Terrain: Send + Sync {
    /// Fills `elevation_msl_m[i]` with the ground height above mean sea level (m, EGM96) at
    /// `lat_deg[i]`, `lon_deg[i]`, and NaN where there is no datum: a void in a tile, or no
    /// readable tile. The two gaps are told apart by [`Terrain::resolution_arcsec`].
    ///
    /// `lon_deg` may lie outside [-180, 180) (an unwrapped path); it is wrapped. The three
    /// slices have one length; where they differ, the shortest counts.
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], elevation_msl_m: &mut [f64]) -> TerrainUse;

    /// Fills the heights along neighbouring curves, as [`Terrain::sample`] would at their
    /// positions but for rounding of these (less than a micrometre), and sets
    /// [`CurveRow::greatest_m`]; leaves that `None` where anything is void or missing, or where it
    /// has no quicker way. What a curve gets does not depend on the others.
    fn sample_curves(&self, rows: &mut [CurveRow<'_>]) {
        let _ = rows;
    }

    /// Copies the posts of a window, row by row from the south, m above mean sea level. [`POST_VOID`] where no
    /// readable tile of this spacing lies, in voids, and where neighbouring tiles differ on their common edge.
    /// False, and nothing copied, where heights between posts are not those of [`Terrain::sample`] by bilinear
    /// interpolation of such posts.
    fn copy_posts(&self, window: &PostWindow, posts: &mut [i16]) -> bool {
        let _ = (window, posts);
        false
    }

    /// Height of the EGM96 geoid above the WGS84 ellipsoid (m): `hae = msl + undulation`.
    /// 0 when no geoid is configured.
    fn undulation_m(&self, at: GeoPoint) -> f64;

    /// True if undulations are those of a geoid; else heights above the ellipsoid are unknown.
    fn has_geoid(&self) -> bool {
        false
    }

    /// Spacing of the posts around `at` (arc-seconds), `None` where no readable tile lies.
    fn resolution_arcsec(&self, at: GeoPoint) -> Option<f64>;

    /// True if the ground around `at` is a surface with buildings and trees, or one of an unstated kind, in posts
    /// of 5 m or finer.
    fn is_fine_surface(&self, at: GeoPoint) -> bool {
        let _ = at;
        false
    }

    /// True if [`Terrain::is_fine_surface`] may be true anywhere.
    fn has_fine_surface(&self) -> bool {
        false
    }

    /// Fills `cover[i]` with the land cover at `lat_deg[i]`, `lon_deg[i]`; unknown where no source reaches.
    /// The three slices have one length; where they differ, the shortest counts.
    fn sample_cover(&self, lat_deg: &[f64], lon_deg: &[f64], cover: &mut [Cover]) {
        let _ = (lat_deg, lon_deg);
        cover.fill(Cover::default());
    }

    /// True if land cover may be known anywhere.
    fn has_cover(&self) -> bool {
        false
    }

    /// Description of this source.
    fn describe(&self) -> TerrainSource;

    /// Rectangles of known ground, from the south; none where no ground is known.
    fn known_ground(&self) -> Vec<KnownGround> {
        Vec::new()
    }

    /// Names and SHA-256 digests of the files read so far, each named for people:
    /// `terrain tile N57E011`, `geoid`.
    fn files(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// SHA-256 digest of the file with a name of [`Terrain::files`], read or not; `None` without
    /// it.
    fn file_digest(&self, name: &str) -> Option<String> {
        self.files().remove(name)
    }

    /// Land cover at a position, unknown where no source reaches; `None` without land cover.
    fn land_cover(&self, at: GeoPoint) -> Option<Cover> {
        let mut cover = [Cover::default()];
        self.has_cover().then(|| {
            self.sample_cover(&[at.lat_deg()], &[at.lon_deg()], &mut cover);
            cover[0]
        })
    }

    /// Kind of the land cover at a position; unknown where no source reaches.
    fn cover_kind(&self, at: GeoPoint) -> CoverKind {
        self.land_cover(at).unwrap_or_default().kind
    }

    /// Ground height at one point (m above mean sea level), `None` in a void or off the tiles.
    fn elevation_msl_m(&self, at: GeoPoint) -> Option<f64> {
        let mut elevation = [f64::NAN];
        self.sample(&[at.lat_deg()], &[at.lon_deg()], &mut elevation);
        Some(elevation[0]).filter(|m| m.is_finite())
    }
}

/// Description of a [`Terrain`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TerrainSource {
    /// One line, for example `16 SRTM tiles` or `flat earth at 0 m`.
    pub name: String,
    /// True if undulations come from a geoid; otherwise they are 0 m.
    pub has_geoid: bool,
    /// Tiles that supplied samples so far; absent without a folder of tiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tiles_used: Option<usize>,
    /// Data sets behind it, with ground, vertical datum and terms; empty without files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<HeightSource>,
    /// Data sets of land cover; empty without it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub land_cover: Vec<CoverSource>,
    /// Height between posts.
    pub posts: Posts,
}

impl TerrainSource {
    /// Attributions that results must carry, each once.
    #[must_use]
    pub fn attributions(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        let heights = self.sources.iter().filter_map(|source| source.attribution.as_deref());
        let cover = self.land_cover.iter().filter_map(|source| source.attribution.as_deref());
        for text in heights.chain(cover) {
            if !all.contains(&text) {
                all.push(text);
            }
        }
        all
    }

    /// The name, with the share of the tiles in use: `1 of 16 SRTM tiles used`.
    #[must_use]
    pub fn summary(&self) -> String {
        match self.tiles_used {
            Some(used) => format!("{used} of {} used", self.name),
            None => self.name.clone(),
        }
    }
}

/// Ground of one height everywhere, by declaration of the scenario or the user.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Flat {
    /// Height of the ground above mean sea level (m).
    pub elevation_msl_m: f64,
}

impl Terrain for Flat {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], elevation_msl_m: &mut [f64]) -> TerrainUse {
        let samples = lat_deg.len().min(lon_deg.len()).min(elevation_msl_m.len());
        elevation_msl_m[..samples].fill(self.elevation_msl_m);
        TerrainUse::default()
    }

    fn undulation_m(&self, _at: GeoPoint) -> f64 {
        0.0
    }

    fn resolution_arcsec(&self, _at: GeoPoint) -> Option<f64> {
        None
    }

    fn known_ground(&self) -> Vec<KnownGround> {
        vec![KnownGround::everywhere(self.describe().name)]
    }

    fn describe(&self) -> TerrainSource {
        TerrainSource {
            name: format!("flat earth at {} m", self.elevation_msl_m),
            has_geoid: false,
            tiles_used: None,
            sources: Vec::new(),
            land_cover: Vec::new(),
            posts: Posts::Interpolated,
        }
    }
}

/// Ground of unknown height everywhere: every sample counts as missing. Paths take it as sea level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoTerrain {
    /// Height of single samples above mean sea level, m; NaN for none, so that coverage has no
    /// answer.
    pub elevation_msl_m: f64,
}

impl Default for NoTerrain {
    fn default() -> Self {
        Self { elevation_msl_m: f64::NAN }
    }
}

impl Terrain for NoTerrain {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], elevation_msl_m: &mut [f64]) -> TerrainUse {
        let samples = lat_deg.len().min(lon_deg.len()).min(elevation_msl_m.len());
        elevation_msl_m[..samples].fill(self.elevation_msl_m);
        TerrainUse {
            missing_samples: u32::try_from(samples).unwrap_or(u32::MAX),
            ..TerrainUse::default()
        }
    }

    fn undulation_m(&self, _at: GeoPoint) -> f64 {
        0.0
    }

    fn resolution_arcsec(&self, _at: GeoPoint) -> Option<f64> {
        None
    }

    fn describe(&self) -> TerrainSource {
        TerrainSource {
            name: "none, flat earth at 0 m assumed".to_owned(),
            has_geoid: false,
            tiles_used: None,
            sources: Vec::new(),
            land_cover: Vec::new(),
            posts: Posts::Interpolated,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_ground_has_its_height_and_no_missing_samples() {
        let flat = Flat::default();
        let mut elevation = [f64::NAN; 3];
        let used = flat.sample(&[0.0; 3], &[500.0; 3], &mut elevation);
        assert_eq!(elevation, [0.0; 3]);
        assert!(used.is_clean() && used.tiles.as_slice().is_empty());
        assert_eq!(flat.describe().name, "flat earth at 0 m");
        let at = GeoPoint::new(90.0, 180.0).unwrap();
        assert_eq!(flat.undulation_m(at), 0.0);
        assert_eq!(flat.resolution_arcsec(at), None);
        assert_eq!(flat.elevation_msl_m(at), Some(0.0));
    }

    #[test]
    fn without_terrain_every_sample_is_missing_and_paths_run_at_sea_level() {
        let mut elevation = [7.0; 3];
        let used = NoTerrain::default().sample(&[0.0; 3], &[500.0; 3], &mut elevation);
        assert!(elevation.iter().all(|height_m| height_m.is_nan()));
        assert_eq!(used.missing_samples, 3);
        let at = |lat_deg| GeoPoint::new(lat_deg, 11.0).unwrap();
        let profile = sample_profile(&NoTerrain::default(), at(57.0), at(57.1), 9);
        assert_eq!(profile.elevation_msl_m, [0.0; 9]);
        assert_eq!(profile.terrain.missing_samples, 9);
        assert!(NoTerrain::default().describe().name.contains("assumed"));
    }

    #[test]
    fn uneven_slices_do_not_panic() {
        let mut elevation = [f64::NAN; 2];
        Flat { elevation_msl_m: 7.0 }.sample(&[1.0], &[1.0, 2.0, 3.0], &mut elevation);
        assert_eq!(elevation[0], 7.0);
        assert!(elevation[1].is_nan());
    }
}
