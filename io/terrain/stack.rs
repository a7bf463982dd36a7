//! Tiles and geoid joined into the one terrain a process uses.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use groundwave_model::terrain::{
    Cover, CurveRow, Flat, GeoPoint, Ground as HeightGround, KnownGround, NoTerrain, PostWindow,
    Posts, Terrain, TerrainSource, TerrainUse,
};
use thiserror::Error;

use super::cover::{CoverError, LandCover};
use super::folder::{DirectoryError, Ignored};
use super::geoid::{Geoid, GeoidError};
use super::ground::Ground;
use super::raster::RasterError;
use super::read::HgtError;
use super::supplying::Supplying;
use super::tiles::TileDirectory;

/// Reasons for refusing the configured terrain.
#[derive(Debug, Error)]
pub enum TerrainError {
    /// The tile directory cannot be read.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// A tile cannot be decoded.
    #[error(transparent)]
    Tile(#[from] HgtError),
    /// A GeoTIFF file cannot be decoded.
    #[error(transparent)]
    Raster(#[from] RasterError),
    /// The geoid cannot be used.
    #[error(transparent)]
    Geoid(#[from] GeoidError),
    /// The land cover cannot be used.
    #[error(transparent)]
    Cover(#[from] CoverError),
}

/// Share of the heights of trees and buildings that counts over a surface: radar that measures one sees trees
/// and roofs in part. A planning value.
const OVER_SURFACE_SHARE: f32 = 0.5;

/// Name of the geoid among the files of a terrain.
const GEOID: &str = "geoid";

/// Ground without a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OffTiles {
    /// Not known: counted as missing, sea level along paths, no answer in coverages.
    #[default]
    Unknown,
    /// As above where there are tiles; without any, coverages are computed over sea level too. Still
    /// counted as missing.
    AssumedSeaLevel,
    /// Said to lie at sea level, as the open sea does: not counted as missing.
    SeaLevel,
}

/// Tiles, what is off them, and a geoid, or no undulation without it.
#[derive(Debug, Default)]
pub struct TerrainStack {
    ground: Option<Ground>,
    geoid: Option<Geoid>,
    geoid_digest: OnceLock<String>,
    off_tiles: OffTiles,
    cover: Option<LandCover>,
    /// Share of the heights of land cover that counts, [0, 1].
    cover_share: f32,
}

impl TerrainStack {
    /// Joins what there is.
    #[must_use]
    pub fn new(tiles: Option<TileDirectory>, geoid: Option<Geoid>) -> Self {
        Self::of(tiles.map(Ground::of_tiles), geoid)
    }

    fn of(ground: Option<Ground>, geoid: Option<Geoid>) -> Self {
        Self { ground, geoid, ..Self::default() }
    }

    /// Opens what is configured: a directory of tiles and a geoid file, either may be absent.
    ///
    /// # Errors
    /// When one that is configured cannot be used. Tiles are not decoded yet.
    pub fn open(tiles: Option<&Path>, geoid: Option<&Path>) -> Result<Self, TerrainError> {
        let folders: Vec<_> = tiles.map(Path::to_owned).into_iter().collect();
        Self::open_folders(&folders, geoid, Posts::Interpolated)
    }

    /// The same with several folders, and a choice of the height between posts.
    ///
    /// # Errors
    /// When one that is configured cannot be used. Tiles are not decoded yet.
    pub fn open_folders(
        folders: &[PathBuf],
        geoid: Option<&Path>,
        posts: Posts,
    ) -> Result<Self, TerrainError> {
        let ground = match folders {
            [] => None,
            folders => Some(Ground::open(folders, posts)?),
        };
        let geoid = geoid.map(Geoid::open).transpose()?;
        Ok(Self::of(ground, geoid))
    }

    /// The same with another answer off the tiles.
    #[must_use]
    pub fn off_tiles(self, off_tiles: OffTiles) -> Self {
        Self { off_tiles, ..self }
    }

    /// The same with land cover. Over a surface, which has trees and roofs in part, half of their heights count.
    #[must_use]
    pub fn with_cover(self, cover: Option<LandCover>) -> Self {
        let sources =
            self.ground.as_ref().map_or_else(Vec::new, |ground| ground.describe().sources);
        let has_surface = sources.iter().any(|source| source.ground == HeightGround::Surface);
        let cover_share = if has_surface { OVER_SURFACE_SHARE } else { 1.0 };
        Self { cover, cover_share, ..self }
    }

    /// The land cover.
    #[must_use]
    pub fn cover(&self) -> Option<&LandCover> {
        self.cover.as_ref()
    }

    /// The same, keeping decoded posts of so many bytes in memory; those that are used again are decoded
    /// again. Heights do not depend on it. Without a budget all tiles are kept.
    #[must_use]
    pub fn with_budget(self, budget_bytes: u64) -> Self {
        let ground = self.ground.map(|ground| ground.with_budget(budget_bytes));
        Self { ground, ..self }
    }

    /// Sets the latitudes between which positions are expected, see [`TileDirectory::expect`].
    pub fn expect(&self, lat_deg: [f64; 2]) {
        if let Some(ground) = &self.ground {
            ground.tiles().expect(lat_deg);
        }
    }

    /// Decodes every tile once, see [`TileDirectory::check`].
    ///
    /// # Errors
    /// The first tile that cannot be decoded.
    pub fn check(&self) -> Result<(), TerrainError> {
        let Some(ground) = &self.ground else {
            return Ok(());
        };
        ground.tiles().check()?;
        Ok(ground.check_rasters()?)
    }

    /// The first file that could not be decoded when it was used.
    #[must_use]
    pub fn fault(&self) -> Option<TerrainError> {
        if let Some(fault) = self.cover.as_ref().and_then(LandCover::fault) {
            return Some(CoverError::Raster(fault.clone()).into());
        }
        let ground = self.ground.as_ref()?;
        let tile = ground.tiles().faults().first().map(|(_, fault)| (*fault).clone().into());
        tile.or_else(|| ground.raster_fault().cloned().map(Into::into))
    }

    /// Files that look like terrain and are not used.
    #[must_use]
    pub fn ignored(&self) -> &[Ignored] {
        self.ground.as_ref().map_or(&[], Ground::ignored)
    }

    /// Height between posts.
    #[must_use]
    pub fn posts(&self) -> Posts {
        self.ground.as_ref().map_or(Posts::Interpolated, Ground::posts)
    }

    /// True with a folder of terrain.
    #[must_use]
    pub fn has_folder(&self) -> bool {
        self.ground.is_some()
    }

    /// The tiles, for their faults and warnings.
    #[must_use]
    pub fn tiles(&self) -> Option<&TileDirectory> {
        self.ground.as_ref().map(Ground::tiles)
    }

    /// Files that supply heights, by their names: no ignored ones, and not the geoid.
    #[must_use]
    pub fn supplying(&self) -> Vec<Supplying> {
        self.ground.as_ref().map_or_else(Vec::new, Ground::supplying)
    }

    /// SHA-256 digest of the undulations.
    #[must_use]
    pub fn geoid_digest(&self) -> Option<String> {
        let geoid = self.geoid.as_ref()?;
        Some(self.geoid_digest.get_or_init(|| geoid.digest()).clone())
    }

    fn surface(&self) -> &dyn Terrain {
        const SEA_LEVEL: Flat = Flat { elevation_msl_m: 0.0 };
        const UNKNOWN: NoTerrain = NoTerrain { elevation_msl_m: f64::NAN };
        const ASSUMED: NoTerrain = NoTerrain { elevation_msl_m: 0.0 };
        match (&self.ground, self.off_tiles) {
            (Some(ground), _) => ground,
            (None, OffTiles::Unknown) => &UNKNOWN,
            (None, OffTiles::AssumedSeaLevel) => &ASSUMED,
            (None, OffTiles::SeaLevel) => &SEA_LEVEL,
        }
    }

    /// Takes samples off every tile as sea level.
    fn fill_sea(&self, lat_deg: &[f64], lon_deg: &[f64], elevation_msl_m: &mut [f64]) {
        let places = lat_deg.iter().zip(lon_deg);
        for (height_m, (&lat, &lon)) in elevation_msl_m.iter_mut().zip(places) {
            let off = || {
                GeoPoint::wrapping(lat, lon).is_ok_and(|at| self.resolution_arcsec(at).is_none())
            };
            if height_m.is_nan() && off() {
                *height_m = 0.0;
            }
        }
    }
}

impl Terrain for TerrainStack {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], elevation_msl_m: &mut [f64]) -> TerrainUse {
        let mut used = self.surface().sample(lat_deg, lon_deg, elevation_msl_m);
        if used.missing_samples > 0 && self.off_tiles == OffTiles::SeaLevel {
            self.fill_sea(lat_deg, lon_deg, elevation_msl_m);
            used.missing_samples = 0;
        }
        used
    }

    fn sample_curves(&self, rows: &mut [CurveRow<'_>]) {
        self.surface().sample_curves(rows);
    }

    fn copy_posts(&self, window: &PostWindow, posts: &mut [i16]) -> bool {
        self.surface().copy_posts(window, posts)
    }

    fn undulation_m(&self, at: GeoPoint) -> f64 {
        self.geoid.as_ref().map_or(0.0, |geoid| geoid.undulation_m(at))
    }

    fn has_geoid(&self) -> bool {
        self.geoid.is_some()
    }

    fn resolution_arcsec(&self, at: GeoPoint) -> Option<f64> {
        self.surface().resolution_arcsec(at)
    }

    fn known_ground(&self) -> Vec<KnownGround> {
        let mut regions = self.surface().known_ground();
        if self.ground.is_some() && self.off_tiles == OffTiles::SeaLevel {
            let sea = "sea level off the tiles".to_owned();
            regions.push(KnownGround::everywhere(sea));
        }
        regions
    }

    fn files(&self) -> BTreeMap<String, String> {
        let mut files = self.surface().files();
        files.extend(self.geoid_digest().map(|digest| (GEOID.to_owned(), digest)));
        files.extend(self.cover.iter().flat_map(LandCover::files));
        files
    }

    fn file_digest(&self, name: &str) -> Option<String> {
        match name {
            GEOID => self.geoid_digest(),
            name => {
                let of_cover = self.cover.as_ref().and_then(|cover| cover.file_digest(name));
                of_cover.or_else(|| self.surface().file_digest(name))
            }
        }
    }

    fn sample_cover(&self, lat_deg: &[f64], lon_deg: &[f64], cover: &mut [Cover]) {
        match &self.cover {
            Some(own) => own.sample(lat_deg, lon_deg, self.cover_share, cover),
            None => cover.fill(Cover::default()),
        }
    }

    fn has_cover(&self) -> bool {
        self.cover.is_some()
    }

    fn is_fine_surface(&self, at: GeoPoint) -> bool {
        self.surface().is_fine_surface(at)
    }

    fn has_fine_surface(&self) -> bool {
        self.surface().has_fine_surface()
    }

    fn describe(&self) -> TerrainSource {
        let cover = self.cover.as_ref().map_or(&[][..], LandCover::sources);
        TerrainSource {
            has_geoid: self.geoid.is_some(),
            land_cover: cover.to_vec(),
            ..self.surface().describe()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ground_without_tiles_is_missing_unless_set_flat() {
        let at = GeoPoint::new(51.0, -114.0).unwrap();
        let missing = |stack: &TerrainStack| {
            let mut height_m = [7.0];
            let used = stack.sample(&[51.0], &[-114.0], &mut height_m);
            (used.missing_samples, height_m[0])
        };
        let stack = || TerrainStack::open(None, None).unwrap();
        assert_eq!(stack().elevation_msl_m(at), None);
        assert_eq!(missing(&stack()).0, 1);
        assert!(!stack().describe().has_geoid && stack().tiles().is_none());
        stack().check().unwrap();
        let assumed = stack().off_tiles(OffTiles::AssumedSeaLevel);
        assert_eq!(missing(&assumed), (1, 0.0));
        assert_eq!(assumed.describe().name, "none, flat earth at 0 m assumed");
        let flat = stack().off_tiles(OffTiles::SeaLevel);
        assert_eq!(missing(&flat), (0, 0.0));
        assert_eq!(flat.undulation_m(at), 0.0);
        assert_eq!(flat.describe().name, "flat earth at 0 m");
    }

    #[test]
    fn setting_gives_sea_off_the_tiles() {
        let folder = tempfile::tempdir().unwrap();
        let tiles = || TileDirectory::open(folder.path()).unwrap();
        let stack = TerrainStack::new(Some(tiles()), None).off_tiles(OffTiles::SeaLevel);
        let mut height_m = [7.0; 2];
        let used = stack.sample(&[51.0, 52.5], &[-114.0, 11.5], &mut height_m);
        assert!(used.is_clean());
        assert_eq!(height_m, [0.0; 2]);
        assert_eq!(stack.describe().summary(), "0 of 0 SRTM tiles used");
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
