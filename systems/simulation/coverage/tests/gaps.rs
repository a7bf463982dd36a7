//! Cells over unknown terrain are reported, and never covered.

use groundwave_model::terrain::PathGround;

use super::*;

#[test]
fn gaps_are_flagged_and_cells_in_them_are_never_covered() {
    let terrain = Holed { void_lon: -114.05..-114.0, missing_lon: -113.95..-113.9 };
    let setup = setup(point(51.05, -114.1), 20e3);
    let grid = Grid::square(setup.position, setup.radius_m, 64).unwrap();
    let cells = coverage(&setup.prepare(&terrain).unwrap(), &terrain, &grid);
    let mut seen = [0; 4];
    for (index, cell) in cells.iter().enumerate() {
        let centre = grid.centre(index as u32 / 64, index as u32 % 64);
        if cell.flags.intersects(Flags::OUTSIDE) {
            continue;
        }
        let of_cell = link(&setup, &terrain, centre);
        assert!(difference_db(cell, &of_cell) <= 1e-9);
        let lon_deg = centre.lon_deg();
        let hole = terrain.void_lon.contains(&lon_deg) || terrain.missing_lon.contains(&lon_deg);
        // Cells and links have one rule.
        let is_unknown = of_cell.terrain.ground == PathGround::Unknown;
        assert!(is_unknown || !hole, "{lon_deg}");
        assert_eq!(cell.flags.intersects(Flags::NO_DATA), is_unknown, "{lon_deg}");
        assert_eq!(cell.margin_db().is_none(), is_unknown);
        if hole {
            assert!(!cell.covered(f64::NEG_INFINITY));
            seen[0] += 1;
            assert_eq!(cell.verdict, Verdict::NoLink, "{lon_deg}");
            seen[1] += u32::from(cell.link_margin_db.is_finite());
        }
        // Wide beside the sampling, so that paths across cannot step over a hole.
        if lon_deg > -113.99 {
            assert!(cell.flags.intersects(Flags::PATH_VOID));
            seen[2] += 1;
        }
        seen[3] += u32::from(cell.covered(0.0));
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

#[test]
fn a_site_on_unknown_ground_says_so() {
    let terrain = Holed { void_lon: -114.15..-114.05, missing_lon: 0.0..0.0 };
    let setup = setup(point(51.05, -114.1), 20e3);
    let site = setup.prepare(&terrain).unwrap();
    assert!(!site.ground_known());
    let grid = Grid::square(setup.position, setup.radius_m, 20).unwrap();
    for (index, cell) in coverage(&site, &terrain, &grid).iter().enumerate() {
        let centre = grid.centre(index as u32 / 20, index as u32 % 20);
        if !cell.flags.intersects(Flags::OUTSIDE) {
            assert!(cell.flags.intersects(Flags::PATH_VOID));
            assert!(difference_db(cell, &link(&setup, &terrain, centre)) <= 1e-9);
        }
    }
}

#[test]
fn bad_stations_are_refused() {
    let mut bad = setup(point(51.05, -114.1), 20e3);
    bad.receiver.radio.frequency_mhz = f64::NAN;
    assert!(bad.prepare(&Rough).is_err());
    let mut bad = setup(point(51.05, -114.1), 20e3);
    bad.environment.k_factor = 0.0;
    assert_eq!(bad.prepare(&Rough).unwrap_err().key, "environment.k_factor");
}
