//! Measured links of places, each with its stations as far as they are known.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{self, PathBuf};

use flate2::read::MultiGzDecoder;
use groundwave_model::radio::presets::{antenna, radio};
use groundwave_model::radio::{Indoor, Station, Surroundings};
use groundwave_model::terrain::{GeoPoint, Path};

/// Power and gains that the surveys are taken to have, dBm: 14 dBm into two dipoles. The data of Brno state neither
/// (their authors' curves stand 5 to 19 dB off), those of Lyon and Grenoble no gains: levels are uncertain by 7 dB.
const SENT_DBM: f64 = 14.0 + 2.0 * 2.15;

/// Power of a subcarrier of NB-IoT with the gains, dBm: 43 dBm over twelve subcarriers, 18 dBi less 3 dB of cable at the
/// base station, -4 dBi at the device. An assumption: the data of Brno state no power, the system assumptions of 3GPP
/// TR 45.820 that these figures are remembered from were not at hand to compare. RSRP is that of one subcarrier, and
/// path loss `nrs-Power` less RSRP (3GPP TS 36.213, clause 16.2.1); one published cell sends 29 dBm of it (32 dBm here).
const NB_IOT_DBM: f64 = 43.0 - 10.8 + 18.0 - 3.0 - 4.0;

/// A measured link.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    pub distance_m: f64,
    /// Median of the path loss between isotropic antennas, dB; where the level is unknown, with an error that is
    /// the same for all links of one group.
    pub loss_db: f64,
    /// Number of the receiver, or 0.
    pub group: u32,
}

/// Knowledge of the absolute level of a survey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The power of each frame is stated, gains are assumed.
    Known,
    /// Power and gains are assumed: levels are judged, and uncertain by 7 dB.
    Assumed,
    /// Gains, or the calibration of each receiver, are unknown: rank and spread are judged, no level.
    Unknown,
}

/// Measured links of one place.
pub struct Place {
    pub name: &'static str,
    pub links: Vec<Link>,
    pub level: Level,
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
            level: self.level,
            transmitter: unknown(&self.transmitter),
            receiver: unknown(&self.receiver),
        }
    }
}

/// The same station at another frequency.
fn at_mhz(frequency_mhz: f64, mut station: Station) -> Station {
    station.radio.frequency_mhz = frequency_mhz;
    station
}

fn station(height_agl_m: f64, surroundings: Surroundings, indoor: Indoor) -> Station {
    let radio = &radio("lora_868_eu").expect("a preset").radio;
    let antenna = &antenna("omni_2_15").expect("a preset").antenna;
    let station = Station::new(height_agl_m, radio.clone(), antenna.clone());
    Station { surroundings, indoor, ..station }
}

/// All places whose data are in `folder`.
pub fn places(folder: &path::Path) -> Vec<Place> {
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
                (distance_m >= 100.0).then_some(Link { distance_m, loss_db, group: 0 })
            };
            rows.into_iter().filter_map(link).collect()
        })
    };
    let places = [
        (
            "Brno, LoRa",
            survey(&brno("lorawan_brno.csv"), "rssi_dbm", SENT_DBM, lora_dbm),
            Level::Assumed,
            station(45.0, Suburban, Outdoors),
            street(),
        ),
        (
            "Brno, Sigfox",
            survey(&brno("sigfox_brno.csv"), "rssi_dbm", SENT_DBM, |rssi_dbm, _| rssi_dbm),
            Level::Assumed,
            station(45.0, Suburban, Outdoors),
            street(),
        ),
        (
            "Brno, NB-IoT",
            survey(&brno("nb-iot_brno.csv"), "rsrp_dbm", NB_IOT_DBM, |rsrp_dbm, _| rsrp_dbm),
            Level::Assumed,
            station(45.0, Suburban, Outdoors),
            street(),
        ),
        (
            "Lyon, LoRa",
            medians("lyon_lora/links.csv", "distance_m", 1.0),
            Level::Known,
            station(15.0, Suburban, Outdoors),
            street(),
        ),
        (
            "Grenoble, often indoors",
            medians("grenoble_ftd_links/links.csv", "distance_km", 1e3),
            Level::Assumed,
            station(8.0, Suburban, Traditional),
            street(),
        ),
        (
            "Saint-Eynard, indoors",
            mountain(&folder.join("lora_campusiot"), lora_dbm),
            Level::Assumed,
            // The fort stands 1,130 m above the plain of the gateways.
            station(1_130.0, Surroundings::Open, Outdoors),
            station(8.0, Suburban, Traditional),
        ),
        (
            "Salt Lake City, roofs, 463 MHz",
            campus(&folder.join("rf_measured/powder_frs"), |name| name.contains("sdr1-")),
            Level::Unknown,
            at_mhz(462.7, station(25.0, Suburban, Outdoors)),
            at_mhz(462.7, station(1.5, Suburban, Outdoors)),
        ),
        (
            "Salt Lake City, walls, 463 MHz",
            campus(&folder.join("rf_measured/powder_frs"), |name| name.contains("-nuc")),
            Level::Unknown,
            at_mhz(462.7, station(3.0, Suburban, Outdoors)),
            at_mhz(462.7, station(1.5, Suburban, Outdoors)),
        ),
        (
            "Emilia-Romagna, microwave, 25 GHz",
            microwave(&folder.join("links_cml")),
            Level::Unknown,
            // The links were planned to be clear; their ground is not at hand.
            at_mhz(MICROWAVE_MHZ, station(200.0, Surroundings::Open, Outdoors)),
            at_mhz(MICROWAVE_MHZ, station(200.0, Surroundings::Open, Outdoors)),
        ),
    ];
    let place = |(name, links, level, transmitter, receiver)| {
        let links: Option<Vec<Link>> = links;
        Some(Place { name, links: links?, level, transmitter, receiver })
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
fn survey(
    path: &PathBuf,
    column: &str,
    sent_dbm: f64,
    signal_dbm: impl Fn(f64, f64) -> f64,
) -> Option<Vec<Link>> {
    let mut links: BTreeMap<[String; 3], Vec<f64>> = BTreeMap::new();
    for row in table(path)? {
        let number = |name: &str| row[name].parse::<f64>().ok();
        let (Some(rssi_dbm), Some(_)) = (number(column), number("distance_km")) else {
            continue;
        };
        let key = ["lat_deg", "lon_deg", "distance_km"].map(|name| row[name].clone());
        let signal_dbm = signal_dbm(rssi_dbm, number("snr_db").unwrap_or(0.0));
        links.entry(key).or_default().push(sent_dbm - signal_dbm);
    }
    let link = |(key, losses): ([String; 3], Vec<f64>)| Link {
        distance_m: key[2].parse::<f64>().expect("checked above") * 1e3,
        loss_db: median(losses),
        group: 0,
    };
    Some(links.into_iter().map(link).collect())
}

/// Links from a handheld of 1 W to the fixed receivers of a campus whose names are chosen. Each receiver has an
/// unknown level of its own; -101 is nothing received.
fn campus(folder: &path::Path, is_chosen: impl Fn(&str) -> bool) -> Option<Vec<Link>> {
    let positions = std::fs::read_to_string(folder.join("location_coordinates.json")).ok()?;
    // Lines such as `"madsen-nuc1-b210": (40.75786, -111.83634),`.
    let position = |line: &str| {
        let (name, pair) = line.trim().trim_start_matches('"').split_once("\": (")?;
        let (lat, lon) = pair.split_once(')')?.0.split_once(',')?;
        let at = GeoPoint::new(lat.trim().parse().ok()?, lon.trim().parse().ok()?).ok()?;
        is_chosen(name).then(|| (name.to_owned(), at))
    };
    let receivers: BTreeMap<String, GeoPoint> = positions.lines().filter_map(position).collect();
    let rows = table(&folder.join("single_tx.csv"))?;
    let links = rows.iter().flat_map(|row| {
        let number = |name: &str| row.get(name)?.parse::<f64>().ok();
        let sender = number("tx_x_coord").zip(number("tx_y_coord"));
        let sender = sender.and_then(|(lat, lon)| GeoPoint::new(lat, lon).ok());
        receivers.iter().zip(0..).filter_map(move |((name, at), group)| {
            let level_db = row.get(name)?.parse::<f64>().ok().filter(|db| *db > -100.0)?;
            let distance_m = Path::between(sender?, *at).distance_m();
            let loss_db = 30.0 - level_db;
            (distance_m >= 100.0).then_some(Link { distance_m, loss_db, group })
        })
    });
    Some(links.collect())
}

/// Frequency that the microwave links are brought to, MHz.
const MICROWAVE_MHZ: f64 = 25_000.0;

/// Medians over a day and a half of directions of microwave links, of unknown gains.
fn microwave(folder: &path::Path) -> Option<Vec<Link>> {
    let links = table(&folder.join("openrainer_links.csv"))?;
    let path = folder.join("openrainer_storm_20220817T18_20220819T06.csv.gz");
    let mut losses: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    for line in BufReader::new(MultiGzDecoder::new(File::open(path).ok()?)).lines().skip(1) {
        let line = line.ok()?;
        let [_, link, direction, rx_level, tx_level] =
            line.split(',').collect::<Vec<_>>().try_into().ok()?;
        if let (Ok(rx_dbm), Ok(tx_dbm)) = (rx_level.parse::<f64>(), tx_level.parse::<f64>()) {
            let key = (link.to_owned(), direction.to_owned());
            losses.entry(key).or_default().push(tx_dbm - rx_dbm);
        }
    }
    let link = |((id, direction), losses): ((String, String), Vec<f64>)| {
        let row = links.iter().find(|row| row["link_id"] == id)?;
        let frequency_mhz: f64 = row[&format!("freq_mhz_{direction}")].parse().ok()?;
        // Free space at the common frequency in place of that of the link.
        let loss_db = median(losses) + 20.0 * (MICROWAVE_MHZ / frequency_mhz).log10();
        Some(Link { distance_m: row["length_m"].parse().ok()?, loss_db, group: 0 })
    };
    Some(losses.into_iter().filter_map(link).collect())
}

/// Links of the outdoor station on the Fort du Saint-Eynard to each gateway.
fn mountain(folder: &path::Path, signal_dbm: impl Fn(f64, f64) -> f64) -> Option<Vec<Link>> {
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
    let link = |(distance_m, losses)| Link { distance_m, loss_db: median(losses), group: 0 };
    let enough = gateways
        .into_values()
        .filter(|(distance_m, losses)| *distance_m >= 1_000.0 && losses.len() >= 10);
    Some(enough.map(link).collect())
}
