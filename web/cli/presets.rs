//! `presets`: catalogues of radios, antennas, roles and modulations.

use clap::{Args, ValueEnum};
use groundwave_http::Failure;
use groundwave_model::radio::modulation::MODULATIONS;
use groundwave_model::radio::presets::modems::{MODEMS, Modem};
use groundwave_model::radio::presets::{ANTENNAS, RADIOS, ROLES};
use groundwave_model::radio::{Environment, Model};
use groundwave_text::{Align, Table};
use serde_json::{Value, json};

use super::output::{self, Output};

const EXAMPLES: &str = "\
Examples:
  groundwave presets
  groundwave presets radios --json | jq '.[] | {id, source}'";

/// List radio, antenna, role and modulation presets, and path-loss models
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Presets {
    /// Catalogue [default: all]
    catalogue: Option<Catalogue>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Catalogue {
    Radios,
    Antennas,
    Roles,
    Modulations,
    Modems,
    Models,
}

impl Presets {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        if output.json {
            return match self.catalogue {
                Some(Catalogue::Radios) => output.json(&RADIOS),
                Some(Catalogue::Antennas) => output.json(&ANTENNAS),
                Some(Catalogue::Roles) => output.json(&ROLES),
                Some(Catalogue::Modulations) => output.json(&MODULATIONS),
                Some(Catalogue::Modems) => output.json(&modem_list()),
                Some(Catalogue::Models) => output.json(&model_list()),
                None => output.json(&json!({
                    "radios": RADIOS, "antennas": ANTENNAS, "roles": ROLES, "modulations": MODULATIONS,
                    "modems": modem_list(), "models": model_list(),
                })),
            };
        }
        let catalogues = [
            (Catalogue::Radios, "Radios", radios(), sources_of_radios()),
            (Catalogue::Antennas, "Antennas", antennas(), sources_of_antennas()),
            (Catalogue::Roles, "Roles", roles(), String::new()),
            (Catalogue::Modulations, "Modulations", modulations(), String::new()),
            (Catalogue::Modems, "Modems of LoRa", modems(), String::new()),
            (Catalogue::Models, "Path-loss models", models(), sources_of_models()),
        ];
        let is_selected = |catalogue| self.catalogue.is_none_or(|only| only == catalogue);
        let mut out = String::new();
        for (_, title, table, sources) in
            catalogues.iter().filter(|(catalogue, ..)| is_selected(*catalogue))
        {
            let lead = if out.is_empty() { "" } else { "\n" };
            out += &format!(
                "{lead}{}\n{}{sources}",
                output::heading(title),
                output::table(table, None)
            );
        }
        output.text(&out)
    }
}

/// Modem presets with their values.
fn modem_list() -> Vec<Value> {
    let one = |(modem, name): &(Modem, &str)| {
        json!({
            "id": name, "frequency_mhz": modem.frequency_mhz, "bandwidth_hz": modem.bandwidth_hz,
            "spreading_factor": modem.spreading_factor, "coding_rate": modem.coding_rate,
        })
    };
    MODEMS.iter().map(one).collect()
}

fn modems() -> Table {
    let mut table = Table::new(&[
        ("id", Align::Left),
        ("MHz", Align::Right),
        ("kHz", Align::Right),
        ("spreading factor", Align::Right),
        ("code rate", Align::Right),
    ]);
    for (modem, name) in &MODEMS {
        table.row([
            (*name).to_owned(),
            modem.frequency_mhz.map_or("of the radio".to_owned(), |mhz| mhz.to_string()),
            (modem.bandwidth_hz / 1e3).to_string(),
            modem.spreading_factor.to_string(),
            format!("4/{}", modem.coding_rate),
        ]);
    }
    table
}

/// Lines below a table: texts that do not fit a column, whole.
fn below(texts: impl Iterator<Item = (String, String)>) -> String {
    texts.map(|(id, text)| format!("  {}: {text}\n", output::faint(&id))).collect()
}

fn sources_of_radios() -> String {
    below(RADIOS.iter().map(|preset| (preset.id.to_owned(), preset.source.to_owned())))
}

fn sources_of_antennas() -> String {
    below(ANTENNAS.iter().map(|preset| (preset.id.to_owned(), preset.source.to_owned())))
}

fn sources_of_models() -> String {
    below(Model::ALL.iter().map(|id| {
        let model = id.get();
        (id.to_string(), format!("{}; {}", model.description(), model.source()))
    }))
}

fn radios() -> Table {
    let mut table = Table::new(&[
        ("id", Align::Left),
        ("MHz", Align::Right),
        ("bandwidth kHz", Align::Right),
        ("power dBm", Align::Right),
        ("NF dB", Align::Right),
    ]);
    for preset in &RADIOS {
        table.row([
            preset.id.to_owned(),
            preset.radio.frequency_mhz.to_string(),
            (preset.radio.bandwidth_hz / 1e3).to_string(),
            preset.radio.tx_power_dbm.to_string(),
            preset.radio.noise_figure_db.to_string(),
        ]);
    }
    table
}

fn antennas() -> Table {
    let mut table = Table::new(&[
        ("id", Align::Left),
        ("gain dBi", Align::Right),
        ("azimuth °", Align::Right),
        ("elevation °", Align::Right),
        ("front to back dB", Align::Right),
    ]);
    for preset in &ANTENNAS {
        table.row([
            preset.id.to_owned(),
            preset.antenna.gain_dbi.to_string(),
            preset.antenna.azimuth_beamwidth_deg.to_string(),
            preset.antenna.elevation_beamwidth_deg.to_string(),
            preset.antenna.front_to_back_db.to_string(),
        ]);
    }
    table
}

fn roles() -> Table {
    let mut table =
        Table::new(&[("id", Align::Left), ("name", Align::Left), ("colour", Align::Left)]);
    for preset in &ROLES {
        let id = output::word(&preset.id);
        table.row([id, preset.name.to_owned(), preset.color.to_owned()]);
    }
    table
}

fn modulations() -> Table {
    let mut table = Table::new(&[
        ("id", Align::Left),
        ("bits/symbol", Align::Right),
        ("code rate", Align::Right),
        ("sensitivity 20 MHz dBm", Align::Right),
        ("required SNR dB", Align::Right),
    ]);
    for modulation in &MODULATIONS {
        let [above, below] = modulation.code_rate;
        table.row([
            output::word(&modulation.id),
            modulation.bits_per_symbol.to_string(),
            format!("{above}/{below}"),
            modulation.sensitivity_20_mhz_dbm.to_string(),
            modulation.required_snr_db.to_string(),
        ]);
    }
    table
}

fn models() -> Table {
    let mut table = Table::new(&[
        ("id", Align::Left),
        ("--model", Align::Left),
        ("terrain", Align::Left),
        ("valid MHz", Align::Left),
        ("valid km", Align::Left),
    ]);
    for id in Model::ALL {
        let model = id.get();
        let validity = model.validity();
        let range = |low: f64, high: f64| match (low > 0.0, high.is_finite()) {
            (false, false) => "all".to_owned(),
            (_, false) => format!("from {low}"),
            _ => format!("{low} to {high}"),
        };
        let (frequency, distance) = (validity.frequency_mhz, validity.distance_m);
        table.row([
            id.to_string(),
            id.option_value().to_owned(),
            if model.uses_terrain() { "yes" } else { "no" }.to_owned(),
            range(*frequency.start(), *frequency.end()),
            range(distance.start() * 1e-3, distance.end() * 1e-3),
        ]);
    }
    table
}

/// The registry of path-loss models, with the schema of the settings each reads.
fn model_list() -> Vec<Value> {
    let entry = |id: &Model| {
        let model = id.get();
        json!({
            "id": model.name(),
            "option": id.option_value(),
            "label": model.label(),
            "description": model.description(),
            "version": model.version(),
            "source": model.source(),
            "uses_terrain": model.uses_terrain(),
            "settings": Environment::settings_schema(*id),
        })
    };
    Model::ALL.iter().map(entry).collect()
}
