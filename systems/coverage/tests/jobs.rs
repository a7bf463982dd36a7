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
    assert_eq!(
        job.progress(),
        Progress {
            rows_done: 0,
            rows: 40
        }
    );
    assert!(job.row(0).iter().all(|cell| *cell == Cell::default()));
    let mut steps = 0;
    // A budget below one row is one row; the rest goes in three.
    for (cells, rows_done) in [
        (1, 1),
        (0, 2),
        (90, 4),
        (1_300, 36),
        (u32::MAX, 40),
        (1, 40),
    ] {
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
