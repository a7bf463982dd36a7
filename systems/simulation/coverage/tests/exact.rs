//! Every cell is its link, whatever is configured.

use groundwave_model::radio::pattern::Cuts;
use groundwave_model::radio::{
    Area, Calibration, Clutter, ClutterCategory, Indoor, Model, NoiseCategory, Offset, Pattern,
    Pointing, Surroundings, Vegetation, presets,
};
use groundwave_propagation::polarization::Polarization;
use ndarray::{Array2, s};

use super::*;

/// Evaluates a grid around the site and compares every `stride`-th cell; how many were compared.
fn check(
    name: &str,
    setup: &CoverageRequest,
    terrain: &dyn Terrain,
    cells: u32,
    stride: usize,
) -> usize {
    let grid = Grid::square(setup.position, setup.radius_m, cells).unwrap();
    let found = coverage(&setup.prepare(terrain).unwrap(), terrain, &grid);
    let (mut worst_db, mut compared) = (0.0_f64, 0);
    for (index, cell) in found.iter().enumerate().step_by(stride) {
        let centre = grid.centre(index as u32 / cells, index as u32 % cells);
        let link = link(setup, terrain, centre);
        if cell.flags.intersects(Flags::OUTSIDE) {
            assert!(link.geometry.distance_m > setup.radius_m);
            continue;
        }
        worst_db = worst_db.max(difference_db(cell, &link));
        assert_eq!(
            cell.flags.intersects(Flags::FALLBACK_MODEL),
            link.model != setup.environment.model
        );
        compared += 1;
    }
    eprintln!("{name}: {compared} cells, worst difference {worst_db:e} dB");
    assert!(worst_db <= 1e-9, "{name}: {worst_db:e} dB");
    compared
}

#[test]
fn cells_are_links_over_rough_ground() {
    let mut compared = 0;
    for (site, radius_m) in [
        (point(51.05, -114.1), 20e3),
        (point(-33.4, 151.1), 60e3),
        (point(0.0, 0.0), 5e3),
        (point(69.6, 18.9), 30e3),
    ] {
        compared += check("rough", &setup(site, radius_m), &Rough, 37, 1);
    }
    assert!(compared > 3_000, "{compared}");
}

#[test]
fn cells_are_links_far_away_and_around_the_poles() {
    for (site, radius_m) in [
        (point(48.0, 11.0), 400e3),
        (point(85.0, 30.0), 300e3),
        (point(90.0, 0.0), 50e3),
        (point(-89.9, 10.0), 80e3),
        (point(-16.5, 179.95), 40e3),
        (point(10.0, -180.0), 150e3),
    ] {
        assert!(check("far", &setup(site, radius_m), &Rough, 16, 1) > 50);
    }
}

#[test]
fn cells_among_land_cover_are_links_by_every_model() {
    let at = point(46.5, 8.0);
    let mut losses_db = Vec::new();
    for model in Model::ALL {
        for (surroundings, height_agl_m) in [
            (Surroundings::Unknown, 3.0),
            (Surroundings::Unknown, 12.0),
            (Surroundings::Suburban, 3.0),
        ] {
            let mut request = setup(at, 6e3);
            request.environment.model = *model;
            request.receiver.surroundings = surroundings;
            request.receiver.height_agl_m = height_agl_m;
            let name = format!("{model} {surroundings:?} {height_agl_m}");
            assert!(check(&name, &request, &Covered, 31, 1) > 400);
            if *model == Model::P1812 && height_agl_m == 3.0 {
                let [open, covered] = [&Rough as &dyn Terrain, &Covered].map(|terrain| {
                    let grid = Grid::square(at, 6e3, 31).unwrap();
                    let cells = coverage(&request.prepare(terrain).unwrap(), terrain, &grid);
                    let cells = cells.iter().filter(|cell| !cell.flags.intersects(Flags::OUTSIDE));
                    cells.map(|cell| cell.path_loss_db).sum::<f64>()
                });
                losses_db.push(covered - open);
            }
        }
    }
    // Land cover along paths reaches the cells, whether or not the receivers state their surroundings.
    assert!(losses_db.iter().all(|db| *db > 1_000.0), "{losses_db:?}");
}

#[test]
fn cells_are_links_under_every_configuration() {
    let site = point(46.5, 8.0);
    let mut setups = vec![("plain", setup(site, 15e3))];
    let mut add = |name, change: &dyn Fn(&mut CoverageRequest)| {
        let mut changed = setup(site, 15e3);
        change(&mut changed);
        setups.push((name, changed));
    };
    add("512 samples", &|s| s.sampling = Sampling::Count(512));
    add("2 samples", &|s| s.sampling = Sampling::Count(2));
    add("300 m", &|s| s.sampling = Sampling::Spacing(300.0));
    add("delta-bullington", &|s| s.environment.model = Model::DeltaBullington);
    add("free space", &|s| s.environment.model = Model::FreeSpace);
    add("sector", &|s| {
        s.transmitter.antenna.azimuth_beamwidth_deg = 65.0;
        s.transmitter.pointing = Some(Pointing { azimuth_deg: 350.0, elevation_deg: -3.0 });
        s.receiver.pointing = Some(Pointing { azimuth_deg: 20.0, elevation_deg: 1.0 });
    });
    let wedge = |steepness: f64| {
        let cut = |offset_deg: f64| {
            let angle_deg = |index: i32| f64::from(index) - offset_deg;
            (0..360)
                .map(|index| (angle_deg(index).to_radians() / 2.0).sin().abs() * steepness)
                .collect()
        };
        let cuts = Cuts { horizontal_loss_db: cut(0.0), vertical_loss_db: cut(5.0) };
        Pattern::new(cuts).unwrap()
    };
    add("pattern", &|s| {
        s.transmitter.antenna = s.transmitter.antenna.clone().with_pattern(wedge(30.0));
        s.transmitter.pointing = Some(Pointing { azimuth_deg: 350.0, elevation_deg: -3.0 });
        s.receiver.antenna = s.receiver.antenna.clone().with_pattern(wedge(2.0));
        s.receiver.antenna.electrical_tilt_deg = 1.0;
    });
    add("dish", &|s| s.receiver.antenna.azimuth_beamwidth_deg = 5.0);
    add("crossed", &|s| s.receiver.antenna.polarization = Polarization::Horizontal);
    let calibrated = |name: &str, offsets: [(f64, f64, f64); 2]| {
        let class = |(near_km, far_km, loss_db)| Offset {
            frequency_mhz: [900.0, 930.0],
            distance_km: [near_km, far_km],
            loss_db,
            interval_db: None,
            spread_db: None,
        };
        Some(Calibration {
            name: name.to_owned(),
            classes: offsets.map(class).to_vec(),
            fitted: None,
            area: None,
        })
    };
    // Harder near, easier far, as the model has it between.
    add("calibrated", &|s| {
        s.environment.calibration = calibrated("hills", [(0.0, 4.0, 9.5), (8.0, 100.0, -6.25)])
    });
    // In part beyond the place of the calibration: the edge crosses the cells.
    add("calibrated elsewhere", &|s| {
        let [lat_deg, lon_deg] = [s.position.lat_deg(), s.position.lon_deg()];
        let mut profile = calibrated("valley", [(0.0, 4.0, 9.5), (4.0, 100.0, -6.25)]);
        profile.iter_mut().for_each(|profile| {
            profile.area = Some(Area {
                south_deg: lat_deg - 0.085,
                west_deg: lon_deg - 1.0,
                north_deg: lat_deg - 0.08,
                east_deg: lon_deg + 1.0,
            });
        });
        s.environment.calibration = profile;
    });
    // Never below free space.
    add("calibrated beyond reason", &|s| {
        s.environment.calibration = calibrated("steep", [(0.0, 5.0, -60.0), (5.0, 100.0, 60.0)])
    });
    add("deaf", &|s| s.receiver.radio.frequency_mhz = 2_000.0);
    add("24 GHz", &|s| {
        s.transmitter.radio.frequency_mhz = 24_000.0;
        s.receiver.radio.frequency_mhz = 24_000.0;
    });
    add("buried", &|s| s.receiver.height_agl_m = 0.0);
    add("weather", &|s| {
        for end in [&mut s.transmitter, &mut s.receiver] {
            end.radio.frequency_mhz = 11_000.0;
        }
        s.environment.rain_rate_mm_h = 30.0;
        s.environment.interference_dbm = Some(-95.0);
        s.environment.man_made_noise = Some(NoiseCategory::Residential);
        s.environment.other_loss_db = 2.5;
        s.environment.required_margin_db = 6.0;
        s.environment.time_percent = 95.0;
        s.environment.location_percent = 80.0;
    });
    add("town", &|s| {
        s.environment.clutter =
            Some(Clutter::Statistical { below_height_m: 10.0, location_percent: 70.0 });
        s.environment.vegetation = Some(Vegetation {
            depth_m: 50.0,
            specific_attenuation_db_m: 0.17,
            maximum_attenuation_db: 26.5,
        });
    });
    add("forest", &|s| {
        s.environment.clutter = Some(Clutter::HeightGain {
            category: ClutterCategory::TreesForest,
            representative_height_m: None,
        });
    });
    add("streets below a sector", &|s| {
        s.transmitter.antenna = presets::antenna("sector_17_90").unwrap().antenna.clone();
        s.transmitter.pointing = Some(Pointing { azimuth_deg: 30.0, elevation_deg: -2.0 });
        s.receiver.surroundings = Surroundings::Urban;
    });
    add("indoors", &|s| {
        s.receiver.surroundings = Surroundings::Suburban;
        s.receiver.indoor = Indoor::ThermallyEfficient;
        s.transmitter.indoor = Indoor::Traditional;
        s.environment.location_percent = 90.0;
    });
    add("suburb under P.1812", &|s| {
        s.environment.model = Model::P1812;
        s.receiver.surroundings = Surroundings::Suburban;
        s.receiver.indoor = Indoor::Traditional;
    });
    for (name, setup) in &setups {
        assert!(check(name, setup, &Rough, 24, 1) > 300);
    }
}

#[test]
fn threads_blocks_and_their_order_change_no_bit() {
    let setup = setup(point(51.05, -114.1), 12e3);
    let site = setup.prepare(&Rough).unwrap();
    let grid = Grid::around(&[setup.position], setup.radius_m, 21.0).unwrap();
    let bits = |cells: &[Cell]| -> Vec<String> { cells.iter().map(|c| format!("{c:?}")).collect() };
    let want = bits(&coverage(&site, &Rough, &grid));
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert!(bits(&pool.install(|| coverage(&site, &Rough, &grid))) == want);
    }
    let mut scratch = Scratch::default();
    let evaluation = Evaluation { site: &site, terrain: &Rough, grid: &grid };
    for (high, wide) in [(1, 1), (7, 5), (3, 64), (64, 65), (1000, 1000)] {
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
        let all = all.into_raw_vec_and_offset().0;
        assert!(bits(&all) == want, "{high} x {wide}");
    }
}

/// Where surroundings are known and nothing else is chosen the median is the power of the cell.
#[test]
fn quantiles_fall_about_the_median_by_the_spread_of_links() {
    let mut setup = setup(point(51.05, -114.1), 30e3);
    setup.environment.clutter = Some(Clutter::HeightGain {
        category: ClutterCategory::OpenRural,
        representative_height_m: Some(1.0),
    });
    let grid = Grid::square(setup.position, setup.radius_m, 48).unwrap();
    let cells = coverage(&setup.prepare(&Rough).unwrap(), &Rough, &grid);
    let mut widths = [0; 2];
    for cell in cells.iter().filter(|cell| cell.has_data()) {
        let [p10, p50, p90] = cell.rx_power_quantiles_dbm;
        assert!((f64::from(p50) - cell.rx_power_dbm).abs() < 1e-4, "{cell:?}");
        let [above_db, below_db] = [p10 - p50, p50 - p90];
        assert!((above_db - below_db).abs() < 1e-3, "{cell:?}");
        // 1.2816 times √(6² + 6²) in line of sight, at least √(11² + 7²) else.
        assert!((above_db - 10.87).abs() < 0.01 || above_db > 16.70, "{cell:?}");
        widths[usize::from(above_db > 11.0)] += 1;
    }
    assert!(widths.iter().all(|count| *count > 10), "{widths:?}");
    let mut low = setup.clone();
    low.environment.clutter = None;
    low.receiver.height_agl_m = 1.5;
    for cell in coverage(&low.prepare(&Rough).unwrap(), &Rough, &grid) {
        let [p10, p50, p90] = cell.rx_power_quantiles_dbm;
        if cell.has_data() {
            assert!(f64::from(p50) < cell.rx_power_dbm + 1e-4, "{cell:?}");
            assert!(p10 - p90 > 46.6, "{cell:?}");
        }
    }
}

/// The share of time and locations that the environment asks for moves the loss, not the prediction.
#[test]
fn predictions_do_not_depend_on_the_share_that_a_budget_asks_for() {
    let setup = setup(point(51.05, -114.1), 30e3);
    let mut certain = setup.clone();
    certain.environment.time_percent = 90.0;
    certain.environment.location_percent = 90.0;
    let grid = Grid::square(setup.position, setup.radius_m, 24).unwrap();
    let [median, sure] =
        [&setup, &certain].map(|setup| coverage(&setup.prepare(&Rough).unwrap(), &Rough, &grid));
    let mut moved = 0;
    for (cell, sure) in median.iter().zip(&sure).filter(|(cell, _)| cell.has_data()) {
        for (one, other) in cell.rx_power_quantiles_dbm.into_iter().zip(sure.rx_power_quantiles_dbm)
        {
            assert!((one - other).abs() < 1e-3, "{cell:?} {sure:?}");
        }
        assert_eq!(cell.verdict, sure.verdict);
        moved += usize::from(cell.rx_power_dbm > sure.rx_power_dbm + 1.0);
    }
    assert!(moved > 100, "{moved}");
}
