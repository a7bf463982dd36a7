use super::*;
use crate::coverage::{CoverageRequest, Sampling, Window};
use crate::radio::Environment;
use crate::terrain::Flat;
use crate::terrain::geodesic::direct;

fn request(lat_deg: f64, radius_m: f64) -> CoverageRequest {
    let station = crate::sample::station();
    CoverageRequest {
        position: GeoPoint::new(lat_deg, 179.93).unwrap(),
        transmitter: station.clone(),
        receiver: station,
        environment: Environment { model: "itm".parse().unwrap(), ..Environment::default() },
        packet_octets: 100,
        sampling: Sampling::Spacing(90.0),
        radius_m,
    }
}

fn cubic<T: Copy + std::ops::Mul<Output = T> + std::ops::Add<Output = T>>(c: [T; 4], w: T) -> T {
    c[0] + w * (c[1] + w * (c[2] + w * c[3]))
}

/// Maximum errors over a coverage: of the length in f64 and in f32, and of positions on the path, m.
fn errors_m(lat_deg: f64, radius_m: f64) -> [f64; 3] {
    let request = request(lat_deg, radius_m);
    let terrain = Flat::default();
    let site = request.prepare(&terrain).unwrap();
    let terms = site.terms().unwrap();
    let grid = Grid::square(request.position, radius_m, 41).unwrap();
    let window = Window::around(&grid, request.position, radius_m);
    let mut errors_m = [0.0_f64; 3];
    let mut count = 0;
    for row in 0..grid.rows() {
        let Some(of) = terms.row(&grid, row, [window.column, window.column + window.columns])
        else {
            continue;
        };
        for column in (of.columns[0]..of.columns[1]).step_by(3) {
            count += 1;
            let to = Parallel::new(grid.row_lat_deg(row));
            let lon_deg = request.position.lon_deg();
            let way = geodesic(&terms.parallel, lon_deg, &to, grid.column_lon_deg(column));
            let x = terms.east_deg(&grid, column) / terms.half_width_deg;
            let w = x * x;
            let length_m = cubic(of.length_m2, w).max(0.0).sqrt();
            let short = cubic(of.length_m2.map(|c| c as f32), w as f32).max(0.0).sqrt();
            errors_m[0] = errors_m[0].max((length_m - way.distance_m).abs());
            errors_m[1] = errors_m[1].max((f64::from(short) - way.distance_m).abs());
            for part in 1..8 {
                let t = f64::from(part) / 8.0;
                let course = |bends: [Cubic; 3]| {
                    let [b0, b1, b2] = bends.map(|bend| cubic(bend, w));
                    t * (1.0 - t) * (b0 + t * (b1 + t * b2))
                };
                let north_deg = t * of.north_deg + course(of.bend_north_deg);
                let east_deg = x * (t * terms.half_width_deg + course(of.bend_east_deg));
                let on = direct(
                    request.position,
                    way.azimuth_rad[0].to_degrees().rem_euclid(360.0),
                    way.distance_m * t,
                )
                .unwrap();
                let off_deg = [
                    request.position.lat_deg() + north_deg - on.lat_deg(),
                    short::east_deg(on.lon_deg(), short_lon_deg(lon_deg + east_deg))
                        * libm::cos(on.lat_deg().to_radians()),
                ];
                let off_m = libm::hypot(off_deg[0], off_deg[1]) * 111_320.0;
                errors_m[2] = errors_m[2].max(off_m);
            }
        }
    }
    assert!(count > 400, "{count} cells");
    errors_m
}

fn short_lon_deg(lon_deg: f64) -> f64 {
    if lon_deg > 180.0 { lon_deg - 360.0 } else { lon_deg }
}

#[test]
fn polynomials_of_rows_follow_the_geodesics() {
    for (radius_m, allowed_m) in [
        (20e3, [1e-6, 5e-3, 1.5e-4]),
        (50e3, [1e-6, 1.2e-2, 3e-3]),
        (100e3, [1e-5, 2.5e-2, 1.2e-2]),
    ] {
        for lat_deg in [0.5, -21.0, 45.0, 57.7, -70.0, 78.0] {
            // Farther the paths are no short ones.
            if radius_m * libm::tan(f64::to_radians(lat_deg)).abs() > 250e3 {
                continue;
            }
            let found_m = errors_m(lat_deg, radius_m);
            let is_near = found_m.iter().zip(allowed_m).all(|(found, allowed)| *found < allowed);
            assert!(is_near, "{radius_m} m at {lat_deg}: {found_m:?} m, allowed {allowed_m:?} m");
        }
    }
}

#[test]
fn rows_have_exactly_the_cells_within_the_radius() {
    let request = request(-44.0, 9e3);
    let terrain = Flat::default();
    let site = request.prepare(&terrain).unwrap();
    let terms = site.terms().unwrap();
    let grid = Grid::around(&[request.position], 11e3, 9.0).unwrap();
    let cells = crate::coverage::coverage(&site, &terrain, &grid);
    let mut count = 0;
    for row in 0..grid.rows() {
        let columns = terms.row(&grid, row, [0, grid.columns()]).map_or([0; 2], |of| of.columns);
        for column in 0..grid.columns() {
            let cell = &cells[(row * grid.columns() + column) as usize];
            let is_inside = !cell.flags.intersects(crate::coverage::Flags::OUTSIDE);
            assert_eq!((columns[0]..columns[1]).contains(&column), is_inside, "{row}, {column}");
            count += u32::from(is_inside);
        }
    }
    assert!(count > 3_000 && count < grid.rows() * grid.columns(), "{count}");
}

#[test]
fn other_models_and_long_radii_have_no_terms() {
    let terrain = Flat::default();
    let reason =
        |request: &CoverageRequest| request.prepare(&terrain).unwrap().terms().unwrap_err();
    assert_eq!(reason(&request(10.0, 100_001.0)), NoTerms::Radius);
    let mut other = request(10.0, 20e3);
    other.environment.model = "free_space".parse().unwrap();
    assert_eq!(reason(&other), NoTerms::Model);
    let unknown = crate::terrain::NoTerrain::default();
    let itm = request(10.0, 20e3);
    assert_eq!(itm.prepare(&unknown).unwrap().terms().unwrap_err(), NoTerms::Ground);
}
