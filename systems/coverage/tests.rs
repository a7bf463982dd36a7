//! Coverage against links, over synthetic terrain. Measured terrain is used in the tests of the
//! layer that reads tiles.

mod exact;
mod gaps;
mod grids;
mod jobs;
mod live;
mod placement;

use super::*;
use crate::link::{Inputs, judge, trace};
use crate::radio::budget::Workspace;
use crate::radio::{Environment, LinkResult, Station, Verdict};
use crate::terrain::{GeoPoint, Terrain, TerrainSource, TerrainUse, TileId};

/// Rough ground: hills upon hills, the same everywhere and always, with posts 3" apart as far as
/// sampling is concerned.
pub(super) struct Rough;

impl Rough {
    fn height_m(lat_deg: f64, lon_deg: f64) -> f64 {
        let (mut height_m, mut size_m, mut scale) = (600.0, 260.0, 40.0);
        for octave in 0..7 {
            let turn = f64::from(octave) * 1.3;
            let (x, y) = (
                lon_deg * scale * turn.cos() + lat_deg * scale,
                lat_deg * scale * 1.7,
            );
            height_m += size_m * ((x + turn).sin() * (y - turn).cos() + 0.3 * (x * 1.9 - y).sin());
            size_m *= 0.5;
            scale *= 2.3;
        }
        height_m
    }
}

impl Terrain for Rough {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], out: &mut [f64]) -> TerrainUse {
        for ((lat_deg, lon_deg), out) in lat_deg.iter().zip(lon_deg).zip(out) {
            *out = Self::height_m(*lat_deg, *lon_deg);
        }
        TerrainUse::default()
    }

    fn undulation_m(&self, at: GeoPoint) -> f64 {
        30.0 + at.lat_deg()
    }

    fn resolution_arcsec(&self, _at: GeoPoint) -> Option<f64> {
        Some(3.0)
    }

    fn describe(&self) -> TerrainSource {
        TerrainSource {
            name: "rough".into(),
            has_geoid: false,
            tiles_used: None,
            ..TerrainSource::default()
        }
    }
}

/// [`Rough`] with a void and a missing stretch in longitude.
pub(super) struct Holed {
    pub void_lon: std::ops::Range<f64>,
    pub missing_lon: std::ops::Range<f64>,
}

impl Terrain for Holed {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], out: &mut [f64]) -> TerrainUse {
        let mut used = Rough.sample(lat_deg, lon_deg, out);
        for (lon_deg, out) in lon_deg.iter().zip(out) {
            if self.missing_lon.contains(lon_deg) {
                used.missing_samples += 1;
                *out = f64::NAN;
            } else if self.void_lon.contains(lon_deg) {
                used.note_tile(TileId::default(), 3.0);
                used.void_samples += 1;
                *out = f64::NAN;
            }
        }
        used
    }

    fn undulation_m(&self, _at: GeoPoint) -> f64 {
        0.0
    }

    fn resolution_arcsec(&self, at: GeoPoint) -> Option<f64> {
        (!self.missing_lon.contains(&at.lon_deg())).then_some(3.0)
    }

    fn describe(&self) -> TerrainSource {
        TerrainSource {
            name: "holed".into(),
            has_geoid: false,
            tiles_used: None,
            ..TerrainSource::default()
        }
    }
}

pub(super) fn point(lat_deg: f64, lon_deg: f64) -> GeoPoint {
    GeoPoint::new(lat_deg, lon_deg).unwrap()
}

/// A 915 MHz station `height_agl_m` above ground.
pub(super) fn station(height_agl_m: f64) -> Station {
    let mut station = crate::sample::station();
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
    judge(
        &inputs,
        &profile,
        ends[0],
        ends[1],
        &mut Workspace::default(),
    )
    .unwrap()
    .0
}

/// Compares a cell with its link; the largest difference, dB.
pub(super) fn difference_db(cell: &Cell, link: &LinkResult) -> f64 {
    assert_eq!(cell.verdict, link.verdict, "{cell:?} {link:?}");
    assert_eq!(cell.modulation_id, link.rate.modulation_id);
    assert!((cell.data_rate_bps - link.rate.data_rate_bps).abs() < 1e-6);
    assert_eq!(
        cell.flags.intersects(Flags::PATH_MISSING),
        link.terrain.missing_samples > 0
    );
    assert_eq!(
        cell.flags.intersects(Flags::PATH_VOID),
        link.terrain.void_samples > 0
    );
    let pairs = [
        (cell.rx_power_dbm, link.receiver.rx_power_dbm),
        (cell.path_loss_db, link.losses.total_path_loss_db),
        (cell.field_strength_dbuv_m, link.field_strength_dbuv_m()),
        (cell.sinr_db, link.receiver.sinr_db),
        (cell.link_margin_db, link.margin.link_margin_db),
    ];
    pairs.iter().map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
