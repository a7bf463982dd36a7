//! Tests of the link budget: what they share.

mod budget;
mod cells;
mod clutter;
mod ends;
mod fallbacks;
mod invariants;
mod measured;
mod modulation;
mod parts;
mod patterns;
mod prediction;
mod presets;
mod rules;
mod shares;
mod surroundings;
mod wire;

use super::presets::{antenna, radio};
use super::{Environment, Model, Station, Surroundings, evaluate};
use crate::terrain::Profile;

/// A shipped fixture's rows, comments left out.
macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/radio/", $name))
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.split(',').collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
}
use fixture;

/// A station of catalogue parts, `height_agl_m` above ground.
fn station(radio_id: &str, antenna_id: &str, height_agl_m: f64) -> Station {
    let (radio, antenna) = (radio(radio_id).unwrap(), antenna(antenna_id).unwrap());
    Station::new(height_agl_m, radio.radio.clone(), antenna.antenna.clone())
}

/// A station at 1.8 GHz among `surroundings`, `height_agl_m` above ground.
fn at_1800_mhz(height_agl_m: f64, surroundings: Surroundings) -> Station {
    let mut end = station("lora_868_eu", "omni_2_15", height_agl_m);
    end.radio.frequency_mhz = 1_800.0;
    Station { surroundings, ..end }
}

/// Terrain of the given heights over `distance_m`, due east at 45 degrees north.
fn profile(distance_m: f64, elevation_msl_m: Vec<f64>) -> Profile {
    let gaps = (elevation_msl_m.len() - 1) as f64;
    Profile {
        distance_m,
        azimuth_deg: 90.0,
        back_azimuth_deg: 270.0,
        step_m: distance_m / gaps,
        lat_deg: vec![45.0; elevation_msl_m.len()],
        lon_deg: vec![7.0; elevation_msl_m.len()],
        elevation_msl_m,
        ..Profile::default()
    }
}

/// Level ground at sea level, 101 samples.
fn flat(distance_m: f64) -> Profile {
    profile(distance_m, vec![0.0; 101])
}

/// Level ground with one sharp ridge half-way.
fn ridge(distance_m: f64, height_m: f64) -> Profile {
    let mut heights = vec![0.0; 101];
    heights[50] = height_m;
    profile(distance_m, heights)
}

/// The default environment with another model.
fn under(model: Model) -> Environment {
    Environment { model, ..Environment::default() }
}

/// Evaluates with packets of 1000 octets and no geoid.
fn link(profile: &Profile, tx: &Station, rx: &Station, env: &Environment) -> super::LinkResult {
    evaluate(profile, [0.0; 2], tx, rx, env, 1_000).unwrap()
}

/// Fails unless `found` lies within `tolerance` of `expected`.
#[track_caller]
fn near(actual: f64, expected: f64, tolerance: f64) {
    assert!(
        (actual - expected).abs() <= tolerance,
        "{actual} is not {expected} within {tolerance}"
    );
}

/// A small generator (SplitMix64) for random links that are the same every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [low, high).
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// One of `count`.
    fn index(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    /// True once in `times`.
    fn once_in(&mut self, times: u64) -> bool {
        self.next().is_multiple_of(times)
    }
}
