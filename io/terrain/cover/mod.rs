//! Land cover from GeoTIFF files: classes, and heights of trees and buildings.
//!
//! Rasters of classes give kind and height; heights of trees and buildings replace those of their classes. Each
//! position has the nearest sample of the finest raster there.

mod table;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use groundwave_model::terrain::{Cover, CoverKind, CoverSource, Posts};
use thiserror::Error;

use super::about::About;
use super::folder::{DirectoryError, Folders, is_raster};
use super::raster::{
    Contents, Mosaic, Raster, RasterError, Reading, RecentBlocks, RemoteFile, file_digest, turned,
};
use super::supplying::Supplying;
use table::{CLASSES_FILE, Class, Values};

/// Name of a raster of land cover among the files of a terrain, before its own name.
pub const COVER_FILE: &str = "land cover ";

/// Range of the mean height of the buildings around a position that counts, m above ground.
const BUILDINGS_M: [f32; 2] = [5.0, 20.0];

/// Minimum height of a canopy, m above ground; below, the class counts.
const CANOPY_MIN_M: f32 = 1.0;

/// Cells of the candidates in a degree.
const CELLS: f64 = 128.0;

/// Reasons for refusing land cover.
#[derive(Debug, Error)]
pub enum CoverError {
    /// The folder cannot be read.
    #[error("land cover: {}: {}", .0.path.display(), .0.source)]
    Directory(DirectoryError),
    /// The table of classes cannot be used.
    #[error("land cover: {}: {source}", path.display())]
    Classes {
        /// The table.
        path: PathBuf,
        /// Error of the operating system or of the parser.
        source: std::io::Error,
    },
    /// A raster cannot be used.
    #[error("land cover: {0}")]
    Raster(RasterError),
    /// The meaning of the samples of a raster is unknown.
    #[error(
        "land cover: unknown classes of {}: found a name of no known product, allowed ESA WorldCover, NLCD, CORINE \
         (CLC), canopy heights, GHS-BUILT-H, or a table {CLASSES_FILE} beside it", path.display()
    )]
    Product {
        /// The raster.
        path: PathBuf,
    },
    /// A layer of shares, errors or quality that is published beside the classes or heights of a product.
    #[error(
        "land cover: invalid file {}: found shares, errors or quality by its name, allowed classes or heights",
        path.display()
    )]
    OtherLayer {
        /// The raster.
        path: PathBuf,
    },
    /// Two folders below have a file of one name.
    #[error("land cover: invalid file {}: found a second one of this name, allowed one", path.display())]
    Name {
        /// The second one.
        path: PathBuf,
    },
    /// The folder holds no raster.
    #[error("land cover: invalid folder {}: found no .tif file, allowed 1 or more", folder.display())]
    Empty {
        /// The folder.
        folder: PathBuf,
    },
}

/// Rasters of one kind, the finest first.
#[derive(Debug, Default)]
struct Layer {
    mosaic: Mosaic,
    /// Classes of each raster; empty where the samples are heights.
    classes: Vec<BTreeMap<u16, Class>>,
}

/// Table of classes beside a raster.
#[derive(Debug)]
struct OwnTable {
    /// Name of the raster.
    raster: String,
    path: PathBuf,
    /// SHA-256 digest.
    digest: String,
}

impl OwnTable {
    /// Name among the files of a terrain.
    fn name(&self) -> String {
        format!("{COVER_FILE}{} ({CLASSES_FILE})", self.raster)
    }
}

/// Land cover of a folder.
#[derive(Debug)]
pub struct LandCover {
    classes: Layer,
    canopy: Layer,
    buildings: Layer,
    tables: Vec<OwnTable>,
    sources: Vec<CoverSource>,
    /// The log names a canopy too high for trees.
    has_canopy_warning: AtomicBool,
}

/// A reader of one layer near one position after the other.
#[derive(Default)]
struct Near {
    cell: Option<[i64; 2]>,
    numbers: Vec<u32>,
    blocks: RecentBlocks,
}

impl LandCover {
    /// Opens a folder and those below it; reads no samples yet.
    ///
    /// # Errors
    /// When the folder, its table of classes or one of its rasters cannot be used: what is left out would count
    /// as ground without buildings and trees.
    pub fn open(folder: &Path) -> Result<Self, CoverError> {
        let contents = Folders::read(&[folder.to_owned()]).map_err(CoverError::Directory)?;
        let mut files = contents.files;
        files.retain(|file| is_raster(&file.name));
        if files.is_empty() {
            return Err(CoverError::Empty { folder: folder.to_owned() });
        }
        files.sort_by(|one, other| one.name.cmp(&other.name));
        if let Some([_, second]) = files.array_windows().find(|[a, b]| a.name == b.name) {
            return Err(CoverError::Name { path: second.path.clone() });
        }
        let (mut of_kind, mut sources) = ([Vec::new(), Vec::new(), Vec::new()], Vec::new());
        let (mut classes, mut tables, mut other) = (BTreeMap::new(), Vec::new(), None);
        for file in files {
            let path = file.path.parent().unwrap_or(folder).join(CLASSES_FILE);
            let invalid = |source| CoverError::Classes { path: path.clone(), source };
            let own = table::read(&path).map_err(invalid)?;
            if own.is_none() && table::is_other_layer(&file.name) {
                tracing::warn!(
                    path = %file.path.display(),
                    "land cover: shares, errors or quality by its name: left out"
                );
                other = other.or(Some(file.path));
                continue;
            }
            if own.is_some() {
                let digest = file_digest(&path).map_err(invalid)?;
                tables.push(OwnTable { raster: file.name.clone(), path: path.clone(), digest });
            }
            let product = table::product(&file.name);
            let (values, source) = match (own, product) {
                (Some(own), _) => (
                    Values::Classes(own),
                    CoverSource { name: file.name.clone(), attribution: None },
                ),
                (None, Some(product)) => (
                    product.values,
                    CoverSource {
                        name: product.name.to_owned(),
                        attribution: product.attribution.map(str::to_owned),
                    },
                ),
                (None, None) => return Err(CoverError::Product { path: file.path }),
            };
            if !sources.contains(&source) {
                sources.push(source);
            }
            let about = About::of_file(&file.name);
            let raster = Raster::open(file.path, file.name.clone(), 0, &about, Contents::Cover);
            let raster = raster.map_err(CoverError::Raster)?;
            let kind = values.layer();
            if let Values::Classes(own) = values {
                classes.insert(file.name, own);
            }
            of_kind[kind].push(raster);
        }
        match other.filter(|_| of_kind.iter().all(Vec::is_empty)) {
            Some(path) => Err(CoverError::OtherLayer { path }),
            None => Ok(Self::of(of_kind, classes, tables, sources)),
        }
    }

    /// Opens a raster where it is, of the product of its name; reads no samples yet.
    ///
    /// # Errors
    /// When it is of no known product, or cannot be used.
    pub fn open_remote(file: Arc<dyn RemoteFile>) -> Result<Self, CoverError> {
        let url = file.url().to_owned();
        let path = url.split(['?', '#']).next().unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        let unknown = || CoverError::Product { path: PathBuf::from(&url) };
        if table::is_other_layer(&name) {
            return Err(CoverError::OtherLayer { path: PathBuf::from(&url) });
        }
        let product = table::product(&name).ok_or_else(unknown)?;
        let about = About::of_file(&name);
        let raster = Raster::open_remote(file, name.clone(), &about, Contents::Cover);
        let raster = raster.map_err(CoverError::Raster)?;
        let (mut of_kind, mut classes) = ([Vec::new(), Vec::new(), Vec::new()], BTreeMap::new());
        let kind = product.values.layer();
        if let Values::Classes(own) = product.values {
            classes.insert(name, own);
        }
        of_kind[kind].push(raster);
        let source = CoverSource {
            name: product.name.to_owned(),
            attribution: product.attribution.map(str::to_owned),
        };
        Ok(Self::of(of_kind, classes, Vec::new(), vec![source]))
    }

    fn of(
        of_kind: [Vec<Raster>; 3],
        mut classes: BTreeMap<String, BTreeMap<u16, Class>>,
        tables: Vec<OwnTable>,
        sources: Vec<CoverSource>,
    ) -> Self {
        let [class_rasters, canopy, buildings] = of_kind.map(Mosaic::new);
        let by_number = class_rasters.rasters().iter();
        let of_raster = |raster: &Raster| classes.remove(&raster.name).unwrap_or_default();
        Self {
            classes: Layer { classes: by_number.map(of_raster).collect(), mosaic: class_rasters },
            canopy: Layer { mosaic: canopy, classes: Vec::new() },
            buildings: Layer { mosaic: buildings, classes: Vec::new() },
            tables,
            sources,
            has_canopy_warning: AtomicBool::new(false),
        }
    }

    /// Data sets, each once.
    #[must_use]
    pub fn sources(&self) -> &[CoverSource] {
        &self.sources
    }

    fn rasters(&self) -> impl Iterator<Item = &Raster> {
        let layers = [&self.classes, &self.canopy, &self.buildings];
        layers.into_iter().flat_map(|layer| layer.mosaic.rasters())
    }

    /// Rasters and tables, by their names after [`COVER_FILE`].
    #[must_use]
    pub fn supplying(&self) -> Vec<Supplying> {
        let file = |raster: &Raster| Supplying {
            path: raster.path.clone(),
            name: format!("{COVER_FILE}{}", raster.name),
            about: About::of_file(&raster.name),
            digest: raster.remote.is_some().then(|| raster.digest().to_owned()),
            bounds_deg: raster.bounds_deg(),
        };
        let table = |table: &OwnTable| {
            let raster = self.rasters().find(|raster| raster.name == table.raster)?;
            let (path, name) = (table.path.clone(), table.name());
            Some(Supplying { path, name, digest: None, ..file(raster) })
        };
        self.rasters().map(file).chain(self.tables.iter().filter_map(table)).collect()
    }

    /// SHA-256 digests of the files read so far, by their names after [`COVER_FILE`].
    #[must_use]
    pub fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        for raster in self.rasters().filter(|raster| raster.is_used()) {
            files.insert(format!("{COVER_FILE}{}", raster.name), raster.digest().to_owned());
            let table = self.tables.iter().find(|table| table.raster == raster.name);
            files.extend(table.map(|table| (table.name(), table.digest.clone())));
        }
        files
    }

    /// SHA-256 digest of a file, by its name after [`COVER_FILE`], read or not.
    #[must_use]
    pub fn file_digest(&self, name: &str) -> Option<String> {
        if let Some(table) = self.tables.iter().find(|table| table.name() == name) {
            return Some(table.digest.clone());
        }
        let name = name.strip_prefix(COVER_FILE)?;
        let raster = self.rasters().find(|raster| raster.name == name)?;
        Some(raster.digest().to_owned())
    }

    /// `true` if a raster reaches a position, deg.
    #[must_use]
    pub fn reaches(&self, lat_deg: f64, lon_deg: f64) -> bool {
        self.rasters().any(|raster| {
            let [south, west, north, east] = raster.bounds_deg();
            (south..=north).contains(&lat_deg) && (west..=east).contains(&lon_deg)
        })
    }

    /// Decodes every file once.
    ///
    /// # Errors
    /// The first that cannot be decoded.
    pub fn check(&self) -> Result<(), RasterError> {
        self.rasters().try_for_each(Raster::check)
    }

    /// The first file that could not be decoded when it was used.
    #[must_use]
    pub fn fault(&self) -> Option<&RasterError> {
        self.rasters().find_map(Raster::fault)
    }

    /// Fills `cover[i]` with the land cover at `lat_deg[i]`, `lon_deg[i]`, heights times `share`, [0, 1].
    pub(super) fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], share: f32, cover: &mut [Cover]) {
        let mut near = [Near::default(), Near::default(), Near::default()];
        for ((cover, lat_deg), lon_deg) in cover.iter_mut().zip(lat_deg).zip(lon_deg) {
            let at = [*lat_deg, turned(*lon_deg)];
            *cover = self.at(&mut near, at);
            cover.height_agl_m *= share;
        }
    }

    fn at(&self, [classes, canopy, buildings]: &mut [Near; 3], at: [f64; 2]) -> Cover {
        let class = self.classes.value(classes, at).map(|(raster, value)| {
            let class = self.classes.classes[raster as usize].get(&(value as u16));
            class.copied().unwrap_or(UNKNOWN)
        });
        let building_m = |near: &mut Near| self.buildings.value(near, at).map(|(_, m)| m);
        let canopy_m = |near: &mut Near| self.canopy_m(near, at);
        let class = match class {
            Some(class) => class,
            // Heights alone tell woods and houses from open ground.
            None => match (canopy_m(canopy), building_m(buildings)) {
                (None, None) => UNKNOWN,
                (_, Some(m)) if m > 0.0 => Class { kind: CoverKind::Suburban, height_agl_m: m },
                (Some(m), _) if m >= CANOPY_TREES_M => {
                    Class { kind: CoverKind::Forest, height_agl_m: m }
                }
                _ => Class { kind: CoverKind::Open, height_agl_m: 0.0 },
            },
        };
        let height_agl_m = match class.kind {
            CoverKind::Forest => canopy_m(canopy).filter(|m| *m >= CANOPY_MIN_M),
            CoverKind::Suburban | CoverKind::Urban | CoverKind::DenseUrban => {
                let own = building_m(buildings).filter(|m| *m > 0.0);
                own.map(|m| m.clamp(BUILDINGS_M[0], BUILDINGS_M[1]))
            }
            CoverKind::Unknown | CoverKind::Open => None,
        };
        let height_agl_m = height_agl_m.unwrap_or(class.height_agl_m).clamp(0.0, 1_000.0);
        Cover { kind: class.kind, height_agl_m }
    }

    /// Height of the canopy at a position, deg. One that no tree has is none: samples in another unit than metres, or
    /// of no data that the file does not state. The log names the first.
    fn canopy_m(&self, near: &mut Near, at: [f64; 2]) -> Option<f32> {
        let (number, height_m) = self.canopy.value(near, at)?;
        let is_tree = height_m <= CANOPY_MAX_M;
        if !is_tree && !self.has_canopy_warning.swap(true, Ordering::Relaxed) {
            let name = &self.canopy.mosaic.raster(number).name;
            tracing::warn!(
                "land cover: {name}: a canopy of {height_m} m, allowed up to {CANOPY_MAX_M} m: heights above count as \
                 unknown"
            );
        }
        is_tree.then_some(height_m)
    }
}

/// Maximum height of a canopy, m above ground: the highest known tree has 116 m.
const CANOPY_MAX_M: f32 = 130.0;

const UNKNOWN: Class = Class { kind: CoverKind::Unknown, height_agl_m: 0.0 };

/// Minimum height of a canopy that is a wood, m above ground (FAO, Global Forest Resources Assessment: 5 m).
const CANOPY_TREES_M: f32 = 5.0;

impl Layer {
    /// Number of the finest raster at a position, deg, and its sample there.
    fn value(&self, near: &mut Near, at: [f64; 2]) -> Option<(u32, f32)> {
        if self.mosaic.rasters().is_empty() {
            return None;
        }
        let cell = at.map(|deg| (deg * CELLS).floor() as i64);
        if near.cell != Some(cell) {
            near.cell = Some(cell);
            let [south, west] = cell.map(|cell| cell as f64 / CELLS);
            let area = [south, west, south + 1.0 / CELLS, west + 1.0 / CELLS];
            self.mosaic.within(area, &mut near.numbers);
        }
        for &number in &near.numbers {
            let blocks = &mut near.blocks;
            let reading = self.mosaic.read(blocks, number, at, Posts::Nearest, |_, _| None);
            if let Reading::Height(value, _) = reading {
                self.mosaic.raster(number).is_used.store(true, Ordering::Relaxed);
                return Some((number, value as f32));
            }
        }
        None
    }
}

#[cfg(test)]
pub(super) mod fixture;
#[cfg(test)]
mod tests;
