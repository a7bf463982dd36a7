//! Positions as points of the models.

use groundwave_model::terrain::GeoPoint;

use crate::{BadPosition, degrees, pair};

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
        let height = height.strip_suffix('m').unwrap_or(height).trim_end().replace(',', ".");
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
