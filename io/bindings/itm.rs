//! Basic transmission loss of one path by the Irregular Terrain Model: numbers in, one number out.

use groundwave_propagation::itm::{Climate, Mdvar, Medium, Quantile, point_to_point};
use groundwave_propagation::polarization::Polarization;
use groundwave_propagation::profile::PathProfile;

use crate::Invalid;

/// Inputs beside the heights, in the order and with the codes of NTIA's program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ItmInputs {
    /// Distance between heights, m, 0.01 or more.
    pub step_m: f64,
    /// Transmitting antenna, m above ground, [0.5, 3000].
    pub tx_agl_m: f64,
    /// Receiving antenna, m above ground, [0.5, 3000].
    pub rx_agl_m: f64,
    /// Radio climate: 1 equatorial, 2 continental subtropical, 3 maritime subtropical, 4 desert, 5 continental
    /// temperate, 6 maritime temperate over land, 7 over sea.
    pub climate: u8,
    /// Surface refractivity reduced to sea level, N-units, [250, 400].
    pub refractivity_n_units: f64,
    /// Frequency, MHz, [20, 20000].
    pub frequency_mhz: f64,
    /// Polarisation: 0 horizontal, 1 vertical.
    pub polarization: u8,
    /// Relative permittivity of the ground, [1, 1e6].
    pub permittivity: f64,
    /// Conductivity of the ground, S/m, above 0 to 1e8.
    pub conductivity_s_m: f64,
    /// Mode of variability, NTIA's code: 0 to 3, 10 to 13, 20 to 23 or 30 to 33.
    pub mdvar: u8,
    /// Share of time, percent, between 0 and 100.
    pub time_percent: f64,
    /// Share of locations, percent, between 0 and 100.
    pub location_percent: f64,
    /// Share of situations, percent, between 0 and 100.
    pub situation_percent: f64,
}

/// Basic transmission loss over evenly spaced heights, m above mean sea level, dB.
///
/// # Errors
/// The first input out of its range.
pub fn loss_db(heights_msl_m: &[f64], inputs: &ItmInputs) -> Result<f64, Invalid> {
    let climate = Climate::ALL.into_iter().find(|climate| climate.code() == inputs.climate);
    let climate = climate.ok_or_else(|| Invalid::new("climate", inputs.climate, "1 to 7"))?;
    let polarization = match inputs.polarization {
        0 => Polarization::Horizontal,
        1 => Polarization::Vertical,
        found => return Err(Invalid::new("polarization", found, "0 or 1")),
    };
    let medium = Medium {
        n_0: inputs.refractivity_n_units,
        epsilon: inputs.permittivity,
        sigma_s_m: inputs.conductivity_s_m,
        climate,
        frequency_mhz: inputs.frequency_mhz,
        polarization,
        mdvar: Mdvar::from_code(inputs.mdvar).map_err(Invalid::of)?,
    };
    let quantile =
        Quantile::new(inputs.time_percent, inputs.location_percent, inputs.situation_percent);
    let profile = PathProfile::bare(inputs.step_m, heights_msl_m);
    let quantile = quantile.map_err(Invalid::of)?;
    let prediction = point_to_point(&profile, inputs.tx_agl_m, inputs.rx_agl_m, &medium, quantile);
    Ok(prediction.map_err(Invalid::of)?.basic_transmission_loss_db)
}
