//! Parameters that the model takes from a terrain profile (Algorithm function `qlrpfl`).

use super::fit::line_ends;
use super::horizons::{Horizon, horizons};
use super::medium::{effective_curvature, surface_refractivity};
use super::path::{Path, skipped_m, smooth_horizon_m};
use super::roughness::{SampleBuffer, Sampled, delta_h_m, ranges_m};
use crate::numeric::{exp, greater};
use crate::profile::PathProfile;

/// Measures of a profile before any formula is applied; pairs are transmitter, receiver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Length of the path, m.
    pub distance_m: f64,
    /// Surface refractivity at its mean height, N-units.
    pub n_s: f64,
    /// Radius of the effective earth, m.
    pub earth_radius_m: f64,
    /// Distances to the horizons, m.
    pub horizon_distance_m: [f64; 2],
    /// Elevation angles of the horizons, rad.
    pub horizon_angle_rad: [f64; 2],
    /// Height of the ground at the ends above the line fitted to the terrain, m.
    pub raised_m: [f64; 2],
    /// Interdecile range of the terrain about a line, m.
    pub range_m: f64,
    /// Start and end of the stretch it was taken over, m from the transmitter.
    pub start_m: f64,
    /// See [`Measured::start_m`].
    pub end_m: f64,
}

/// Paths measured side by side.
pub const SIDE_BY_SIDE: usize = 8;

/// Numbers of a loop that is made vector code, although there may be fewer paths.
const WIDE: usize = 16;

/// Takes into `all` what the model needs from `profiles`, between antennas `antenna_agl_m` above ground and
/// under a refractivity of `n_0` at sea level; from those left out, nothing of meaning.
///
/// Step by step for several of them: while the sums of one are put together, the next is under way. How
/// many there are changes no bit.
#[inline(always)]
pub fn measure<const N: usize>(
    profiles: &[Option<PathProfile>; N],
    n_0: f64,
    antenna_agl_m: [f64; 2],
    buffers: &mut [SampleBuffer; 2],
    all: &mut [Measured; N],
) {
    const { assert!(N <= WIDE) };
    let mut mean_msl_m = [0.0; WIDE];
    for (mean_msl_m, profile) in mean_msl_m.iter_mut().zip(profiles) {
        if let Some(profile) = profile {
            *mean_msl_m = profile.mean_msl_m();
        }
    }
    let (mut n_s, mut earth_radius_m) = ([0.0; WIDE], [0.0; WIDE]);
    for path in 0..if N == 1 { 1 } else { WIDE } {
        n_s[path] = surface_refractivity(n_0, mean_msl_m[path]);
        earth_radius_m[path] = 1.0 / effective_curvature(n_s[path]);
    }
    for (path, measured) in all.iter_mut().enumerate() {
        *measured = Measured::NONE;
        measured.n_s = n_s[path];
        measured.earth_radius_m = earth_radius_m[path];
    }
    // Two at a time from here on: the heights of eight long paths are too many for the nearest cache.
    let (pairs, rest) = all.as_chunks_mut::<2>();
    let (profiles, last) = profiles.as_chunks::<2>();
    for (pair, profiles) in pairs.iter_mut().zip(profiles) {
        shape(pair, profiles, antenna_agl_m, buffers);
    }
    if let ([measured], [profile]) = (rest, last) {
        let [buffer, _] = buffers;
        shape(
            std::array::from_mut(measured),
            std::array::from_ref(profile),
            antenna_agl_m,
            std::array::from_mut(buffer),
        );
    }
}

/// Measures horizons, effective heights and irregularity over an earth of known radius.
#[inline(always)]
fn shape<const N: usize>(
    all: &mut [Measured; N],
    profiles: &[Option<PathProfile>; N],
    antenna_agl_m: [f64; 2],
    buffers: &mut [SampleBuffer; N],
) {
    for (measured, profile) in all.iter_mut().zip(profiles) {
        if let Some(profile) = profile {
            let horizons = horizons(profile, measured.earth_radius_m, antenna_agl_m);
            measured.see(profile.distance_m(), horizons, antenna_agl_m);
        }
    }
    for (measured, profile) in all.iter_mut().zip(profiles) {
        if let Some(profile) = profile {
            measured.raised_m = measured.raised_m(profile);
        }
    }
    rough(all, profiles, buffers);
}

/// Measures the irregularity of the terrain, the rest being known.
#[inline(always)]
fn rough<const N: usize>(
    all: &mut [Measured; N],
    profiles: &[Option<PathProfile>; N],
    buffers: &mut [SampleBuffer; N],
) {
    let mut sampled = [None; N];
    for path in 0..N {
        if let Some(profile) = &profiles[path] {
            let Measured { start_m, end_m, .. } = all[path];
            sampled[path] = Sampled::take(profile, start_m, end_m, &mut buffers[path]);
        }
    }
    let ranges_m = ranges_m(sampled, buffers);
    for path in 0..N {
        all[path].range_m = ranges_m[path];
    }
}

/// True if the horizons, `sum_m` from their terminals in all, lie so far that the path is
/// taken as one in line of sight.
#[inline(always)]
fn is_well_in_sight(sum_m: f64, distance_m: f64) -> bool {
    sum_m > 1.5 * distance_m
}

impl Measured {
    /// Nothing measured yet.
    pub(super) const NONE: Self = Self {
        distance_m: 0.0,
        n_s: 0.0,
        earth_radius_m: 0.0,
        horizon_distance_m: [0.0; 2],
        horizon_angle_rad: [0.0; 2],
        raised_m: [0.0; 2],
        range_m: 0.0,
        start_m: 0.0,
        end_m: 0.0,
    };

    /// Takes the horizons of a path of `distance_m`.
    #[inline(always)]
    fn see(&mut self, distance_m: f64, [tx, rx]: [Horizon; 2], antenna_agl_m: [f64; 2]) {
        self.distance_m = distance_m;
        self.horizon_distance_m = [tx.distance_m, rx.distance_m];
        self.horizon_angle_rad = [tx.angle_rad, rx.angle_rad];
        self.start_m = skipped_m(tx.distance_m, antenna_agl_m[0]);
        self.end_m = distance_m - skipped_m(rx.distance_m, antenna_agl_m[1]);
    }

    /// Height of the ground at the ends above the fitted line: an antenna gains by ground
    /// that does.
    #[inline(always)]
    fn raised_m(&self, profile: &PathProfile) -> [f64; 2] {
        let elevation = profile.elevation_msl_m;
        let steps = |length_m: f64| length_m / profile.step_m;
        let (start, end) = (steps(self.start_m), steps(self.end_m));
        let [near, far] = self.horizon_distance_m;
        let [fit_tx, fit_rx] = if is_well_in_sight(near + far, self.distance_m) {
            line_ends(elevation, start, end)
        } else {
            [
                line_ends(elevation, start, steps(0.9 * near))[0],
                line_ends(elevation, steps(self.distance_m - 0.9 * far), end)[1],
            ]
        };
        [greater(elevation[0] - fit_tx, 0.0), greater(elevation[elevation.len() - 1] - fit_rx, 0.0)]
    }

    /// The geometric parameters of the path.
    #[inline(always)]
    pub(super) fn path(&self, antenna_agl_m: [f64; 2]) -> Path {
        let [near, far] = self.horizon_distance_m;
        let raised = [antenna_agl_m[0] + self.raised_m[0], antenna_agl_m[1] + self.raised_m[1]];
        let path = Path {
            distance_m: self.distance_m,
            antenna_agl_m,
            effective_height_m: raised,
            horizon_distance_m: self.horizon_distance_m,
            horizon_angle_rad: self.horizon_angle_rad,
            delta_h_m: delta_h_m(self.range_m, self.end_m - self.start_m),
            n_s: self.n_s,
            earth_radius_m: self.earth_radius_m,
            point_to_point: true,
        };
        if is_well_in_sight(near + far, self.distance_m) {
            path.with_smooth_horizons()
        } else {
            path
        }
    }
}

impl Path {
    /// The same with its horizons, none of which were met, replaced by typical ones beyond its
    /// ends (Algorithm eqs 3.3 and 3.4), and with effective heights raised if those horizons fell
    /// short of the path.
    #[inline(always)]
    fn with_smooth_horizons(mut self) -> Self {
        let [near, far] = self.typical_horizons_m();
        let combined_m = near + far;
        let short = if combined_m <= self.distance_m { self.distance_m / combined_m } else { 1.0 };
        self.effective_height_m[0] *= short * short;
        self.effective_height_m[1] *= short * short;
        self.horizon_distance_m = self.typical_horizons_m();
        self.horizon_angle_rad = [self.typical_angle_rad(0), self.typical_angle_rad(1)];
        self
    }

    #[inline(always)]
    fn typical_angle_rad(&self, end: usize) -> f64 {
        typical_horizon_angle_rad(
            self.effective_height_m[end],
            smooth_horizon_m(self.effective_height_m[end], self.earth_radius_m),
            self.horizon_distance_m[end],
            self.delta_h_m,
        )
    }

    #[inline(always)]
    fn typical_horizons_m(&self) -> [f64; 2] {
        let of = |height_m: f64| {
            let smooth_m = smooth_horizon_m(height_m, self.earth_radius_m);
            typical_horizon_m(height_m, smooth_m, self.delta_h_m)
        };
        [of(self.effective_height_m[0]), of(self.effective_height_m[1])]
    }
}

/// Horizon distance over terrain of irregularity `delta_h_m`, m (Algorithm eq. 3.3).
#[inline(always)]
pub(super) fn typical_horizon_m(height_m: f64, smooth_m: f64, delta_h_m: f64) -> f64 {
    smooth_m * exp(-0.07 * (delta_h_m / greater(height_m, 5.0)).sqrt())
}

/// Horizon angle that goes with that distance, rad (Algorithm eq. 3.4).
#[inline(always)]
pub(super) fn typical_horizon_angle_rad(
    height_m: f64,
    smooth_m: f64,
    horizon_m: f64,
    delta_h_m: f64,
) -> f64 {
    (0.65 * delta_h_m * (smooth_m / horizon_m - 1.0) - 2.0 * height_m) / smooth_m
}
