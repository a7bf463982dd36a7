//! Loss through ducts and reflecting layers (ITU-R P.1812-8 §4.5).

use super::Prepared;

impl Prepared<'_> {
    /// Basic transmission loss of ducts Lba that is not exceeded for `time_percent`, dB (eq. 46).
    pub(super) fn ducting_db(&self, time_percent: f64) -> f64 {
        let geometry = &self.geometry;
        let f = self.frequency_ghz;
        let cube_root_f = libm::cbrt(f);
        let [tx_km, rx_km] = geometry.horizon_km;

        // Coupling of the antennas into the duct (eq. 47 to 49).
        let low_db = if f < 0.5 { 45.375 - 137.0 * f + 92.5 * f * f } else { 0.0 };
        let mut coupling_db =
            102.45 + 20.0 * libm::log10(f) + 20.0 * libm::log10(tx_km + rx_km) + low_db;
        for end in 0..2 {
            let horizon_km = geometry.horizon_km[end];
            let shielding_mrad = geometry.horizon_mrad[end] - 0.1 * horizon_km;
            if shielding_mrad > 0.0 {
                let site = 1.0 + 0.361 * shielding_mrad * (f * horizon_km).sqrt();
                coupling_db += 20.0 * libm::log10(site) + 0.264 * shielding_mrad * cube_root_f;
            }
            let coast_km = self.zones.coast_m[end] * 1e-3;
            if self.zones.sea_share >= 0.75 && coast_km <= horizon_km.min(5.0) {
                let height = 1.0 + libm::tanh(0.07 * (50.0 - geometry.antenna_msl_m[end]));
                coupling_db -= 3.0 * libm::exp(-0.25 * coast_km * coast_km) * height;
            }
        }

        // Angles beyond those of a duct's own bend (eq. 50 to 52).
        let per_mrad_db = 5e-5 * geometry.effective_radius_km * cube_root_f;
        let bent = |end: usize| geometry.horizon_mrad[end].min(0.1 * geometry.horizon_km[end]);
        let angle_mrad =
            1e3 * geometry.length_km / geometry.effective_radius_km + bent(0) + bent(1);
        coupling_db + per_mrad_db * angle_mrad + self.ducting_in_time_db(time_percent)
    }

    /// A(p), dB: how the loss of ducts varies with time (eq. 53 to 56).
    fn ducting_in_time_db(&self, time_percent: f64) -> f64 {
        let geometry = &self.geometry;
        let d = geometry.length_km;
        let [tx_km, rx_km] = geometry.horizon_km;
        let alpha = (-0.6 - 3.5e-9 * libm::pow(d, 3.1) * self.tau).max(-3.4);
        let roots = geometry.effective_m[0].sqrt() + geometry.effective_m[1].sqrt();
        let ratio = 500.0 / geometry.effective_radius_km * d * d / (roots * roots);
        let mu_2 = libm::pow(ratio, alpha).min(1.0);
        let mu_3 = if geometry.roughness_m > 10.0 {
            let interior_km = (d - tx_km - rx_km).min(40.0);
            libm::exp(-4.6e-5 * (geometry.roughness_m - 10.0) * (43.0 + 6.0 * interior_km))
        } else {
            1.0
        };
        let beta = self.beta_0_percent * mu_2 * mu_3;
        let log_beta = libm::log10(beta);
        let bend = 9.51 - 4.8 * log_beta + 0.198 * log_beta * log_beta;
        let gamma = 1.076 / libm::pow(2.0058 - log_beta, 1.012)
            * libm::exp(-bend * 1e-6 * libm::pow(d, 1.13));
        let share = time_percent / beta;
        -12.0 + (1.2 + 3.7e-3 * d) * libm::log10(share) + 12.0 * libm::pow(share, gamma)
    }
}
