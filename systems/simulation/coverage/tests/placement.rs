//! Sites to build next.

use super::*;
use crate::coverage::placement::{Exact, PlacementRequest, high_ground, place};

#[test]
fn the_site_that_adds_most_comes_first_and_nothing_is_added_twice() {
    let grid = Grid::square(point(51.05, -114.1), 15e3, 60).unwrap();
    let existing = [setup(point(51.05, -114.2), 5e3)];
    // On top of the one that is there; beside it; and far enough to add all it reaches.
    let candidates = [
        setup(point(51.05, -114.2), 5e3),
        setup(point(51.05, -114.17), 5e3),
        setup(point(51.05, -114.02), 5e3),
    ];
    let request = PlacementRequest {
        grid: &grid,
        existing: &existing,
        candidates: &candidates,
        count: 3,
        margin_db: 0.0,
    };
    let found = place(&request, &Rough, &Exact);
    assert!(found.covered_km2 > 1.0 && found.covered_km2 < found.known_km2);
    assert!((found.known_km2 / 900.0 - 1.0).abs() < 0.01, "{}", found.known_km2);
    let sites: Vec<_> = found.choice.steps.iter().map(|step| step.site).collect();
    assert_eq!(sites, [2, 1]);
    let [far, near] = [0, 1].map(|step: usize| found.choice.steps[step].gain);
    assert!(far >= near && near > 0.0);
    let all = found.covered_km2 + found.choice.steps[1].covered;
    assert!(all < found.known_km2);
}

#[test]
fn high_ground_is_the_top_of_each_block() {
    let grid = Grid::square(point(51.05, -114.1), 15e3, 60).unwrap();
    let found = high_ground(&Rough, &grid, 4);
    assert_eq!(found.len(), 16);
    assert!(found.windows(2).all(|pair| pair[0].1 >= pair[1].1));
    for (at, height_m) in found {
        assert_eq!(Rough.elevation_msl_m(at), Some(height_m));
    }
}
