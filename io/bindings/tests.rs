//! Requests against the models.

use groundwave_model::coverage::{CoverageRequest, Grid, Sampling};
use groundwave_model::radio::presets;
use groundwave_model::terrain::{Flat, GeoPoint, Terrain, sample_profile};

use crate::coverage::{CoverageDocument, PLANES, coverage, size};
use crate::document::read;
use crate::elevation::{Elevation, Extent};
use crate::itm::{ItmInputs, loss_db};
use crate::link::{LinkRequest, link, link_over};
use crate::path::{COLUMNS, path};

const LINK: &str = r#"{
    "from": { "lat_deg": 57.7, "lon_deg": 11.9, "station": { "radio": "lora_868_eu", "antenna": "omni_5" } },
    "to": { "lat_deg": 57.75, "lon_deg": 11.95, "station": { "radio": "lora_868_eu", "height_agl_m": 2 } }
}"#;

const EXTENT: Extent = Extent {
    west_deg: 11.8,
    south_deg: 57.6,
    east_deg: 12.0,
    north_deg: 57.8,
    rows: 240,
    columns: 240,
    undulation_m: None,
};

/// Rough ground without a random number.
fn heights() -> Vec<f32> {
    let post = |i: u32| (i.wrapping_mul(2_654_435_761) >> 24) as f32 * 0.3;
    (0..EXTENT.rows * EXTENT.columns).map(post).collect()
}

fn request(json: &str) -> Result<LinkRequest, String> {
    read(json).map_err(|error| error.to_string())
}

#[test]
fn link_over_heights_equals_the_link_over_their_terrain() {
    let request = request(LINK).unwrap();
    let heights = heights();
    let terrain = Elevation::new(EXTENT, &heights).unwrap();
    let over_terrain = link(&request, &terrain).unwrap();
    let at = |lat_deg, lon_deg| GeoPoint::new(lat_deg, lon_deg).unwrap();
    let [from, to] = [at(57.7, 11.9), at(57.75, 11.95)];
    let profile = sample_profile(&terrain, from, to, over_terrain.samples);
    let over_heights = link_over(&request, &profile.elevation_msl_m).unwrap();
    assert_eq!(over_terrain.forward.losses, over_heights.forward.losses);
    assert_eq!(over_terrain.backward.receiver, over_heights.backward.receiver);
    assert!(over_terrain.forward.losses.total_path_loss_db > 100.0);
    let flat = link(&request, &Flat::default()).unwrap();
    assert_ne!(flat.forward.losses, over_terrain.forward.losses);
}

#[test]
fn invalid_values_give_errors_with_their_keys_and_allowed_values() {
    let error = |from: &str, to: &str| {
        let text = LINK.replacen(from, to, 1);
        assert_ne!(text, LINK);
        let outcome = request(&text).and_then(|request| {
            link(&request, &Flat::default()).map_err(|error| error.to_string())
        });
        outcome.unwrap_err()
    };
    for (from, to, parts) in [
        ("57.7,", "97.7,", ["invalid from", "97.7", "90"]),
        ("\"height_agl_m\": 2", "\"height_agl_m\": -2", ["to.station.height_agl_m", "-2", "20000"]),
        ("lora_868_eu", "lora_999", ["from.station.radio", "lora_999", "lora_868_eu"]),
        ("\"from\"", "\"form\"", ["form", "from", "to"]),
        ("57.7,", "true,", ["from.lat_deg", "true", "f64"]),
        ("\"omni_5\"", "{\"gain_dbi\": 3}", ["from.station.antenna", "missing", "azimuth"]),
        ("}\n}", "}, \"samples\": 7 }", ["samples", "7", "8 to 4096"]),
        ("}\n}", "}, \"packet_bytes\": 0 }", ["packet_bytes", "0", "65535"]),
        (
            "}\n}",
            "}, \"environment\": {\"time_percent\": 100} }",
            ["environment.time_percent", "100", "99.9"],
        ),
    ] {
        let text = error(from, to);
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
    let request = request(LINK).unwrap();
    for (heights, part) in [(&[1.0][..], "1 heights"), (&[1.0, f64::NAN][..], "NaN at 1")] {
        let text = link_over(&request, heights).unwrap_err().to_string();
        assert!(text.contains(part) && text.contains("allowed"), "{text}");
    }
}

#[test]
fn path_has_a_value_in_each_column_for_each_sample() {
    let mut request = request(LINK).unwrap();
    request.samples = Some(50);
    let answer = path(&request, &Flat { elevation_msl_m: 7.0 }).unwrap();
    assert_eq!((answer.samples, answer.values.len()), (50, 50 * COLUMNS.len()));
    let column = |name: &str| {
        let number = COLUMNS.iter().position(|column| *column == name).unwrap();
        &answer.values[number * 50..][..50]
    };
    assert_eq!(column("elevation_msl_m"), [7.0; 50]);
    assert!(column("elevation_hae_m").iter().all(|height_m| height_m.is_nan()));
    assert_eq!(column("distance_m")[49], answer.distance_m);
    assert!(column("fresnel_radius_m")[25] > 10.0);
}

const COVERAGE: &str = r#"{
    "site": { "lat_deg": 57.7, "lon_deg": 11.9, "station": { "radio": "lora_868_eu", "antenna": "omni_5" } },
    "radius_km": 4, "cell_arcsec": 6
}"#;

#[test]
fn coverage_equals_that_of_the_model_and_any_partition_gives_the_same_bits() {
    let mut document: CoverageDocument = read(COVERAGE).unwrap();
    let heights = heights();
    let terrain = Elevation::new(EXTENT, &heights).unwrap();
    let whole = coverage(&document, &terrain).unwrap();
    let [rows, columns] = size(&document).unwrap();
    assert_eq!((whole.rows, whole.columns), (rows, columns));
    assert_eq!(whole.values.len(), PLANES.len() * (rows * columns) as usize);

    let position = GeoPoint::new(57.7, 11.9).unwrap();
    let request = CoverageRequest {
        position,
        transmitter: document.site.station.station("site").unwrap(),
        receiver: groundwave_model::radio::Station::new(
            1.5,
            presets::radio("lora_868_eu").unwrap().radio.clone(),
            presets::antenna("omni_2_15").unwrap().antenna.clone(),
        ),
        environment: document.environment.clone(),
        packet_octets: 1500,
        sampling: Sampling::Posts,
        radius_m: 4_000.0,
    };
    let grid = Grid::around(&[position], 4_000.0, 6.0).unwrap();
    let site = request.prepare(&terrain).unwrap();
    let cells = groundwave_model::coverage::coverage(&site, &terrain, &grid);
    let margins = cells.iter().map(|cell| cell.margin_db().map_or(f32::NAN, |db| db as f32));
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&whole.values[..cells.len()]), bits(&margins.collect::<Vec<_>>()));
    assert!(whole.values.iter().filter(|value| value.is_finite()).count() > cells.len());

    let middle = rows / 3;
    let mut parts = vec![Vec::new(); PLANES.len()];
    for range in [[0, middle], [middle, rows]] {
        document.rows = Some(range);
        let part = coverage(&document, &terrain).unwrap();
        let length = (part.rows * part.columns) as usize;
        for (plane, values) in parts.iter_mut().zip(part.values.chunks(length)) {
            plane.extend_from_slice(values);
        }
        assert_eq!(part.bounds_deg[3], part.transform[5]);
    }
    assert_eq!(bits(&whole.values), bits(&parts.concat()));
}

#[test]
fn invalid_coverages_give_errors_with_allowed_values() {
    for (from, to, part) in [
        ("\"radius_km\": 4", "\"radius_km\": 0", "above 0 to 1000"),
        ("\"cell_arcsec\": 6", "\"cell_arcsec\": 0", "cell_arcsec"),
        ("\"cell_arcsec\": 6", "\"cell_arcsec\": 0.001", "cells"),
        ("\"cell_arcsec\": 6", "\"cell_arcsec\": 6, \"rows\": [3, 3]", "within [0, "),
    ] {
        let document: CoverageDocument = read(&COVERAGE.replace(from, to)).unwrap();
        let text = coverage(&document, &Flat::default()).unwrap_err().to_string();
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn heights_between_posts_are_interpolated_and_voids_and_gaps_counted() {
    let extent = Extent {
        west_deg: 10.0,
        south_deg: 50.0,
        east_deg: 13.0,
        north_deg: 52.0,
        rows: 2,
        columns: 3,
        undulation_m: Some(40.0),
    };
    let heights = [0.0, 10.0, f32::NAN, 20.0, 30.0, f32::NAN];
    let terrain = Elevation::new(extent, &heights).unwrap();
    let lat_deg = [51.5, 51.5, 51.0, 51.9, 51.5, 51.5, 49.0];
    let lon_deg = [10.5, 11.0, 11.0, 10.1, 12.5, 12.0, 10.5];
    let mut heights_m = [0.0; 7];
    let used = terrain.sample(&lat_deg, &lon_deg, &mut heights_m);
    assert_eq!(heights_m[..4], [0.0, 5.0, 15.0, 0.0]);
    assert!(heights_m[4].is_nan() && heights_m[6].is_nan());
    assert_eq!(heights_m[5], 10.0);
    assert_eq!((used.void_samples, used.missing_samples), (2, 1));
    let at = GeoPoint::new(51.0, 11.0).unwrap();
    assert_eq!(terrain.resolution_arcsec(at), Some(3_600.0));
    assert!(terrain.has_geoid() && terrain.undulation_m(at) == 40.0);
    let short = Elevation::new(extent, &heights[..5]).unwrap_err().to_string();
    assert!(short.contains("5 heights") && short.contains("2 x 3 = 6"), "{short}");
    let turned = Extent { south_deg: 53.0, ..extent };
    assert!(
        Elevation::new(turned, &heights).unwrap_err().to_string().contains("south below north")
    );
    let across = Extent { west_deg: 179.0, east_deg: 182.0, ..extent };
    let across = Elevation::new(across, &heights).unwrap();
    let mut heights_m = [0.0; 2];
    across.sample(&[51.5; 2], &[-179.5, 180.5], &mut heights_m);
    assert_eq!(heights_m, [10.0; 2]);
}

/// Rows of numbers of a table with `#` comments and, where it has one, a heading.
fn rows(text: &str) -> Vec<Vec<f64>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let rows = lines.map(|line| line.split(',').map(str::parse).collect::<Result<_, _>>());
    rows.filter_map(Result::ok).collect()
}

#[test]
fn itm_gives_the_losses_of_ntias_cases_and_refuses_values_out_of_range() {
    let cases = rows(include_str!("../../tests/fixtures/itm/ntia_p2p.csv"));
    let profiles = rows(include_str!("../../tests/fixtures/itm/ntia_pfls.csv"));
    assert_eq!((cases.len(), profiles.len()), (5, 5));
    let inputs = |row: &[f64], profile: &[f64]| ItmInputs {
        step_m: profile[1],
        tx_agl_m: row[0],
        rx_agl_m: row[1],
        climate: row[7] as u8,
        refractivity_n_units: row[4],
        frequency_mhz: row[5],
        polarization: row[6] as u8,
        permittivity: row[2],
        conductivity_s_m: row[3],
        mdvar: row[11] as u8,
        time_percent: row[8],
        location_percent: row[9],
        situation_percent: row[10],
    };
    for (row, profile) in cases.iter().zip(&profiles) {
        let loss = loss_db(&profile[2..], &inputs(row, profile)).unwrap();
        assert!((loss - row[12]).abs() <= 0.01, "{loss} {}", row[12]);
    }
    let inputs = inputs(&cases[0], &profiles[0]);
    for wrong in [
        ItmInputs { climate: 8, ..inputs },
        ItmInputs { polarization: 2, ..inputs },
        ItmInputs { mdvar: 5, ..inputs },
        ItmInputs { time_percent: 0.0, ..inputs },
        ItmInputs { step_m: f64::NAN, ..inputs },
    ] {
        assert!(loss_db(&profiles[0][2..], &wrong).is_err(), "{wrong:?}");
    }
}
