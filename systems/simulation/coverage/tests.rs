//! Coverage against links, over synthetic terrain. Measured terrain is used in the tests of the
//! layer that reads tiles.

mod exact;
mod gaps;
mod grids;
mod jobs;
mod live;
mod losses;
mod placement;

use groundwave_model::radio::budget::Workspace;
use groundwave_model::radio::{Environment, LinkResult, Station, Verdict};
use groundwave_model::terrain::test_ground::{Covered, Holed, Rough};
use groundwave_model::terrain::{GeoPoint, Terrain};

use super::*;
use crate::link::{Inputs, judge, trace};

pub(super) fn point(lat_deg: f64, lon_deg: f64) -> GeoPoint {
    GeoPoint::new(lat_deg, lon_deg).unwrap()
}

/// A 915 MHz station `height_agl_m` above ground.
pub(super) fn station(height_agl_m: f64) -> Station {
    let mut station = groundwave_model::sample::station();
    station.height_agl_m = height_agl_m;
    station.radio.frequency_mhz = 915.0;
    station
}

pub(super) fn setup(position: GeoPoint, radius_m: f64) -> CoverageRequest {
    CoverageRequest {
        position,
        transmitter: station(25.0),
        receiver: station(3.0),
        environment: Environment::default(),
        packet_octets: 1_000,
        sampling: Sampling::Posts,
        radius_m,
    }
}

/// Link result of a cell.
pub(super) fn link(setup: &CoverageRequest, terrain: &dyn Terrain, to: GeoPoint) -> LinkResult {
    let (samples, spacing_m) = match setup.sampling {
        Sampling::Posts => (None, None),
        Sampling::Spacing(spacing_m) => (None, Some(spacing_m)),
        Sampling::Count(count) => (Some(count as usize), None),
    };
    let inputs = Inputs {
        terrain,
        environment: &setup.environment,
        packet_bytes: setup.packet_octets,
        spacing_m,
    };
    let profile = trace(&inputs, setup.position, to, samples);
    let ends = [(setup.position, &setup.transmitter), (to, &setup.receiver)];
    judge(&inputs, &profile, ends[0], ends[1], &mut Workspace::default()).unwrap().0
}

/// Compares a cell with its link; the largest difference, dB.
pub(super) fn difference_db(cell: &Cell, link: &LinkResult) -> f64 {
    assert_eq!(cell.verdict, link.verdict, "{cell:?} {link:?}");
    let prediction = &link.prediction;
    for (dbm, apart_db) in cell.rx_power_quantiles_dbm.into_iter().zip(prediction.deciles_db()) {
        let expected_dbm = prediction.rx_power_dbm + apart_db;
        assert!((f64::from(dbm) - expected_dbm).abs() < 1e-4, "{cell:?} {link:?}");
    }
    assert_eq!(cell.modulation_id, link.rate.modulation_id);
    assert!((cell.data_rate_bps - link.rate.data_rate_bps).abs() < 1e-6);
    assert_eq!(cell.flags.intersects(Flags::PATH_MISSING), link.terrain.missing_samples > 0);
    assert_eq!(cell.flags.intersects(Flags::PATH_VOID), link.terrain.void_samples > 0);
    // A cell whose receiver cannot decode the transmitter has no margin; the link keeps that of its power.
    let is_decodable = !cell.flags.intersects(Flags::UNDECODABLE);
    if !is_decodable {
        assert_eq!(cell.link_margin_db, f64::NEG_INFINITY);
        assert_eq!(link.prediction.link_prob, 0.0);
    }
    let margin_db = if is_decodable { cell.link_margin_db } else { link.margin.link_margin_db };
    let pairs = [
        (cell.rx_power_dbm, link.receiver.rx_power_dbm),
        (cell.path_loss_db, link.losses.total_path_loss_db),
        (cell.field_strength_dbuv_m, link.field_strength_dbuv_m()),
        (cell.sinr_db, link.receiver.sinr_db),
        (margin_db, link.margin.link_margin_db),
    ];
    pairs.iter().map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
