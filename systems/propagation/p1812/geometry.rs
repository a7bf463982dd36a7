//! Horizons and smooth-Earth heights of a path (ITU-R P.1812-8, annex 1, attachment 1), in the units of the
//! Recommendation: km, m and mrad.

use super::super::bullington::{Profile, least_squares_ends_msl_m};
use super::super::free_space::wavelength_m;
use super::Path;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PathGeometry {
    /// Length d, km.
    pub length_km: f64,
    /// Length of the straight line between the antennas, km.
    pub slant_km: f64,
    /// Antennas above mean sea level, m.
    pub antenna_msl_m: [f64; 2],
    /// Median effective Earth radius, km.
    pub effective_radius_km: f64,
    pub line_of_sight: bool,
    /// Distances of the horizons from their ends dlt and dlr, km.
    pub horizon_km: [f64; 2],
    /// Elevation angles of the horizons θt and θr, mrad.
    pub horizon_mrad: [f64; 2],
    /// Angular distance of the path θ, mrad (eq. 82).
    pub angular_mrad: f64,
    /// Antennas above the smooth Earth hte and hre, m (eq. 92).
    pub effective_m: [f64; 2],
    /// Roughness hm, m (eq. 93).
    pub roughness_m: f64,
}

impl PathGeometry {
    pub fn new(profile: &Profile<'_>, path: &Path, effective_radius_m: f64) -> Self {
        let length_m = profile.length_m();
        let (tx_ground, rx_ground) = profile.ends_msl_m();
        let antenna_msl_m = [tx_ground + path.tx_agl_m, rx_ground + path.rx_agl_m];
        let [tx, rx] = antenna_msl_m;
        // Slopes rise with their angles: one arc tangent at the end instead of one a point.
        let slope = |rise_m: f64, distance_m: f64| {
            rise_m / distance_m - 0.5 * distance_m / effective_radius_m
        };
        let angle_mrad = |slope: f64| 1e3 * libm::atan(slope);

        // The first of the highest points from the transmitter, the last from the receiver (eq. 78, 81).
        let mut from_tx = (f64::NEG_INFINITY, 0);
        let mut from_rx = (f64::NEG_INFINITY, 0);
        for (index, (distance_m, ground_msl_m)) in profile.interior().enumerate() {
            let up = slope(ground_msl_m - tx, distance_m);
            from_tx = if up > from_tx.0 { (up, index + 1) } else { from_tx };
            let back = slope(ground_msl_m - rx, length_m - distance_m);
            from_rx = if back >= from_rx.0 { (back, index + 1) } else { from_rx };
        }
        let direct = [slope(rx - tx, length_m), slope(tx - rx, length_m)];
        let line_of_sight = from_tx.0 <= direct[0];
        let (horizon_mrad, points) = if line_of_sight {
            let point = nearest_to_the_ray(profile, antenna_msl_m, effective_radius_m, path);
            (direct, [point, point])
        } else {
            ([from_tx.0, from_rx.0], [from_tx.1, from_rx.1])
        };
        let horizon_mrad = horizon_mrad.map(angle_mrad);
        let place_m = |index: usize| profile.distance_m(index);
        let horizon_km = [place_m(points[0]), length_m - place_m(points[1])].map(|m| m * 1e-3);

        // Smooth Earth for ducts: the fitted line, below the ground at both ends (eq. 85, 86, 90).
        let (start, end) = least_squares_ends_msl_m(profile);
        let smooth = [start.min(tx_ground), end.min(rx_ground)];
        let slope = (smooth[1] - smooth[0]) / length_m;
        let between = points[0].min(points[1])..=points[0].max(points[1]);
        let above = |(_, (distance_m, ground_msl_m)): (usize, (f64, f64))| {
            ground_msl_m - (smooth[0] + slope * distance_m)
        };
        let points = profile.points().enumerate().filter(|(index, _)| between.contains(index));
        let roughness_m = points.map(above).fold(f64::NEG_INFINITY, f64::max);

        let length_km = length_m * 1e-3;
        let height_km = (tx - rx) * 1e-3;
        Self {
            length_km,
            slant_km: (length_km * length_km + height_km * height_km).sqrt(),
            antenna_msl_m,
            effective_radius_km: effective_radius_m * 1e-3,
            line_of_sight,
            horizon_km,
            horizon_mrad,
            angular_mrad: 1e3 * length_m / effective_radius_m + horizon_mrad[0] + horizon_mrad[1],
            effective_m: [tx - smooth[0], rx - smooth[1]],
            roughness_m,
        }
    }
}

/// Index of the point with the largest diffraction parameter of a path in line of sight (§5.4, eq. 80); the
/// transmitter where there is no point between the ends.
fn nearest_to_the_ray(
    profile: &Profile<'_>,
    [tx, rx]: [f64; 2],
    effective_radius_m: f64,
    path: &Path,
) -> usize {
    let length_m = profile.length_m();
    let wavelength_m = wavelength_m(path.frequency_mhz);
    let mut nearest = (f64::NEG_INFINITY, 0);
    for (index, (distance_m, ground_msl_m)) in profile.interior().enumerate() {
        let product = distance_m * (length_m - distance_m);
        let ray = (tx * (length_m - distance_m) + rx * distance_m) / length_m;
        let above = ground_msl_m + 0.5 * product / effective_radius_m - ray;
        let nu = above * (2.0 * length_m / (wavelength_m * product)).sqrt();
        nearest = if nu > nearest.0 { (nu, index + 1) } else { nearest };
    }
    nearest.1
}
