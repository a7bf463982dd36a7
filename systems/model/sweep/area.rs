//! Areas on the ellipsoid.

/// First eccentricity squared of WGS84.
const E2: f64 = 0.006_694_379_990_141_316_5;

/// Semi-minor axis of WGS84, m.
const B_M: f64 = 6_356_752.314_245_179;

/// Area of a cell between two latitudes, `width_deg` of longitude wide, on the WGS84 ellipsoid,
/// m². Latitudes in degrees in [-90, 90], in either order.
///
/// Source: J. P. Snyder, "Map Projections: A Working Manual" (USGS Professional Paper 1395, 1987),
/// eq. 3-12 (authalic function q).
#[must_use]
pub fn cell_area_m2(south_deg: f64, north_deg: f64, width_deg: f64) -> f64 {
    let zone = zone(north_deg) - zone(south_deg);
    (B_M * B_M / 2.0 * zone * width_deg.to_radians()).abs()
}

/// `sin φ / (1 - e² sin² φ) + artanh(e sin φ) / e`: twice the area from the equator to latitude φ
/// over one radian of longitude, in units of b².
fn zone(lat_deg: f64) -> f64 {
    let e = E2.sqrt();
    let sin_lat = libm::sin(lat_deg.to_radians());
    sin_lat / (1.0 - E2 * sin_lat * sin_lat) + (e * sin_lat).atanh() / e
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_globe_has_its_published_area() {
        // 510 065 621.724 km², the surface of the WGS84 ellipsoid.
        let globe_km2 = cell_area_m2(-90.0, 90.0, 360.0) / 1e6;
        assert!((globe_km2 - 510_065_621.724).abs() < 0.01, "{globe_km2}");
    }

    #[test]
    fn small_cells_are_their_sides_multiplied() {
        use crate::terrain::geodesic::curvature_radii_m;
        for lat_deg in [0.0, 35.0, -57.7, 80.0] {
            let (meridian_m, normal_m) = curvature_radii_m(lat_deg);
            let side = (0.001f64).to_radians();
            let expected = meridian_m * side * normal_m * lat_deg.to_radians().cos() * side;
            let area = cell_area_m2(lat_deg - 0.0005, lat_deg + 0.0005, 0.001);
            assert!((area / expected - 1.0).abs() < 1e-8, "{lat_deg}: {area} {expected}");
        }
    }
}
