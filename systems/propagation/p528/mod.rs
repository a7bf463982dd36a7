//! Loss to aircraft over a smooth Earth, 100 MHz to 30 GHz (ITU-R P.528-5, annex 2).
//!
//! Two terminals 1.5 m to 20 km above a smooth spherical Earth, up to 1,800 km apart. In line of sight the
//! direct ray and the one that the ground reflects add up; beyond the horizon the loss is that of diffraction
//! and, farther, of scatter in the troposphere. Rays are traced through the reference atmosphere of ITU-R P.835
//! with the absorption of ITU-R P.676. The share of the time is 1 to 99 %. Ground (average), refractivity and
//! climate (continental temperate) are those of the Recommendation: it has no others, and no terrain.

mod air;
mod curves;
mod diffraction;
mod line_of_sight;
mod reflection;
mod terminal;
mod troposcatter;
mod variability;

use super::domain::{DomainError, within};
use super::polarization::Polarization;
use air::Air;
use diffraction::Line;
use line_of_sight::LineOfSight;
use terminal::Terminal;
use troposcatter::Scatter;
use variability::{LongTerm, Variability};

/// Frequencies of the Recommendation, MHz.
pub const FREQUENCY_MHZ: [f64; 2] = [100.0, 30_000.0];

/// Heights of terminals above the smooth Earth, m.
pub const HEIGHT_M: [f64; 2] = [1.5, 20_000.0];

/// Distance up to which the Recommendation has curves, km.
pub const DISTANCE_KM_MAX: f64 = 1_800.0;

/// Shares of the time, percent.
pub const TIME_PERCENT: [f64; 2] = [1.0, 99.0];

/// Radius of the Earth, km.
const EARTH_RADIUS_KM: f64 = 6_371.0;

/// Radius of the effective Earth, km.
const EFFECTIVE_RADIUS_KM: f64 = 9_257.0;

/// Relative permittivity of average ground.
const PERMITTIVITY: f64 = 15.0;

/// Conductivity of average ground, S/m.
const CONDUCTIVITY_S_M: f64 = 0.005;

/// Distances beyond the horizon over which the crossing of diffraction and scatter is searched, km.
const SEARCH_KM: u32 = 100;

/// Scatter with less loss is outside the valid part of its model, dB.
const SCATTER_DB_MIN: f64 = 20.0;

/// Angle of scatter from which the received power has no steady part: 1.5 degrees, rad.
const SCATTERED_RAD: f64 = 0.026_179_938_78;

/// Way in which waves reach the other terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Line of sight over the smooth Earth.
    LineOfSight,
    /// Diffraction.
    Diffraction,
    /// Scatter in the troposphere.
    Troposcatter,
}

/// All that does not depend on heights and distance.
#[derive(Debug, Clone)]
pub struct Prepared {
    frequency_mhz: f64,
    polarization: Polarization,
    air: Air,
}

/// A path with all that does not depend on the share of the time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// Way in which waves arrive.
    pub mode: Mode,
    /// Free-space loss over the length of the rays, dB.
    pub free_space_db: f64,
    /// Absorption of oxygen and water vapour, dB.
    pub absorption_db: [f64; 2],
    /// Loss over free space and absorption, before it varies, dB.
    pub excess_db: f64,
    variability: Variability,
}

/// Both terminals, the lower one first.
struct Terminals([Terminal; 2]);

impl Terminals {
    /// Maximum distance in line of sight, km (eq. 3-1).
    fn sight_km(&self) -> f64 {
        self.0[0].horizon_km + self.0[1].horizon_km
    }
}

impl Prepared {
    /// Prepares paths at a frequency, MHz, [`FREQUENCY_MHZ`].
    ///
    /// # Errors
    /// [`DomainError`] for another frequency.
    pub fn new(frequency_mhz: f64, polarization: Polarization) -> Result<Self, DomainError> {
        let [low, high] = FREQUENCY_MHZ;
        within("frequency_mhz", frequency_mhz, low, high)?;
        let air = Air::new(frequency_mhz * 1e-3)?;
        Ok(Self { frequency_mhz, polarization, air })
    }

    /// The path between terminals at two heights above the smooth Earth, m, [`HEIGHT_M`], in either order,
    /// over a distance along the ground, km, 0 (0.001 between equal heights) to [`DISTANCE_KM_MAX`].
    ///
    /// # Errors
    /// [`DomainError`] for a height or distance out of range.
    pub fn path(&self, height_m: [f64; 2], distance_km: f64) -> Result<Path, DomainError> {
        for height_m in height_m {
            within("height_m", height_m, HEIGHT_M[0], HEIGHT_M[1])?;
        }
        let distance_min_km = if height_m[0] == height_m[1] { 1e-3 } else { 0.0 };
        within("distance_km", distance_km, distance_min_km, DISTANCE_KM_MAX)?;
        let mut height_km = height_m.map(|m| m * 1e-3);
        height_km.sort_by(f64::total_cmp);
        let terminals = Terminals(height_km.map(|km| Terminal::new(&self.air, km)));
        let line =
            Line::new(self.frequency_mhz, self.polarization, terminals.0.map(|end| end.horizon_km));
        Ok(if terminals.sight_km() - distance_km > 0.001 {
            let sight = LineOfSight::new(self, &terminals, &line, distance_km);
            Path {
                mode: Mode::LineOfSight,
                free_space_db: self.free_space_db(sight.direct_km),
                absorption_db: sight.absorption_db,
                excess_db: sight.loss_db,
                variability: sight.variability,
            }
        } else {
            self.beyond_the_horizon(&terminals, &line, distance_km)
        })
    }

    /// Free-space loss, dB, with the constant of the Recommendation (eq. 6-4).
    fn free_space_db(&self, length_km: f64) -> f64 {
        20.0 * libm::log10(length_km) + 20.0 * libm::log10(self.frequency_mhz) + 32.45
    }

    /// A path beyond the horizon (§3, steps 6 to 10).
    fn beyond_the_horizon(&self, terminals: &Terminals, line: &Line, distance_km: f64) -> Path {
        let scatter = |km: f64| Scatter::new(self.frequency_mhz, &terminals.0, km);
        let crossing = Crossing::search(terminals.sight_km(), *line, |km| scatter(km).loss_db);
        let own = scatter(distance_km);
        let diffraction_db = crossing.line.at_db(distance_km);
        let is_scatter = distance_km >= crossing.distance_km
            && (crossing.is_joined || own.loss_db <= diffraction_db);
        let (mode, excess_db) = if is_scatter {
            (Mode::Troposcatter, own.loss_db)
        } else {
            (Mode::Diffraction, diffraction_db)
        };

        let ends = &terminals.0;
        let horizon_km = ends.map(|end| end.horizon_km);
        let long_term = LongTerm::new(self.frequency_mhz, horizon_km, distance_km, 1.0, -excess_db);
        let scattered_db = if own.angle_rad >= SCATTERED_RAD {
            20.0
        } else {
            let near_km = terminals.sight_km() - 1.0;
            let sight = LineOfSight::new(self, terminals, line, near_km);
            let sight_db = sight.variability.scattered_db;
            sight_db + own.angle_rad / SCATTERED_RAD * (20.0 - sight_db)
        };
        // From both terminals to their horizons, and from there to where the rays cross.
        let middle = self.air.grazing(own.height_km);
        let rays = [ends[0].ray, ends[1].ray, middle, middle];
        let absorption_db = [0, 1].map(|gas| rays.iter().map(|ray| ray.absorption_db[gas]).sum());
        let length_km = rays.iter().map(|ray| ray.length_km).sum();
        Path {
            mode,
            free_space_db: self.free_space_db(length_km),
            absorption_db,
            excess_db,
            variability: Variability { long_term, scattered_db },
        }
    }
}

/// Distance at which scatter follows diffraction.
struct Crossing {
    distance_km: f64,
    line: Line,
    /// `true` where the line of diffraction was turned so that it meets the curve of scatter.
    is_joined: bool,
}

impl Crossing {
    /// Searches, one kilometre after the other, for the place where the loss of scatter rises no faster than
    /// that of diffraction (§3, step 6).
    fn search(sight_km: f64, line: Line, scatter_db: impl Fn(f64) -> f64) -> Self {
        let mut before: Option<[f64; 2]> = None;
        let mut distance_km = sight_km + 3.0;
        for _ in 0..SEARCH_KM {
            let loss_db = scatter_db(distance_km);
            if loss_db >= SCATTER_DB_MIN {
                if let Some([before_km, before_db]) = before {
                    let slope_db_km = (loss_db - before_db) / (distance_km - before_km);
                    if slope_db_km <= line.slope_db_km {
                        return Self::at(distance_km, line, sight_km, [before_km, before_db]);
                    }
                }
                before = Some([distance_km, loss_db]);
            }
            distance_km += 1.0;
        }
        // Diffraction alone.
        Self { distance_km: distance_km - 1.0, line, is_joined: false }
    }

    fn at(distance_km: f64, line: Line, sight_km: f64, [km, db]: [f64; 2]) -> Self {
        if db >= line.at_db(km) {
            return Self { distance_km, line, is_joined: false };
        }
        let slope_db_km = (db - line.at_db(sight_km)) / (km - sight_km);
        let line = Line { slope_db_km, origin_db: db - slope_db_km * km };
        Self { distance_km, line, is_joined: true }
    }
}

impl Path {
    /// Basic transmission loss that is not exceeded for a share of the time, percent, [`TIME_PERCENT`], dB.
    ///
    /// # Errors
    /// [`DomainError`] for another share.
    pub fn loss_db(&self, time_percent: f64) -> Result<f64, DomainError> {
        within("time_percent", time_percent, TIME_PERCENT[0], TIME_PERCENT[1])?;
        let absorption_db = self.absorption_db[0] + self.absorption_db[1];
        Ok(self.free_space_db + absorption_db + self.excess_db
            - self.variability.at_db(time_percent))
    }
}

#[cfg(test)]
mod tests;
