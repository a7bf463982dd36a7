//! Walls of the buildings in which ends of a link stand (ITU-R P.2109).

use groundwave_propagation::building_entry::EntryLoss;
use groundwave_propagation::numeric::lesser;

use super::environment::Environment;
use super::prediction::Entry;
use super::station::Station;
use super::warning::{Warning, Warnings};

/// Frequency from which P.2109 has values, MHz.
const FREQUENCY_MHZ_MIN: f64 = 80.0;

/// Shares of places one standard deviation below and above the median.
const SHARES: [f64; 2] = [0.158_655_253_931_457_05, 0.841_344_746_068_543];

/// Walls around the two ends of a link.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Walls([Option<EndWalls>; 2]);

/// Losses of the walls at one end by the elevation of the ray.
#[derive(Debug, Clone, Copy)]
struct EndWalls {
    /// For the share of locations of the environment.
    share: EntryLoss,
    median: EntryLoss,
    /// One standard deviation below and above the median.
    deviations: [EntryLoss; 2],
}

/// Losses of the walls along one path.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct WallLoss {
    /// Loss at each end for the share of locations of the environment, dB; `None` outdoors.
    pub ends_db: [Option<f64>; 2],
    /// Distribution of the sum.
    pub entry: Entry,
}

impl Walls {
    /// Walls at each of `ends`, for waves of `frequency_mhz`.
    pub fn new(
        ends: [&Station; 2],
        env: &Environment,
        frequency_mhz: f64,
        warnings: &mut Warnings,
    ) -> Self {
        let at_mhz = frequency_mhz.max(FREQUENCY_MHZ_MIN);
        let walls = Self(ends.map(|station| {
            let building = station.indoor.building()?;
            let at = |share: f64| {
                let loss = building.entry_loss(at_mhz, share);
                loss.expect("frequencies of stations and shares of environments are in range")
            };
            Some(EndWalls {
                share: at(env.location_percent * 1e-2),
                median: at(0.5),
                deviations: SHARES.map(at),
            })
        }));
        let is_extrapolated = walls.is_indoor() && frequency_mhz < FREQUENCY_MHZ_MIN;
        warnings.note(is_extrapolated, Warning::BuildingExtrapolated);
        walls
    }

    /// `true` if an end is indoors.
    pub fn is_indoor(&self) -> bool {
        self.0.iter().any(Option::is_some)
    }

    /// Losses along a path whose ray has these elevations at the two ends, deg: by |θ| of P.2109 section 3.
    pub fn loss(&self, elevation_deg: [f64; 2]) -> WallLoss {
        let mut loss = WallLoss::default();
        let mut variance_db2 = 0.0;
        for (end, elevation_deg) in elevation_deg.into_iter().enumerate() {
            let Some(walls) = &self.0[end] else {
                continue;
            };
            let elevation_deg = lesser(elevation_deg.abs(), 90.0);
            let at_db = |loss: &EntryLoss| loss.at_db(elevation_deg);
            loss.ends_db[end] = Some(at_db(&walls.share).max(0.0));
            loss.entry.is_indoor = true;
            loss.entry.median_db += at_db(&walls.median);
            let [low_db, high_db] = walls.deviations.each_ref().map(at_db);
            let sigma_db = (high_db - low_db) / 2.0;
            variance_db2 += sigma_db * sigma_db;
        }
        loss.entry.sigma_db = variance_db2.sqrt();
        loss
    }
}

impl WallLoss {
    /// Sum for the share of locations of the environment, dB.
    pub fn sum_db(&self) -> f64 {
        self.ends_db[0].unwrap_or(0.0) + self.ends_db[1].unwrap_or(0.0)
    }

    /// Median of the sum less that of the share of locations, dB.
    pub fn median_addition_db(&self) -> f64 {
        let [tx_db, rx_db] = self.ends_db.map(|loss_db| loss_db.unwrap_or(0.0));
        self.entry.median_db - tx_db - rx_db
    }
}
