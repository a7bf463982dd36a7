//! Radio parameters of SPLAT! (`.lrp`), which stand beside the file of a site.
//!
//! Nine lines (SPLAT! 1.4.2, documentation, "Irregular terrain model parameter files"), comments behind a
//! semicolon: relative permittivity and conductivity of the ground, surface refractivity, frequency in MHz,
//! radio climate from 1 to 7, polarisation (0 horizontal, 1 vertical), shares of situations and of time from 0
//! to 1, and the radiated power over a half-wave dipole in watts, which may be left out.

use groundwave_model::radio::{Climate, Environment};
use groundwave_propagation::numeric::log10;

use super::error::{Fault, quoted};
use crate::antenna::DIPOLE_DBI;

/// Radio parameters of a site.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameters {
    pub frequency_mhz: f64,
    /// `horizontal` or `vertical`.
    pub polarization: &'static str,
    /// Radiated power over an isotropic antenna, dBm.
    pub eirp_dbm: Option<f64>,
    /// Ground, climate and shares.
    pub environment: Environment,
}

/// Lines that a file must have: name, minimum and maximum.
const LINES: [(&str, f64, f64); 8] = [
    ("permittivity", 1.0, 100.0),
    ("conductivity", 1e-5, 10.0),
    ("refractivity", 250.0, 400.0),
    ("frequency, MHz", 20.0, 20_000.0),
    ("radio climate", 1.0, 7.0),
    ("polarisation", 0.0, 1.0),
    ("share of situations", 0.001, 0.999),
    ("share of time", 0.001, 0.999),
];

/// Radiated power, W: the last line.
const POWER: (&str, f64, f64) = ("radiated power, W", 0.0, 1e8);

/// Climates by their number less 1.
const CLIMATES: [Climate; 7] = [
    Climate::Equatorial,
    Climate::ContinentalSubtropical,
    Climate::MaritimeSubtropical,
    Climate::Desert,
    Climate::ContinentalTemperate,
    Climate::MaritimeTemperateLand,
    Climate::MaritimeTemperateSea,
];

/// Reads the parameters of a file; an error has its line.
pub(super) fn read(text: &str) -> Result<Parameters, (usize, Fault)> {
    let numbered = text.lines().enumerate().map(|(index, line)| {
        let value = line.split_once(';').map_or(line, |(before, _)| before);
        (index + 1, value.trim())
    });
    let lines: Vec<_> = numbered.filter(|(_, value)| !value.is_empty()).collect();
    let number = |(line, text): (usize, &str), (what, minimum, maximum): (&str, f64, f64)| {
        let value = text.parse().ok().filter(|value| (minimum..=maximum).contains(value));
        value.ok_or_else(|| {
            let allowed = format!("a {what} from {minimum} to {maximum}");
            (line, Fault::new("", quoted(text), allowed))
        })
    };
    if lines.len() < LINES.len() {
        let actual = format!("{} values", lines.len());
        return Err((lines.len(), Fault::new("", actual, "8 or 9, a line each")));
    }
    let mut values = [0.0; LINES.len()];
    for ((value, line), form) in values.iter_mut().zip(&lines).zip(LINES) {
        *value = number(*line, form)?;
    }
    let [
        permittivity,
        conductivity_s_m,
        refractivity,
        frequency_mhz,
        climate,
        polarity,
        situations,
        time,
    ] = values;
    for (value, line) in [(climate, lines[4]), (polarity, lines[5])] {
        if value.fract() != 0.0 {
            return Err((line.0, Fault::new("", quoted(line.1), "a whole number")));
        }
    }
    let power_w: Option<f64> =
        lines.get(LINES.len()).map(|line| number(*line, POWER)).transpose()?;
    let environment = Environment {
        climate: CLIMATES[climate as usize - 1],
        refractivity_n_units: refractivity,
        permittivity,
        conductivity_s_m,
        situation_percent: situations * 100.0,
        time_percent: time * 100.0,
        ..Environment::default()
    };
    Ok(Parameters {
        frequency_mhz,
        polarization: if polarity == 0.0 { "horizontal" } else { "vertical" },
        // Nothing radiated: only the loss of paths is computed.
        eirp_dbm: power_w.filter(|power_w| *power_w > 0.0).map(|power_w| {
            let erp_dbm = 10.0 * log10(power_w * 1000.0);
            erp_dbm + DIPOLE_DBI
        }),
        environment,
    })
}
