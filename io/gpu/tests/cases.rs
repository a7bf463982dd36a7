//! Sites on real tiles: rough and flat land, coasts, voids, short and long paths, low and high frequencies.

use groundwave_model::coverage::{CoverageRequest, Grid, Sampling};
use groundwave_model::radio::{Environment, Station};
use groundwave_model::terrain::{GeoPoint, Terrain};
use groundwave_terrain::TerrainStack;
use groundwave_test_data::shared;

/// A site, its cells and what it may cost.
pub struct Case {
    pub name: &'static str,
    pub request: CoverageRequest,
    pub terrain: TerrainStack,
    pub grid: Grid,
    pub per_deg: u32,
    /// Maximum share of cells that are flagged.
    pub flagged_max: f64,
}

struct Row {
    name: &'static str,
    at_deg: [f64; 2],
    radius_m: f64,
    frequency_mhz: f64,
    antenna_agl_m: [f64; 2],
    time_percent: f64,
    location_percent: f64,
    flagged_max: f64,
}

const fn row(
    name: &'static str,
    at_deg: [f64; 2],
    radius_m: f64,
    frequency_mhz: f64,
    antenna_agl_m: [f64; 2],
    flagged_max: f64,
) -> Row {
    Row {
        name,
        at_deg,
        radius_m,
        frequency_mhz,
        antenna_agl_m,
        time_percent: 90.0,
        location_percent: 50.0,
        flagged_max,
    }
}

const ROWS: [Row; 14] = [
    row("rough land", [50.6, -114.5], 20e3, 900.0, [15.0, 3.0], 0.005),
    row("coast", [57.65, 11.75], 25e3, 868.0, [30.0, 1.5], 0.02),
    row("mountains at 1 arc-second", [48.1, -124.6], 9e3, 5_800.0, [10.0, 10.0], 0.005),
    row("sea at 1 arc-second", [-45.6, -65.4], 12e3, 2_400.0, [12.0, 2.0], 0.02),
    row("hills", [55.9, -3.4], 30e3, 145.0, [20.0, 1.5], 0.005),
    row("low land", [52.3, 8.5], 35e3, 433.0, [40.0, 10.0], 0.005),
    row("high masts", [51.3, -0.5], 50e3, 100.0, [300.0, 2.0], 0.005),
    row("mountains", [42.3, 1.5], 26e3, 10_000.0, [8.0, 4.0], 0.005),
    row("equator", [0.5, 10.5], 20e3, 3_500.0, [25.0, 12.0], 0.005),
    row("across tiles", [51.001, -114.002], 28e3, 900.0, [15.0, 3.0], 0.005),
    row("edge of the tiles", [53.9, 9.9], 22e3, 868.0, [15.0, 3.0], 0.005),
    row("far", [41.6, 1.4], 70e3, 40.0, [60.0, 10.0], 0.005),
    row("shadows at 10 GHz", [42.5, 1.5], 48e3, 10_000.0, [3.0, 2.0], 0.005),
    row("low antennas", [52.55, 8.3], 15e3, 20.0, [1.0, 1.0], 0.005),
];

fn station(height_agl_m: f64, frequency_mhz: f64) -> Station {
    let mut station = groundwave_model::sample::station();
    station.height_agl_m = height_agl_m;
    station.radio.frequency_mhz = frequency_mhz;
    station
}

fn made(row: &Row) -> Case {
    let terrain = TerrainStack::open(Some(&shared("data/srtm")), None).unwrap();
    let position = GeoPoint::new(row.at_deg[0], row.at_deg[1]).unwrap();
    let arcsec = terrain.resolution_arcsec(position).unwrap();
    let [transmitter, receiver] =
        row.antenna_agl_m.map(|height_agl_m| station(height_agl_m, row.frequency_mhz));
    let request = CoverageRequest {
        position,
        transmitter,
        receiver,
        environment: Environment {
            time_percent: row.time_percent,
            location_percent: row.location_percent,
            ..Environment::default()
        },
        packet_octets: 1_000,
        sampling: Sampling::Posts,
        radius_m: row.radius_m,
    };
    // Some 3,700 cells within the radius.
    let grid = Grid::square(position, row.radius_m, 69).unwrap();
    Case {
        name: row.name,
        request,
        terrain,
        grid,
        per_deg: (3_600.0 / arcsec).round() as u32,
        flagged_max: row.flagged_max,
    }
}

pub fn cases() -> impl Iterator<Item = Case> {
    ROWS.iter().map(made)
}

pub fn case(name: &str) -> Case {
    made(ROWS.iter().find(|row| row.name == name).unwrap())
}
