//! Contours and sites as GeoJSON (RFC 7946): WGS 84, longitude first, outer rings
//! counter-clockwise, cut at the antimeridian.

use std::io::Write;
use std::path::Path;

use rayon::prelude::*;
use serde_json::{Map, Value};

use super::atomic::PartFile;
pub use super::contour::{Line, Polygon, Ring, contour_lines, contours};
use super::error::RasterError;
use super::grid::Grid;
use super::picture::{ALL_SHOWN, Style, hex};
use super::site::Site;

/// Outlines of a layer to write.
#[derive(Debug, Clone, Copy)]
pub struct Levels<'a> {
    /// The layer, e.g. `link_margin`.
    pub layer: &'a str,
    /// The unit of its values, e.g. `dB`.
    pub unit: &'a str,
    /// One feature each: the areas where the layer is at least this.
    pub levels: &'a [f64],
    /// The one of them from which a cell counts as covered: its feature has `covered`: true.
    pub covered: Option<f64>,
    /// Colours of the levels, for programs that draw GeoJSON by its properties (simplestyle 1.1.0).
    pub style: Option<&'a Style>,
}

/// Opacity of areas in programs that draw GeoJSON by its properties: a level lies over those below it.
const FILL_OPACITY: f64 = 0.35;

impl Levels<'_> {
    /// Refuses levels that no text of JSON stands for.
    fn check(&self) -> Result<(), RasterError> {
        match self.levels.iter().find(|level| !level.is_finite()) {
            None => Ok(()),
            Some(level) => Err(RasterError::Unwritable {
                what: format!("a contour at {level}"),
                why: "it is not finite",
            }),
        }
    }

    /// Properties of a level under this key.
    fn properties(&self, key: &str, level: f64) -> Map<String, Value> {
        let mut properties = Map::new();
        properties.insert("layer".into(), self.layer.into());
        properties.insert(key.into(), level.into());
        properties.insert("unit".into(), self.unit.into());
        if self.covered == Some(level) {
            properties.insert("covered".into(), true.into());
        }
        if let Some(style) = self.style {
            let all = Style { visible: ALL_SHOWN, ..style.clone() };
            let colour = all.colour(level as f32).map(hex);
            let title = format!("\u{2265} {level} {}", self.unit);
            properties.insert("title".into(), title.into());
            properties.insert("stroke".into(), colour.clone().into());
            if key == "at_least" {
                properties.insert("fill".into(), colour.into());
                properties.insert("fill-opacity".into(), FILL_OPACITY.into());
            }
        }
        properties
    }
}

/// Decimals of a coordinate: 1 cm.
const DECIMALS: usize = 7;
const UNITS_PER_DEGREE: u64 = 10_u64.pow(DECIMALS as u32);

/// Writes one multi-polygon for each level, with the properties `layer`, `at_least`, `unit` and `covered`.
///
/// # Errors
/// When a level is not finite or the disk fails.
pub fn write_contours(path: &Path, grid: &Grid, levels: &Levels<'_>) -> Result<(), RasterError> {
    levels.check()?;
    let areas = contours(grid, levels.levels);
    // Side by side, because texts take as long as outlines.
    let features = areas.par_iter().zip(levels.levels).map(|(areas, &level)| {
        feature(levels.properties("at_least", level), "MultiPolygon", |text| {
            push_list(text, areas, |text, polygon| {
                push_list(text, polygon, |text, ring| {
                    push_list(text, ring, |text, &point| push_position(text, point));
                });
            });
        })
    });
    collection(path, &features.collect::<Vec<_>>())
}

/// Writes one multi-line for each level, along which the layer passes it, with the properties `layer`,
/// `level`, `unit` and `covered`. Lines have no parts along cells without data or along the edge.
///
/// # Errors
/// As [`write_contours`].
pub fn write_lines(path: &Path, grid: &Grid, levels: &Levels<'_>) -> Result<(), RasterError> {
    levels.check()?;
    let lines = contour_lines(grid, levels.levels);
    let features = lines.par_iter().zip(levels.levels).map(|(lines, &level)| {
        feature(levels.properties("level", level), "MultiLineString", |text| {
            push_list(text, lines, |text, line| {
                push_list(text, line, |text, &point| push_position(text, point));
            });
        })
    });
    collection(path, &features.collect::<Vec<_>>())
}

/// Writes a point for each site, its name and whatever else is known as properties.
///
/// # Errors
/// When a position is not finite or the disk fails.
pub fn write_sites(path: &Path, sites: &[Site]) -> Result<(), RasterError> {
    let lost = |site: &&Site| !(site.lat_deg.is_finite() && site.lon_deg.is_finite());
    if let Some(site) = sites.iter().find(lost) {
        return Err(RasterError::Unwritable {
            what: format!("site {:?}", site.name),
            why: "its position is not finite",
        });
    }
    let point = |site: &Site| {
        let mut properties = site.properties.clone();
        properties.insert("name".into(), site.name.as_str().into());
        properties.insert("label".into(), site.label().into());
        properties.insert("title".into(), site.label().into());
        feature(properties, "Point", |text| {
            push_position(text, [site.lon_deg, site.lat_deg]);
        })
    };
    collection(path, &sites.iter().map(point).collect::<Vec<_>>())
}

fn collection(path: &Path, features: &[String]) -> Result<(), RasterError> {
    let mut part = PartFile::create(path)?;
    let write = |out: &mut PartFile| {
        out.write_all(b"{\"type\":\"FeatureCollection\",\"features\":[")?;
        for (index, feature) in features.iter().enumerate() {
            out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
            out.write_all(feature.as_bytes())?;
        }
        out.write_all(b"\n]}\n")
    };
    write(&mut part).map_err(part.failed())?;
    part.commit()
}

/// A feature with a geometry of a type, whose coordinates `push` appends.
fn feature(properties: Map<String, Value>, kind: &str, push: impl FnOnce(&mut String)) -> String {
    let mut text = format!(
        "{{\"type\":\"Feature\",\"properties\":{},\
         \"geometry\":{{\"type\":\"{kind}\",\"coordinates\":",
        Value::Object(properties)
    );
    push(&mut text);
    text.push_str("}}");
    text
}

fn push_list<T>(text: &mut String, items: &[T], push: impl Fn(&mut String, &T)) {
    text.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        push(text, item);
    }
    text.push(']');
}

fn push_position(text: &mut String, [lon_deg, lat_deg]: [f64; 2]) {
    text.push('[');
    push_deg(text, lon_deg);
    text.push(',');
    push_deg(text, lat_deg);
    text.push(']');
}

/// Appends an angle of at most 360 degrees, to [`DECIMALS`] without needless zeros: by whole numbers, which
/// are written in less than a third of the time of a float.
fn push_deg(text: &mut String, value_deg: f64) {
    let units = (value_deg * UNITS_PER_DEGREE as f64).round() as i64;
    let (whole, part) =
        (units.unsigned_abs() / UNITS_PER_DEGREE, units.unsigned_abs() % UNITS_PER_DEGREE);
    if units < 0 {
        text.push('-');
    }
    let mut digits = itoa::Buffer::new();
    text.push_str(digits.format(whole));
    if part > 0 {
        // A one before them keeps their zeros.
        let padded = digits.format(UNITS_PER_DEGREE + part);
        text.push('.');
        text.push_str(padded[1..].trim_end_matches('0'));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::geometry::GridGeometry;
    use super::*;

    fn cone() -> Grid {
        let geometry = GridGeometry {
            west_deg: -0.1,
            north_deg: 0.1,
            cell_lon_deg: 0.01,
            cell_lat_deg: 0.01,
            cols: 20,
            rows: 20,
        };
        let at = |i: u32| {
            let (x, y) = (f64::from(i % 20) - 9.5, f64::from(i / 20) - 9.5);
            (10.0 - x.hypot(y)) as f32
        };
        Grid::new(geometry, (0..400).map(at).collect()).unwrap()
    }

    #[test]
    fn contours_are_valid_geojson() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("margin.geojson");
        let style = Style::ramp("Link margin", "dB", [0.0, 10.0], Some(5.0));
        let levels = Levels {
            layer: "link_margin",
            unit: "dB",
            levels: &[2.0, 5.0, 50.0],
            covered: Some(5.0),
            style: Some(&style),
        };
        write_contours(&path, &cone(), &levels).unwrap();
        let first = fs::read(&path).unwrap();
        let json: Value = serde_json::from_slice(&first).unwrap();
        assert_eq!(json["type"], "FeatureCollection");
        let features = json["features"].as_array().unwrap();
        assert_eq!(features.len(), 3);
        assert_eq!(features[1]["properties"]["at_least"], 5.0);
        assert_eq!(features[1]["properties"]["unit"], "dB");
        let colour = hex(style.colour(5.0).unwrap());
        assert_eq!(features[1]["properties"]["fill"], colour);
        assert_eq!(features[1]["properties"]["title"], "≥ 5 dB");
        let covered: Vec<bool> =
            features.iter().map(|one| one["properties"]["covered"] == true).collect();
        assert_eq!(covered, [false, true, false]);
        assert_eq!(features[1]["geometry"]["type"], "MultiPolygon");
        let ring = features[1]["geometry"]["coordinates"][0][0].as_array().unwrap();
        assert!(ring.len() > 20 && ring.first() == ring.last());
        for point in ring {
            let [lon, lat] = [0, 1].map(|i| point[i].as_f64().unwrap());
            assert!((lon.hypot(lat) - 0.05).abs() < 0.001, "{lon} {lat}");
        }
        assert_eq!(features[2]["geometry"]["coordinates"], Value::Array(Vec::new()));
        write_contours(&path, &cone(), &levels).unwrap();
        assert!(first == fs::read(&path).unwrap(), "the same bytes again");
        let lost = Levels { levels: &[f64::NAN], ..levels };
        assert!(write_contours(&dir.path().join("x"), &cone(), &lost).is_err());
    }

    #[test]
    fn lines_are_valid_geojson_of_the_level_itself() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines.geojson");
        let levels = Levels {
            layer: "link_margin",
            unit: "dB",
            levels: &[-3.0, 5.0],
            covered: None,
            style: None,
        };
        write_lines(&path, &cone(), &levels).unwrap();
        let json: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let features = json["features"].as_array().unwrap();
        let lines = |at: usize| features[at]["geometry"]["coordinates"].as_array().unwrap();
        // The circle of -3 dB leaves the raster at its edges: an arc in each corner.
        assert_eq!((lines(0).len(), lines(1).len()), (4, 1));
        assert_eq!(features[1]["properties"]["level"], 5.0);
        assert_eq!(features[1]["geometry"]["type"], "MultiLineString");
        for (at, radius) in [(0, 0.13), (1, 0.05)] {
            for point in lines(at).iter().flat_map(|line| line.as_array().unwrap()) {
                let [lon, lat] = [0, 1].map(|i| point[i].as_f64().unwrap());
                assert!((lon.hypot(lat) - radius).abs() < 0.001, "{lon} {lat}");
            }
        }
    }

    #[test]
    fn sites_keep_their_names_and_properties() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sites.geojson");
        let mut site = Site::new("Säve \"north\"\n", 57.78, -0.000_000_01);
        site.properties.insert("height_agl_m".into(), 30.into());
        site.label = Some("Säve north".to_owned());
        write_sites(&path, &[site, Site::new("b", 1.0, 2.0)]).unwrap();
        let json: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let first = &json["features"][0];
        assert_eq!(first["properties"]["name"], "Säve \"north\"\n");
        assert_eq!(first["properties"]["height_agl_m"], 30);
        assert_eq!(first["properties"]["label"], "Säve north");
        assert_eq!(json["features"][1]["properties"]["label"], "b");
        assert_eq!(first["geometry"]["coordinates"], serde_json::json!([0, 57.78]));
        let lost = [Site::new("c", f64::NAN, 2.0)];
        assert!(write_sites(&path, &lost).is_err());
    }

    #[test]
    fn angles_are_written_without_needless_zeros() {
        for (value_deg, want) in [
            (0.0, "0"),
            (-1e-9, "0"),
            (11.0, "11"),
            (-0.05, "-0.05"),
            (57.123_456_78, "57.1234568"),
            (-179.999_999_96, "-180"),
            (120.000_000_1, "120.0000001"),
        ] {
            let mut text = String::new();
            push_deg(&mut text, value_deg);
            assert_eq!(text, want);
        }
    }
}
