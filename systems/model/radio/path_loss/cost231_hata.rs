//! Loss in towns by COST 231-Hata.

use groundwave_propagation::hata::{
    Area, BASE_HEIGHT_M, COST231_KM, COST231_MHZ, MOBILE_HEIGHT_M, cost231_hata_db,
    location_sigma_db,
};
use groundwave_propagation::p1812::location_loss_db;
use groundwave_propagation::profile::PathProfile;

use super::direction::settings;
use super::{
    Attenuation, Direction, HeightRanges, PathLossModel, PreparedModel, Settings, ShareRanges,
    Validity,
    hata_mobile::{self, Role, RoleLoss},
};
use crate::radio::warning::{Warning, Warnings};

settings! {
    /// Settings of COST 231-Hata.
    struct CostSettings {
        /// Share of places, percent, 1 to 99.
        location_percent: f64,
    }
}

/// COST 231-Hata over quasi-smooth ground: the lower antenna is the mobile, around which its area lies. There is no
/// formula for open country.
#[derive(Debug)]
pub(super) struct Cost231Hata;

impl PathLossModel for Cost231Hata {
    fn name(&self) -> &'static str {
        "cost231_hata"
    }

    fn label(&self) -> &'static str {
        "COST 231-Hata"
    }

    fn description(&self) -> &'static str {
        "COST 231-Hata over level ground in cities and suburbs, 1.5 to 2 GHz, 1 to 20 km."
    }

    fn version(&self) -> &'static str {
        "COST 231 final report, 1999"
    }

    fn source(&self) -> &'static str {
        "COST 231, Digital mobile radio towards future generation systems, final report, 1999, section 4.4.1"
    }

    fn settings(&self) -> &'static [&'static str] {
        CostSettings::NAMES
    }

    fn shares(&self) -> ShareRanges {
        hata_mobile::SHARES
    }

    fn validity(&self) -> Validity {
        let [low_mhz, high_mhz] = COST231_MHZ;
        let [near_km, far_km] = COST231_KM;
        Validity {
            frequency_mhz: low_mhz..=high_mhz,
            distance_m: near_km * 1e3..=far_km * 1e3,
            distance_warning: Warning::ModelOutOfRange,
            // The loss has the roofs already.
            fine_surface: false,
        }
    }

    fn heights(&self) -> HeightRanges {
        hata_mobile::HEIGHTS
    }

    fn uses_terrain(&self) -> bool {
        false
    }

    fn uses_clutter(&self) -> bool {
        false
    }

    fn includes_surroundings(&self) -> bool {
        true
    }

    fn includes_gases(&self) -> bool {
        false
    }

    fn prepare(&self, direction: &Direction) -> Result<Box<dyn PreparedModel>, Warning> {
        let roles = hata_mobile::roles(direction.antenna_agl_m);
        let roles = roles.ok_or(Warning::ModelOutOfRange)?;
        let mobiles: Vec<_> = roles.filter_map(|role| Mobile::new(direction, role)).collect();
        if mobiles.is_empty() {
            return Err(Warning::ModelOutOfRange);
        }
        Ok(Box::new(PreparedCost { mobiles, antenna_agl_m: direction.antenna_agl_m }))
    }
}

/// One direction. The lower end is the mobile; of antennas of about one height each in part.
#[derive(Debug)]
struct PreparedCost {
    /// The ends as mobiles, but for one in open country.
    mobiles: Vec<Mobile>,
    /// Heights of transmitter and receiver, m.
    antenna_agl_m: [f64; 2],
}

/// One end as the mobile, with limited heights.
#[derive(Debug, Clone, Copy)]
struct Mobile {
    /// Share of the loss.
    share: f64,
    frequency_mhz: f64,
    /// Heights of mobile and base station within those of the formula, m.
    limited_agl_m: [f64; 2],
    is_metropolitan: bool,
    location_db: f64,
    sigma_db: f64,
    warnings: Warnings,
}

impl Mobile {
    /// `None` out of the range of the model.
    fn new(direction: &Direction, Role { mobile, share }: Role) -> Option<Self> {
        let settings: CostSettings = direction.settings();
        let frequency_mhz = direction.frequency_mhz;
        let mobile_agl_m = direction.antenna_agl_m[mobile];
        let base_agl_m = direction.antenna_agl_m[1 - mobile];
        let [low_mhz, high_mhz] = COST231_MHZ;
        let in_range = (low_mhz..=high_mhz).contains(&frequency_mhz);
        // There is no formula for open country.
        let area = Some(hata_mobile::area(direction.surroundings[mobile]))
            .filter(|area| in_range && *area != Area::Rural)?;
        let sigma_db = location_sigma_db(frequency_mhz, area).ok()?;
        let limited = |value: f64, [low, high]: [f64; 2]| value.clamp(low, high);
        let limited_agl_m =
            [limited(mobile_agl_m, MOBILE_HEIGHT_M), limited(base_agl_m, BASE_HEIGHT_M)];
        let mut warnings = Warnings::default();
        warnings.note(limited_agl_m != [mobile_agl_m, base_agl_m], Warning::HataAntennaHeight);
        Some(Self {
            share,
            frequency_mhz,
            limited_agl_m,
            is_metropolitan: area == Area::DenseUrban,
            location_db: location_loss_db(settings.location_percent, sigma_db).ok()?,
            sigma_db,
            warnings,
        })
    }
}

impl PreparedModel for PreparedCost {
    fn share(&self) -> f64 {
        match &self.mobiles[..] {
            [one] => one.share,
            _ => 1.0,
        }
    }

    fn attenuation(&self, profile: &PathProfile<'_>) -> Result<Attenuation, Warning> {
        let [Some(first_m), Some(last_m)] =
            [profile.elevation_msl_m.first(), profile.elevation_msl_m.last()]
        else {
            return Err(Warning::ModelOutOfRange);
        };
        let distance_m = profile.distance_m();
        let loss = |mobile: &Mobile| {
            let Mobile { frequency_mhz, is_metropolitan, .. } = *mobile;
            let [mobile_m, base_m] = mobile.limited_agl_m;
            let distance_km = distance_m * 1e-3;
            let loss_db =
                cost231_hata_db(frequency_mhz, base_m, mobile_m, distance_km, is_metropolitan);
            let ground_msl_m = [*first_m, *last_m];
            Ok(RoleLoss {
                share: mobile.share,
                median_db: hata_mobile::excess_db(
                    loss_db.map_err(|_| Warning::ModelOutOfRange)?,
                    frequency_mhz,
                    distance_m,
                    ground_msl_m,
                    self.antenna_agl_m,
                ),
                location_db: mobile.location_db,
                sigma_db: mobile.sigma_db,
                warnings: mobile.warnings,
            })
        };
        let losses: Vec<_> = self.mobiles.iter().map(loss).collect::<Result<_, _>>()?;
        Ok(hata_mobile::attenuation(losses.into_iter()))
    }
}

#[cfg(test)]
mod tests {
    use groundwave_propagation::free_space::free_space_loss_db;
    use groundwave_propagation::polarization::Polarization;

    use super::super::Model;
    use super::*;
    use crate::radio::{Environment, Surroundings};

    fn prepared(
        frequency_mhz: f64,
        antenna_agl_m: [f64; 2],
        around: Surroundings,
    ) -> Result<Box<dyn PreparedModel>, Warning> {
        let values = Environment::default().setting_values();
        let direction =
            Direction::new(frequency_mhz, Polarization::Vertical, antenna_agl_m, values)
                .with_surroundings([around; 2]);
        Model::Cost231Hata.get().prepare(&direction)
    }

    /// Total loss over level ground, dB.
    fn loss_db(antenna_agl_m: [f64; 2], around: Surroundings, kilometres: u32) -> f64 {
        let ground = vec![0.0; 1 + 100 * kilometres as usize];
        let profile = PathProfile::bare(10.0, &ground);
        let model = prepared(1_950.0, antenna_agl_m, around).unwrap();
        let rise_m = antenna_agl_m[1] - antenna_agl_m[0];
        let slant_m = profile.distance_m().hypot(rise_m);
        model.attenuation(&profile).unwrap().median_total_db()
            + free_space_loss_db(slant_m, 1_950.0)
    }

    /// 137.4 + 35.2 log d at 1,950 MHz, 30 m and 1.5 m (H. Holma, A. Toskala, "WCDMA for UMTS"), a metropolitan
    /// centre 3 dB more; either end may be the base station.
    #[test]
    fn published_losses_come_out_in_both_directions() {
        for (kilometres, expected_db) in [(1, 137.4), (10, 172.6)] {
            for antenna_agl_m in [[30.0, 1.5], [1.5, 30.0]] {
                let city_db = loss_db(antenna_agl_m, Surroundings::Urban, kilometres);
                assert!((city_db - expected_db).abs() < 0.1, "{kilometres} km: {city_db}");
                let centre_db = loss_db(antenna_agl_m, Surroundings::DenseUrban, kilometres);
                assert!((centre_db - city_db - 3.0).abs() < 1e-9);
            }
        }
    }

    fn between(antenna_agl_m: [f64; 2], around: [Surroundings; 2]) -> Box<dyn PreparedModel> {
        let values = Environment::default().setting_values();
        let direction = Direction::new(1_800.0, Polarization::Vertical, antenna_agl_m, values);
        Model::Cost231Hata.get().prepare(&direction.with_surroundings(around)).unwrap()
    }

    /// Of an end in open country there is no formula: the fallback model has its share.
    #[test]
    fn antennas_of_about_one_height_have_one_loss_in_both_directions() {
        let ground: Vec<f64> = (0..101).map(|point| f64::from(point) * 0.3).collect();
        let back: Vec<f64> = ground.iter().rev().copied().collect();
        let (city, centre, open) =
            (Surroundings::Urban, Surroundings::DenseUrban, Surroundings::Open);
        for [a, b] in [[city, city], [city, centre], [city, open]] {
            for [low_m, high_m] in [[10.0, 10.0], [9.5, 10.0], [30.0, 31.0], [30.0, 40.0]] {
                let there = between([low_m, high_m], [a, b]);
                let here = between([high_m, low_m], [b, a]);
                let loss = there.attenuation(&PathProfile::bare(100.0, &ground));
                assert_eq!(loss, here.attenuation(&PathProfile::bare(100.0, &back)));
                assert_eq!(there.share(), here.share());
                let is_partial = b == open && high_m / low_m < 1.2;
                assert_eq!(there.share() < 1.0, is_partial, "{low_m} {high_m}");
            }
        }
        assert_eq!(between([20.0; 2], [city, open]).share(), 0.5);
    }

    #[test]
    fn inputs_beyond_the_range_have_no_value_or_a_warning() {
        let refusal = |mhz, heights_m, around| prepared(mhz, heights_m, around).err();
        for (mhz, heights_m, around) in [
            (1_499.0, [30.0, 1.5], Surroundings::Urban),
            (2_001.0, [30.0, 1.5], Surroundings::Urban),
            (1_800.0, [9.0, 1.5], Surroundings::Urban),
            (1_800.0, [30.0, 1.5], Surroundings::Open),
        ] {
            assert_eq!(refusal(mhz, heights_m, around), Some(Warning::ModelOutOfRange));
        }
        let ground = [0.0; 51];
        let profile = PathProfile::bare(100.0, &ground);
        for (heights_m, is_limited) in [([30.0, 1.5], false), ([15.0, 1.5], true)] {
            let model = prepared(1_800.0, heights_m, Surroundings::Urban).unwrap();
            let warnings = model.attenuation(&profile).unwrap().warnings;
            assert_eq!(warnings.contains(Warning::HataAntennaHeight), is_limited);
        }
        let short = PathProfile::bare(10.0, &ground);
        let model = prepared(1_800.0, [30.0, 1.5], Surroundings::Urban).unwrap();
        assert_eq!(model.attenuation(&short).err(), Some(Warning::ModelOutOfRange));
    }
}
