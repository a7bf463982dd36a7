use groundwave_needs::needs;

use super::*;
use crate::free_space::free_space_loss_db;
use crate::vectors::{fixture, rows, shared_rows, shared_text};

/// Area of a code of the National Land Cover Database.
fn area(code: f64) -> Area {
    match code as u32 {
        22 => Area::Suburban,
        23 => Area::Urban,
        24 => Area::DenseUrban,
        _ => Area::Rural,
    }
}

/// Loss in the edition of NTIA's code, which takes ground at sea level for sea.
fn reference_db([f, hb, hm, code]: [f64; 4], step_m: f64, ground: &[f64]) -> f64 {
    let path = Path {
        frequency_mhz: f,
        mobile_agl_m: hm,
        base_agl_m: hb,
        area: area(code),
        refractivity_n_units: 301.0,
        sea: Sea::of_points(ground.iter().map(|height_m| *height_m == 0.0)),
        edition: Edition::Reference,
    };
    path.loss(&PathProfile::bare(step_m, ground)).unwrap().loss_db
}

#[test]
fn shipped_paths_of_the_wireless_innovation_forum_have_their_loss() {
    let paths = rows(fixture!("winnf_ehata.csv"));
    assert_eq!(paths.len(), 5);
    for path in paths {
        let loss_db = reference_db([path[1], path[2], path[3], path[4]], path[6], &path[7..]);
        assert!((loss_db - path[5]).abs() < 2e-4, "{}: {loss_db}", path[0]);
    }
}

/// The published losses have the speed of light of ε0 = 8.854e-12, 9e-5 dB off.
#[needs(shared("vectors/WInnF_SAS_ehata"))]
#[test]
fn every_path_of_the_wireless_innovation_forum_has_its_loss() {
    const FOLDER: &str = "vectors/WInnF_SAS_ehata";
    let table = shared_text(&format!("{FOLDER}/test-inputs-wfmod.csv"));
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |cell: usize| cells[cell].trim().parse::<f64>().unwrap();
        let profile = shared_rows(&format!("{FOLDER}/pfls/{}", cells[6])).remove(0);
        let ground = &profile[2..profile[0] as usize + 3];
        let loss_db = reference_db([2, 3, 4, 5].map(number), profile[1], ground);
        assert!((loss_db - number(12)).abs() < 2e-4, "{}: {loss_db}", cells[0]);
    }
    assert_eq!(table.lines().count(), 54);
}

/// Okumura-Hata at 869 MHz by the Octave scripts of ns-3, which print two decimals.
#[test]
fn hata_has_worked_values() {
    for (area, expected_db) in
        [(Area::DenseUrban, 137.93), (Area::Urban, 137.88), (Area::Suburban, 128.03)]
    {
        let loss_db = okumura_hata_db(869.0, 30.0, 1.0, 2.0, area).unwrap();
        assert!((loss_db - expected_db).abs() < 6e-3, "{area:?}: {loss_db}");
    }
}

/// 137.4 + 35.2 log d at 1,950 MHz (H. Holma, A. Toskala, "WCDMA for UMTS", cell range of macro cells).
#[test]
fn cost_231_has_worked_values() {
    for (distance_km, expected_db) in [(1.0, 137.4), (10.0, 137.4 + 35.2)] {
        let loss_db = cost231_hata_db(1_950.0, 30.0, 1.5, distance_km, false).unwrap();
        assert!((loss_db - expected_db).abs() < 0.1, "{loss_db}");
        let centre_db = cost231_hata_db(1_950.0, 30.0, 1.5, distance_km, true).unwrap();
        assert!((centre_db - loss_db - 3.0).abs() < 1e-9);
    }
}

/// Inputs of a suburban path at 30 m and 2 m.
fn suburban(frequency_mhz: f64) -> Path {
    Path {
        frequency_mhz,
        mobile_agl_m: 2.0,
        base_agl_m: 30.0,
        area: Area::Suburban,
        refractivity_n_units: 301.0,
        sea: Sea::NONE,
        edition: Edition::Corrected,
    }
}

fn loss_db(path: &Path, ground: &[f64]) -> f64 {
    path.loss(&PathProfile::bare(100.0, ground)).unwrap().loss_db
}

#[test]
fn loss_rises_with_distance_and_with_buildings() {
    for frequency_mhz in [150.0, 433.0, 868.0, 1_499.0, 1_500.0, 2_400.0, 3_700.0] {
        let mut last_db = 0.0;
        for hectometres in 10..=1_000 {
            let distance_km = f64::from(hectometres) * 0.1;
            let at =
                |area| Path { area, ..suburban(frequency_mhz) }.basic_db([2.0, 30.0], distance_km);
            let [open_db, suburb_db, city_db] = [Area::Rural, Area::Suburban, Area::Urban].map(at);
            // The break point has a step.
            assert!(suburb_db > last_db - 0.2, "{frequency_mhz} {distance_km}");
            assert!(open_db < suburb_db && suburb_db < city_db);
            assert!(open_db > free_space_loss_db(distance_km * 1e3, frequency_mhz));
            last_db = suburb_db;
        }
    }
}

#[test]
fn both_models_meet_at_1_500_mhz_within_20_km() {
    for distance_km in [1.0, 5.0, 20.0] {
        for heights_m in [[1.5, 30.0], [10.0, 200.0]] {
            let [below_db, above_db] =
                [1_499.999, 1_500.0].map(|mhz| suburban(mhz).basic_db(heights_m, distance_km));
            assert!((below_db - above_db).abs() < 1.5, "{distance_km}: {below_db} {above_db}");
        }
    }
}

#[test]
fn loss_does_not_depend_on_the_height_of_all_ground() {
    let hills: Vec<f64> = (0..80).map(|i| 30.0 * (f64::from(i) * 0.3).sin()).collect();
    let raised: Vec<f64> = hills.iter().map(|height_m| height_m + 1_500.0).collect();
    let [low_db, high_db] = [&hills, &raised].map(|ground| loss_db(&suburban(868.0), ground));
    assert!((low_db - high_db).abs() < 0.1, "{low_db} {high_db}");
}

#[test]
fn places_on_tops_and_slopes_towards_the_base_station_lose_less() {
    let wave = |phase: f64| -> Vec<f64> {
        (0..=150).map(|i| 40.0 * (f64::from(i) * 0.5 + phase).cos()).collect()
    };
    let [top_db, hollow_db] =
        [0.0, std::f64::consts::PI].map(|phase| loss_db(&suburban(868.0), &wave(phase)));
    assert!(hollow_db > top_db + 5.0, "{top_db} {hollow_db}");
    let slope =
        |mrad: f64| -> Vec<f64> { (0..=150).map(|i| 500.0 - mrad * 0.1 * f64::from(i)).collect() };
    let corrected = |mrad: f64| corrections::slope_db(mrad, 15.0, Edition::Corrected);
    assert!(corrected(10.0) > 1.0 && corrected(-10.0) < -2.0);
    assert_eq!(corrected(-150.0), corrections::slope_db(-20.0, 15.0, Edition::Reference));
    let [level_db, towards_db] = [0.0, 10.0].map(|mrad| loss_db(&suburban(868.0), &slope(mrad)));
    assert!(towards_db < level_db, "{level_db} {towards_db}");
}

#[test]
fn a_single_ridge_costs_by_its_height_and_never_gains_behind() {
    let with_ridge = |height_m: f64| -> Loss {
        let mut ground = [0.0; 301];
        ground[20] = height_m;
        suburban(868.0).loss(&PathProfile::bare(100.0, &ground)).unwrap()
    };
    let [low, high] = [200.0, 800.0].map(with_ridge);
    assert!(low.is_single_ridge && high.is_single_ridge);
    let [low_db, high_db] = [low, high].map(|loss| loss.loss_db - loss.basic_db);
    assert!(low_db > 10.0 && (high_db / low_db - 2.0).abs() < 0.05, "{low_db} {high_db}");
    for km in 3..40 {
        let ridge = corrections::Ridge { mobile_km: f64::from(km), base_km: 5.0, height_m: 300.0 };
        assert!(ridge.correction_db(Edition::Corrected) <= 0.0);
    }
}

#[test]
fn sea_helps_and_more_next_to_the_mobile() {
    let at = |share, side, distance_km| corrections::sea_db(Sea { share, side }, distance_km);
    assert_eq!(at(0.0, SeaSide::Both, 10.0), 0.0);
    assert_eq!(at(1.0, SeaSide::Both, 10.0), 11.0);
    assert_eq!(at(1.0, SeaSide::Base, 100.0), 15.0);
    assert!(at(0.4, SeaSide::Mobile, 45.0) > at(0.4, SeaSide::Base, 45.0));
    let points = [true, true, false, false, false, false].into_iter();
    assert_eq!(Sea::of_points(points), Sea { share: 1.0 / 3.0, side: SeaSide::Mobile });
    assert_eq!(Sea::of_points([false; 5].into_iter()), Sea::NONE);
}

#[test]
fn profiles_of_few_points_have_a_loss() {
    for (step_m, count) in [(10.0, 2), (100e3, 2), (8e3, 3), (3e3, 2), (5e3, 2), (1e3, 16)] {
        let ground = vec![100.0; count];
        let loss = suburban(868.0).loss(&PathProfile::bare(step_m, &ground)).unwrap();
        assert!(loss.loss_db.is_finite() && loss.effective_height_m == [2.0, 30.0], "{loss:?}");
    }
}

#[test]
fn inputs_out_of_range_are_refused() {
    let ground = [0.0; 21];
    let profile = PathProfile::bare(100.0, &ground);
    let usual = suburban(868.0);
    assert!(usual.loss(&profile).is_ok());
    for path in [
        suburban(149.0),
        suburban(4_001.0),
        suburban(f64::NAN),
        Path { edition: Edition::Reference, ..usual },
        Path { mobile_agl_m: -1.0, ..usual },
        Path { base_agl_m: 3_001.0, ..usual },
        Path { refractivity_n_units: 200.0, ..usual },
        Path { sea: Sea { share: 1.1, side: SeaSide::Both }, ..usual },
    ] {
        assert!(path.loss(&profile).is_err(), "{path:?}");
    }
    for profile in [
        PathProfile::bare(100.0, &[0.0]),
        PathProfile::bare(0.0, &ground),
        PathProfile::bare(1e6, &ground),
        PathProfile::bare(100.0, &[0.0, f64::NAN, 0.0]),
    ] {
        assert!(usual.loss(&profile).is_err(), "{profile:?}");
    }
    assert!(okumura_hata_db(1_501.0, 30.0, 1.5, 2.0, Area::Urban).is_err());
    assert!(okumura_hata_db(900.0, 29.0, 1.5, 2.0, Area::Urban).is_err());
    assert!(cost231_hata_db(1_499.0, 30.0, 1.5, 2.0, false).is_err());
    assert!(cost231_hata_db(1_800.0, 30.0, 11.0, 2.0, false).is_err());
    assert!(extended_hata_db(2_000.0, 30.0, 1.5, 0.0, Area::Urban).is_err());
    assert!(location_sigma_db(100.0, Area::Urban).is_err());
}

#[test]
fn places_differ_as_the_figure_has_it() {
    for (mhz, urban_db) in [(1_500.0, 7.1), (2_000.0, 7.5), (3_000.0, 8.1), (868.0, 6.4)] {
        let sigma_db = location_sigma_db(mhz, Area::Urban).unwrap();
        assert!((sigma_db - urban_db).abs() < 0.05, "{mhz}: {sigma_db}");
        assert_eq!(location_sigma_db(mhz, Area::Rural).unwrap(), sigma_db + 2.0);
    }
}
