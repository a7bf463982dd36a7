//! Positions as people write them: degrees in decimals or in minutes and seconds, with signs or letters of
//! the hemispheres, UTM, MGRS, Maidenhead locators, plus codes, points of well-known text.
//!
//! Latitude comes first unless letters name the axes. A spelling with two meanings is refused with the way
//! to write either.

mod angle;
mod grid;
mod pair;

#[cfg(feature = "points")]
mod points;

use thiserror::Error;

pub use angle::latitude_deg;
pub use angle::longitude_deg;
pub use grid::utm_degrees;
#[cfg(feature = "points")]
pub use points::{parse, parse_with_height};

/// Spellings that are read, for messages.
pub const ALLOWED: &str = "LAT,LON in degrees (57.7142,11.9367), degrees, minutes and seconds (57°42'51\"N \
                           11°56'12\"E), UTM (32V 674934 6400683), MGRS (32VPK7493400683), a Maidenhead locator \
                           (JO57XR), a plus code (9F9HPW7P+MM) or well-known text (POINT(11.9367 57.7142))";

/// Reason for refusing a position.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("invalid position: found {found:?}, allowed {allowed}")]
pub struct BadPosition {
    /// The text.
    pub found: String,
    /// Spellings that are allowed, or the way out.
    pub allowed: String,
}

/// Latitude in [-90, 90] and longitude in [-180, 180], deg.
///
/// # Errors
/// When the text has no spelling of [`ALLOWED`], two meanings, or lies off the Earth.
pub fn degrees(text: &str) -> Result<[f64; 2], BadPosition> {
    let plain = text.trim();
    let bad = |allowed: String| BadPosition { found: text.to_owned(), allowed };
    let spellings = [
        grid::plus_code,
        grid::maidenhead,
        grid::mgrs,
        grid::utm,
        pair::well_known_text,
        pair::degrees,
    ];
    let degrees = spellings.iter().find_map(|read| read(plain));
    let [lat_deg, lon_deg] = match degrees {
        None => return Err(bad(ALLOWED.to_owned())),
        Some(degrees) => degrees.map_err(bad)?,
    };
    on_earth([lat_deg, lon_deg]).map_err(bad)
}

/// The same position, or the positions that are allowed.
fn on_earth([lat_deg, lon_deg]: [f64; 2]) -> Result<[f64; 2], String> {
    let is_latitude = |deg: f64| (-90.0..=90.0).contains(&deg);
    let is_longitude = |deg: f64| (-180.0..=180.0).contains(&deg);
    let error = match (is_latitude(lat_deg), is_longitude(lon_deg)) {
        (true, true) => return Ok([lat_deg, lon_deg]),
        (false, _) => format!("lat_deg is {lat_deg}, allowed is -90 to 90"),
        _ => format!("lon_deg is {lon_deg}, allowed is -180 to 180"),
    };
    let is_swapped = is_latitude(lon_deg) && is_longitude(lat_deg);
    let hint = if is_swapped { "; latitude and longitude may be swapped" } else { "" };
    Err(format!("positions on the Earth ({error}{hint})"))
}

#[cfg(all(test, feature = "points"))]
mod tests;
