//! Digests of links and of coverages over synthetic ground.

use groundwave_model::coverage::{CoverageRequest, Grid, Sampling, coverage};
use groundwave_model::radio::{Clutter, ClutterCategory, Environment, Model, evaluate};
use groundwave_model::sample;
use groundwave_model::terrain::{GeoPoint, Terrain, TerrainSource, TerrainUse, sample_profile};

/// Links of each model.
const LINKS: u32 = 2_000;

/// Cells along each side of a coverage.
const SIDE: u32 = 64;

/// Posts of a degree: 3".
const POSTS: f64 = 1_200.0;

/// Ground of value noise over posts of 3": integers and products only.
struct Hills;

/// A number in [0, 1) for a post of a lattice (Steele's SplitMix64).
fn noise(row: i64, column: i64, octave: u64) -> f64 {
    let mut state = (row as u64)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add((column as u64).wrapping_mul(0xc2b2_ae3d_27d4_eb4f))
        .wrapping_add(octave);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((state ^ (state >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

fn height_m(lat_deg: f64, lon_deg: f64) -> f64 {
    let (mut height_m, mut size_m, mut posts) = (50.0, 240.0, POSTS / 64.0);
    for octave in 0..7 {
        let (row, column) = ((lat_deg * posts).floor(), (lon_deg * posts).floor());
        let (down, across) = (lat_deg * posts - row, lon_deg * posts - column);
        let at = |i: i64, j: i64| noise(row as i64 + i, column as i64 + j, octave);
        let top = at(0, 0) * (1.0 - across) + at(0, 1) * across;
        let bottom = at(1, 0) * (1.0 - across) + at(1, 1) * across;
        height_m += size_m * (top * (1.0 - down) + bottom * down);
        size_m *= 0.5;
        posts *= 2.0;
    }
    height_m
}

impl Terrain for Hills {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], elevation_msl_m: &mut [f64]) -> TerrainUse {
        for ((lat_deg, lon_deg), out) in lat_deg.iter().zip(lon_deg).zip(elevation_msl_m) {
            *out = height_m(*lat_deg, *lon_deg);
        }
        TerrainUse::default()
    }

    fn undulation_m(&self, _: GeoPoint) -> f64 {
        36.0
    }

    fn resolution_arcsec(&self, _: GeoPoint) -> Option<f64> {
        Some(3.0)
    }

    fn describe(&self) -> TerrainSource {
        TerrainSource { name: "value noise".into(), ..TerrainSource::default() }
    }
}

/// FNV-1a of a text.
fn digest(state: u64, text: &str) -> u64 {
    text.bytes().fold(state, |state, byte| (state ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

fn environment(model: Model) -> Environment {
    let clutter =
        Clutter::HeightGain { category: ClutterCategory::Suburban, representative_height_m: None };
    Environment { model, clutter: Some(clutter), ..Environment::default() }
}

/// Every number of the results of random links up to 80 km long.
fn links(model: Model) -> u64 {
    let environment = environment(model);
    let mut state = 0xcbf2_9ce4_8422_2325;
    for link in 0..LINKS {
        let random = |draw: i64| noise(i64::from(link), draw, 99);
        let (lat_deg, lon_deg) = (-70.0 + 140.0 * random(0), -180.0 + 360.0 * random(1));
        let reach_deg = 0.01 + 0.35 * random(2) * random(2);
        let from = GeoPoint::new(lat_deg, lon_deg).unwrap();
        let east_deg = lon_deg + reach_deg * (2.0 * random(4) - 1.0);
        let to = GeoPoint::new(lat_deg + reach_deg * random(3), east_deg).unwrap();
        let mut station = sample::station();
        station.height_agl_m = 1.5 + 60.0 * random(5);
        station.radio.frequency_mhz = 100.0 + 5_800.0 * random(6);
        let mut other = station.clone();
        other.height_agl_m = 1.5 + 10.0 * random(7);
        let profile = sample_profile(&Hills, from, to, 64 + (400.0 * random(8)) as u32 as usize);
        let result = evaluate(&profile, [36.0; 2], &station, &other, &environment, 1_000);
        state = digest(state, &format!("{:?}", result.expect("a valid link")));
    }
    state
}

/// Every number of the cells around one site.
fn cells(model: Model) -> u64 {
    let position = GeoPoint::new(57.7, 11.9).unwrap();
    let request = CoverageRequest {
        position,
        transmitter: sample::station(),
        receiver: sample::station(),
        environment: environment(model),
        packet_octets: 1_000,
        sampling: Sampling::Count(128),
        radius_m: 20e3,
    };
    let grid = Grid::square(position, 20e3, SIDE).expect("a valid grid");
    let site = request.prepare(&Hills).expect("a valid request");
    let cells = coverage(&site, &Hills, &grid);
    cells.iter().fold(0xcbf2_9ce4_8422_2325, |state, cell| digest(state, &format!("{cell:?}")))
}

/// One line for each model.
#[must_use]
pub fn lines() -> Vec<String> {
    let line = |&model: &Model| {
        format!("{model}: links {:016x}, cells {:016x}", links(model), cells(model))
    };
    Model::ALL.iter().map(line).collect()
}
