//! The sites of a sweep as marks of maps and as features with their properties.

use std::collections::BTreeMap;

use groundwave_model::radio::{Antenna, Station, presets};
use groundwave_model::sweep::Variant;
use groundwave_raster::{Sector, Site};
use serde_json::{Map, Value, json};

use super::plan::{Plan, PlanSite};

/// Labels of sites by name: those of the scenario, where they differ from the names.
pub type Labels = BTreeMap<String, String>;

/// The sites with the values of a variant, in the order of the plan. Labels that several sites share are
/// followed by the name.
pub(super) fn marks(plan: &Plan, variant: &Variant, labels: &Labels) -> Vec<Site> {
    let label = |site: &PlanSite| labels.get(&site.name).cloned();
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for site in &plan.sites {
        *uses.entry(label(site).unwrap_or_else(|| site.name.clone())).or_default() += 1;
    }
    let mark = |site: &PlanSite| {
        let (lat_deg, lon_deg) = (site.position.lat_deg(), site.position.lon_deg());
        let label = label(site).map(|label| match uses[&label] {
            1 => label,
            _ => format!("{label} ({})", site.name),
        });
        let sector = sector(site);
        let properties = properties(site, variant);
        Site { label, sector, properties, ..Site::new(&site.name, lat_deg, lon_deg) }
    };
    plan.sites.iter().map(mark).collect()
}

/// Main lobe of a site's antenna; `None` where it radiates all round.
fn sector(site: &PlanSite) -> Option<Sector> {
    let beamwidth_deg = site.station.antenna.azimuth_beamwidth_deg;
    let pointing = site.station.pointing.filter(|_| beamwidth_deg < 360.0)?;
    Some(Sector { azimuth_deg: pointing.azimuth_deg, beamwidth_deg })
}

/// Equivalent isotropically radiated power at boresight, dBm.
pub(super) fn eirp_dbm(station: &Station) -> f64 {
    station.radio.tx_power_dbm - station.radio.feeder_loss_db + station.antenna.gain_dbi
}

/// Values of a site as a GIS and a globe show them, with units in the keys.
fn properties(site: &PlanSite, variant: &Variant) -> Map<String, Value> {
    let station = variant.apply(&site.station);
    let antenna = &station.antenna;
    let mut properties = Map::new();
    let mut insert = |key: &str, value: Value| drop(properties.insert(key.to_owned(), value));
    insert("height_agl_m", json!(station.height_agl_m));
    insert("frequency_mhz", json!(station.radio.frequency_mhz));
    insert("tx_power_dbm", json!(station.radio.tx_power_dbm));
    insert("feeder_loss_db", json!(station.radio.feeder_loss_db));
    insert("eirp_dbm", json!(rounded(eirp_dbm(&station))));
    insert("antenna", json!(antenna_name(antenna)));
    insert("gain_dbi", json!(antenna.gain_dbi));
    insert("azimuth_beamwidth_deg", json!(antenna.azimuth_beamwidth_deg));
    insert("elevation_beamwidth_deg", json!(antenna.elevation_beamwidth_deg));
    insert("polarization", json!(antenna.polarization));
    if let Some(pointing) = station.pointing {
        insert("azimuth_deg", json!(pointing.azimuth_deg));
        insert("elevation_deg", json!(pointing.elevation_deg));
    }
    if antenna.electrical_tilt_deg != 0.0 {
        insert("electrical_tilt_deg", json!(antenna.electrical_tilt_deg));
    }
    properties
}

/// A level without the rounding errors of a sum.
fn rounded(level_dbm: f64) -> f64 {
    (level_dbm * 1e6).round() / 1e6
}

/// The preset of an antenna, else gain and lobe: `omni_5`, `17 dBi, 90° x 8°`.
pub(super) fn antenna_name(antenna: &Antenna) -> String {
    // The scenario may turn the field or tilt the lobe of a preset.
    let is_like = |preset: &&presets::AntennaPreset| {
        let alike = Antenna {
            polarization: antenna.polarization,
            electrical_tilt_deg: antenna.electrical_tilt_deg,
            ..preset.antenna.clone()
        };
        alike == *antenna
    };
    match presets::ANTENNAS.iter().find(is_like) {
        Some(preset) => preset.id.to_owned(),
        None => format!(
            "{} dBi, {}° x {}°",
            antenna.gain_dbi, antenna.azimuth_beamwidth_deg, antenna.elevation_beamwidth_deg
        ),
    }
}
