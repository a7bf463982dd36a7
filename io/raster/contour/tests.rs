//! Fields whose outlines are known.

use std::f64::consts::PI;

use super::super::geometry::GridGeometry;
use super::*;

/// The areas at one level.
fn contours(grid: &Grid, level: f64) -> Vec<Polygon> {
    super::contours(grid, &[level]).remove(0)
}

fn grid(cols: u32, rows: u32, west_deg: f64, field: impl Fn(f64, f64) -> f64) -> Grid {
    let geometry = GridGeometry {
        west_deg,
        north_deg: 10.0,
        cell_lon_deg: 0.01,
        cell_lat_deg: 0.01,
        cols,
        rows,
    };
    let at = |i: u32| field(f64::from(i % cols) + 0.5, f64::from(i / cols) + 0.5) as f32;
    Grid::new(geometry, (0..cols * rows).map(at).collect()).unwrap()
}

/// Area of a ring (cells of 0.01 degrees), positive counter-clockwise in longitude and latitude.
fn ring_area(ring: &Ring) -> f64 {
    assert_eq!(ring.first(), ring.last(), "rings are closed");
    let sum: f64 = ring.windows(2).map(|p| p[0][0] * p[1][1] - p[1][0] * p[0][1]).sum();
    sum / 2.0 / 1e-4
}

fn total(areas: &[Polygon]) -> f64 {
    for polygon in areas {
        assert!(ring_area(&polygon[0]) > 0.0, "outer rings run counter-clockwise");
        assert!(polygon[1..].iter().all(|hole| ring_area(hole) < 0.0), "holes run clockwise");
    }
    areas.iter().flatten().map(ring_area).sum()
}

fn near(got: f64, want: f64, share: f64) {
    assert!((got / want - 1.0).abs() < share, "{got}, not {want}");
}

#[test]
fn cone_gives_circles() {
    let cone = grid(120, 100, 11.0, |x, y| 50.0 - (x - 60.0).hypot(y - 50.0));
    for radius in [40.0, 20.0, 5.0] {
        let areas = contours(&cone, 50.0 - radius);
        assert_eq!((areas.len(), areas[0].len()), (1, 1));
        near(total(&areas), PI * radius * radius, 0.01);
        for [lon_deg, lat_deg] in &areas[0][0] {
            near((lon_deg - 11.6).hypot(lat_deg - 9.5), radius * 0.01, 0.02);
        }
    }
    assert!(contours(&cone, 51.0).is_empty());
}

#[test]
fn a_ring_has_a_hole_and_an_island_in_it() {
    let field = |x: f64, y: f64| {
        let r = (x - 50.0).hypot(y - 50.0);
        if r < 15.0 { 10.0 - r } else { 10.0 - (r - 30.0).abs() }
    };
    let areas = contours(&grid(100, 100, 11.0, field), 0.0);
    let mut holes: Vec<usize> = areas.iter().map(Vec::len).collect();
    holes.sort_unstable();
    assert_eq!(holes, [1, 2], "the ring with a hole, the island without");
    near(total(&areas), PI * (40.0 * 40.0 - 20.0 * 20.0 + 10.0 * 10.0), 0.01);
}

#[test]
fn areas_end_at_the_edge_and_at_cells_without_data() {
    let full = contours(&grid(40, 30, 11.0, |_, _| 1.0), 0.0);
    // Half a cell by half a cell is lost, halved, at each of the four corners.
    near(total(&full), 40.0 * 30.0 - 0.5, 1e-9);
    assert_eq!(full[0][0].len(), 9, "straight edges need no points between corners");
    let holed = grid(40, 30, 11.0, |x, y| {
        let void = (10.0..20.0).contains(&x) && (10.0..20.0).contains(&y);
        if void { f64::NAN } else { 1.0 }
    });
    let areas = contours(&holed, 0.0);
    assert_eq!(areas[0].len(), 2);
    near(total(&areas), 40.0 * 30.0 - 100.0, 0.01);
    assert!(contours(&grid(4, 4, 11.0, |_, _| f64::NAN), 0.0).is_empty());
}

#[test]
fn saddles_and_levels_met_exactly_give_simple_rings() {
    // A chequered field at 0 and 1, cut at its values and between.
    let chequers = grid(9, 7, 11.0, |x, y| f64::from((x as u32 + y as u32) % 2));
    for (level, rings) in [(0.0, 1), (0.25, 1), (0.75, 31), (1.0, 31)] {
        let areas = contours(&chequers, level);
        assert_eq!(areas.len(), rings, "level {level}");
        assert!(total(&areas) > 0.0);
        for ring in areas.iter().flatten() {
            let mut points: Vec<_> = ring[1..].iter().map(|p| p.map(f64::to_bits)).collect();
            points.sort_unstable();
            points.dedup();
            assert_eq!(points.len(), ring.len() - 1, "no point is passed twice");
        }
    }
}

#[test]
fn areas_are_cut_at_the_antimeridian() {
    let cone = |x: f64, y: f64| 50.0 - (x - 60.0).hypot(y - 50.0);
    // The meridian on the edge of a cell, in the middle of one, and between.
    for west_deg in [179.4, 179.405, 179.442, 179.0, 178.801] {
        let areas = contours(&grid(120, 100, west_deg, cone), 10.0);
        near(total(&areas), PI * 1600.0, 0.01);
        let lons = || areas.iter().flatten().flatten().map(|p| p[0]);
        assert!(lons().all(|lon_deg| (-180.0 - 1e-9..=180.0 + 1e-9).contains(&lon_deg)));
        let widest = areas.iter().flatten().map(|ring| {
            let lons = || ring.iter().map(|p| p[0]);
            lons().fold(f64::MIN, f64::max) - lons().fold(f64::MAX, f64::min)
        });
        assert!(widest.fold(0.0, f64::max) < 1.0, "no ring runs around the globe");
        assert_eq!(areas.len(), if west_deg > 179.1 { 2 } else { 1 }, "{west_deg}");
    }
}

/// True if a point lies in a ring: an odd number of crossings eastwards.
fn holds(ring: &Ring, [x, y]: [f64; 2]) -> bool {
    let crossed = ring.windows(2).filter(|pair| {
        let [a, b] = [pair[0], pair[1]];
        (a[1] > y) != (b[1] > y) && x < a[0] + (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1])
    });
    crossed.count() % 2 == 1
}

#[test]
fn holes_among_many_areas_lie_in_the_smallest_around_them() {
    // Hills of several sizes: areas in holes of areas.
    let rough = |x: f64, y: f64| {
        let wave = |length: f64, turn: f64| (x / length + turn).sin() * (y / length - turn).cos();
        4.0 * wave(23.0, 0.3) + 3.0 * wave(7.0, 1.1) + 2.0 * wave(2.3, 2.9)
    };
    let hills = grid(180, 150, 11.0, rough);
    for level in [-2.0, 0.0, 1.5] {
        let areas = contours(&hills, level);
        let holes = areas.iter().map(|rings| rings.len() - 1).sum::<usize>();
        assert!(areas.len() > 10 && holes > 10, "{}, {holes}", areas.len());
        for (own, rings) in areas.iter().enumerate() {
            for hole in &rings[1..] {
                let around =
                    areas.iter().enumerate().filter(|(_, rings)| holds(&rings[0], hole[0]));
                let smallest =
                    around.min_by(|(_, a), (_, b)| ring_area(&a[0]).total_cmp(&ring_area(&b[0])));
                assert_eq!(smallest.map(|(at, _)| at), Some(own), "level {level}");
            }
        }
        // Cells reach the level or do not: the areas have about as many.
        let high = hills.cells.iter().filter(|value| f64::from(**value) >= level);
        near(total(&areas), high.count() as f64, 0.02);
    }
}

#[test]
fn lines_of_a_closed_outline_are_that_outline() {
    let cone = grid(120, 100, 11.0, |x, y| 50.0 - (x - 60.0).hypot(y - 50.0));
    let lines = contour_lines(&cone, &[30.0, 51.0]);
    assert_eq!((lines[0].len(), lines[1].len()), (1, 0));
    assert_eq!(lines[0][0].first(), lines[0][0].last(), "closed");
    for [lon_deg, lat_deg] in &lines[0][0] {
        near((lon_deg - 11.6).hypot(lat_deg - 9.5), 0.2, 0.02);
    }
}

#[test]
fn lines_end_at_the_edge_and_at_cells_without_data() {
    // High in the west; nothing is known in the middle rows.
    let field = |x: f64, y: f64| if (40.0..60.0).contains(&y) { f64::NAN } else { 50.0 - x };
    let lines = contour_lines(&grid(100, 100, 11.0, field), &[0.0]).remove(0);
    assert_eq!(lines.len(), 2);
    for line in &lines {
        assert!(line.iter().all(|[lon_deg, _]| (lon_deg - 11.5).abs() < 1e-9), "{line:?}");
        let [first, last] = [line[0][1], line[line.len() - 1][1]];
        near((first - last).abs(), 0.39, 0.01);
    }
}
