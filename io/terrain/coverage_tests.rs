//! Coverage over real ground: the fast mode keeps its bound.

use groundwave_needs::needs;
use groundwave_systems::coverage::fast::{ERROR_P99_DB, compare};
use groundwave_systems::coverage::{
    CoverageRequest, Flags, Grid, Sampling, coverage, fast_coverage,
};
use groundwave_systems::radio::Environment;
use groundwave_systems::sample::station;
use groundwave_systems::terrain::GeoPoint;
use groundwave_systems::testing::{fetched, shared};

use super::TileDirectory;

/// A 15 m mast and receivers at 3 m.
fn setup([lat_deg, lon_deg]: [f64; 2], frequency_mhz: f64, radius_m: f64) -> CoverageRequest {
    let mut transmitter = station();
    transmitter.radio.frequency_mhz = frequency_mhz;
    transmitter.height_agl_m = 15.0;
    let mut receiver = transmitter.clone();
    receiver.height_agl_m = 3.0;
    CoverageRequest {
        position: GeoPoint::new(lat_deg, lon_deg).unwrap(),
        transmitter,
        receiver,
        environment: Environment::default(),
        packet_octets: 1_000,
        sampling: Sampling::Posts,
        radius_m,
    }
}

/// Checks the error bound of the fast mode in cells of `arcsec`.
fn check(tiles: &TileDirectory, name: &str, setup: &CoverageRequest, arcsec: f64) {
    let site = setup.prepare(tiles).unwrap();
    let grid = Grid::around(&[setup.position], setup.radius_m, arcsec).unwrap();
    let exact = coverage(&site, tiles, &grid);
    let fast = fast_coverage(&site, tiles, &grid);
    let shared = fast
        .iter()
        .filter(|cell| cell.flags.intersects(Flags::FAST))
        .count();
    let found = compare(&exact, &fast);
    assert!(2 * shared > found.cells, "{name}: {shared}");
    assert!(found.p99_db <= ERROR_P99_DB, "{name}: {found:?}");
    assert!(found.verdict_flips_percent < 1.0, "{name}: {found:?}");
    // Were both modes the same, there would be nothing to bound.
    assert!(found.worst_db > 0.0, "{name}");
}

#[needs(terrain)]
#[test]
fn the_fast_mode_keeps_its_bound_over_rocky_coast() {
    let tiles = TileDirectory::open(&fetched("srtm")).unwrap();
    for (site, frequency_mhz) in [
        ([57.5, 11.5], 900.0),
        ([57.75, 11.8], 5_580.0),
        ([57.6, 12.0], 2_450.0),
    ] {
        let name = format!("N57E011 {site:?} {frequency_mhz} MHz");
        let setup = setup(site, frequency_mhz, 12e3);
        check(&tiles, &name, &setup, 6.0);
    }
}

#[needs(shared("data/srtm"))]
#[test]
fn the_fast_mode_keeps_its_bound_over_prairie_mountains_and_forest() {
    let tiles = TileDirectory::open(&shared("data/srtm")).unwrap();
    for (name, site, arcsec) in [
        ("Calgary", [51.0, -114.0], 12.0),
        ("Andorra", [42.5, 1.5], 12.0),
        ("Olympic, 1 arc-second", [48.15, -124.35], 12.0),
    ] {
        check(&tiles, name, &setup(site, 900.0, 20e3), arcsec);
    }
}
