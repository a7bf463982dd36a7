//! Places of the ends of a link: squares in which a moving end counts once.

use groundwave_model::terrain::GeoPoint;

/// Squares of [`PLACE_M`] in which the sender and the receiver are: rows from the equator and columns from 180 degrees
/// west.
pub type Place = [[i32; 2]; 2];

/// Side of a square in which a moving end counts once, m: obstacles of two squares are others.
pub const PLACE_M: f64 = 100.0;

/// The square of a position.
#[must_use]
pub fn square(position: GeoPoint) -> [i32; 2] {
    const METRES_PER_DEGREE: f64 = 111_195.0;
    let row = (position.lat_deg() * METRES_PER_DEGREE / PLACE_M).floor();
    // Columns of a row have one width.
    let parallel = (row * PLACE_M / METRES_PER_DEGREE).to_radians();
    let width_deg = PLACE_M / (METRES_PER_DEGREE * libm::cos(parallel).max(1e-6));
    [row as i32, ((position.lon_deg() + 180.0) / width_deg).floor() as i32]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_of_one_square_are_one_place() {
        let at = |lat_deg, lon_deg| square(GeoPoint::new(lat_deg, lon_deg).unwrap());
        assert_eq!(at(57.70001, 11.90005), at(57.70002, 11.90006));
        // A thousandth of a degree is 111 m to the north, and 59 m to the east here.
        assert_ne!(at(57.7, 11.9), at(57.701, 11.9));
        assert_ne!(at(57.7, 11.9), at(57.7, 11.902));
        assert_eq!(at(90.0, 0.0)[0], at(90.0, 90.0)[0]);
    }
}
