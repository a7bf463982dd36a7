//! Loss in towns, suburbs and open country by the extended Hata model (NTIA).

use groundwave_propagation::hata::{
    BASE_HEIGHT_M, Edition, MOBILE_HEIGHT_M, Path, Sea, location_sigma_db,
};
use groundwave_propagation::p1812::location_loss_db;
use groundwave_propagation::profile::{GroundCover, PathProfile};

use super::direction::settings;
use super::{
    Attenuation, Direction, HeightRanges, PathLossModel, PreparedModel, Settings, ShareRanges,
    Validity,
    hata_mobile::{self, Role, RoleLoss},
};
use crate::radio::warning::{Warning, Warnings};

settings! {
    /// Settings of extended Hata.
    struct HataSettings {
        /// Refractivity at sea level, N-units.
        refractivity_n_units: f64,
        /// Share of places, percent, 1 to 99.
        location_percent: f64,
    }
}

/// The extended Hata model; below 1,500 MHz that of Hata 1980. The higher antenna is the base station; of about one
/// height each is it in part.
#[derive(Debug)]
pub(super) struct ExtendedHata;

impl PathLossModel for ExtendedHata {
    fn name(&self) -> &'static str {
        "extended_hata"
    }

    fn label(&self) -> &'static str {
        "extended Hata"
    }

    fn description(&self) -> &'static str {
        "Extended Hata of NTIA over terrain in cities, suburbs and open country, 150 MHz to 3.7 GHz, 1 to 100 km."
    }

    fn version(&self) -> &'static str {
        "NTIA Report 15-517 + Hata 1980"
    }

    fn source(&self) -> &'static str {
        "NTIA Report 15-517, 2015, appendix A; below 1,500 MHz M. Hata, IEEE Trans. Veh. Technol. VT-29, 1980, and ITU-R P.529-3"
    }

    fn settings(&self) -> &'static [&'static str] {
        HataSettings::NAMES
    }

    fn shares(&self) -> ShareRanges {
        hata_mobile::SHARES
    }

    fn validity(&self) -> Validity {
        Validity {
            frequency_mhz: 150.0..=3_700.0,
            distance_m: 1e3..=100e3,
            distance_warning: Warning::ModelOutOfRange,
            // Roofs are not hills, and the loss has them already.
            fine_surface: false,
        }
    }

    fn heights(&self) -> HeightRanges {
        hata_mobile::HEIGHTS
    }

    fn uses_terrain(&self) -> bool {
        true
    }

    fn uses_clutter(&self) -> bool {
        true
    }

    fn includes_surroundings(&self) -> bool {
        true
    }

    fn includes_gases(&self) -> bool {
        false
    }

    fn prepare(&self, direction: &Direction) -> Result<Box<dyn PreparedModel>, Warning> {
        let roles = hata_mobile::roles(direction.antenna_agl_m);
        let mobiles =
            roles.and_then(|roles| roles.map(|role| Mobile::new(direction, role)).collect());
        Ok(Box::new(PreparedHata(mobiles.ok_or(Warning::ModelOutOfRange)?)))
    }
}

/// One end taken as the mobile.
#[derive(Debug, Clone, Copy)]
struct Mobile {
    /// `true` for the receiver, to which profiles run.
    is_receiver: bool,
    /// Share of the loss.
    share: f64,
    path: Path,
    location_db: f64,
    sigma_db: f64,
    warnings: Warnings,
}

impl Mobile {
    /// `None` out of the range of the model.
    fn new(direction: &Direction, Role { mobile, share }: Role) -> Option<Self> {
        let settings: HataSettings = direction.settings();
        let frequency_mhz = direction.frequency_mhz;
        let mobile_agl_m = direction.antenna_agl_m[mobile];
        let base_agl_m = direction.antenna_agl_m[1 - mobile];
        if !(150.0..=3_700.0).contains(&frequency_mhz) {
            return None;
        }
        let area = hata_mobile::area(direction.surroundings[mobile]);
        let sigma_db = location_sigma_db(frequency_mhz, area).ok()?;
        let is_between = |value: f64, [low, high]: [f64; 2]| (low..=high).contains(&value);
        let mut warnings = Warnings::default();
        warnings.note(
            !is_between(base_agl_m, BASE_HEIGHT_M) || !is_between(mobile_agl_m, MOBILE_HEIGHT_M),
            Warning::HataAntennaHeight,
        );
        Some(Self {
            is_receiver: mobile == 1,
            share,
            path: Path {
                frequency_mhz,
                mobile_agl_m,
                base_agl_m,
                area,
                refractivity_n_units: settings.refractivity_n_units,
                sea: Sea::NONE,
                edition: Edition::Corrected,
            },
            location_db: location_loss_db(settings.location_percent, sigma_db).ok()?,
            sigma_db,
            warnings,
        })
    }

    /// Median excess over free space, dB; `None` if the model has none.
    fn excess_db(&self, profile: &PathProfile<'_>) -> Option<f64> {
        let cover = profile.clutter().ok()?.and_then(|clutter| clutter.cover).unwrap_or_default();
        let is_water = |cover: &GroundCover| *cover == GroundCover::Water;
        let mut ground_msl_m = profile.elevation_msl_m.to_vec();
        let sea = if self.is_receiver {
            ground_msl_m.reverse();
            Sea::of_points(cover.iter().rev().map(is_water))
        } else {
            Sea::of_points(cover.iter().map(is_water))
        };
        let path = Path { sea, ..self.path };
        let loss = path.loss(&PathProfile::bare(profile.step_m, &ground_msl_m)).ok()?;
        let [Some(first_m), Some(last_m)] = [ground_msl_m.first(), ground_msl_m.last()] else {
            return None;
        };
        let excess_db = hata_mobile::excess_db(
            loss.loss_db,
            path.frequency_mhz,
            profile.distance_m(),
            [*first_m, *last_m],
            [path.mobile_agl_m, path.base_agl_m],
        );
        excess_db.is_finite().then_some(excess_db)
    }
}

/// The lower end as the mobile; of antennas of about one height each in part.
#[derive(Debug)]
struct PreparedHata(Vec<Mobile>);

impl PreparedModel for PreparedHata {
    fn attenuation(&self, profile: &PathProfile<'_>) -> Result<Attenuation, Warning> {
        let loss = |mobile: &Mobile| {
            Some(RoleLoss {
                share: mobile.share,
                median_db: mobile.excess_db(profile)?,
                location_db: mobile.location_db,
                sigma_db: mobile.sigma_db,
                warnings: mobile.warnings,
            })
        };
        let losses: Option<Vec<_>> = self.0.iter().map(loss).collect();
        Ok(hata_mobile::attenuation(losses.ok_or(Warning::ModelOutOfRange)?.into_iter()))
    }
}

#[cfg(test)]
mod tests;
