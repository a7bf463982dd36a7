//! The bound of the fast mode, and what it leaves to the exact one. Measured terrain is used in the
//! tests of the layer that reads tiles.

use ndarray::{Array2, s};

use super::*;
use crate::coverage::fast::{Agreement, ERROR_P99_DB, NEAR_M, compare};
use crate::radio::Model;

/// Both modes over a grid of 15", and how many cells the fast one shared.
fn agreement(setup: &CoverageRequest, terrain: &dyn Terrain) -> (Agreement, usize) {
    let site = setup.prepare(terrain).unwrap();
    let grid = Grid::around(&[setup.position], setup.radius_m, 15.0).unwrap();
    let exact = coverage(&site, terrain, &grid);
    let fast = fast_coverage(&site, terrain, &grid);
    let mut shared = 0;
    for (exact, fast) in exact.iter().zip(&fast) {
        assert_eq!(exact.has_data(), fast.has_data());
        if fast.flags.intersects(Flags::FAST) {
            shared += 1;
        } else {
            assert_eq!(exact, fast);
        }
    }
    (compare(&exact, &fast), shared)
}

#[test]
fn ninety_nine_of_a_hundred_cells_are_within_the_bound() {
    for (position, mast_m, radius_m) in [
        (point(51.05, -114.1), 25.0, 15e3),
        (point(-33.4, 151.1), 60.0, 25e3),
        (point(65.0, 179.95), 10.0, 15e3),
    ] {
        let mut setup = setup(position, radius_m);
        setup.transmitter.height_agl_m = mast_m;
        let (found, shared) = agreement(&setup, &Rough);
        eprintln!("{mast_m} m: {found:?}");
        assert!(shared > 2_000, "{shared}");
        assert!(found.p99_db <= ERROR_P99_DB, "{found:?}");
        assert!(found.bias_db.abs() < 0.1, "{found:?}");
        assert!(found.verdict_flips_percent < 1.0, "{found:?}");
    }
}

#[test]
fn what_the_rays_cannot_know_is_evaluated_exactly() {
    let mut plain = setup(point(51.05, -114.1), 10e3);
    let holed = Holed {
        void_lon: -114.05..-114.0,
        missing_lon: -113.95..-113.9,
    };
    let (found, shared) = agreement(&plain, &holed);
    assert!(shared > 300, "west of the gap, {shared}");
    assert!(found.cells > shared, "{found:?}");
    // Many samples on every path, but posts far apart.
    plain.sampling = Sampling::Count(1_000);
    assert_eq!(agreement(&plain, &Rough).1, 0);
    plain.sampling = Sampling::Posts;
    for model in [Model::DeltaBullington, Model::FreeSpace] {
        plain.environment.model = model;
        let (found, shared) = agreement(&plain, &Rough);
        assert_eq!((found.worst_db, shared), (0.0, 0));
    }
    let near = setup(point(51.05, -114.1), NEAR_M);
    assert_eq!(agreement(&near, &Rough).1, 0);
    let unknown = Holed {
        void_lon: -114.15..-114.05,
        missing_lon: 0.0..0.0,
    };
    assert_eq!(agreement(&setup(point(51.05, -114.1), 6e3), &unknown).1, 0);
}

#[test]
fn blocks_threads_and_their_order_change_no_bit() {
    let setup = setup(point(51.05, -114.1), 12e3);
    let site = setup.prepare(&Rough).unwrap();
    let grid = Grid::around(&[setup.position], setup.radius_m, 30.0).unwrap();
    let want = fast_coverage(&site, &Rough, &grid);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        assert!(pool.install(|| fast_coverage(&site, &Rough, &grid)) == want);
    }
    let mut scratch = Scratch::default();
    let evaluation = Evaluation {
        site: &site,
        terrain: &Rough,
        grid: &grid,
        mode: Mode::Fast,
    };
    for (high, wide) in [(9, 33), (1, 1000), (1000, 7)] {
        let mut blocks: Vec<Block> = grid.blocks(high, wide).collect();
        blocks.reverse();
        let shape = [grid.rows() as usize, grid.columns() as usize];
        let mut all = Array2::from_elem(shape, Cell::default());
        for block in blocks {
            let [row, column] = [block.row, block.column].map(|first| first as usize);
            let rows = row..row + block.rows as usize;
            let columns = column..column + block.columns as usize;
            let cells = all.slice_mut(s![rows, columns]);
            evaluate(&evaluation, [block.row, block.column], cells, &mut scratch);
        }
        assert!(all.as_slice().unwrap() == want);
    }
}

#[test]
fn agreement_counts_what_differs() {
    let cell = |rx_power_dbm, verdict, flags| Cell {
        rx_power_dbm,
        verdict,
        link_margin_db: if verdict == Verdict::NoLink {
            -1.0
        } else {
            5.0
        },
        flags,
        ..Cell::default()
    };
    let at = |power, verdict| cell(power, verdict, Flags::NONE);
    let exact = [
        at(-80.0, Verdict::Good),
        at(-90.0, Verdict::Poor),
        at(-70.0, Verdict::Good),
        cell(-60.0, Verdict::Good, Flags::NO_DATA),
    ];
    let fast = [
        at(-80.5, Verdict::Good),
        at(-93.0, Verdict::NoLink),
        at(-70.0, Verdict::Good),
        cell(-10.0, Verdict::Poor, Flags::NO_DATA),
    ];
    let found = compare(&exact, &fast);
    assert_eq!((found.cells, found.p50_db, found.worst_db), (3, 0.5, 3.0));
    assert!((found.bias_db + 3.5 / 3.0).abs() < 1e-12);
    assert!((found.verdict_flips_percent - 100.0 / 3.0).abs() < 1e-12);
    assert_eq!(found.verdict_flips_percent, found.link_flips_percent);
    assert_eq!(compare(&[], &[]), Agreement::default());
}
