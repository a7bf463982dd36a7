//! The Okumura-Hata family: loss between a base station and a mobile in towns, suburbs and open country.
//!
//! | function | frequencies | distances | source |
//! |---|---|---|---|
//! | [`okumura_hata_db`] | 150 to 1,500 MHz | 1 to 100 km | Hata 1980; beyond 20 km ITU-R P.529-3 |
//! | [`cost231_hata_db`] | 1,500 to 2,000 MHz | 1 to 20 km | COST 231 |
//! | [`extended_hata_db`] | 1,500 to 3,000 MHz | 1 to 100 km | NTIA 15-517 |
//! | [`Path::loss`] | those of the first and the third | 1 to 100 km | the same, with corrections for terrain |
//!
//! All are medians over places and include the buildings and trees around the mobile.
//!
//! Sources:
//! * `Okumura 1968`: Y. Okumura, E. Ohmori, T. Kawano, K. Fukuda, "Field strength and its variability in VHF
//!   and UHF land-mobile radio service", Rev. Elec. Commun. Lab. 16(9-10).
//! * `Hata 1980`: M. Hata, "Empirical formula for propagation loss in land mobile radio services", IEEE
//!   Trans. Veh. Technol. VT-29(3).
//! * `COST 231`: "Digital mobile radio towards future generation systems", final report, 1999, section 4.4.1.
//! * `NTIA 15-517`: E. Drocella et al., "3.5 GHz exclusion zone analyses and methodology", NTIA Report 15-517,
//!   2015, appendix A (the extended Hata model, eHata; not that of SEAMCAT). NTIA is thankfully acknowledged
//!   as its author.

mod corrections;
mod formulas;
mod terrain;
#[cfg(test)]
mod tests;

use super::domain::{DomainError, positive, within};
use super::profile::PathProfile;
pub use corrections::{Sea, SeaSide};
pub use formulas::{
    Area, COST231_KM, COST231_MHZ, EXTENDED_MHZ_MIN, cost231_hata_db, extended_hata_db,
    location_sigma_db, okumura_hata_db,
};
use terrain::Terrain;

/// Effective heights of the base station that the formulas are made for, m.
pub const BASE_HEIGHT_M: [f64; 2] = [30.0, 200.0];

/// Effective heights of the mobile that the formulas are made for, m.
pub const MOBILE_HEIGHT_M: [f64; 2] = [1.0, 10.0];

/// Which numbers [`Path::loss`] gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edition {
    /// Those of eHata within the figures of Okumura 1968. Below 1,500 MHz the basic loss is that of Hata 1980 in
    /// a large city.
    Corrected,
    /// Those of NTIA's code as the Wireless Innovation Forum validated it, for comparison with a Spectrum Access
    /// System. It differs in five points: the curves of 1,500 MHz and more apply below as well; slopes beyond the
    /// 20 mrad of the figure are extrapolated, to more than 100 dB; so are the curves of ridges less than 15 km
    /// from the base station, or far from the mobile; the line of sight over a ridge is taken at the mirror image
    /// of the ridge; and on paths below 10 km the loss depends on the height of all ground above sea level.
    Reference,
}

/// Inputs besides the profile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// Frequency, MHz: 150 to 4,000, in [`Edition::Reference`] 1,000 to 4,000.
    pub frequency_mhz: f64,
    /// Antenna of the mobile above ground, m, 0 to 3,000.
    pub mobile_agl_m: f64,
    /// Antenna of the base station above ground, m, 0 to 3,000.
    pub base_agl_m: f64,
    /// Surroundings of the mobile.
    pub area: Area,
    /// Refractivity reduced to sea level, N-units, 250 to 400; NTIA takes 301.
    pub refractivity_n_units: f64,
    /// Sea along the path.
    pub sea: Sea,
    /// Which numbers.
    pub edition: Edition,
}

/// Loss of one path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loss {
    /// Basic transmission loss at the median of places, dB.
    pub loss_db: f64,
    /// The same without the corrections for terrain and sea, dB.
    pub basic_db: f64,
    /// Effective heights of mobile and base station, within [`MOBILE_HEIGHT_M`] and [`BASE_HEIGHT_M`].
    pub effective_height_m: [f64; 2],
    /// `true` if both ends see the same ridge as their horizon.
    pub is_single_ridge: bool,
}

impl Path {
    /// Loss over `profile`, which runs from the mobile to the base station and is 10 m to 1,000 km long.
    ///
    /// Effective heights beyond [`BASE_HEIGHT_M`] and [`MOBILE_HEIGHT_M`] are taken at the limit.
    ///
    /// # Errors
    /// [`DomainError`] for an input out of range, fewer than two points or a height that is not finite.
    pub fn loss(&self, profile: &PathProfile<'_>) -> Result<Loss, DomainError> {
        let lowest_mhz = if self.edition == Edition::Reference { 1_000.0 } else { 150.0 };
        within("frequency_mhz", self.frequency_mhz, lowest_mhz, 4_000.0)?;
        within("mobile_agl_m", self.mobile_agl_m, 0.0, 3_000.0)?;
        within("base_agl_m", self.base_agl_m, 0.0, 3_000.0)?;
        within("refractivity_n_units", self.refractivity_n_units, 250.0, 400.0)?;
        within("sea share", self.sea.share, 0.0, 1.0)?;
        positive("step_m", profile.step_m)?;
        let distance_km = within("distance_km", profile.distance_m() * 1e-3, 0.01, 1_000.0)?;
        for &elevation_msl_m in profile.elevation_msl_m {
            within("elevation_msl_m", elevation_msl_m, -15_000.0, 15_000.0)?;
        }

        let terrain = Terrain::new(self, profile);
        let [mobile_rise_m, base_rise_m] = terrain.rise_m;
        let mobile_m = limited(self.mobile_agl_m + mobile_rise_m, MOBILE_HEIGHT_M);
        let base_m = limited(self.base_agl_m + base_rise_m, BASE_HEIGHT_M);
        let basic_db = self.basic_db([mobile_m, base_m], distance_km);
        let correction_db = terrain.correction_db(self.edition, distance_km)
            + corrections::sea_db(self.sea, distance_km);
        Ok(Loss {
            loss_db: basic_db - correction_db,
            basic_db,
            effective_height_m: [mobile_m, base_m],
            is_single_ridge: terrain.ridge.is_some(),
        })
    }

    /// Loss over quasi-smooth ground between effective heights of mobile and base station, dB.
    fn basic_db(&self, [mobile_m, base_m]: [f64; 2], distance_km: f64) -> f64 {
        if self.frequency_mhz < EXTENDED_MHZ_MIN && self.edition == Edition::Corrected {
            formulas::hata_db(self.frequency_mhz, base_m, distance_km)
                - formulas::large_city_db(self.frequency_mhz, mobile_m)
                - self.area.below_urban_db(self.frequency_mhz)
        } else {
            formulas::extended_db(self.frequency_mhz, base_m, mobile_m, distance_km, self.area)
        }
    }
}

/// `value`, or the limit it lies beyond.
fn limited(value: f64, [low, high]: [f64; 2]) -> f64 {
    if value < low {
        low
    } else if value > high {
        high
    } else {
        value
    }
}
