use std::collections::BTreeMap;

use groundwave_needs::needs;

use super::super::vectors::{fixture, rows, shared_text};
use super::*;

const FOLDER: &str = "vectors/eeveetza_Py1812";

/// A validation profile: distances, m, heights, m, clutter, m, and zones.
struct Terrain {
    distance_m: Vec<f64>,
    elevation_msl_m: Vec<f64>,
    clutter_agl_m: Vec<f64>,
    zones: Vec<Zone>,
}

fn terrain(name: &str) -> Terrain {
    let text = shared_text(&format!("{FOLDER}/profiles/{name}.csv"));
    let body = text.split("{Begin of Profile}").nth(1).unwrap().split("{End").next().unwrap();
    let mut terrain = Terrain {
        distance_m: Vec::new(),
        elevation_msl_m: Vec::new(),
        clutter_agl_m: Vec::new(),
        zones: Vec::new(),
    };
    for line in body.lines() {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let [distance_km, height, _, clutter, zone, ..] = cells[..] else { continue };
        let Ok(distance_km) = distance_km.parse::<f64>() else { continue };
        terrain.distance_m.push(distance_km * 1e3);
        terrain.elevation_msl_m.push(height.parse().unwrap());
        terrain.clutter_agl_m.push(clutter.parse().unwrap());
        terrain.zones.push(match zone {
            "1" => Zone::Sea,
            "3" => Zone::CoastalLand,
            _ => Zone::Inland,
        });
    }
    terrain
}

/// The first value of each name of a validation log.
fn log(name: &str) -> BTreeMap<String, f64> {
    let text = shared_text(&format!("{FOLDER}/results/{name}_log.csv"));
    let mut values = BTreeMap::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if let Some(Ok(value)) = cells.get(3).map(|cell| cell.parse()) {
            values.entry(cells[0].to_owned()).or_insert(value);
        }
    }
    values
}

/// The names of all logs with those of their profiles.
fn logs() -> Vec<(String, String)> {
    let folder = groundwave_test_data::shared(&format!("{FOLDER}/results"));
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter_map(|file| file.strip_suffix("_log.csv").map(str::to_owned))
        .map(|name| (name.rsplit_once('_').unwrap().0.to_owned(), name))
        .collect();
    names.sort();
    names
}

fn inputs(log: &BTreeMap<String, f64>) -> Path {
    let metres = |name: &str| log[name] * 1e3;
    Path {
        frequency_mhz: log["f (GHz)"] * 1e3,
        polarization: if log["pol"] == 1.0 {
            Polarization::Horizontal
        } else {
            Polarization::Vertical
        },
        tx_agl_m: log["htg (m)"],
        rx_agl_m: log["hrg (m)"],
        atmosphere: Atmosphere { lapse_n_per_km: log["DN"], sea_level_n: log["N0"] },
        latitude_deg: log["phi (deg)"],
        zones: Zones {
            sea_share: log["w"],
            longest_land_m: metres("dtm (km)"),
            longest_inland_m: metres("dlm (km)"),
            coast_m: [metres("dct (km)"), metres("dcr (km)")],
        },
    }
}

/// The 63 runs of the validation of Study Group 3's reference implementation, with their intermediates. The
/// reference takes c = 2.998e8 m/s.
#[needs(shared("vectors/eeveetza_Py1812"))]
#[test]
fn validation_runs_give_their_losses_and_intermediates() {
    let logs = logs();
    assert_eq!(logs.len(), 63);
    let mut clutter_runs = 0;
    for (profile, name) in logs {
        let (terrain, log) = (terrain(&profile), log(&name));
        let bare = Profile::new(&terrain.distance_m, &terrain.elevation_msl_m).unwrap();
        let ground = bare.with_clutter(&terrain.clutter_agl_m).unwrap();
        clutter_runs += usize::from(terrain.clutter_agl_m.iter().any(|height_m| *height_m > 0.0));
        let path = inputs(&log);
        let prepared = Prepared::new(&ground, &path).unwrap();
        let loss = prepared.loss(log["p (%)"]).unwrap();
        let [tx_m, rx_m] = prepared.horizons_m();
        for (key, value, tolerance) in [
            ("b0 (%)", prepared.beta_0_percent, 1e-6),
            ("ae (km)", prepared.geometry.effective_radius_km, 1e-5),
            ("dlt (km)", tx_m * 1e-3, 1e-9),
            ("dlr (km)", rx_m * 1e-3, 1e-9),
            ("th_t (mrad)", prepared.geometry.horizon_mrad[0], 1e-6),
            ("th_r (mrad)", prepared.geometry.horizon_mrad[1], 1e-6),
            ("th (mrad)", prepared.geometry.angular_mrad, 1e-6),
            ("hte (m)", prepared.geometry.effective_m[0], 1e-6),
            ("hre (m)", prepared.geometry.effective_m[1], 1e-6),
            ("hm (m)", prepared.geometry.roughness_m, 1e-6),
            ("Lbfs", loss.free_space_db, 1e-6),
            ("Lb0p", loss.line_of_sight_db, 1e-6),
            ("Ld50 (dB)", prepared.median_diffraction_db, 1e-3),
            ("Ldb (dB)", prepared.beta_diffraction_db().unwrap(), 1e-3),
            ("Ldp (dB)", loss.diffraction_db, 1e-3),
            ("Lbs (dB)", loss.troposcatter_db, 1e-6),
            ("Lba (dB)", loss.ducting_db, 1e-6),
            ("Lb (dB)", loss.loss_db, 1e-3),
        ] {
            let error = (value - log[key]).abs();
            assert!(error < tolerance, "{name}, {key}: {value}, {}", log[key]);
        }
    }
    assert_eq!(clutter_runs, 54);
}

/// Three of them, shipped.
#[test]
fn shipped_runs_over_clutter_give_their_losses() {
    let points = rows(fixture!("p1812_clutter_profile.csv"));
    let column = |index: usize, unit: f64| -> Vec<f64> {
        points.iter().map(|point| point[index] * unit).collect()
    };
    let [distance_m, elevation_msl_m, clutter_agl_m] =
        [(0, 1e3), (1, 1.0), (2, 1.0)].map(|(index, unit)| column(index, unit));
    let ground = Profile::new(&distance_m, &elevation_msl_m).unwrap();
    let ground = ground.with_clutter(&clutter_agl_m).unwrap();
    let runs = rows(fixture!("p1812_clutter_expected.csv"));
    assert_eq!((points.len(), runs.len()), (27, 3));
    for run in runs {
        let path = Path {
            frequency_mhz: run[0] * 1e3,
            polarization: Polarization::Horizontal,
            tx_agl_m: run[2],
            rx_agl_m: run[3],
            atmosphere: Atmosphere { lapse_n_per_km: run[4], sea_level_n: run[5] },
            latitude_deg: run[6],
            zones: Zones::inland(10e3),
        };
        let prepared = Prepared::new(&ground, &path).unwrap();
        let loss = prepared.loss(run[1]).unwrap();
        for (value_db, expected_db) in [
            (prepared.median_diffraction_db, run[7]),
            (loss.troposcatter_db, run[8]),
            (loss.ducting_db, run[9]),
            (loss.loss_db, run[10]),
        ] {
            assert!((value_db - expected_db).abs() < 1e-3, "{run:?}: {loss:?}");
        }
    }
}

/// The zones of the validation profiles give the shares and lengths of the logs.
#[needs(shared("vectors/eeveetza_Py1812"))]
#[test]
fn zones_of_points_give_shares_and_lengths() {
    for (profile, name) in logs() {
        let (terrain, log) = (terrain(&profile), log(&name));
        let zones = Zones::of(&terrain.distance_m, &terrain.zones).unwrap();
        for (key, value) in [
            ("w", zones.sea_share),
            ("dtm (km)", zones.longest_land_m * 1e-3),
            ("dlm (km)", zones.longest_inland_m * 1e-3),
        ] {
            assert!((value - log[key]).abs() < 1e-6, "{name}, {key}: {value}, {}", log[key]);
        }
    }
}

fn flat(frequency_mhz: f64) -> Path {
    Path {
        frequency_mhz,
        polarization: Polarization::Vertical,
        tx_agl_m: 12.0,
        rx_agl_m: 2.0,
        atmosphere: Atmosphere::default(),
        latitude_deg: 50.0,
        zones: Zones::inland(3e3),
    }
}

/// A flat path of 3 km at 868 MHz below clutter of 10 m: the excess over free space that five cities were
/// measured to have, 20 to 40 dB, and the same within 1 dB for points every 30 and every 10 m.
#[test]
fn clutter_costs_decibels_at_any_spacing() {
    let excess = |step_m: f64, clutter_m: f64| {
        let points = (3e3 / step_m) as usize + 1;
        let (ground, clutter) = (vec![0.0; points], vec![clutter_m; points]);
        let profile = Profile::equally_spaced(step_m, &ground).unwrap();
        let profile = profile.with_clutter(&clutter).unwrap();
        let prepared = Prepared::new(&profile, &flat(868.0)).unwrap();
        let loss = prepared.loss(50.0).unwrap();
        loss.loss_db - loss.free_space_db
    };
    let open = excess(30.0, 0.0);
    let built = excess(30.0, 10.0);
    assert!(open < 15.0 && (20.0..40.0).contains(&built), "{open} {built}");
}

/// Less is lost for a smaller share of the time, and never less than multipath leaves.
#[test]
fn loss_rises_with_the_share_of_time() {
    let ground: Vec<f64> = (0..=600).map(|i| 40.0 * (f64::from(i) * 0.05).sin()).collect();
    let profile = Profile::equally_spaced(100.0, &ground).unwrap();
    let path = Path { zones: Zones::inland(60e3), ..flat(868.0) };
    let prepared = Prepared::new(&profile, &path).unwrap();
    let losses: Vec<_> = (1..=50).map(|p| prepared.loss(f64::from(p)).unwrap()).collect();
    for pair in losses.windows(2) {
        assert!(pair[0].loss_db <= pair[1].loss_db + 1e-9, "{pair:?}");
    }
    assert!(losses[49].loss_db - losses[0].loss_db > 5.0);
    assert!(losses.iter().all(|loss| loss.loss_db >= loss.line_of_sight_db));
}

#[test]
fn numbers_out_of_range_give_errors() {
    let ground = [0.0; 31];
    let profile = Profile::equally_spaced(100.0, &ground).unwrap();
    let path = flat(868.0);
    for wrong in [
        Path { frequency_mhz: 29.0, ..path },
        Path { frequency_mhz: 6_001.0, ..path },
        Path { tx_agl_m: 0.5, ..path },
        Path { rx_agl_m: f64::NAN, ..path },
        Path { latitude_deg: 91.0, ..path },
        Path { zones: Zones { sea_share: 1.5, ..path.zones }, ..path },
    ] {
        assert!(Prepared::new(&profile, &wrong).is_err(), "{wrong:?}");
    }
    let prepared = Prepared::new(&profile, &path).unwrap();
    assert!(prepared.loss(0.5).is_err() && prepared.loss(51.0).is_err());
    let short = Profile::equally_spaced(3e3, &[0.0; 2]).unwrap();
    assert!(Prepared::new(&short, &path).unwrap().loss(50.0).unwrap().loss_db.is_finite());
    assert!(profile.with_clutter(&[0.0; 30]).is_err());
    assert!(profile.with_clutter(&[-1.0; 31]).is_err());
}

/// Deviation and shift of ITU-R P.1812-8 §4.8 for an area of 500 m at 1 GHz.
#[test]
fn places_vary_by_the_width_of_their_area() {
    let sigma_db = location_sigma_db(1_000.0, 500.0).unwrap();
    assert!((sigma_db - 0.544 * 500f64.powf(0.28)).abs() < 1e-12);
    assert_eq!(location_loss_db(50.0, sigma_db), Ok(0.0));
    let [low, high] = [10.0, 90.0].map(|percent| location_loss_db(percent, sigma_db).unwrap());
    assert!((high - 1.2816 * sigma_db).abs() < 2e-3 && (low + high).abs() < 1e-12);
    assert_eq!(location_share_of_height(3.0, 10.0), 1.0);
    assert_eq!(location_share_of_height(15.0, 10.0), 0.5);
    assert_eq!(location_share_of_height(25.0, 10.0), 0.0);
}
