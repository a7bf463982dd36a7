//! Walls of the buildings in which ends of a link stand (ITU-R P.2109).

use super::environment::Environment;
use super::prediction::Entry;
use super::station::Station;
use super::warning::{Warning, Warnings};

/// Frequency from which P.2109 has values, MHz.
const FREQUENCY_MHZ_MIN: f64 = 80.0;

/// Shares of places one standard deviation below and above the median.
const SHARES: [f64; 2] = [0.158_655_253_931_457_05, 0.841_344_746_068_543];

/// Loss of the walls at each of `ends` for the share of locations of the environment, dB, 0 outdoors, and the
/// distribution of their sum. Waves are taken to arrive level: each degree of elevation would add 0.2 dB.
pub(super) fn entry(
    ends: [&Station; 2],
    env: &Environment,
    frequency_mhz: f64,
    warnings: &mut Warnings,
) -> ([f64; 2], Entry) {
    let mut losses_db = [0.0; 2];
    let mut sum = Entry::default();
    let mut variance_db2 = 0.0;
    for (loss_db, station) in losses_db.iter_mut().zip(ends) {
        let Some(building) = station.indoor.building() else {
            continue;
        };
        warnings.note(frequency_mhz < FREQUENCY_MHZ_MIN, Warning::BuildingExtrapolated);
        let at_mhz = frequency_mhz.max(FREQUENCY_MHZ_MIN);
        let at = |share: f64| {
            let loss = building.entry_loss_db(at_mhz, share, 0.0);
            loss.expect("frequencies of stations and shares of environments are in range")
        };
        *loss_db = at(env.location_percent * 1e-2).max(0.0);
        sum.is_indoor = true;
        sum.median_db += at(0.5);
        let sigma_db = (at(SHARES[1]) - at(SHARES[0])) / 2.0;
        variance_db2 += sigma_db * sigma_db;
    }
    sum.sigma_db = variance_db2.sqrt();
    (losses_db, sum)
}
