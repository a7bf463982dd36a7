//! Positions, heights and elevation angles of the two antennas.

use groundwave_propagation::itm::MAX_ELEVATION_M;
use groundwave_propagation::numeric::{Kernel, all_within, atan2, sin_cos, vectorised};
use groundwave_propagation::profile::{PathClutter, PathProfile};
use groundwave_values::bounds::{BadValue, within};

use super::environment::Environment;
use super::fresnel::EARTH_RADIUS_M;
use super::result::{Geometry, TerrainReport};
use crate::terrain::{GeoPoint, Profile};

/// Antennas closer than this are taken to be this far apart, m: free-space loss belongs to the
/// far field and has no meaning at zero distance.
pub const SHORTEST_M: f64 = 1.0;

/// A profile as one direction reads it, transmitter first.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    pub distance_m: f64,
    pub step_m: f64,
    pub azimuth_deg: f64,
    pub back_azimuth_deg: f64,
    /// Two heights or more within [`MAX_ELEVATION_M`] of sea level.
    pub elevation_msl_m: &'a [f64],
    /// Heights of clutter at points of their own, m above ground; empty without land cover.
    pub clutter_agl_m: &'a [f64],
    /// The same as models of path loss read them.
    clutter: Option<PathClutter<'a>>,
    /// Geoid over ellipsoid at the two ends, m.
    pub undulation_m: [f64; 2],
    /// Latitude half-way, deg; absent when the profile carries no positions.
    pub latitude_deg: Option<f64>,
    /// Positions of the ends; absent when the profile carries none.
    pub ends: Option<[GeoPoint; 2]>,
    pub terrain: TerrainReport,
    /// True if the heights are of different kinds.
    pub is_mixed: bool,
    /// True if an end stands on a fine surface.
    pub is_fine_surface: bool,
    /// True if `undulation_m` is that of a geoid.
    pub has_geoid: bool,
}

impl<'a> View<'a> {
    /// The profile as it was traced. Refuses one that has no two ends, or heights of no
    /// place.
    pub fn along(profile: &'a Profile, undulation_m: [f64; 2]) -> Result<Self, BadValue> {
        let elevation_msl_m = profile.elevation_msl_m.as_slice();
        within("profile.samples", elevation_msl_m.len() as f64, 2.0, 1e9)?;
        within("profile.distance_m", profile.distance_m, 0.0, 2.1e7)?;
        within("profile.step_m", profile.step_m, 0.0, 2.1e7)?;
        if !all_within(elevation_msl_m, MAX_ELEVATION_M) {
            for &height_m in elevation_msl_m {
                let range_m = [-MAX_ELEVATION_M, MAX_ELEVATION_M];
                within("profile.elevation_msl_m", height_m, range_m[0], range_m[1])?;
            }
        }
        for undulation in undulation_m {
            within("undulation_m", undulation, -1_000.0, 1_000.0)?;
        }
        let used = &profile.terrain;
        Ok(Self {
            distance_m: profile.distance_m,
            step_m: profile.step_m,
            azimuth_deg: profile.azimuth_deg,
            back_azimuth_deg: profile.back_azimuth_deg,
            elevation_msl_m,
            clutter_agl_m: &profile.clutter_agl_m,
            clutter: along_path(&profile.clutter_agl_m),
            undulation_m,
            latitude_deg: profile.lat_deg.get(profile.lat_deg.len() / 2).copied(),
            ends: profile.ends(),
            terrain: TerrainReport {
                tiles_used: u32::try_from(used.tiles.as_slice().len()).unwrap_or(u32::MAX),
                void_samples: used.void_samples,
                missing_samples: used.missing_samples,
                ground: profile.ground,
                resolution_arcsec: used.resolution_arcsec,
            },
            is_mixed: used.kinds.is_mixed(),
            is_fine_surface: profile.is_fine_surface,
            has_geoid: profile.has_geoid,
        })
    }

    /// The same path from its other end; `reversed` holds its heights and its clutter backwards.
    pub fn back(&self, [elevation_msl_m, clutter_agl_m]: &'a [Vec<f64>; 2]) -> Self {
        Self {
            azimuth_deg: self.back_azimuth_deg,
            back_azimuth_deg: self.azimuth_deg,
            elevation_msl_m,
            clutter_agl_m,
            clutter: along_path(clutter_agl_m),
            undulation_m: [self.undulation_m[1], self.undulation_m[0]],
            ..*self
        }
    }

    /// The heights as models of path loss read them.
    pub fn path(&self) -> PathProfile<'_> {
        let bare = PathProfile::bare(self.step_m, self.elevation_msl_m);
        PathProfile { clutter: self.clutter.as_ref(), ..bare }
    }

    /// Ground at transmitter and receiver above mean sea level, m.
    pub fn ground_msl_m(&self) -> [f64; 2] {
        [self.elevation_msl_m[0], self.elevation_msl_m[self.elevation_msl_m.len() - 1]]
    }
}

/// Clutter of these heights along a path; `None` without any.
fn along_path(clutter_agl_m: &[f64]) -> Option<PathClutter<'_>> {
    let height_agl_m = Some(clutter_agl_m).filter(|heights_m| !heights_m.is_empty());
    height_agl_m.map(|heights_m| PathClutter { height_agl_m: Some(heights_m), cover: None })
}

/// Works out the geometry of antennas `height_agl_m` (tx, rx) above the ends of `view`.
///
/// The slant range is a chord over a sphere of the mean radius, with heights above the ellipsoid;
/// elevation angles are those of a straight ray over the effective Earth.
pub(super) fn geometry(view: &View<'_>, height_agl_m: [f64; 2], env: &Environment) -> Geometry {
    struct Angles([f64; 6]);
    impl Kernel for Angles {
        type Output = (f64, [f64; 2]);

        #[inline(always)]
        fn run(self) -> Self::Output {
            let Self([distance_m, tx_msl, rx_msl, tx_hae, rx_hae, effective_m]) = self;
            let slant_m = slant_range_m(distance_m, tx_hae, rx_hae);
            let up_deg = elevation_angle_deg(distance_m, tx_msl, rx_msl, effective_m);
            let back_deg = elevation_angle_deg(distance_m, rx_msl, tx_msl, effective_m);
            (slant_m, [up_deg, back_deg])
        }
    }
    let distance_m = view.distance_m;
    let [tx_ground, rx_ground] = view.ground_msl_m();
    let [tx_msl, rx_msl] = [tx_ground + height_agl_m[0], rx_ground + height_agl_m[1]];
    let [tx_hae, rx_hae] = [tx_msl + view.undulation_m[0], rx_msl + view.undulation_m[1]];
    let effective_m = env.k_factor * EARTH_RADIUS_M;
    // Not for the width, but for its fused operations, which are calls elsewhere.
    let of = [distance_m, tx_msl, rx_msl, tx_hae, rx_hae, effective_m];
    let (slant_range_m, elevation_deg) = vectorised(Angles(of));
    Geometry {
        distance_m,
        slant_range_m,
        azimuth_deg: view.azimuth_deg,
        back_azimuth_deg: view.back_azimuth_deg,
        tx_elevation_angle_deg: elevation_deg[0],
        rx_elevation_angle_deg: elevation_deg[1],
        tx_ground_msl_m: tx_ground,
        rx_ground_msl_m: rx_ground,
        tx_ground_hae_m: view.has_geoid.then(|| tx_ground + view.undulation_m[0]),
        rx_ground_hae_m: view.has_geoid.then(|| rx_ground + view.undulation_m[1]),
        tx_antenna_msl_m: tx_msl,
        rx_antenna_msl_m: rx_msl,
        k_factor: env.k_factor,
        effective_earth_radius_m: effective_m,
    }
}

/// Chord between two heights above a sphere, m: law of cosines written for small angles.
#[inline(always)]
pub(super) fn slant_range_m(distance_m: f64, tx_hae_m: f64, rx_hae_m: f64) -> f64 {
    let (sin_half, _) = sin_cos(distance_m / (2.0 * EARTH_RADIUS_M));
    let (tx_m, rx_m) = (EARTH_RADIUS_M + tx_hae_m, EARTH_RADIUS_M + rx_hae_m);
    let rise_m = rx_hae_m - tx_hae_m;
    (4.0 * sin_half * sin_half * (tx_m * rx_m) + rise_m * rise_m).sqrt()
}

/// Angle above the horizontal at which `from_msl_m` sees `to_msl_m`, deg; 0 when they coincide.
#[inline(always)]
pub(super) fn elevation_angle_deg(
    distance_m: f64,
    from_msl_m: f64,
    to_msl_m: f64,
    radius_m: f64,
) -> f64 {
    let angle = distance_m / radius_m;
    let (sin_half, cos_half) = sin_cos(angle / 2.0);
    let dip = 2.0 * (sin_half * sin_half) * (radius_m + to_msl_m);
    let up = to_msl_m - from_msl_m - dip;
    let along = (radius_m + to_msl_m) * (2.0 * sin_half * cos_half);
    atan2(up, along).to_degrees()
}
