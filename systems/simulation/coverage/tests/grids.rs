//! Rasters: cut whole, wherever on Earth they lie.

use groundwave_model::terrain::geodesic::inverse;

use super::*;

#[test]
fn a_square_holds_its_circle() {
    for site in [point(0.0, 0.0), point(51.0, -114.0), point(-70.0, 179.99), point(10.0, -180.0)] {
        for radius_m in [100.0, 20e3, 500e3] {
            let grid = Grid::square(site, radius_m, 64).unwrap();
            let edge = |row, column| inverse(site, grid.centre(row, column)).distance_m;
            let cell_m = radius_m / 32.0;
            for at in 0..64 {
                for distance_m in [edge(0, at), edge(63, at), edge(at, 0), edge(at, 63)] {
                    assert!(distance_m > radius_m - 1.05 * cell_m, "{site:?} {radius_m} {at}");
                }
            }
            assert!(edge(32, 32) < cell_m * 1.1);
            let [row, column] = grid.cell_at(site).unwrap();
            assert!((31..=32).contains(&row) && (31..=32).contains(&column));
        }
    }
}

#[test]
fn a_grid_around_sites_lies_on_whole_multiples_and_holds_all() {
    let sites = [point(51.0, 179.9), point(51.3, -179.8)];
    let grid = Grid::around(&sites, 10e3, 3.0).unwrap();
    assert!((grid.north_deg() * 1200.0).fract().abs() < 1e-6);
    assert!(grid.west_deg() > 179.0 && grid.columns() < 1_000, "{grid:?}");
    for site in sites {
        let [row, column] = grid.cell_at(site).unwrap();
        let off_m = inverse(site, grid.centre(row, column)).distance_m;
        assert!(off_m < 100.0, "{off_m}");
        assert!(row > 100 && column > 100);
    }
    assert_eq!(grid.cell_at(point(51.0, 0.0)), None);
}

#[test]
fn blocks_cover_every_cell_once() {
    let grid = Grid::new([10.0, 20.0], [0.1, 0.2], [13, 29]).unwrap();
    for (rows, columns) in [(1, 1), (4, 8), (13, 29), (100, 100), (0, 0)] {
        let mut count = vec![0; 13 * 29];
        for block in grid.blocks(rows, columns) {
            for row in block.row..block.row + block.rows {
                for column in block.column..block.column + block.columns {
                    count[(row * 29 + column) as usize] += 1;
                }
            }
        }
        assert!(count.iter().all(|n| *n == 1));
    }
}

#[test]
fn impossible_grids_are_refused() {
    let site = point(51.0, -114.0);
    for radius_m in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(Grid::square(site, radius_m, 8), Err(BadGrid::Length(_))));
        assert!(Grid::around(&[site], radius_m, 3.0).is_err());
    }
    assert!(matches!(Grid::square(site, 1e3, 0), Err(BadGrid::Size { .. })));
    assert!(matches!(Grid::around(&[], 1e3, 3.0), Err(BadGrid::NoSite)));
    assert!(matches!(Grid::around(&[site], 1e3, 0.0), Err(BadGrid::Length(_))));
    assert!(matches!(Grid::around(&[site], 500e3, 1e-3), Err(BadGrid::Size { .. })));
    for corner in [[91.0, 0.0], [f64::NAN, 0.0], [0.0, 200.0]] {
        assert!(matches!(Grid::new(corner, [1.0, 1.0], [4, 4]), Err(BadGrid::Extent { .. })));
    }
    for sizes in [[0.0, 1.0], [1.0, -1.0], [f64::NAN, 1.0], [60.0, 1.0], [1.0, 91.0]] {
        assert!(Grid::new([80.0, 0.0], sizes, [4, 4]).is_err(), "{sizes:?}");
    }
}
