//! Positions as people write them: degrees in decimals or in minutes and seconds, with signs or letters of
//! the hemispheres, UTM, MGRS, Maidenhead locators, plus codes.
//!
//! Latitude comes first unless letters name the axes. A spelling with two meanings is refused with the way
//! to write either.

mod angle;
mod grid;
mod pair;

use groundwave_model::terrain::GeoPoint;
use thiserror::Error;

pub use angle::latitude_deg;
pub use angle::longitude_deg;

/// Spellings that are read, for messages.
pub const ALLOWED: &str = "LAT,LON in degrees (57.7142,11.9367), degrees, minutes and seconds (57°42'51\"N \
                           11°56'12\"E), UTM (32V 674934 6400683), MGRS (32VPK7493400683), a Maidenhead locator \
                           (JO57XR) or a plus code (9F9HPW7P+MM)";

/// Reason for refusing a position.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("invalid position: found {found:?}, allowed {allowed}")]
pub struct BadPosition {
    /// The text.
    pub found: String,
    /// Spellings that are allowed, or the way out.
    pub allowed: String,
}

/// Reads a position.
///
/// # Errors
/// When the text has no spelling of [`ALLOWED`], two meanings, or lies off the Earth.
pub fn parse(text: &str) -> Result<GeoPoint, BadPosition> {
    let plain = text.trim();
    let bad = |allowed: String| BadPosition { found: text.to_owned(), allowed };
    let spellings = [grid::plus_code, grid::maidenhead, grid::mgrs, grid::utm, pair::degrees];
    let degrees = spellings.iter().find_map(|read| read(plain));
    let [lat_deg, lon_deg] = match degrees {
        None => return Err(bad(ALLOWED.to_owned())),
        Some(degrees) => degrees.map_err(bad)?,
    };
    GeoPoint::new(lat_deg, lon_deg).map_err(|error| {
        let swapped = GeoPoint::new(lon_deg, lat_deg).is_ok();
        let hint = if swapped { "; latitude and longitude may be swapped" } else { "" };
        bad(format!("positions on the Earth ({error}{hint})"))
    })
}

/// Reads a position, and after a last semicolon or comma the height of an antenna above ground, m.
///
/// # Errors
/// As [`parse`].
pub fn parse_with_height(text: &str) -> Result<(GeoPoint, Option<f64>), BadPosition> {
    let whole = parse(text);
    let error = match whole {
        Ok(position) => return Ok((position, None)),
        Err(error) => error,
    };
    // After a semicolon commas are decimal ones.
    let splits = [text.rsplit_once(';'), text.rsplit_once(',')];
    let mut has_position = false;
    for (position, height) in splits.into_iter().flatten() {
        let Ok(position) = parse(position) else { continue };
        let height = height.trim().trim_end_matches('m').trim_end().replace(',', ".");
        match height.parse::<f64>() {
            Ok(height_m) if height_m.is_finite() => return Ok((position, Some(height_m))),
            _ => has_position = true,
        }
    }
    if has_position {
        let allowed = "a finite height_agl_m in metres after the position".to_owned();
        return Err(BadPosition { found: text.to_owned(), allowed });
    }
    Err(error)
}

#[cfg(test)]
mod tests;
