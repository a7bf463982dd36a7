//! Header of a GeoTIFF file: size, position, kind of samples.
//!
//! OGC 19-008r4, "GeoTIFF Standard"; tags 42112 and 42113 are GDAL's.

use std::path::Path;

use groundwave_model::terrain::{Projection, VerticalDatum};
use tiff_reader::{Ifd, TiffError, TiffFile};

use super::band::Band;
use super::crs;
use super::error::RasterError;
use super::grid::{Frame, Grid};
use super::mask::{self, Mask};
use super::open::BLOCK_POSTS_MAX;
use super::vertical;

const MODEL_PIXEL_SCALE: u16 = 33_550;
const MODEL_TIEPOINT: u16 = 33_922;
const MODEL_TRANSFORMATION: u16 = 34_264;
const GEO_KEY_DIRECTORY: u16 = 34_735;
const GEO_DOUBLES: u16 = 34_736;
const GEO_TEXTS: u16 = 34_737;
const GDAL_METADATA: u16 = 42_112;
const GDAL_NODATA: u16 = 42_113;

const GT_MODEL_TYPE: u16 = 1024;
const GT_RASTER_TYPE: u16 = 1025;
const GEODETIC_CRS: u16 = 2048;
const ANGULAR_UNITS: u16 = 2054;
const PROJECTED_CRS: u16 = 3072;
const PROJECTION_TEXT: u16 = 3073;
const PROJECTION_METHOD: u16 = 3075;
const LINEAR_UNITS: u16 = 3076;
const VERTICAL: u16 = 4096;
const VERTICAL_UNITS: u16 = 4099;

/// Code of a system that the file describes itself.
const USER_DEFINED: u16 = 32_767;

/// Most rows and columns.
const SIDE_MAX: u32 = 1 << 20;

/// Fewest rows of a block that is made of strips.
const STRIP_ROWS: usize = 64;

/// Furthest easting from the central meridian, m: beyond, the projection is of no use.
const EAST_MAX_M: f64 = 1e6;

/// Furthest coordinate of other projections, m: half of the equator and some cells.
const MAP_MAX_M: f64 = 2.1e7;

/// Kind of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Samples {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    F64,
}

/// Header of a GeoTIFF file of heights.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    pub grid: Grid,
    pub samples: Samples,
    /// True for tiles, false for strips.
    pub is_tiled: bool,
    /// Rows and columns that are decoded together.
    pub block: [usize; 2],
    /// Rows of a strip; 0 with tiles.
    pub strip_rows: usize,
    /// Posts without a height beside those of a value.
    pub mask: Mask,
    /// Sample without a height.
    pub nodata: Option<f64>,
    /// Metres of a unit of the samples.
    pub scale: f64,
    /// Height of sample 0, m.
    pub offset_m: f64,
    /// Vertical datum, if it is stated.
    pub datum: VerticalDatum,
}

/// GeoKeys that are short numbers.
struct Keys(Vec<[u16; 4]>);

impl Keys {
    fn of(ifd: &Ifd) -> Self {
        let words = ifd.tag(GEO_KEY_DIRECTORY).and_then(|tag| tag.value.as_u16_slice());
        let (entries, _) = words.unwrap_or_default().as_chunks::<4>();
        Self(entries.iter().skip(1).copied().collect())
    }

    fn get(&self, key: u16) -> Option<u16> {
        let entry = self.0.iter().find(|[id, place, ..]| *id == key && *place == 0);
        entry.map(|[_, _, _, value]| *value)
    }

    /// Number of a key that is kept among those of the file.
    fn number(&self, ifd: &Ifd, key: u16) -> Option<f64> {
        let entry = self.0.iter().find(|[id, place, ..]| *id == key && *place == GEO_DOUBLES);
        let at = usize::from(entry?[3]);
        ifd.tag(GEO_DOUBLES)?.value.as_f64_vec()?.get(at).copied()
    }

    /// Text of a key.
    fn text<'t>(&self, ifd: &'t Ifd, key: u16) -> Option<&'t str> {
        let entry = self.0.iter().find(|[id, place, ..]| *id == key && *place == GEO_TEXTS);
        let [_, _, length, at] = entry?.map(usize::from);
        ifd.tag(GEO_TEXTS)?.value.as_str()?.get(at..at + length)
    }

    /// Horizontal system of a key that may hold a compound one.
    fn horizontal(&self, key: u16) -> u16 {
        vertical::parts(self.get(key).unwrap_or(0)).0
    }

    /// Vertical system: that of its own key, or of a compound system; 0 without one.
    fn vertical(&self) -> u16 {
        let own = self.get(VERTICAL).filter(|code| *code != 0);
        let compound = [PROJECTED_CRS, GEODETIC_CRS].into_iter().filter_map(|key| self.get(key));
        own.or_else(|| compound.filter_map(|code| vertical::parts(code).1).next()).unwrap_or(0)
    }
}

impl Header {
    /// Reads the header of the first image.
    pub fn read(file: &TiffFile, path: &Path) -> Result<Self, RasterError> {
        let bad = |what, actual: String, allowed: &str| {
            RasterError::property(path, what, actual, allowed)
        };
        let broken = |reason: TiffError| RasterError::Read {
            path: path.to_owned(),
            reason: reason.to_string(),
        };
        let ifd = file.ifd(0).map_err(broken)?;
        let layout = ifd.raster_layout().map_err(broken)?;
        for (what, size) in [("ImageWidth (256)", ifd.width()), ("ImageLength (257)", ifd.height())]
        {
            if !(2..=SIDE_MAX).contains(&size) {
                return Err(bad(what, size.to_string(), "2 to 1048576 posts"));
            }
        }
        let mask = mask::find(file, path)?;
        let samples = match (layout.sample_format, layout.bits_per_sample) {
            (1, 8) => Samples::U8,
            (2, 8) => Samples::I8,
            (1, 16) => Samples::U16,
            (2, 16) => Samples::I16,
            (1, 32) => Samples::U32,
            (2, 32) => Samples::I32,
            (3, 32) => Samples::F32,
            (3, 64) => Samples::F64,
            (format, bits) => {
                let actual = format!("{format} with {bits} bits");
                let allowed = "whole numbers of 8, 16 or 32 bits, floats of 32 or 64";
                return Err(bad("SampleFormat (339)", actual, allowed));
            }
        };
        let size = [layout.height, layout.width];
        let strip_rows = match ifd.is_tiled() {
            true => 0,
            false => (ifd.rows_per_strip() as usize).clamp(1, layout.height),
        };
        let block = match ifd.is_tiled() {
            true => [ifd.tile_height(), ifd.tile_width()].map(|side| side.unwrap_or(0) as usize),
            false => {
                let rows = STRIP_ROWS.div_ceil(strip_rows) * strip_rows;
                [rows.min(layout.height), layout.width]
            }
        };
        let posts = block[0].saturating_mul(block[1]);
        if !(1..=BLOCK_POSTS_MAX).contains(&posts) {
            let actual = format!("{} rows of {} posts", block[0], block[1]);
            return Err(bad("size of tiles or strips", actual, "1 to 33554432 posts"));
        }
        let keys = Keys::of(ifd);
        let band = text(ifd, GDAL_METADATA).map_or_else(|| Ok(Band::default()), Band::of_xml);
        let band = band.map_err(|actual| {
            bad("GDAL_METADATA (42112)", actual, "XML with numbers as scale and offset")
        })?;
        let Band { scale, offset, unit_type } = band;
        let nodata =
            nodata(ifd).map_err(|actual| bad("GDAL_NODATA (42113)", actual, "a number"))?;
        if let Some(code) = vertical::ellipsoidal(keys.get(VERTICAL), keys.get(GEODETIC_CRS)) {
            let actual = format!("EPSG:{code}, heights above the ellipsoid");
            let allowed = "heights above mean sea level; `gdalwarp -s_srs EPSG:4979 -t_srs EPSG:4326+5773` \
                           converts them";
            return Err(bad("vertical system", actual, allowed));
        }
        let code = keys.vertical();
        let datum = vertical::datum(code).ok_or_else(|| {
            bad("vertical system", format!("EPSG:{code}, a depth"), "a system of heights")
        })?;
        let unit_m = vertical::unit_m(unit_type.as_deref(), keys.get(VERTICAL_UNITS), code);
        let unit_m =
            unit_m.map_err(|stated| bad("unit of the heights", stated, vertical::UNITS_ALLOWED))?;
        if !(scale.is_finite() && scale != 0.0 && offset.is_finite()) {
            let actual = format!("scale {scale}, offset {offset}");
            return Err(bad("GDAL_METADATA (42112)", actual, "finite numbers, no scale of 0"));
        }
        Ok(Self {
            grid: grid(ifd, &keys, size, path)?,
            samples,
            is_tiled: ifd.is_tiled(),
            block,
            strip_rows,
            mask,
            nodata,
            scale: scale * unit_m,
            offset_m: offset * unit_m,
            datum,
        })
    }

    /// Blocks from west to east.
    pub fn blocks_across(&self) -> usize {
        self.grid.columns.div_ceil(self.block[1])
    }
}

/// Position of the posts.
fn grid(ifd: &Ifd, keys: &Keys, size: [usize; 2], path: &Path) -> Result<Grid, RasterError> {
    let bad =
        |what, actual: String, allowed: &str| RasterError::property(path, what, actual, allowed);
    let frame = match keys.get(GT_MODEL_TYPE) {
        Some(2) => {
            let code = keys.horizontal(GEODETIC_CRS);
            let unit = keys.get(ANGULAR_UNITS).unwrap_or(9102);
            if !crs::is_geographic(code) {
                return Err(bad("coordinate system", format!("EPSG:{code}"), crs::ALLOWED));
            }
            if unit != 9102 {
                return Err(bad(
                    "GeogAngularUnitsGeoKey (2054)",
                    unit.to_string(),
                    "9102 (degree)",
                ));
            }
            Frame::Geographic
        }
        // GDAL describes a projection that GeoTIFF lacks in a text.
        Some(1 | USER_DEFINED) => {
            let code = keys.horizontal(PROJECTED_CRS);
            let unit = keys.get(LINEAR_UNITS).unwrap_or(9001);
            if unit != 9001 {
                return Err(bad("ProjLinearUnitsGeoKey (3076)", unit.to_string(), "9001 (metre)"));
            }
            let of_method = || {
                let method = keys.get(PROJECTION_METHOD)?;
                let is_datum = [0, USER_DEFINED].contains(&keys.get(GEODETIC_CRS).unwrap_or(0));
                let is_usual = is_datum || crs::is_geographic(keys.horizontal(GEODETIC_CRS));
                crs::described(method, |key| keys.number(ifd, key)).filter(|_| is_usual)
            };
            let of_text = || crs::of_text(keys.text(ifd, PROJECTION_TEXT)?);
            let frame = match code {
                0 | USER_DEFINED => of_method().or_else(of_text),
                _ => crs::projected(code),
            };
            let what = match code {
                0 | USER_DEFINED => "one that the file describes".to_owned(),
                _ => format!("EPSG:{code}"),
            };
            frame.ok_or_else(|| bad("coordinate system", what, crs::ALLOWED))?
        }
        Some(other) => {
            let allowed = "1 (projected) or 2 (geographic)";
            return Err(bad("GTModelTypeGeoKey (1024)", other.to_string(), allowed));
        }
        None => return Err(bad("coordinate system", "none".to_owned(), crs::ALLOWED)),
    };
    let is_point = keys.get(GT_RASTER_TYPE) == Some(2);
    let numbers = |code| {
        let tag = ifd.tag(code)?;
        tag.value.as_f64_vec()
    };
    let (corner, step) = if let Some(m) = numbers(MODEL_TRANSFORMATION) {
        if m.len() != 16 || m[1] != 0.0 || m[4] != 0.0 {
            let actual = format!("{:?}", &m[..m.len().min(8)]);
            let allowed = "16 numbers without rotation";
            return Err(bad("ModelTransformationTag (34264)", actual, allowed));
        }
        ([m[3], m[7]], [m[0], -m[5]])
    } else {
        let scale = numbers(MODEL_PIXEL_SCALE).unwrap_or_default();
        let tie = numbers(MODEL_TIEPOINT).unwrap_or_default();
        let (&[east, south, ..], &[i, j, _, x, y, ..]) = (&scale[..], &tie[..]) else {
            let actual = format!("{} and {} numbers", scale.len(), tie.len());
            let what = "ModelPixelScaleTag (33550) and ModelTiepointTag (33922)";
            return Err(bad(what, actual, "3 and 6 numbers"));
        };
        ([x - i * east, y + j * south], [east, south])
    };
    let half = if is_point { 0.0 } else { 0.5 };
    let origin = [corner[0] + half * step[0], corner[1] - half * step[1]];
    let (least, most) = match frame {
        Frame::Geographic => (1e-7, 10.0),
        Frame::Projected(_) => (1e-2, 1e5),
    };
    if !step.iter().all(|step| (least..=most).contains(step)) {
        let actual = format!("{} eastwards, {} southwards", step[0], step[1]);
        let allowed = format!("{least} to {most}, rows from the north");
        return Err(bad("distance of posts", actual, &allowed));
    }
    let [rows, columns] = size.map(|size| (size - 1) as f64);
    let [west, north] = origin;
    let (east, south) = (west + columns * step[0], north - rows * step[1]);
    let (is_near, allowed) = match frame {
        Frame::Geographic => (
            (-360.0..=360.0).contains(&west)
                && east - west <= 360.0
                && south >= -90.0 - step[1]
                && north <= 90.0 + step[1],
            "latitudes from -90 to 90, longitudes from -360 to 360 degrees",
        ),
        Frame::Projected(Projection::Utm(_)) => (
            west >= 5e5 - EAST_MAX_M
                && east <= 5e5 + EAST_MAX_M
                && south >= -9.4e6
                && north <= 1.94e7,
            "eastings from -500000 to 1500000, northings from -9400000 to 19400000 m",
        ),
        Frame::Projected(_) => (
            [west, east, south, north].iter().all(|m| m.abs() <= MAP_MAX_M),
            "coordinates from -21000000 to 21000000 m",
        ),
    };
    if !is_near {
        let actual = format!("{west} to {east} eastwards, {south} to {north} northwards");
        return Err(bad("position", actual, allowed));
    }
    Ok(Grid::new(frame, size, origin, step))
}

fn text(ifd: &Ifd, code: u16) -> Option<&str> {
    let text = ifd.tag(code)?.value.as_str()?;
    Some(text.trim_matches(['\0', ' ', '\n']))
}

/// Sample without a height; the text of the tag where it is not a number: a guess would make heights of voids.
fn nodata(ifd: &Ifd) -> Result<Option<f64>, String> {
    text(ifd, GDAL_NODATA).map_or(Ok(None), nodata_of)
}

/// Sample without a height of a text. NaN is none of its own: every NaN is a void, and headers are compared.
fn nodata_of(text: &str) -> Result<Option<f64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let sample: f64 = text.parse().map_err(|_| format!("{text:?}"))?;
    Ok((!sample.is_nan()).then_some(sample))
}

#[cfg(test)]
mod tests {
    use super::nodata_of;

    #[test]
    fn samples_without_a_height_are_numbers_other_than_nan() {
        assert_eq!(nodata_of("-9999"), Ok(Some(-9999.0)));
        for none in ["nan", "NaN", "-nan", ""] {
            assert_eq!(nodata_of(none), Ok(None), "{none}");
        }
        assert_eq!(nodata_of("none"), Err("\"none\"".to_owned()));
    }
}
