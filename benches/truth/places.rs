//! Measured links of places, each with its stations as far as they are known.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use groundwave_model::radio::presets::{antenna, radio};
use groundwave_model::radio::{Indoor, Station, Surroundings};

/// Power and gains that the surveys are taken to have, dBm: 14 dBm into two dipoles.
const SENT_DBM: f64 = 14.0 + 2.0 * 2.15;

/// A measured link.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    pub distance_m: f64,
    /// Median of the path loss between isotropic antennas, dB.
    pub loss_db: f64,
}

/// Measured links of one place.
pub struct Place {
    pub name: &'static str,
    pub links: Vec<Link>,
    pub transmitter: Station,
    pub receiver: Station,
}

impl Place {
    /// The same links, of whose surroundings nothing is known.
    pub fn without_surroundings(&self) -> Self {
        let unknown =
            |station: &Station| Station { surroundings: Surroundings::Unknown, ..station.clone() };
        Self {
            name: self.name,
            links: self.links.clone(),
            transmitter: unknown(&self.transmitter),
            receiver: unknown(&self.receiver),
        }
    }
}

fn station(height_agl_m: f64, surroundings: Surroundings, indoor: Indoor) -> Station {
    let radio = &radio("lora_868_eu").expect("a preset").radio;
    let antenna = &antenna("omni_2_15").expect("a preset").antenna;
    let station = Station::new(height_agl_m, radio.clone(), antenna.clone());
    Station { surroundings, indoor, ..station }
}

/// All places whose data are in `folder`.
pub fn places(folder: &Path) -> Vec<Place> {
    use Indoor::{Outdoors, Traditional};
    use Surroundings::Suburban;
    let street = || station(1.2, Suburban, Outdoors);
    let brno = |file: &str| folder.join("rf_measured2/brno_lpwan").join(file);
    // RSSI of SX127x receivers counts the noise in; a signal is not below the noise by more than its SNR.
    let lora_dbm = |rssi_dbm: f64, snr_db: f64| {
        let signal_dbm = rssi_dbm + snr_db - 10.0 * (1.0 + 10f64.powf(snr_db / 10.0)).log10();
        signal_dbm.max(snr_db - 117.0)
    };
    let medians = |file: &str, distance: &str, scale: f64| {
        table(&folder.join("rf_measured2").join(file)).map(|rows| {
            let link = |row: BTreeMap<String, String>| {
                let distance_m = row.get(distance)?.parse::<f64>().ok()? * scale;
                let loss_db = row.get("path_loss_db_median")?.parse().ok()?;
                (distance_m >= 100.0).then_some(Link { distance_m, loss_db })
            };
            rows.into_iter().filter_map(link).collect()
        })
    };
    let places = [
        (
            "Brno, LoRa",
            survey(&brno("lorawan_brno.csv"), lora_dbm),
            station(45.0, Suburban, Outdoors),
            street(),
        ),
        (
            "Brno, Sigfox",
            survey(&brno("sigfox_brno.csv"), |rssi_dbm, _| rssi_dbm),
            station(45.0, Suburban, Outdoors),
            street(),
        ),
        (
            "Lyon, LoRa",
            medians("lyon_lora/links.csv", "distance_m", 1.0),
            station(15.0, Suburban, Outdoors),
            street(),
        ),
        (
            "Grenoble, often indoors",
            medians("grenoble_ftd_links/links.csv", "distance_km", 1e3),
            station(8.0, Suburban, Traditional),
            street(),
        ),
        (
            "Saint-Eynard, indoors",
            mountain(&folder.join("lora_campusiot"), lora_dbm),
            // The fort stands 1,130 m above the plain of the gateways.
            station(1_130.0, Surroundings::Open, Outdoors),
            station(8.0, Suburban, Traditional),
        ),
    ];
    let place = |(name, links, transmitter, receiver)| {
        let links: Option<Vec<Link>> = links;
        Some(Place { name, links: links?, transmitter, receiver })
    };
    places.into_iter().filter_map(place).collect()
}

/// Rows of a table by the names of its columns; `None` without the file.
fn table(path: &PathBuf) -> Option<Vec<BTreeMap<String, String>>> {
    let text = std::fs::read_to_string(path).ok()?;
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
    let names: Vec<String> = lines.next()?.collect();
    Some(lines.map(|fields| names.iter().cloned().zip(fields).collect()).collect())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Links of receptions: those of one place and distance are one link.
fn survey(path: &PathBuf, signal_dbm: impl Fn(f64, f64) -> f64) -> Option<Vec<Link>> {
    let mut links: BTreeMap<[String; 3], Vec<f64>> = BTreeMap::new();
    for row in table(path)? {
        let number = |name: &str| row[name].parse::<f64>().ok();
        let (Some(rssi_dbm), Some(_)) = (number("rssi_dbm"), number("distance_km")) else {
            continue;
        };
        let key = ["lat_deg", "lon_deg", "distance_km"].map(|name| row[name].clone());
        let signal_dbm = signal_dbm(rssi_dbm, number("snr_db").unwrap_or(0.0));
        links.entry(key).or_default().push(SENT_DBM - signal_dbm);
    }
    let link = |(key, losses): ([String; 3], Vec<f64>)| Link {
        distance_m: key[2].parse::<f64>().expect("checked above") * 1e3,
        loss_db: median(losses),
    };
    Some(links.into_iter().map(link).collect())
}

/// Links of the outdoor station on the Fort du Saint-Eynard to each gateway.
fn mountain(folder: &Path, signal_dbm: impl Fn(f64, f64) -> f64) -> Option<Vec<Link>> {
    let path = folder.join("SaintEynard_logs_d1d1e80000000033_campusiot.ndjson.gz");
    let lines = BufReader::new(MultiGzDecoder::new(File::open(path).ok()?)).lines();
    let mut gateways: BTreeMap<String, (f64, Vec<f64>)> = BTreeMap::new();
    for line in lines.map_while(Result::ok) {
        let Ok(frame) = serde_json::from_str::<serde_json::Value>(&line) else {
            continue;
        };
        for reception in frame["rxInfo"].as_array().into_iter().flatten() {
            let number = |path: &str| reception.pointer(path).and_then(serde_json::Value::as_f64);
            let (Some(rssi_dbm), Some(snr_db), Some(distance_m), Some(gateway)) = (
                number("/rssi"),
                number("/loRaSNR"),
                number("/_distance/_distanceHaversine"),
                reception["gatewayID"].as_str(),
            ) else {
                continue;
            };
            let own = gateways.entry(gateway.to_owned()).or_insert((distance_m, Vec::new()));
            own.1.push(SENT_DBM - signal_dbm(rssi_dbm, snr_db));
        }
    }
    let link = |(distance_m, losses)| Link { distance_m, loss_db: median(losses) };
    let enough = gateways
        .into_values()
        .filter(|(distance_m, losses)| *distance_m >= 1_000.0 && losses.len() >= 10);
    Some(enough.map(link).collect())
}
