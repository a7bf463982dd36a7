//! A job grows row by row into the very cells of a sweep.

use std::sync::Arc;

use super::*;
use crate::coverage::job::CellIndex;

#[test]
fn a_job_ends_as_the_sweep_of_the_same_grid() {
    let setup = setup(point(51.05, -114.1), 8e3);
    let grid = Grid::square(setup.position, setup.radius_m, 40).unwrap();
    let want = coverage(&setup.prepare(&Rough).unwrap(), &Rough, &grid);
    let mut job = CoverageJob::new(setup.clone(), grid, Arc::new(Rough)).unwrap();
    assert_eq!(job.progress(), Progress { rows_done: 0, rows: 40 });
    assert!(job.row(0).iter().all(|cell| *cell == Cell::default()));
    let mut steps = 0;
    // A budget below one row is one row; the rest goes in three.
    for (cells, rows_done) in [(1, 1), (0, 2), (90, 4), (1_300, 36), (u32::MAX, 40), (1, 40)] {
        assert_eq!(job.step(cells).rows_done, rows_done);
        steps += 1;
        for (row, want) in (0_u32..).zip(want.chunks(40)) {
            let same = job.row(row) == want;
            let untouched = job.row(row).iter().all(|cell| *cell == Cell::default());
            assert!(if row < rows_done { same } else { untouched }, "row {row}");
        }
    }
    assert_eq!(steps, 6);
    assert!(job.progress().is_done());
    assert_eq!((job.row(39).len(), job.row(40).len()), (40, 0));
    let mut world_cells = job.world().try_query::<(&CellIndex, &Cell)>().unwrap();
    for (index, cell) in world_cells.iter(job.world()) {
        assert_eq!(*cell, want[index.0 as usize]);
    }
}

#[test]
fn a_bad_setup_makes_no_job() {
    let mut bad = setup(point(51.05, -114.1), 8e3);
    bad.transmitter.height_agl_m = -1.0;
    let grid = Grid::square(bad.position, bad.radius_m, 4).unwrap();
    assert!(CoverageJob::new(bad, grid, Arc::new(Rough)).is_err());
}

#[test]
fn every_cell_is_that_of_the_site_with_the_largest_margin() {
    let (west, mut east) = (setup(point(51.05, -114.1), 8e3), setup(point(51.05, -114.02), 8e3));
    east.transmitter.height_agl_m += 20.0;
    let grid = Grid::square(west.position, west.radius_m, 24).unwrap();
    let alone = [&west, &east].map(|setup| {
        let site = setup.prepare(&Rough).unwrap();
        coverage(&site, &Rough, &grid)
    });
    let mut job =
        CoverageJob::of_sites(vec![west.clone(), east.clone()], grid, Arc::new(Rough)).unwrap();
    job.step(u32::MAX);
    let mut by_server = [0, 0];
    for row in 0..24 {
        for (column, (cell, server)) in (0..).zip(job.row(row).iter().zip(job.servers(row))) {
            let place = row as usize * 24 + column;
            let of = |site: usize| &alone[site][place];
            let better = of(1).has_data()
                && (!of(0).has_data() || of(1).link_margin_db > of(0).link_margin_db);
            assert_eq!((*server, cell), (Server(u8::from(better)), of(usize::from(better))));
            by_server[usize::from(better)] += 1;
        }
    }
    assert!(by_server.iter().all(|count| *count > 50), "{by_server:?}");
    let none = CoverageJob::of_sites(Vec::new(), grid, Arc::new(Rough));
    assert!(none.is_err());
    let many = CoverageJob::of_sites(vec![west; SITES_MAX + 1], grid, Arc::new(Rough));
    assert!(many.is_err());
}

#[test]
fn the_margin_is_the_received_power_above_the_sensitivity() {
    let setup = setup(point(51.05, -114.1), 8e3);
    let site = setup.prepare(&Rough).unwrap();
    let grid = Grid::square(setup.position, setup.radius_m, 8).unwrap();
    let cells = coverage(&site, &Rough, &grid);
    let known: Vec<_> = cells.iter().filter(|cell| cell.has_data()).collect();
    assert!(known.len() > 20);
    for cell in known {
        let margin_db = cell.rx_power_dbm - setup.sensitivity_dbm().unwrap();
        assert!((margin_db - cell.link_margin_db).abs() < 1e-9);
    }
}
