//! Field strength at a receiver, whatever its antenna.

use groundwave_propagation::numeric::log10;

use super::result::LinkResult;

/// Field strength (dBµV/m) over equivalent isotropically radiated power (dBm) less basic transmission
/// loss (dB) at a frequency in MHz: `E = P_r + 20 log10 f + 77.2` with the power `P_r` (dBm) that an
/// isotropic antenna receives (ITU-R P.525-4, conversion formulae).
#[must_use]
pub fn field_term_db(frequency_mhz: f64) -> f64 {
    20.0 * log10(frequency_mhz) + 77.2
}

impl LinkResult {
    /// Field strength at the receiving antenna, dBµV/m: of the power radiated towards it, less the
    /// total path loss. Gain, pointing, polarisation and feeder of the receiver play no part.
    #[must_use]
    pub fn field_strength_dbuv_m(&self) -> f64 {
        let loss_db = self.losses.total_path_loss_db;
        self.budget.eirp_dbm - loss_db + field_term_db(self.frequency_mhz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P.525-4: the free-space field (mV/m) of p kW at d km is 173 sqrt(p) / d. One watt at 1 km over
    /// the free-space loss of that distance.
    #[test]
    fn free_space_fields_are_those_of_the_recommendation() {
        for frequency_mhz in [100.0, 868.0, 5_800.0] {
            let loss_db = 32.447_8 + 20.0 * f64::log10(frequency_mhz);
            let field_dbuv_m = 30.0 - loss_db + field_term_db(frequency_mhz);
            let expected = 20.0 * f64::log10(173.0 * 1e-3_f64.sqrt() * 1e3);
            assert!((field_dbuv_m - expected).abs() < 0.05, "{field_dbuv_m} {expected}");
        }
    }
}
