//! Intervals of predictions against measured links. Ground and surroundings of all of them are unknown
//! here: level ground, and an end in the street.

use std::collections::BTreeMap;

use groundwave_needs::needs;
use groundwave_test_data::shared;

use super::super::{Basis, Clutter, ClutterCategory, Model};
use super::{Environment, flat, link, station};

/// A measured link: its length, m, and the median of its path loss, dB.
type Measured = (f64, f64);

fn rows(path: &str) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(shared(path)).unwrap();
    let mut lines = text.lines().map(|line| line.split(','));
    let names: Vec<_> = lines.next().unwrap().map(str::to_owned).collect();
    let row = |fields: std::str::Split<'_, char>| {
        let fields = fields.map(str::to_owned);
        names.iter().cloned().zip(fields).collect()
    };
    lines.map(row).collect()
}

fn number(row: &BTreeMap<String, String>, name: &str) -> Option<f64> {
    row[name].parse().ok()
}

/// Links of a survey of receptions: those of one place and distance are one link. 14 dBm and two
/// dipoles were sent with; `signal_dbm` makes a reception's power of RSSI and SNR.
fn survey(path: &str, signal_dbm: fn(f64, f64) -> f64) -> Vec<Measured> {
    let mut links: BTreeMap<[String; 3], Vec<f64>> = BTreeMap::new();
    for row in rows(path) {
        let Some(rssi_dbm) = number(&row, "rssi_dbm").filter(|_| !row["distance_km"].is_empty())
        else {
            continue;
        };
        let key = ["lat_deg", "lon_deg", "distance_km"].map(|name| row[name].clone());
        let signal_dbm = signal_dbm(rssi_dbm, number(&row, "snr_db").unwrap_or(0.0));
        let losses = links.entry(key).or_default();
        losses.push(14.0 + 2.0 * 2.15 - signal_dbm);
    }
    let median = |mut losses: Vec<f64>| {
        losses.sort_by(f64::total_cmp);
        losses[losses.len() / 2]
    };
    let of = |(key, losses): ([String; 3], Vec<f64>)| {
        (key[2].parse::<f64>().unwrap() * 1e3, median(losses))
    };
    links.into_iter().map(of).collect()
}

/// Share of the links whose loss lies within the 90 % interval of the prediction, from a mast of
/// `mast_agl_m` to 1.2 m above the street of which nothing is known.
fn inside(name: &str, links: &[Measured], mast_agl_m: f64) -> f64 {
    let unknown = Environment::default();
    inside_of(name, links, mast_agl_m, &unknown, Basis::SurroundingsUnknown, 65.0)
}

/// The same where buildings of 10 m stand along the whole path, by a model that has them.
fn inside_among_buildings(name: &str, links: &[Measured], mast_agl_m: f64, model: Model) -> f64 {
    let clutter =
        Clutter::HeightGain { category: ClutterCategory::Suburban, representative_height_m: None };
    let built = Environment { model, clutter: Some(clutter), ..Environment::default() };
    inside_of(name, links, mast_agl_m, &built, Basis::Terrain, 45.0)
}

/// The same in an environment, which gives a basis and intervals of a mean width below `width_max_db`.
fn inside_of(
    name: &str,
    links: &[Measured],
    mast_agl_m: f64,
    environment: &Environment,
    basis: Basis,
    width_max_db: f64,
) -> f64 {
    let [mast, street] =
        [mast_agl_m, 1.2].map(|height_agl_m| station("lora_868_eu", "omni_2_15", height_agl_m));
    let (mut inside, mut widths_db) = (0, 0.0);
    for &(distance_m, loss_db) in links {
        let result = link(&flat(distance_m), &mast, &street, environment);
        let prediction = &result.prediction;
        assert_eq!(prediction.basis, basis);
        let [low_db, high_db] = prediction.path_loss_interval_db;
        inside += usize::from((low_db..=high_db).contains(&loss_db));
        widths_db += high_db - low_db;
    }
    let count = links.len() as f64;
    let share = inside as f64 / count;
    let width_db = widths_db / count;
    assert!(width_db < width_max_db, "{name}: {share:.3} of {count} inside, {width_db:.1} dB wide");
    share
}

#[needs(shared("data/rf_measured2/brno_lpwan"))]
#[test]
fn nine_of_ten_links_of_a_city_lie_inside_the_interval() {
    // RSSI of SX127x receivers counts the noise in.
    let lora_dbm = |rssi_dbm: f64, snr_db: f64| {
        let signal_dbm = rssi_dbm + snr_db - 10.0 * (1.0 + 10f64.powf(snr_db / 10.0)).log10();
        signal_dbm.max(snr_db - 117.0)
    };
    let folder = "data/rf_measured2/brno_lpwan";
    let lora = survey(&format!("{folder}/lorawan_brno.csv"), lora_dbm);
    let sigfox = survey(&format!("{folder}/sigfox_brno.csv"), |rssi_dbm, _| rssi_dbm);
    assert!(lora.len() > 1_500 && sigfox.len() > 1_000);
    assert!(inside("Brno, LoRa", &lora, 45.0) >= 0.9);
    assert!(inside("Brno, Sigfox", &sigfox, 45.0) >= 0.9);
    assert!(inside_among_buildings("Brno, LoRa", &lora, 45.0, Model::P1812) >= 0.85);
    assert!(inside_among_buildings("Brno, Sigfox", &sigfox, 45.0, Model::P1812) >= 0.85);
    assert!(inside_among_buildings("Brno, LoRa", &lora, 45.0, Model::ExtendedHata) >= 0.9);
    assert!(inside_among_buildings("Brno, Sigfox", &sigfox, 45.0, Model::ExtendedHata) >= 0.9);
}

#[needs(shared("data/rf_measured2/lyon_lora/links.csv"))]
#[test]
fn links_of_another_city_and_of_a_field_tester_lie_inside_the_interval() {
    let links = |path: &str, distance: &str, scale: f64| -> Vec<Measured> {
        let rows = rows(path).into_iter();
        rows.filter_map(|row| {
            let loss_db = number(&row, "path_loss_db_median")?;
            Some((number(&row, distance)? * scale, loss_db))
        })
        .filter(|(distance_m, _)| *distance_m >= 100.0)
        .collect()
    };
    let folder = "data/rf_measured2";
    let lyon = links(&format!("{folder}/lyon_lora/links.csv"), "distance_m", 1.0);
    assert_eq!(inside("Lyon", &lyon, 15.0), 1.0);
    assert!(inside_among_buildings("Lyon", &lyon, 15.0, Model::P1812) >= 0.85);
    let tester = format!("{folder}/grenoble_ftd_links/links.csv");
    let grenoble = links(&tester, "distance_km", 1e3);
    assert!(grenoble.len() > 3_000);
    // Entry into houses and cars, which no prediction has yet, is in what lies outside.
    assert!(inside("Grenoble, often indoors", &grenoble, 8.0) >= 0.85);
}
