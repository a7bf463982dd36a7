//! A live coverage that follows its transmitters equals one made from the start.

use std::sync::Arc;

use super::*;
use crate::coverage::live::{Best, Interference, LiveCoverage};
use crate::site::NodeId;

fn grid() -> Grid {
    Grid::square(point(51.05, -114.1), 20e3, 90).unwrap()
}

fn transmitter(number: u128, lon_deg: f64, radius_m: f64) -> (NodeId, CoverageRequest) {
    let setup = setup(point(51.05, lon_deg), radius_m);
    (NodeId::from_u128(number), setup)
}

/// Cells of a coverage with all layers up to date.
fn cells(live: &mut LiveCoverage) -> Vec<Best> {
    while live.progress().stale > 0 {
        live.step();
    }
    live.settle();
    (0..90).flat_map(|row| live.row(row).to_vec()).collect()
}

fn from_the_start(transmitters: Vec<(NodeId, CoverageRequest)>) -> Vec<Best> {
    let mut live = LiveCoverage::new(grid(), Arc::new(Rough)).unwrap();
    live.set(transmitters).unwrap();
    cells(&mut live)
}

#[test]
fn a_moved_transmitter_has_its_own_cells_computed_and_no_others() {
    let set = |lon_deg| {
        vec![
            transmitter(1, -114.25, 6e3),
            transmitter(2, lon_deg, 4e3),
            transmitter(3, -113.95, 6e3),
        ]
    };
    let mut live = LiveCoverage::new(grid(), Arc::new(Rough)).unwrap();
    live.set(set(-114.1)).unwrap();
    assert_eq!(live.progress().stale, 3);
    let first = cells(&mut live);
    assert!(first.iter().any(|best| best.slot == 2));
    let before = live.progress();
    live.set(set(-114.1)).unwrap();
    assert_eq!(live.progress(), before);
    live.set(set(-114.05)).unwrap();
    assert_eq!(live.progress().stale, 1);
    let moved = cells(&mut live);
    let evaluated = live.progress().evaluated_cells - before.evaluated_cells;
    // A square of 2 x 4 km of cells of 0.44 km, and its edges.
    assert!((300..600).contains(&evaluated), "{evaluated}");
    assert_eq!(moved, from_the_start(set(-114.05)));
    assert_ne!(moved, first);
    assert!(!live.changed_since(before.revision).is_empty());
    assert!(live.changed_since(live.progress().revision).is_empty());
}

#[test]
fn transmitters_come_and_go() {
    let [one, two] = [transmitter(1, -114.2, 6e3), transmitter(2, -114.0, 6e3)];
    let mut live = LiveCoverage::new(grid(), Arc::new(Rough)).unwrap();
    live.set(vec![one.clone(), two.clone()]).unwrap();
    cells(&mut live);
    live.set(vec![two.clone()]).unwrap();
    let alone = cells(&mut live);
    let powers = |cells: &[Best]| cells.iter().map(|best| best.power_cdbm).collect::<Vec<_>>();
    assert_eq!(powers(&alone), powers(&from_the_start(vec![two.clone()])));
    assert_eq!(live.transmitters()[0], None);
    // Its slot is free again.
    live.set(vec![two.clone(), transmitter(3, -114.2, 6e3)]).unwrap();
    assert_eq!(live.transmitters()[0].map(|own| own.id), Some(NodeId::from_u128(3)));
    cells(&mut live);
    live.set(Vec::new()).unwrap();
    assert!(cells(&mut live).iter().all(|best| *best == Best::default()));
    let mut bad = one;
    bad.1.transmitter.height_agl_m = -1.0;
    assert!(live.set(vec![bad]).is_err());
    let large = Grid::square(point(51.05, -114.1), 20e3, 1100).unwrap();
    assert!(LiveCoverage::new(large, Arc::new(Rough)).is_err());
}

const BUSY: Interference = Interference { duty_share: 0.5, shadowing_correlation: 0.5 };

fn disturbed(transmitters: Vec<(NodeId, CoverageRequest)>) -> Vec<Best> {
    let live = LiveCoverage::new(grid(), Arc::new(Rough)).unwrap();
    let mut live = live.with_interference(BUSY).unwrap();
    live.set(transmitters).unwrap();
    cells(&mut live)
}

#[test]
fn interference_of_one_channel_lowers_the_sinr_by_the_sum_of_powers() {
    let pair = [transmitter(1, -114.2, 12e3), transmitter(2, -114.0, 12e3)];
    let quiet = from_the_start(pair.to_vec());
    let busy = disturbed(pair.to_vec());
    let alone = pair.each_ref().map(|own| from_the_start(vec![own.clone()]));
    let noise_dbm = pair[0].1.demand().unwrap().noise_dbm;
    let milliwatts = |cdbm: i16| 10f64.powf(f64::from(cdbm) / 1000.0);
    let mut checked = 0;
    for (place, (quiet, busy)) in quiet.iter().zip(&busy).enumerate() {
        assert_eq!((quiet.power_cdbm, quiet.slot), (busy.power_cdbm, busy.slot), "{place}");
        assert!(busy.link_percent <= quiet.link_percent, "{place}: {quiet:?} {busy:?}");
        if quiet.power_cdbm <= NO_POWER {
            assert_eq!(busy.sinr_cdb, NO_POWER);
            continue;
        }
        let other = alone[1 - usize::from(quiet.slot)][place].power_cdbm;
        let other_mw = if other > NO_POWER { milliwatts(other) } else { 0.0 };
        let under_mw = 10f64.powf(noise_dbm / 10.0) + 0.5 * other_mw;
        let sinr_db = 10.0 * (milliwatts(quiet.power_cdbm) / under_mw).log10();
        let error_db = f64::from(busy.sinr_cdb) / 100.0 - sinr_db;
        assert!(error_db.abs() < 0.02, "{place}: {error_db} dB, {busy:?}");
        checked += 1;
    }
    assert!(checked > 500, "{checked}");
    let lower =
        quiet.iter().zip(&busy).filter(|(quiet, busy)| busy.link_percent < quiet.link_percent);
    assert!(lower.count() > 50);
}

#[test]
fn transmitters_in_other_channels_do_not_disturb() {
    let [one, mut two] = [transmitter(1, -114.2, 12e3), transmitter(2, -114.0, 12e3)];
    two.1.transmitter.radio.frequency_mhz += 100.0;
    let pair = vec![one, two];
    let figures =
        |cells: &[Best]| cells.iter().map(|own| (own.power_cdbm, own.slot)).collect::<Vec<_>>();
    let (quiet, busy) = (from_the_start(pair.clone()), disturbed(pair));
    assert_eq!(figures(&quiet), figures(&busy));
    // A sum of quantiles in hundredths: a percent may fall to the other side of its edge.
    let apart = |(quiet, busy): (&Best, &Best)| quiet.link_percent.abs_diff(busy.link_percent);
    assert!(quiet.iter().zip(&busy).map(apart).max() <= Some(1));
}

#[test]
fn interference_follows_a_moved_transmitter() {
    let at = |lon_deg| vec![transmitter(1, -114.2, 8e3), transmitter(2, lon_deg, 8e3)];
    let live = LiveCoverage::new(grid(), Arc::new(Rough)).unwrap();
    let mut live = live.with_interference(BUSY).unwrap();
    live.set(at(-114.0)).unwrap();
    let before = cells(&mut live);
    live.set(at(-114.1)).unwrap();
    let after = cells(&mut live);
    assert_ne!(before, after);
    assert_eq!(after, disturbed(at(-114.1)));
    let bad = Interference { duty_share: 1.5, ..BUSY };
    let live = LiveCoverage::new(grid(), Arc::new(Rough)).unwrap();
    assert!(live.with_interference(bad).is_err());
}
