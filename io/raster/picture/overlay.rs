//! Georeferenced pictures: one pixel a cell, transparent without data, with world files.

use std::io::{self, Cursor};
use std::path::Path;

use super::super::archive::pack;
use super::super::atomic::write_whole;
use super::super::error::RasterError;
use super::super::geometry::GridGeometry;
use super::super::grid::Grid;
use super::style::{Classes, Style};
use crate::scene::Bitmap;

/// Geographic coordinates on WGS 84 in the form of `.prj` files (WKT 1, ESRI).
pub const WGS84_WKT: &str = "GEOGCS[\"GCS_WGS_1984\",DATUM[\"D_WGS_1984\",\
SPHEROID[\"WGS_1984\",6378137.0,298.257223563]],PRIMEM[\"Greenwich\",0.0],\
UNIT[\"Degree\",0.0174532925199433]]";

/// Georeference of a picture: size of a pixel and centre of the upper left one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorldFile {
    /// Width of a pixel (degrees).
    pub pixel_lon_deg: f64,
    /// Height of a pixel (degrees, above 0).
    pub pixel_lat_deg: f64,
    /// Longitude of the centre of the upper left pixel (degrees).
    pub lon_deg: f64,
    /// Latitude of the centre of the upper left pixel (degrees).
    pub lat_deg: f64,
}

impl WorldFile {
    /// For a picture in which the raster `frame` is drawn, one pixel a cell, with its corner at
    /// this pixel.
    #[must_use]
    pub fn new(frame: GridGeometry, [x, y]: [u32; 2]) -> Self {
        Self {
            pixel_lon_deg: frame.cell_lon_deg,
            pixel_lat_deg: frame.cell_lat_deg,
            lon_deg: frame.lon_deg(0) - f64::from(x) * frame.cell_lon_deg,
            lat_deg: frame.lat_deg(0) + f64::from(y) * frame.cell_lat_deg,
        }
    }

    /// The six lines of the file.
    #[must_use]
    pub fn text(&self) -> String {
        format!(
            "{:.15}\n0.0\n0.0\n{:.15}\n{:.15}\n{:.15}\n",
            self.pixel_lon_deg, -self.pixel_lat_deg, self.lon_deg, self.lat_deg
        )
    }
}

/// A layer in its colours, one pixel a cell.
#[must_use]
pub fn coloured(grid: &Grid, style: &Style) -> Bitmap {
    let mut bitmap = Bitmap::new(grid.geometry.cols, grid.geometry.rows, [0; 4]);
    // Where all values of a class have one colour, a class is found sooner than a colour.
    let classes = style.has_classes().then(|| Classes::new(style));
    let colour = |value: f32| match &classes {
        Some(classes) => classes.colour(usize::from(classes.of(value))),
        None => style.colour(value),
    };
    for (pixel, &value) in bitmap.pixels_mut().iter_mut().zip(&grid.cells) {
        *pixel = colour(value).unwrap_or_default();
    }
    bitmap
}

/// Writes a picture and its georeference, `.pgw` and `.prj`, which are written first.
///
/// # Errors
/// When the disk fails or the picture is empty.
pub fn write_png(path: &Path, bitmap: &Bitmap, world: &WorldFile) -> Result<(), RasterError> {
    write_encoded(path, &bitmap.to_fast_png()?, world)
}

/// Writes an encoded picture and its georeference, as [`write_png`].
///
/// # Errors
/// When the disk fails.
pub fn write_encoded(path: &Path, bytes: &[u8], world: &WorldFile) -> Result<(), RasterError> {
    write_whole(&path.with_extension("pgw"), world.text().as_bytes())?;
    write_whole(&path.with_extension("prj"), WGS84_WKT.as_bytes())?;
    write_whole(path, bytes)
}

/// An encoded picture and its georeference in a zip archive: `NAME.png`, `NAME.pgw`, `NAME.prj`.
///
/// # Errors
/// When the archive cannot be written.
pub fn zipped(name: &str, bytes: &[u8], world: &WorldFile) -> Result<Vec<u8>, RasterError> {
    let [png, pgw, prj] = ["png", "pgw", "prj"].map(|ending| format!("{name}.{ending}"));
    let text = world.text();
    let entries = [(&*png, bytes), (&*pgw, text.as_bytes()), (&*prj, WGS84_WKT.as_bytes())];
    let mut out = Cursor::new(Vec::new());
    let written = pack(&mut out, &entries);
    written.map_err(|error| RasterError::Write { path: png.into(), source: error.into() })?;
    Ok(out.into_inner())
}

/// Writes a layer as a georeferenced picture.
///
/// # Errors
/// As [`write_png`].
pub fn write_overlay(path: &Path, grid: &Grid, style: &Style) -> Result<(), RasterError> {
    if path.file_name().is_none() {
        let source = io::ErrorKind::InvalidFilename.into();
        return Err(RasterError::Write { path: path.to_owned(), source });
    }
    write_png(path, &coloured(grid, style), &WorldFile::new(grid.geometry, [0, 0]))
}
