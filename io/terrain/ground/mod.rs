//! Ground of several sources: `.hgt` tiles and GeoTIFF files, the finest for each sample.

mod reader;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use groundwave_model::terrain::{
    CurveRow, GeoPoint, HeightSource, KnownGround, PostWindow, Posts, Terrain, TerrainSource,
    TerrainUse,
};
use tracing::warn;

use super::about::About;
use super::folder::{DirectoryError, Folders, Ignored, is_raster};
use super::gather::Track;
use super::raster::{Contents, Mosaic, Raster, RasterError};
use super::supplying::Supplying;
use super::tiles::TileDirectory;
use reader::{At, Reader};

/// Name of a raster among the files of a terrain, before its own name.
const FILE_NAME: &str = "terrain file ";

/// Positions of a curve that are read together.
const TOGETHER: usize = 64;

/// Tiles and rasters.
#[derive(Debug)]
pub(super) struct Ground {
    tiles: TileDirectory,
    mosaic: Mosaic,
    posts: Posts,
    sources: Vec<About>,
    ignored: Vec<Ignored>,
    /// True if a raster is a fine surface; read once for each path.
    has_fine_surface: bool,
}

impl Ground {
    /// Opens folders. Files that do not look like terrain are passed over; those that do and cannot
    /// be used are logged and listed.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn open(folders: &[PathBuf], posts: Posts) -> Result<Self, DirectoryError> {
        let contents = Folders::read(folders)?;
        let (mut rasters, mut ignored) = (BTreeMap::new(), contents.ignored);
        let mut others = Vec::new();
        for file in contents.files {
            if !is_raster(&file.name) {
                others.push(file);
                continue;
            }
            // Also keeps a pipe from being opened, which would wait for ever.
            if !file.path.is_file() {
                let reason = "not a regular file".to_owned();
                ignored.push(Ignored { path: file.path, reason });
                continue;
            }
            if rasters.contains_key(&file.name) {
                let reason = "another folder holds a file of this name".to_owned();
                ignored.push(Ignored { path: file.path, reason });
                continue;
            }
            let about = &contents.sources[file.source];
            match Raster::open(file.path, file.name.clone(), file.source, about, Contents::Ground) {
                Ok(raster) => drop(rasters.insert(file.name, raster)),
                Err(error) => ignored
                    .push(Ignored { path: error.path().to_owned(), reason: error.to_string() }),
            }
        }
        let tiles = TileDirectory::of(others, &contents.sources);
        ignored.extend_from_slice(tiles.ignored());
        for ignored in &ignored {
            warn!(path = %ignored.path.display(), reason = %ignored.reason, "terrain file ignored");
        }
        if tiles.tile_count() == 0 && rasters.is_empty() {
            let all: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
            warn!(path = %all.join(", "), "terrain directory holds no tile");
        }
        Ok(Self {
            tiles,
            has_fine_surface: rasters.values().any(Raster::is_fine_surface),
            mosaic: Mosaic::new(rasters.into_values().collect()),
            posts,
            sources: contents.sources,
            ignored,
        })
    }

    /// Tiles alone.
    pub fn of_tiles(tiles: TileDirectory) -> Self {
        Self {
            ignored: tiles.ignored().to_vec(),
            tiles,
            mosaic: Mosaic::default(),
            posts: Posts::Interpolated,
            sources: vec![About::srtm()],
            has_fine_surface: false,
        }
    }

    /// The same, keeping decoded posts of so many bytes; tiles and rasters have half each where there
    /// are both.
    pub fn with_budget(self, budget_bytes: u64) -> Self {
        let is_mixed = self.tiles.tile_count() > 0 && !self.mosaic.rasters().is_empty();
        let share_bytes = budget_bytes / if is_mixed { 2 } else { 1 };
        Self {
            tiles: self.tiles.with_budget(share_bytes),
            mosaic: self.mosaic.with_budget(share_bytes),
            ..self
        }
    }

    pub fn tiles(&self) -> &TileDirectory {
        &self.tiles
    }

    /// Files that supply heights, by their names.
    pub fn supplying(&self) -> Vec<Supplying> {
        let file = |path: &Path, name: &str, source: usize, bounds_deg| Supplying {
            path: path.to_owned(),
            name: name.to_owned(),
            about: self.sources[source].clone(),
            digest: None,
            bounds_deg,
        };
        let tiles = self.tiles.tile_files().map(|(path, name, source, id)| {
            let [south, west] = [id.south_deg(), id.west_deg()].map(f64::from);
            file(path, name, source, [south, west, south + 1.0, west + 1.0])
        });
        let rasters = self
            .mosaic
            .rasters()
            .iter()
            .map(|raster| file(&raster.path, &raster.name, raster.source, raster.bounds_deg()));
        let mut files: Vec<_> = tiles.chain(rasters).collect();
        files.sort_by(|one, other| one.name.cmp(&other.name));
        files
    }

    pub fn ignored(&self) -> &[Ignored] {
        &self.ignored
    }

    pub fn posts(&self) -> Posts {
        self.posts
    }

    /// The first raster that could not be decoded somewhere.
    pub fn raster_fault(&self) -> Option<&RasterError> {
        self.mosaic.rasters().iter().find_map(Raster::fault)
    }

    /// Decodes every raster once, keeping none.
    ///
    /// # Errors
    /// The first that cannot be decoded.
    pub fn check_rasters(&self) -> Result<(), RasterError> {
        self.mosaic.rasters().iter().try_for_each(Raster::check)
    }

    /// True if there is nothing but tiles, whose heights are interpolated.
    fn is_plain(&self) -> bool {
        self.posts == Posts::Interpolated && self.mosaic.rasters().is_empty()
    }

    /// Follows a curve; false where something is void or missing.
    fn follow(&self, row: &mut CurveRow<'_>, reader: &mut Reader<'_>) -> bool {
        let track = Track::in_degrees(row.curve);
        let (mut lat, mut lon) = ([0.0; TOGETHER], [0.0; TOGETHER]);
        let mut greatest_m = 0.0_f64;
        for (chunk, heights_m) in row.elevation_msl_m.chunks_mut(TOGETHER).enumerate() {
            let (lat, lon) = (&mut lat[..heights_m.len()], &mut lon[..heights_m.len()]);
            track.positions(1 + chunk * TOGETHER, lat, lon);
            for (index, height_m) in heights_m.iter_mut().enumerate() {
                match reader.at(lat[index], lon[index]) {
                    At::Height(found_m, false) => *height_m = found_m,
                    _ => return false,
                }
                greatest_m = greatest_m.max(height_m.abs());
            }
        }
        row.greatest_m = Some(greatest_m);
        true
    }

    /// Data sets with files, each with their number.
    fn sources(&self) -> Vec<HeightSource> {
        let mut files = vec![0; self.sources.len()];
        self.tiles.sources().for_each(|source| files[source] += 1);
        self.mosaic.rasters().iter().for_each(|raster| files[raster.source] += 1);
        let counted = self.sources.iter().zip(files).filter(|(_, files)| *files > 0);
        let mut all: Vec<_> = counted.map(|(about, files)| about.with_files(files)).collect();
        // The file itself states its datum.
        for source in &mut all {
            let stated = |raster: &&Raster| self.sources[raster.source].name == source.name;
            if let Some(raster) = self.mosaic.rasters().iter().find(stated) {
                source.vertical_datum = raster.kind.datum;
            }
        }
        all
    }
}

impl Terrain for Ground {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], elevation_msl_m: &mut [f64]) -> TerrainUse {
        if self.is_plain() {
            return self.tiles.sample(lat_deg, lon_deg, elevation_msl_m);
        }
        let mut reader = Reader::new(self);
        let places = lat_deg.iter().zip(lon_deg);
        for (height_m, (&lat_deg, &lon_deg)) in elevation_msl_m.iter_mut().zip(places) {
            *height_m = match reader.at(lat_deg, lon_deg) {
                At::Height(height_m, has_void) => {
                    reader.used.void_samples += u32::from(has_void);
                    height_m
                }
                At::Void => {
                    reader.used.void_samples += 1;
                    f64::NAN
                }
                At::Missing => {
                    reader.used.missing_samples += 1;
                    f64::NAN
                }
            };
        }
        reader.used
    }

    fn copy_posts(&self, window: &PostWindow, posts: &mut [i16]) -> bool {
        self.is_plain() && self.tiles.copy_posts(window, posts)
    }

    fn sample_curves(&self, rows: &mut [CurveRow<'_>]) {
        if self.is_plain() {
            return self.tiles.sample_curves(rows);
        }
        let mut near = Vec::new();
        for row in rows {
            let [[south, north], [west, east]] = row.curve.bounds_deg();
            self.mosaic.within([south, west, north, east], &mut near);
            let is_wrapped = west < -180.0 || east > 180.0;
            if near.is_empty() && !is_wrapped && self.posts == Posts::Interpolated {
                self.tiles.sample_curves(std::slice::from_mut(row));
                continue;
            }
            let mut reader = Reader::new(self);
            let is_whole = self.follow(row, &mut reader);
            if let Some(used) = row.used.as_deref_mut().filter(|_| is_whole) {
                used.merge(&reader.used);
            }
        }
    }

    fn undulation_m(&self, _at: GeoPoint) -> f64 {
        0.0
    }

    fn resolution_arcsec(&self, at: GeoPoint) -> Option<f64> {
        match self.is_plain() {
            true => self.tiles.resolution_arcsec(at),
            false => Reader::new(self).resolution_arcsec(at.lat_deg(), at.lon_deg()),
        }
    }

    fn known_ground(&self) -> Vec<KnownGround> {
        let mut regions = self.tiles.known_ground();
        for raster in self.mosaic.rasters().iter().filter(|raster| raster.fault().is_none()) {
            let [south, west, north, east] = raster.bounds_deg();
            let corner = |lat: f64, lon: f64| {
                GeoPoint::new(lat.clamp(-90.0, 90.0), lon.clamp(-180.0, 180.0))
            };
            let (Ok(south_west), Ok(north_east)) = (corner(south, west), corner(north, east))
            else {
                continue;
            };
            regions.push(KnownGround {
                south_west,
                north_east,
                resolution_arcsec: Some(raster.resolution_arcsec),
                source: format!("{} {}", self.sources[raster.source].name, raster.name),
            });
        }
        regions.sort_by(|a, b| a.south_west.lat_deg().total_cmp(&b.south_west.lat_deg()));
        regions
    }

    fn files(&self) -> BTreeMap<String, String> {
        let mut files = self.tiles.files();
        let read = self.mosaic.rasters().iter().filter(|raster| raster.is_used());
        files.extend(
            read.map(|raster| (format!("{FILE_NAME}{}", raster.name), raster.digest().to_owned())),
        );
        files
    }

    fn file_digest(&self, name: &str) -> Option<String> {
        let Some(name) = name.strip_prefix(FILE_NAME) else {
            return self.tiles.file_digest(name);
        };
        let raster = self.mosaic.rasters().iter().find(|raster| raster.name == name);
        raster.map(|raster| raster.digest().to_owned())
    }

    fn is_fine_surface(&self, at: GeoPoint) -> bool {
        let (lat_deg, lon_deg) = (at.lat_deg(), at.lon_deg());
        let around = |raster: &&Raster| {
            let [south, west, north, east] = raster.bounds_deg();
            (south..=north).contains(&lat_deg) && (west..=east).contains(&lon_deg)
        };
        // The finest comes first, and is the one that is read.
        self.mosaic.rasters().iter().find(around).is_some_and(Raster::is_fine_surface)
    }

    fn has_fine_surface(&self) -> bool {
        self.has_fine_surface
    }

    fn describe(&self) -> TerrainSource {
        let (tiles, rasters) = (self.tiles.describe(), self.mosaic.rasters());
        let mut name = match (self.tiles.tile_count(), rasters.len()) {
            (_, 0) => tiles.name,
            (0, 1) => "1 GeoTIFF file".to_owned(),
            (0, files) => format!("{files} GeoTIFF files"),
            (_, files) => format!(
                "{} and {files} GeoTIFF file{}",
                tiles.name,
                if files == 1 { "" } else { "s" }
            ),
        };
        if self.posts == Posts::Nearest {
            name.push_str(", nearest posts");
        }
        let used = rasters.iter().filter(|raster| raster.is_used.load(Ordering::Relaxed)).count();
        TerrainSource {
            name,
            has_geoid: false,
            tiles_used: Some(self.tiles.used_count() + used),
            sources: self.sources(),
            land_cover: Vec::new(),
            posts: self.posts,
        }
    }
}

#[cfg(test)]
mod gate_tests;
#[cfg(test)]
mod tests;
