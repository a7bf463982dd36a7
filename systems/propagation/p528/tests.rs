use super::super::vectors::{fixture, rows};
use super::*;

/// Losses of a table at a frequency, with share of the time, heights, distances and losses.
fn tables() -> Vec<([f64; 4], Vec<(f64, f64)>)> {
    let mut distances_km: Vec<f64> = Vec::new();
    let mut tables = Vec::new();
    for line in fixture!("p528_tables.csv").lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.split(',').collect();
        if cells[0] == "f_mhz" {
            let distance = |cell: &&str| cell.trim_end_matches(" km").parse().unwrap();
            distances_km = cells[4..].iter().map(distance).collect();
            continue;
        }
        let inputs = [0, 1, 2, 3].map(|cell: usize| cells[cell].parse().unwrap());
        let losses = distances_km.iter().zip(&cells[4..]);
        let losses = losses.filter_map(|(km, cell)| Some((*km, cell.parse().ok()?)));
        tables.push((inputs, losses.collect()));
    }
    tables
}

#[test]
fn losses_are_those_of_the_published_tables() {
    let tables = tables();
    assert_eq!(tables.len(), 180);
    let mut count = 0;
    for ([frequency_mhz, time_percent, low_m, high_m], losses) in tables {
        let prepared = Prepared::new(frequency_mhz, Polarization::Horizontal).unwrap();
        for (distance_km, expected_db) in losses {
            let path = prepared.path([low_m, high_m], distance_km).unwrap();
            let loss_db = path.loss_db(time_percent).unwrap();
            // They have one decimal.
            assert!(
                (loss_db - expected_db).abs() < 0.054,
                "{frequency_mhz} MHz, {time_percent} %, {low_m} and {high_m} m, {distance_km} km: \
                 {loss_db}, {expected_db}"
            );
            count += 1;
        }
    }
    assert_eq!(count, 180 * 14 - 30);
}

#[test]
fn polarizations_shares_and_modes_are_those_of_the_program_of_the_recommendation() {
    let rows = rows(fixture!("p528_program.csv"));
    assert_eq!(rows.len(), 56);
    for row in rows {
        let [f, vertical, percent, low_m, high_m, km, mode, loss_db, free_db, air_db] = row[..]
        else {
            panic!("{row:?}")
        };
        let polarization =
            if vertical == 1.0 { Polarization::Vertical } else { Polarization::Horizontal };
        let prepared = Prepared::new(f, polarization).unwrap();
        let path = prepared.path([low_m, high_m], km).unwrap();
        let modes = [Mode::LineOfSight, Mode::Diffraction, Mode::Troposcatter];
        assert_eq!(path.mode, modes[mode as usize - 1], "{row:?}");
        assert!((path.loss_db(percent).unwrap() - loss_db).abs() < 0.006, "{row:?} {path:?}");
        assert!((path.free_space_db - free_db).abs() < 0.006, "{row:?} {path:?}");
        let absorption_db = path.absorption_db[0] + path.absorption_db[1];
        assert!((absorption_db - air_db).abs() < 0.006, "{row:?} {path:?}");
    }
}

#[test]
fn loss_rises_with_the_share_of_the_time_and_is_the_same_in_both_directions() {
    let prepared = Prepared::new(1_090.0, Polarization::Vertical).unwrap();
    for distance_km in [2.0, 80.0, 300.0, 460.0, 900.0] {
        let path = prepared.path([12.0, 9_000.0], distance_km).unwrap();
        assert_eq!(prepared.path([9_000.0, 12.0], distance_km).unwrap(), path);
        let losses_db = [1.0, 2.5, 5.0, 10.0, 49.9, 50.0, 50.1, 90.0, 99.0]
            .map(|percent| path.loss_db(percent).unwrap());
        assert!(losses_db.is_sorted(), "{distance_km} km: {losses_db:?}");
        assert!((losses_db[6] - losses_db[4]).abs() < 0.1, "{distance_km} km: {losses_db:?}");
    }
}

#[test]
fn inputs_out_of_range_give_an_error_with_the_allowed_range() {
    let error = |result: Result<Path, DomainError>| result.unwrap_err().to_string();
    let prepared = Prepared::new(100.0, Polarization::Horizontal).unwrap();
    let low = error(prepared.path([1.0, 500.0], 10.0));
    assert_eq!(low, "invalid height_m: found 1, allowed 1.5 to 20000");
    let far = error(prepared.path([10.0, 500.0], 1_801.0));
    assert_eq!(far, "invalid distance_km: found 1801, allowed 0 to 1800");
    assert!(prepared.path([10.0, 10.0], 0.0).is_err());
    assert!(prepared.path([10.0, f64::NAN], 10.0).is_err());
    let path = prepared.path([10.0, 500.0], 10.0).unwrap();
    let share = path.loss_db(0.5).unwrap_err().to_string();
    assert_eq!(share, "invalid time_percent: found 0.5, allowed 1 to 99");
    for frequency_mhz in [99.0, 30_001.0, f64::NAN] {
        assert!(Prepared::new(frequency_mhz, Polarization::Horizontal).is_err());
    }
}
