//! Numbers and positions in documents.

use groundwave_model::terrain::{BadPoint, GeoPoint};

use super::super::error::{Fault, quoted};

/// A finite number.
pub(crate) fn parse(text: &str) -> Result<f64, Fault> {
    let plain = text.trim();
    match plain.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Err(_) if plain.contains(',') => decimal_comma(plain).ok_or_else(|| {
            let allowed = "a decimal point or comma, and no separators of thousands";
            Fault::new("", quoted(text), allowed)
        }),
        _ => Err(Fault::new("", quoted(text), "a finite number")),
    }
}

/// A number with a decimal comma; `None` where the comma may separate thousands.
fn decimal_comma(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once(',')?;
    let is_thousands =
        fraction.len() == 3 && (1..=3).contains(&whole.trim_start_matches('-').len());
    let number = format!("{whole}.{fraction}").parse::<f64>().ok()?;
    (!is_thousands && number.is_finite()).then_some(number)
}

/// A position, and whether its longitude was wrapped into [-180, 180]. Faults have the key `lat`
/// or `lon`.
pub(crate) fn position(lat_deg: f64, lon_deg: f64) -> Result<(GeoPoint, bool), Fault> {
    let bad = match GeoPoint::new(lat_deg, lon_deg) {
        Ok(point) => return Ok((point, false)),
        Err(bad) => bad,
    };
    match bad {
        BadPoint::Latitude(_) => {
            let swapped = GeoPoint::new(lon_deg, lat_deg).is_ok();
            let hint = if swapped {
                "; latitude and longitude may be swapped"
            } else if lat_deg.abs() > 1_000.0 {
                "; projected coordinates are not read"
            } else {
                ""
            };
            let allowed = format!("degrees north, -90 to 90{hint}");
            Err(Fault::new("lat", lat_deg.to_string(), allowed))
        }
        BadPoint::Longitude(_) => {
            let near = (-360.0..=360.0).contains(&lon_deg);
            let point = GeoPoint::wrapping(lat_deg, lon_deg).ok().filter(|_| near);
            point.map(|point| (point, true)).ok_or_else(|| {
                let allowed = "degrees east, -180 to 180; projected coordinates are not read";
                Fault::new("lon", lon_deg.to_string(), allowed)
            })
        }
    }
}
