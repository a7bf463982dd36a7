//! Positions as points of the models.

use groundwave_model::terrain::GeoPoint;

use crate::{BadPosition, degrees, pair};

/// Length of a foot, m.
const FOOT_M: f64 = 0.3048;

/// Reads a position.
///
/// # Errors
/// As [`degrees`].
pub fn parse(text: &str) -> Result<GeoPoint, BadPosition> {
    let [lat_deg, lon_deg] = degrees(text)?;
    let off_earth =
        |error| BadPosition { found: text.to_owned(), allowed: format!("positions ({error})") };
    GeoPoint::new(lat_deg, lon_deg).map_err(off_earth)
}

/// Reads a position, and after a last semicolon or comma the height of an antenna above ground, m;
/// feet are read too.
///
/// # Errors
/// As [`parse`].
pub fn parse_with_height(text: &str) -> Result<(GeoPoint, Option<f64>), BadPosition> {
    let whole = parse(text);
    let error = match whole {
        Ok(position) => return Ok((position, None)),
        Err(error) => error,
    };
    // What follows the coordinates of a URI is its own.
    if pair::uri(text).is_some() {
        return Err(error);
    }
    // After a semicolon commas are decimal ones.
    let splits = [text.rsplit_once(';'), text.rsplit_once(',')];
    let mut has_position = false;
    for (position, height) in splits.into_iter().flatten() {
        let Ok(position) = parse(position) else { continue };
        let height = height.trim();
        let (height, unit_m) = match height.strip_suffix("ft") {
            Some(feet) => (feet, FOOT_M),
            None => (height.strip_suffix('m').unwrap_or(height), 1.0),
        };
        match height.trim_end().replace(',', ".").parse::<f64>() {
            Ok(height) if height.is_finite() => return Ok((position, Some(height * unit_m))),
            _ => has_position = true,
        }
    }
    if has_position {
        let allowed = "a height above ground after the position, in m or ft: 30, 100ft".to_owned();
        return Err(BadPosition { found: text.to_owned(), allowed });
    }
    Err(error)
}
