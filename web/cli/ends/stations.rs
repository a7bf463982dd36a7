//! Options of the stations at both ends of a path.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use groundwave_command::file_identity::{NamedFile, named};
use groundwave_http::Failure;
use groundwave_http::option_value::require_file;
use groundwave_model::radio::antenna::is_omnidirectional;
use groundwave_model::radio::presets::modems::{MODEMS, Modem};
use groundwave_model::radio::{BadValue, Indoor, Pointing, Radio, Station, Surroundings, presets};
use groundwave_propagation::polarization::Polarization;
use serde::Serialize;

use super::super::antenna::PATTERN_CONTENT;
use super::super::quantity::{frequency_mhz, gain_dbi, height_m, number, power_dbm};

const POLARIZATIONS: [(Polarization, &str); 2] =
    [(Polarization::Vertical, "vertical"), (Polarization::Horizontal, "horizontal")];

/// Stations at both ends. Each option has one value for both, or two.
#[derive(Args)]
#[command(next_help_heading = "Stations (one value for both ends, or FROM,TO)")]
pub struct StationOptions {
    /// Radio preset of positions (see `groundwave presets radios`) [default: wifi_5g_mesh]
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    radio: Vec<String>,

    /// Antenna preset of positions (see `groundwave presets antennas`) [default: that of the device, or omni_2_15]
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    antenna: Vec<String>,

    /// Modem preset over the LoRa radio of positions: bandwidth, spreading factor, coding rate of Meshtastic; those and
    /// the frequency of MeshCore and of data rates of LoRaWAN (see `groundwave presets modems`)
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = names(&MODEMS), hide_possible_values = true)]
    modem: Vec<Modem>,

    /// Antenna height of positions without one, m above ground, or with a unit: 30ft [default: 10]
    #[arg(
        long,
        value_name = "M",
        value_delimiter = ',',
        value_parser = height_m
    )]
    height: Vec<f64>,

    /// Frequency of positions instead of that of the radio preset, MHz, or with a unit: 5.8GHz
    #[arg(
        long,
        value_name = "MHZ",
        value_delimiter = ',',
        value_parser = frequency_mhz
    )]
    frequency_mhz: Vec<f64>,

    /// Transmitter power of positions instead of that of the radio preset, dBm, or with a unit: 100mW, 1W
    #[arg(
        long,
        value_name = "DBM",
        value_delimiter = ',',
        value_parser = power_dbm
    )]
    tx_power_dbm: Vec<f64>,

    /// File of an antenna pattern (MSI/Planet, SPLAT!, TIA/EIA-804, Radio Mobile), with its beamwidths and, where it
    /// has one, its gain; `none` leaves an end without
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    pattern: Vec<PathBuf>,

    /// Antenna gain at boresight, dBi, or with a unit: 6.85dBd
    #[arg(
        long,
        value_name = "DBI",
        value_delimiter = ',',
        value_parser = gain_dbi
    )]
    gain_dbi: Vec<f64>,

    /// Loss between radio and antenna, dB
    #[arg(long, value_name = "DB", value_delimiter = ',', value_parser = number)]
    feeder_db: Vec<f64>,

    /// Boresight, clockwise from true north, deg, -360 to 360; without it a directive antenna looks at the other end
    #[arg(long, value_name = "DEG", value_delimiter = ',', value_parser = number)]
    azimuth: Vec<f64>,

    /// Tilt of the boresight below the horizon, deg: mechanical with --azimuth, else electrical, of omnidirectional
    /// antennas only
    #[arg(long, value_name = "DEG", value_delimiter = ',', value_parser = number)]
    tilt: Vec<f64>,

    /// Polarisation of the antenna
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = names(&POLARIZATIONS))]
    polarization: Vec<Polarization>,

    /// Buildings and trees around the antenna; `unknown` is the clutter of the environment
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = names(&Surroundings::ALL))]
    surroundings: Vec<Surroundings>,

    /// Building around the antenna (ITU-R P.2109)
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = names(&Indoor::ALL))]
    indoor: Vec<Indoor>,

    /// Length of the rays within woodland around the antenna, m (ITU-R P.833, mixed forest)
    #[arg(long, value_name = "M", value_delimiter = ',', value_parser = number)]
    woodland_depth: Vec<f64>,
}

/// Radio preset of positions for which none is named.
const RADIO_WHERE_UNNAMED: &str = "wifi_5g_mesh";
/// Antenna height of positions for which none is named, m above ground.
const HEIGHT_WHERE_UNNAMED_M: f64 = 10.0;

/// Values of a station that were assumed; each is absent where one is named.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Assumed {
    /// Radio preset.
    pub radio: Option<&'static str>,
    /// Antenna preset.
    pub antenna: Option<&'static str>,
    /// Antenna height, m above ground.
    pub height_agl_m: Option<f64>,
    /// Antenna gain beside a pattern whose file has none, dBi.
    pub gain_dbi: Option<f64>,
}

/// Parser of the names of a kind.
pub fn names<T>(all: &'static [(T, &'static str)]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let values = all.iter().map(|(_, name)| PossibleValue::new(*name));
    PossibleValuesParser::new(values).map(|name| {
        let entry = all.iter().find(|(_, own)| *own == name);
        entry.expect("clap accepts only these").0
    })
}

/// The value of an option at an end: the first is for both where it is the only one.
fn at<'v, T>(option: &str, values: &'v [T], end: usize) -> Result<Option<&'v T>, Failure> {
    match values.len() {
        0..=2 => Ok(values.get(end).or_else(|| values.first())),
        count => Err(Failure::Input(format!(
            "invalid --{option}: found {count} values, allowed one for both ends, or two: FROM,TO"
        ))),
    }
}

impl StationOptions {
    /// Files that are read.
    pub fn files(&self) -> impl Iterator<Item = NamedFile<'_>> {
        named("--pattern", &self.pattern)
    }

    /// Values that the station of a position at an end, 0 or 1, takes for want of others; a pattern or a gain
    /// stands for an antenna.
    pub fn assumed(&self, end: usize, height_agl_m: Option<f64>) -> Assumed {
        let has_antenna =
            !self.antenna.is_empty() || !self.pattern.is_empty() || !self.gain_dbi.is_empty();
        let radio = self.radio_id(end).unwrap_or(RADIO_WHERE_UNNAMED);
        Assumed {
            radio: self.radio.is_empty().then_some(RADIO_WHERE_UNNAMED),
            antenna: (!has_antenna).then(|| presets::antenna_where_unnamed(radio).id),
            height_agl_m: (height_agl_m.is_none() && self.height.is_empty())
                .then_some(HEIGHT_WHERE_UNNAMED_M),
            gain_dbi: None,
        }
    }

    /// Gain that the station of a position at an end, 0 or 1, has for want of one in the file of its pattern, dBi.
    pub fn gain_where_unnamed(
        &self,
        end: usize,
        station: &Station,
    ) -> Result<Option<f64>, Failure> {
        let is_named = !self.antenna.is_empty() || !self.gain_dbi.is_empty();
        let file = at("pattern", &self.pattern, end)?;
        let Some(file) = file.filter(|file| !is_named && file.is_file()) else { return Ok(None) };
        let file = groundwave_scenario::antenna::load(file).map_err(Failure::input)?;
        Ok(file.gain_dbi.is_none().then_some(station.antenna.gain_dbi))
    }

    /// Radio preset at an end, 0 or 1.
    fn radio_id(&self, end: usize) -> Result<&str, Failure> {
        Ok(at("radio", &self.radio, end)?.map_or(RADIO_WHERE_UNNAMED, String::as_str))
    }

    /// Station of a position at an end, 0 or 1.
    pub fn station(&self, end: usize, height_agl_m: Option<f64>) -> Result<Station, Failure> {
        let id = self.radio_id(end)?;
        let radio = presets::radio(id)
            .ok_or_else(|| unknown("radio", id, presets::RADIOS.iter().map(|preset| preset.id)))?;
        let antenna = match at("antenna", &self.antenna, end)? {
            None => presets::antenna_where_unnamed(radio.id),
            Some(id) => presets::antenna(id).ok_or_else(|| {
                unknown("antenna", id, presets::ANTENNAS.iter().map(|preset| preset.id))
            })?,
        };
        let usual_m = at("height", &self.height, end)?.copied().unwrap_or(HEIGHT_WHERE_UNNAMED_M);
        let mut radio = radio.radio.clone();
        if let Some(modem) = at("modem", &self.modem, end)?
            && !modem.apply(&mut radio)
        {
            let what = "invalid --modem: found a radio that is not LoRa, allowed with LoRa radios";
            return Err(Failure::Input(what.to_owned()));
        }
        self.apply_to_position(end, &mut radio)?;
        Ok(Station::new(height_agl_m.unwrap_or(usual_m), radio, antenna.antenna.clone()))
    }

    /// Sets what the options say of the radio of a position.
    pub fn apply_to_position(&self, end: usize, radio: &mut Radio) -> Result<(), Failure> {
        if let Some(mhz) = at("frequency-mhz", &self.frequency_mhz, end)? {
            radio.frequency_mhz = *mhz;
        }
        if let Some(dbm) = at("tx-power-dbm", &self.tx_power_dbm, end)? {
            radio.tx_power_dbm = *dbm;
        }
        Ok(())
    }

    /// Sets what the options say of any station, of a position as well as of a node.
    pub fn apply(&self, end: usize, station: &mut Station) -> Result<(), Failure> {
        let (radio, antenna) = (&mut station.radio, &mut station.antenna);
        if let Some(file) =
            at("pattern", &self.pattern, end)?.filter(|file| *file != Path::new("none"))
        {
            require_file("--pattern", file, PATTERN_CONTENT)?;
            let file = groundwave_scenario::antenna::load(file).map_err(Failure::input)?;
            antenna.gain_dbi = file.gain_dbi.unwrap_or(antenna.gain_dbi);
            *antenna = antenna.clone().with_pattern(file.pattern);
        }
        if let Some(dbi) = at("gain-dbi", &self.gain_dbi, end)? {
            antenna.gain_dbi = *dbi;
        }
        if let Some(db) = at("feeder-db", &self.feeder_db, end)? {
            radio.feeder_loss_db = *db;
        }
        if let Some(polarization) = at("polarization", &self.polarization, end)? {
            antenna.polarization = *polarization;
        }
        if let Some(azimuth_deg) = at("azimuth", &self.azimuth, end)? {
            station.pointing = Some(Pointing::new(*azimuth_deg, 0.0));
        }
        match (at("tilt", &self.tilt, end)?, &mut station.pointing) {
            (None, _) => {}
            (Some(tilt_deg), Some(pointing)) => pointing.elevation_deg = -tilt_deg,
            (Some(tilt_deg), None) => antenna.electrical_tilt_deg = *tilt_deg,
        }
        if let Some(surroundings) = at("surroundings", &self.surroundings, end)? {
            station.surroundings = *surroundings;
        }
        if let Some(indoor) = at("indoor", &self.indoor, end)? {
            station.indoor = *indoor;
        }
        if let Some(depth_m) = at("woodland-depth", &self.woodland_depth, end)? {
            station.woodland_depth_m = *depth_m;
        }
        match station.validate() {
            Ok(()) => Ok(()),
            Err(error) => Err(self.refusal(end, station, &error)?),
        }
    }

    /// The refusal of a station at an end, 0 or 1, with the option that has the value at fault.
    fn refusal(&self, end: usize, station: &Station, error: &BadValue) -> Result<Failure, Failure> {
        let value = |option: &str, values: &[f64]| {
            let value = at(option, values, end)?.copied();
            Ok::<_, Failure>(value)
        };
        // A position may have a height of its own.
        let height = value("height", &self.height)?.filter(|own| *own == station.height_agl_m);
        let tilt = value("tilt", &self.tilt)?;
        let options = [
            ("height_agl_m", "height", height),
            ("radio.frequency_mhz", "frequency-mhz", value("frequency-mhz", &self.frequency_mhz)?),
            ("radio.tx_power_dbm", "tx-power-dbm", value("tx-power-dbm", &self.tx_power_dbm)?),
            ("antenna.gain_dbi", "gain-dbi", value("gain-dbi", &self.gain_dbi)?),
            ("radio.feeder_loss_db", "feeder-db", value("feeder-db", &self.feeder_db)?),
            ("pointing.azimuth_deg", "azimuth", value("azimuth", &self.azimuth)?),
            ("pointing.elevation_deg", "tilt", tilt),
            ("antenna.electrical_tilt_deg", "tilt", tilt),
            ("woodland_depth_m", "woodland-depth", value("woodland-depth", &self.woodland_depth)?),
        ];
        Ok(by_option(error, &options))
    }

    /// Refuses a tilt at an end, 0 or 1, where it has no effect.
    ///
    /// # Errors
    /// With the tilt of an antenna that looks at the other end.
    pub fn require_effect_of_tilt(&self, end: usize, station: &Station) -> Result<(), Failure> {
        let tilt_deg = at("tilt", &self.tilt, end)?.copied().unwrap_or_default();
        if tilt_deg == 0.0 || station.pointing.is_some() || is_omnidirectional(&station.antenna) {
            return Ok(());
        }
        Err(Failure::Input(format!(
            "invalid --tilt: found {tilt_deg} for an antenna that looks at the other end, allowed with --azimuth"
        )))
    }
}

/// The refusal of a value with the option that has it in place of its key; `options` are keys, names of options and
/// their values, if they have one.
pub fn by_option(error: &BadValue, options: &[(&str, &str, Option<f64>)]) -> Failure {
    let option = options.iter().find_map(|&(key, option, value)| {
        let value = value.filter(|_| key == error.key)?;
        Some(BadValue::new(format!("--{option}"), value, &error.allowed))
    });
    Failure::input(option.unwrap_or_else(|| error.clone()))
}

fn unknown<'a>(what: &str, name: &str, allowed: impl Iterator<Item = &'a str>) -> Failure {
    let allowed = allowed.collect::<Vec<_>>().join(", ");
    Failure::Input(format!("unknown {what} preset: found {name:?}, allowed {allowed}"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use groundwave_model::sample;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        stations: StationOptions,
    }

    #[test]
    fn azimuths_of_a_turn_either_way_are_kept_from_0_to_below_360() {
        let pointing = |azimuth: &str| {
            let options = Line::parse_from(["link", &format!("--azimuth={azimuth}")]).stations;
            let mut station = sample::station();
            options.apply(0, &mut station).map(|()| station.pointing.unwrap().azimuth_deg)
        };
        for (azimuth, kept_deg) in [("-90", 270.0), ("360", 0.0), ("-360,10", 0.0), ("0", 0.0)] {
            assert_eq!(pointing(azimuth).unwrap(), kept_deg, "{azimuth}");
        }
        let error = pointing("-361").unwrap_err();
        assert!(error.message().contains("found -361, allowed [-360, 360]"), "{error:?}");
    }
}
