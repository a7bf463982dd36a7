//! Rasters in metres: a zone of UTM, and the cells of a raster of that zone.

use groundwave_model::terrain::Utm;

use super::error::RasterError;
use super::geometry::{GridGeometry, METRES_PER_DEGREE};

/// Degrees from the central meridian within which a zone is used: beyond, its scale is off by 3 %.
const FROM_MERIDIAN_MAX_DEG: f64 = 15.0;

/// Cells of a raster, at most.
const CELLS_MAX: u64 = 4_000_000_000;

/// A zone of UTM on WGS 84 (EPSG:32601 to 32660 and 32701 to 32760).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UtmZone {
    /// Number, 1 to 60.
    pub number: u16,
    /// True for the southern hemisphere, whose northings begin at 10,000 km.
    pub is_south: bool,
}

/// Coordinate reference system of raster files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Crs {
    /// Degrees on WGS 84 (EPSG:4326).
    #[default]
    Geographic,
    /// Metres in the zone of UTM that holds the middle of the area.
    UtmOfMiddle,
    /// Metres in this zone of UTM.
    Utm(UtmZone),
}

impl UtmZone {
    /// The zone that holds a position, without the exceptions of Norway and Svalbard, which only their maps
    /// make.
    #[must_use]
    pub fn of(lat_deg: f64, lon_deg: f64) -> Self {
        let number = ((lon_deg + 180.0).rem_euclid(360.0) / 6.0).floor() as u16;
        Self { number: number.min(59) + 1, is_south: lat_deg < 0.0 }
    }

    /// Code of EPSG.
    #[must_use]
    pub fn epsg(self) -> u16 {
        self.number + if self.is_south { 32_700 } else { 32_600 }
    }

    /// Name as EPSG has it, e.g. `WGS 84 / UTM zone 32N`.
    #[must_use]
    pub fn name(self) -> String {
        let hemisphere = if self.is_south { 'S' } else { 'N' };
        format!("WGS 84 / UTM zone {}{hemisphere}", self.number)
    }

    fn meridian_deg(self) -> f64 {
        f64::from(self.number) * 6.0 - 183.0
    }
}

impl Crs {
    /// Reads `utm`, `EPSG:4326` or the code of a zone of UTM, `EPSG:32601` to `32660` and `32701` to `32760`.
    ///
    /// # Errors
    /// The text found and what is allowed.
    pub fn parse(text: &str) -> Result<Self, String> {
        let refused = || {
            format!(
                "found {text:?}; allowed: utm, EPSG:4326, EPSG:32601 to 32660 (UTM north), EPSG:32701 to \
                 32760 (UTM south)"
            )
        };
        if text.eq_ignore_ascii_case("utm") {
            return Ok(Self::UtmOfMiddle);
        }
        let code = text.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("epsg"));
        match code.and_then(|(_, code)| code.parse::<u16>().ok()) {
            Some(4326) => Ok(Self::Geographic),
            Some(code @ 32_601..=32_660) => {
                Ok(Self::Utm(UtmZone { number: code - 32_600, is_south: false }))
            }
            Some(code @ 32_701..=32_760) => {
                Ok(Self::Utm(UtmZone { number: code - 32_700, is_south: true }))
            }
            _ => Err(refused()),
        }
    }

    /// The zone for files of an area; `None` for degrees.
    ///
    /// # Errors
    /// When the area lies too far from the zone that was named.
    pub fn zone(self, area: &GridGeometry) -> Result<Option<UtmZone>, RasterError> {
        let lat_deg = f64::midpoint(area.north_deg, area.south_deg());
        let lon_deg = f64::midpoint(area.west_deg, area.east_deg());
        let own = UtmZone::of(lat_deg, lon_deg);
        let zone = match self {
            Self::Geographic => return Ok(None),
            Self::UtmOfMiddle => own,
            Self::Utm(zone) => zone,
        };
        let from_meridian = |lon_deg: f64| {
            ((lon_deg - zone.meridian_deg() + 180.0).rem_euclid(360.0) - 180.0).abs()
        };
        let farthest_deg = from_meridian(area.west_deg).max(from_meridian(area.east_deg()));
        if farthest_deg > FROM_MERIDIAN_MAX_DEG || area.east_deg() - area.west_deg > 30.0 {
            return Err(RasterError::Zone { found: zone.epsg(), own: own.epsg() });
        }
        Ok(Some(zone))
    }
}

/// A raster in a zone of UTM, north up, with square cells. Cell (0, 0) is the north-western one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricGeometry {
    /// The zone.
    pub zone: UtmZone,
    /// Easting of the western edge, m.
    pub west_m: f64,
    /// Northing of the northern edge, m.
    pub north_m: f64,
    /// Side of a cell, m, above 0.
    pub cell_m: f64,
    /// Cells from west to east, at least 1.
    pub cols: u32,
    /// Cells from north to south, at least 1.
    pub rows: u32,
}

impl MetricGeometry {
    /// The raster that holds `area`, with cells as large as the shorter side of its cells, in two digits.
    /// Edges lie on whole multiples of the cell.
    ///
    /// # Errors
    /// When it has too many cells.
    pub fn around(area: &GridGeometry, zone: UtmZone) -> Result<Self, RasterError> {
        let shorter_deg = (area.cell_lon_deg * area.squeeze()).min(area.cell_lat_deg);
        let cell_m = two_digits(shorter_deg * METRES_PER_DEGREE);
        let utm = Utm::zone(zone.number, zone.is_south);
        let start = [f64::INFINITY, f64::NEG_INFINITY];
        let (mut east, mut north) = (start, start);
        // Edges are curves: enough points that none bulges out by a cell.
        let steps = 64_u32;
        for (i, j) in (0..=steps).flat_map(|i| (0..=steps).map(move |j| (i, j))) {
            let is_edge = i == 0 || j == 0 || i == steps || j == steps;
            if !is_edge {
                continue;
            }
            let share = |k: u32| f64::from(k) / f64::from(steps);
            let lat_deg = area.north_deg + (area.south_deg() - area.north_deg) * share(i);
            let lon_deg = area.west_deg + (area.east_deg() - area.west_deg) * share(j);
            let [x, y] = utm.project(lat_deg.clamp(-89.9, 89.9), lon_deg);
            east = [east[0].min(x), east[1].max(x)];
            north = [north[0].min(y), north[1].max(y)];
        }
        let [west, bottom] = [east[0], north[0]].map(|edge| (edge / cell_m).floor());
        let [end, top] = [east[1], north[1]].map(|edge| (edge / cell_m).ceil());
        let (cols, rows) = ((end - west).max(1.0), (top - bottom).max(1.0));
        if cols * rows > CELLS_MAX as f64 {
            return Err(RasterError::Unwritable {
                what: format!("a raster of {cols} by {rows} cells of {cell_m} m"),
                why: "allowed are 4,000,000,000 cells",
            });
        }
        Ok(Self {
            zone,
            west_m: west * cell_m,
            north_m: top * cell_m,
            cell_m,
            cols: cols as u32,
            rows: rows as u32,
        })
    }

    /// Easting and northing of the middle of a cell, m.
    #[must_use]
    pub fn middle_m(&self, row: u32, col: u32) -> [f64; 2] {
        [
            self.west_m + (f64::from(col) + 0.5) * self.cell_m,
            self.north_m - (f64::from(row) + 0.5) * self.cell_m,
        ]
    }
}

/// A length rounded down to two digits. Powers of ten are searched because the last bit of a logarithm
/// depends on the platform.
fn two_digits(length_m: f64) -> f64 {
    let mut exponent = -6;
    while exponent < 9 && 10_f64.powi(exponent + 1) <= length_m {
        exponent += 1;
    }
    // The quotient of whole numbers is the nearest to the decimal number.
    let digits = (length_m / 10_f64.powi(exponent - 1) + 1e-9).floor();
    match exponent - 1 {
        places @ 0.. => digits * 10_f64.powi(places),
        places => digits / 10_f64.powi(-places),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_zones_are_read_and_others_refused() {
        let zone = |number, is_south| Ok(Crs::Utm(UtmZone { number, is_south }));
        assert_eq!(Crs::parse("EPSG:32632"), zone(32, false));
        assert_eq!(Crs::parse("epsg:32760"), zone(60, true));
        assert_eq!(Crs::parse("UTM"), Ok(Crs::UtmOfMiddle));
        assert_eq!(Crs::parse("EPSG:4326"), Ok(Crs::Geographic));
        for text in ["EPSG:25832", "EPSG:32600", "EPSG:32661", "EPSG:3857", "32632", "EPSG:", ""] {
            let error = Crs::parse(text).unwrap_err();
            assert!(error.contains("EPSG:32701 to 32760"), "{error}");
        }
    }

    #[test]
    fn positions_lie_in_their_zone() {
        let epsg = |lat_deg, lon_deg| UtmZone::of(lat_deg, lon_deg).epsg();
        assert_eq!(epsg(57.7, 11.9), 32_632);
        assert_eq!(epsg(57.7, 12.0), 32_633);
        assert_eq!(epsg(-33.9, 151.2), 32_756);
        assert_eq!(
            (epsg(0.0, -180.0), epsg(0.0, 179.999), epsg(0.0, 180.0)),
            (32_601, 32_660, 32_601)
        );
        assert_eq!(UtmZone::of(-1.0, 0.0).name(), "WGS 84 / UTM zone 31S");
    }

    #[test]
    fn the_raster_holds_the_area_and_a_far_zone_is_refused() {
        let area = GridGeometry {
            west_deg: 11.0,
            north_deg: 58.0,
            cell_lon_deg: 6.0 / 3600.0,
            cell_lat_deg: 6.0 / 3600.0,
            cols: 600,
            rows: 600,
        };
        let zone = Crs::UtmOfMiddle.zone(&area).unwrap().unwrap();
        let raster = MetricGeometry::around(&area, zone).unwrap();
        // Six arc-seconds at 57.5 degrees north are 99.5 m wide.
        assert_eq!((raster.cell_m, raster.zone.epsg()), (99.0, 32_632));
        let utm = Utm::zone(32, false);
        for (lat_deg, lon_deg) in [(58.0, 11.0), (57.0, 11.0), (57.0, 12.0), (58.0, 11.5)] {
            let [x, y] = utm.project(lat_deg, lon_deg);
            let (col, row) = ((x - raster.west_m) / 99.0, (raster.north_m - y) / 99.0);
            assert!((0.0..=f64::from(raster.cols)).contains(&col), "{col}");
            assert!((0.0..=f64::from(raster.rows)).contains(&row), "{row}");
        }
        let far = Crs::parse("EPSG:32601").unwrap().zone(&area).unwrap_err().to_string();
        assert!(far.contains("EPSG:32601") && far.contains("EPSG:32632"), "{far}");
    }

    #[test]
    fn lengths_are_rounded_down_to_two_digits() {
        for (length_m, want) in
            [(99.5, 99.0), (185.3, 180.0), (0.5312, 0.53), (1.0, 1.0), (9.0, 9.0)]
        {
            assert_eq!(two_digits(length_m), want);
        }
    }
}
