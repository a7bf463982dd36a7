//! The terrain irregularity parameter Δh (Algorithm function `dlthx`; TR 82-100 section 3.1).

use super::PathProfile;
use super::fit::line_ends;

/// Most samples taken of a path.
const MAX_SAMPLES: usize = 245;

/// Δh, m: the interdecile range of the terrain about a fitted line between `start_m` and `end_m`
/// from the transmitter, scaled to what it would be on a very long path. Zero where fewer than
/// two steps lie between.
pub(super) fn delta_h_m(profile: &PathProfile, start_m: f64, end_m: f64) -> f64 {
    let start = start_m / profile.step_m;
    let span = end_m / profile.step_m - start;
    if span < 2.0 {
        return 0.0;
    }
    let decile = ((0.1 * (span + 8.0)) as usize).clamp(4, 25);
    let mut samples = [0.0; MAX_SAMPLES];
    let samples = &mut samples[..10 * decile - 5];

    resample(profile.elevation_msl_m, start, span, samples);
    detrend(samples);
    let range_m = interdecile_range(samples, decile);
    // ERL 79-ITS 67 eq. 3, inverted.
    range_m / (1.0 - 0.8 * (-(end_m - start_m) / 50e3).exp())
}

/// Δh(d), m: what remains of `delta_h_m` over `distance_m` (ERL 79-ITS 67 eq. 3).
pub(super) fn at_distance_m(delta_h_m: f64, distance_m: f64) -> f64 {
    delta_h_m * (1.0 - 0.8 * (-distance_m / 50e3).exp())
}

/// σ_h, m: deviation of terrain and clutter within the first Fresnel zone of the reflecting
/// plane, from Δh(d) (ERL 79-ITS 67 eq. 3.6a).
pub(super) fn sigma_h_m(delta_h_m: f64) -> f64 {
    0.78 * delta_h_m * (-0.5 * delta_h_m.sqrt().sqrt()).exp()
}

/// Evenly spaced elevations over `span` steps from `start` on, by linear interpolation.
fn resample(elevation: &[f64], start: f64, span: f64, samples: &mut [f64]) {
    let spacing = span / (samples.len() - 1) as f64;
    let last_interval = elevation.len() as u32 - 2;
    for (number, sample) in (0_u32..).zip(samples) {
        let position = start + f64::from(number) * spacing;
        let interval = (position as u32).min(last_interval);
        let (near, far) = (
            elevation[interval as usize],
            elevation[interval as usize + 1],
        );
        *sample = near + (far - near) * (position - f64::from(interval));
    }
}

/// Subtracts the straight line that fits best.
fn detrend(samples: &mut [f64]) {
    let last = (samples.len() - 1) as f64;
    let [first_m, last_m] = line_ends(samples, 0.0, last);
    let slope = (last_m - first_m) / last;
    for (index, sample) in (0_i32..).zip(samples) {
        *sample -= first_m + f64::from(index) * slope;
    }
}

/// Difference between the value that `decile - 1` samples exceed and the one that all but
/// `decile - 1` do. Reorders the samples.
fn interdecile_range(samples: &mut [f64], decile: usize) -> f64 {
    let descending = |a: &f64, b: &f64| b.total_cmp(a);
    let (_, &mut high, rest) = samples.select_nth_unstable_by(decile - 1, descending);
    let from_bottom = decile - 1;
    let (_, &mut low, _) = rest.select_nth_unstable_by(rest.len() - 1 - from_bottom, descending);
    high - low
}
