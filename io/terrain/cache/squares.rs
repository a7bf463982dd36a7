//! Square degrees of an area.

use groundwave_model::terrain::{GeoPoint, TileId};

/// Most square degrees of one area.
pub const AREA_MAX: usize = 400;

/// Squares that a rectangle touches: south, west, north, east, deg; it may cross 180 degrees, with a
/// western edge east of the eastern one. None with more than [`AREA_MAX`].
#[must_use]
pub fn squares_within([south, west, north, east]: [f64; 4]) -> Option<Vec<TileId>> {
    let east = if east < west { east + 360.0 } else { east };
    let edges = [south, west, north, east];
    if !edges.iter().all(|edge| edge.is_finite()) {
        return None;
    }
    let [south, west, north, east] = edges.map(|edge| edge.floor() as i64);
    let (down, across) = (north - south + 1, east - west + 1);
    if down < 1 || down.saturating_mul(across) > AREA_MAX as i64 {
        return None;
    }
    let mut squares = Vec::new();
    for south in south..=north {
        for west in west..=east {
            // 90 degrees north belongs to the square below.
            squares.extend(TileId::containing((south as f64).min(89.0), west as f64));
        }
    }
    squares.sort_unstable();
    squares.dedup();
    Some(squares)
}

/// Squares within a distance of positions. None with more than [`AREA_MAX`].
#[must_use]
pub fn squares_around(positions: &[GeoPoint], radius_m: f64) -> Option<Vec<TileId>> {
    let mut all = Vec::new();
    for at in positions {
        let [up, aside] = at.reach_deg(radius_m);
        let (south, north) = ((at.lat_deg() - up).max(-90.0), (at.lat_deg() + up).min(90.0));
        let squares = squares_within([south, at.lon_deg() - aside, north, at.lon_deg() + aside])?;
        all.extend(squares);
        all.sort_unstable();
        all.dedup();
        if all.len() > AREA_MAX {
            return None;
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(squares: Option<Vec<TileId>>) -> Vec<String> {
        squares.unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn areas_are_made_of_the_squares_they_touch() {
        assert_eq!(names(squares_within([57.6, 11.5, 57.9, 11.9])), ["N57E011"]);
        let across = ["N57E011", "N57E012", "N58E011", "N58E012"];
        assert_eq!(names(squares_within([57.6, 11.5, 58.1, 12.1])), across);
        assert_eq!(names(squares_within([-0.5, 179.5, 0.5, -179.5])).len(), 4);
        assert_eq!(squares_within([-60.0, -180.0, 60.0, 179.0]), None);
        assert_eq!(squares_within([1.0, 1.0, 0.0, 2.0]), None);
        assert_eq!(squares_within([f64::NAN, 1.0, 0.0, 2.0]), None);
        let at = GeoPoint::new(57.95, 11.5).unwrap();
        assert_eq!(names(squares_around(&[at], 4_000.0)), ["N57E011"]);
        assert_eq!(names(squares_around(&[at], 10_000.0)), ["N57E011", "N58E011"]);
        // Degrees of longitude are half as long there.
        let north = GeoPoint::new(60.5, 10.7).unwrap();
        assert_eq!(names(squares_around(&[north], 20_000.0)), ["N60E010", "N60E011"]);
    }
}
