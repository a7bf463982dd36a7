//! A live coverage that follows its transmitters equals one made from the start.

use std::sync::Arc;

use super::*;
use crate::coverage::live::{Best, LiveCoverage};
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
    assert_eq!(live.transmitters()[0].map(|own| own.0), Some(NodeId::from_u128(3)));
    cells(&mut live);
    live.set(Vec::new()).unwrap();
    assert!(cells(&mut live).iter().all(|best| *best == Best::default()));
    let mut bad = one;
    bad.1.transmitter.height_agl_m = -1.0;
    assert!(live.set(vec![bad]).is_err());
    let large = Grid::square(point(51.05, -114.1), 20e3, 1100).unwrap();
    assert!(LiveCoverage::new(large, Arc::new(Rough)).is_err());
}
