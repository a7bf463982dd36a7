//! Budgets of many receivers of one transmitter: the terms of [`super::link`] without the
//! intermediate results of a report.

use groundwave_propagation::free_space::SPEED_OF_LIGHT_M_S;
use groundwave_propagation::itm::PlainConstants;
use groundwave_propagation::numeric::{Kernel, greater, lesser, log10, vectorised};
use groundwave_propagation::profile::PathProfile;

use super::antenna::{is_lossless, is_omnidirectional, pointing_loss_db};
use super::clutter::ClutterPath;
use super::field_strength::field_term_db;
use super::fresnel::EARTH_RADIUS_M;
use super::geometry::elevation_angle_deg;
use super::modulation::Selected;
use super::outcome::Verdict;
use super::path_loss::{Attenuation, BATCH, PathBatch, ProfileRows, QUANTILES};
use super::prediction::{CLEAR_EXCESS_DB, Distribution, Evidence, Exposure};
use super::prepare::Prepared;
use super::station::Antenna;
use crate::terrain::{GeoPoint, PathGround};

type Lane = [f64; BATCH];

/// Inputs of the budget of each receiver.
#[derive(Debug, Clone)]
pub(crate) struct Receivers {
    pub distance_m: Lane,
    /// Bearings at both ends, deg.
    pub azimuth_deg: [Lane; 2],
    /// Ground under transmitter and receiver above mean sea level, m. Where the transmitter
    /// stands in a void, the path decides what fills it.
    pub ground_msl_m: [Lane; 2],
    /// Geoid under the receiver above the ellipsoid, m.
    pub undulation_m: Lane,
    /// `true` if an end lies beyond the place of the calibration profile.
    pub is_elsewhere: [bool; BATCH],
}

/// Losses and powers of each receiver, dB and dBm.
#[derive(Debug, Clone)]
pub(crate) struct Budgets {
    /// At the first quantile.
    pub path_loss_db: Lane,
    /// At the first quantile.
    pub rx_power_dbm: Lane,
    /// Field strength at the first quantile, dBµV/m.
    pub field_strength_dbuv_m: Lane,
    /// Path loss at the median of time and locations.
    pub median_loss_db: Lane,
    /// Free-space loss.
    pub free_space_db: Lane,
}

impl Default for Receivers {
    fn default() -> Self {
        Self {
            distance_m: [10e3; BATCH],
            azimuth_deg: [[0.0; BATCH]; 2],
            ground_msl_m: [[0.0; BATCH]; 2],
            undulation_m: [0.0; BATCH],
            is_elsewhere: [false; BATCH],
        }
    }
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            path_loss_db: [0.0; BATCH],
            rx_power_dbm: [0.0; BATCH],
            field_strength_dbuv_m: [0.0; BATCH],
            median_loss_db: [0.0; BATCH],
            free_space_db: [0.0; BATCH],
        }
    }
}

/// Quantities of the link margin that all receivers of a transmitter share. Pairs are transmitter, receiver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarginTerms {
    /// Link margin without free-space loss, gases, terrain and lobes, dB.
    pub base_db: f64,
    /// 4 π / λ, 1/m.
    pub wavenumber: f64,
    /// Absorption of gases, dB/m.
    pub gas_db_m: f64,
    /// Beamwidth in elevation, deg, 0 for one that loses nothing; electrical tilt, deg; maximum loss, dB.
    pub lobes: [[f64; 3]; 2],
    /// Antenna heights above ground, m.
    pub antenna_agl_m: [f64; 2],
    /// Geoid under the transmitter above the ellipsoid, m.
    pub undulation_m: f64,
    /// Radius of the effective Earth, m.
    pub radius_m: f64,
}

/// A prepared direction with the quantities that all receivers share.
#[derive(Debug, Clone)]
pub(crate) struct PreparedTransmitter<'a> {
    pub(super) link: Prepared<'a>,
    /// Geoid under the transmitter above the ellipsoid, m.
    pub(super) undulation_m: f64,
    vegetation_db: f64,
}

impl<'a> PreparedTransmitter<'a> {
    /// Of the direction `link` from a transmitter where the geoid stands `undulation_m` above the
    /// ellipsoid.
    pub fn new(link: Prepared<'a>, undulation_m: f64) -> Self {
        Self { vegetation_db: link.vegetation_db(), undulation_m, link }
    }

    /// True if the model of the environment is valid for paths of `distance_m`.
    pub fn is_valid(&self, distance_m: f64, is_fine_surface: bool) -> bool {
        self.link.model_at(distance_m, is_fine_surface).is_ok()
    }

    /// Share of the model of the environment over `distance_m`, [0, 1].
    pub fn share(&self, distance_m: f64) -> f64 {
        self.link.share(distance_m)
    }

    /// Measures the profiles of `rows` by the model of the environment, into their lanes of
    /// `paths`.
    pub fn measure(&self, rows: &ProfileRows<'_>, paths: &mut PathBatch) {
        if let Some(model) = self.link.model() {
            model.measure(rows, paths);
        }
    }

    /// Computes the attenuation of the measured lanes of `paths`.
    pub fn attenuate(&self, paths: &mut PathBatch) {
        if let Some(model) = self.link.model() {
            model.attenuate(paths);
        }
    }

    /// Inputs of ITM as plain numbers; `None` where the environment has another model or its inputs are outside
    /// the range of ITM.
    pub fn itm_constants(&self) -> Option<PlainConstants> {
        self.link.model()?.itm_constants()
    }

    /// Shortest path over which the model of the environment needs no other beside it, m.
    pub fn takeover_m(&self) -> f64 {
        self.link.takeover_m()
    }

    /// Wavelength, m, and half the curvature of the effective Earth, 1/m, of the clearance of paths.
    pub fn clearance_terms(&self) -> (f64, f64) {
        (self.link.wavelength_m, 1.0 / (2.0 * self.link.env.k_factor * EARTH_RADIUS_M))
    }

    /// Inputs of link margins as plain numbers; `None` where they depend on more than distance and heights or
    /// the receivers cannot decode the transmitter.
    pub fn margin_terms(&self) -> Option<MarginTerms> {
        let link = &self.link;
        if !link.compatible {
            return None;
        }
        let (tx, rx, env) = (link.tx, link.rx, link.env);
        let by_path = link.is_clutter_by_path(link.takeover_m());
        let is_pointed = tx.pointing.is_some() || rx.pointing.is_some();
        let has_pattern = tx.antenna.pattern.is_some() || rx.antenna.pattern.is_some();
        let is_directional = is_pointed || has_pattern || link.walls.is_indoor();
        if by_path || is_directional || env.rain_rate_mm_h > 0.0 || env.calibration.is_some() {
            return None;
        }
        let [tx_db_max, rx_db_max] = link.pattern_loss_db_max();
        let lobe = |antenna: &Antenna, db_max: f64| {
            let is_level = !is_omnidirectional(antenna) || antenna.elevation_beamwidth_deg >= 360.0;
            let beamwidth_deg = if is_level { 0.0 } else { antenna.elevation_beamwidth_deg };
            [beamwidth_deg, antenna.electrical_tilt_deg, lesser(antenna.front_to_back_db, db_max)]
        };
        let sent_dbm = tx.radio.tx_power_dbm - tx.radio.feeder_loss_db + tx.antenna.gain_dbi;
        let received_db = rx.antenna.gain_dbi - rx.radio.feeder_loss_db - link.polarization_loss_db;
        let fixed_db = self.vegetation_db + env.other_loss_db + self.far_clutter_db();
        Some(MarginTerms {
            base_db: self.link_margin_db(self.sinr_db(sent_dbm + received_db)) - fixed_db,
            wavenumber: 4.0 * std::f64::consts::PI * link.frequency_mhz * 1e6 / SPEED_OF_LIGHT_M_S,
            gas_db_m: link.gas().total_db_km() * 1e-3,
            lobes: [lobe(&tx.antenna, tx_db_max), lobe(&rx.antenna, rx_db_max)],
            antenna_agl_m: [tx.height_agl_m, rx.height_agl_m],
            undulation_m: self.undulation_m,
            radius_m: env.k_factor * EARTH_RADIUS_M,
        })
    }

    /// Attenuation of one path by the fallback model.
    pub fn fallback(&self, profile: &PathProfile<'_>) -> Attenuation {
        self.link.fallback(profile)
    }

    /// Received power over noise and interference, dB.
    #[inline]
    pub fn sinr_db(&self, rx_power_dbm: f64) -> f64 {
        self.link.sinr_db(rx_power_dbm)
    }

    /// SINR above the SNR that MCS index 0 requires, dB; minus infinity where the receivers cannot
    /// decode the transmitter.
    #[inline]
    pub fn link_margin_db(&self, sinr_db: f64) -> f64 {
        if self.link.compatible { self.link.link_margin_db(sinr_db) } else { f64::NEG_INFINITY }
    }

    /// The modulation in use at a SINR, if the receiver can decode any.
    #[inline]
    pub fn modulation(&self, sinr_db: f64) -> Option<&Selected> {
        self.link.modulation(sinr_db)
    }

    /// Rising SINR, dB, and the data rate from there, bit/s; none if the receiver cannot decode any.
    pub fn rate_steps(&self) -> impl Iterator<Item = (f64, f64)> {
        self.link.rate_steps()
    }

    /// Rating of a link with a path loss of `loss_db` and a margin of `link_margin_db` among those alike.
    #[inline]
    pub fn verdict(&self, alike: &Distribution, loss_db: f64, link_margin_db: f64) -> Verdict {
        self.link.verdict(alike, loss_db, link_margin_db)
    }

    /// `true` if an end lies beyond the place that the calibration profile was made at.
    pub fn is_elsewhere(&self, ends: [GeoPoint; 2]) -> bool {
        self.link.is_elsewhere(Some(ends))
    }

    /// `true` if the receivers can decode the transmitter.
    pub fn is_compatible(&self) -> bool {
        self.link.compatible
    }

    /// `true` if predictions depend on the clearance of the Fresnel zone.
    pub fn asks_for_clearance(&self) -> bool {
        self.link.exposure() == Exposure::Above && !self.link.is_unknown()
    }

    /// `true` if 0.6 of the first Fresnel zone over a path is clear.
    pub fn is_clear(&self, profile: &PathProfile<'_>) -> bool {
        self.link.is_clear_over(profile)
    }

    /// The distribution of links like that to the receiver in a place, whose budget was computed.
    pub fn alike(
        &self,
        place: usize,
        is_fine_surface: bool,
        ground: PathGround,
        clear: bool,
        (receivers, paths, budgets): (&Receivers, &PathBatch, &Budgets),
    ) -> Distribution {
        let distance_m = receivers.distance_m[place];
        let unknown_share = self.link.unknown_share(distance_m, is_fine_surface);
        let slant_m = || self.heights().slant_m(receivers, place);
        let [known_db, woodland_db] = match unknown_share > 0.0 {
            true => self.link.known_db(slant_m()),
            false => [0.0; 2],
        };
        let evidence = Evidence {
            exposure: self.link.exposure(),
            unknown_share,
            entry: self.walls(receivers, place).entry,
            ground,
            clear,
            calibrated: self.link.calibrated(distance_m),
            is_unlike: self.link.is_unlike(),
            is_elsewhere: receivers.is_elsewhere[place],
            model_sigma_db: paths.sigma_db.0[place],
            model_excess_db: self.link.model_excess_db(paths.quantiles_db(place)[1], slant_m),
            distance_m,
            free_space_db: budgets.free_space_db[place],
            model_loss_db: budgets.median_loss_db[place],
            known_db,
            woodland_db,
        };
        evidence.distribution()
    }

    /// `true` if the spread of links like that to the receiver in a place, over a clear path, follows the attenuation
    /// of the model, or would with an error of it of `error_db`.
    pub fn is_spread_by_loss(
        &self,
        place: usize,
        error_db: f64,
        (receivers, paths): (&Receivers, &PathBatch),
    ) -> bool {
        let slant_m = || self.heights().slant_m(receivers, place);
        let excess_db = self.link.model_excess_db(paths.quantiles_db(place)[1], slant_m);
        let [clear_db, obstructed_db] = CLEAR_EXCESS_DB;
        (clear_db - error_db..=obstructed_db + error_db).contains(&excess_db)
    }

    /// Computes the budgets of `receivers`, whose attenuation over free space at each quantile is
    /// that of `paths`.
    pub fn budgets(
        &self,
        receivers: &Receivers,
        paths: &PathBatch,
        extra_db: &[Lane; QUANTILES],
        budgets: &mut Budgets,
    ) {
        vectorised(Work {
            transmitter: self,
            receivers,
            attenuation_db: &paths.attenuation_db.0,
            extra_db,
            budgets,
        });
    }

    /// Losses of rain, clutter and walls at each quantile, dB; zero in clear air without them. Of each receiver
    /// `fine_surface` is true if it or the transmitter stands on a fine surface.
    pub fn extra_db(
        &self,
        receivers: &Receivers,
        fine_surface: &[bool],
        extra_db: &mut [Lane; QUANTILES],
    ) {
        let count = fine_surface.len();
        let [extra_db, median_db] = extra_db;
        extra_db.fill(0.0);
        let env = self.link.env;
        let by_path = self.link.is_clutter_by_path(f64::INFINITY);
        let fixed_db = if by_path { 0.0 } else { self.far_clutter_db() };
        let raining = env.rain_rate_mm_h > 0.0;
        for place in 0..count {
            extra_db[place] = if self.link.is_clutter_by_path(receivers.distance_m[place]) {
                let path = self.clutter_path(receivers, place, fine_surface[place]);
                self.clutter_sum_db(&path, false)
            } else {
                fixed_db
            };
            extra_db[place] += self.walls(receivers, place).sum_db();
            if raining {
                let slant_m = self.heights().slant_m(receivers, place);
                extra_db[place] += self.link.rain_loss_db(slant_m * 1e-3);
            }
        }
        *median_db = *extra_db;
        if self.link.walls.is_indoor() {
            for place in 0..count {
                median_db[place] += self.walls(receivers, place).median_addition_db();
            }
        }
        if by_path {
            for place in 0..count {
                let path = self.clutter_path(receivers, place, fine_surface[place]);
                let median = self.clutter_sum_db(&path, true);
                median_db[place] += median - self.clutter_sum_db(&path, false);
            }
        }
    }

    fn clutter_sum_db(&self, path: &ClutterPath, is_median: bool) -> f64 {
        let [tx_db, rx_db] = self.link.clutter_loss(path, is_median).ends_db;
        tx_db + rx_db
    }

    /// Loss of clutter that does not depend on the path, dB: over 1 km, where it has begun.
    fn far_clutter_db(&self) -> f64 {
        let path =
            ClutterPath { distance_km: 1.0, elevation_deg: [0.0; 2], is_fine_surface: false };
        self.clutter_sum_db(&path, false)
    }
}

struct Work<'a> {
    transmitter: &'a PreparedTransmitter<'a>,
    receivers: &'a Receivers,
    attenuation_db: &'a [Lane; QUANTILES],
    extra_db: &'a [Lane; QUANTILES],
    budgets: &'a mut Budgets,
}

impl Kernel for Work<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { transmitter, receivers, attenuation_db, extra_db, budgets } = self;
        let link = &transmitter.link;
        let heights = transmitter.heights();
        let (tx, rx) = (link.tx, link.rx);
        let pattern_loss_db_max = link.pattern_loss_db_max();
        // Most coverages are those of antennas that need the angles of elevation at most.
        let mut pointing_db = [[0.0; BATCH]; 2];
        for (end, station) in [tx, rx].into_iter().enumerate() {
            if is_lossless(&station.antenna, station.pointing) {
                continue;
            }
            let radius_m = link.env.k_factor * EARTH_RADIUS_M;
            for place in 0..BATCH {
                let tx_msl_m = receivers.ground_msl_m[0][place] + tx.height_agl_m;
                let rx_msl_m = receivers.ground_msl_m[1][place] + rx.height_agl_m;
                let (from_m, to_m) =
                    if end == 0 { (tx_msl_m, rx_msl_m) } else { (rx_msl_m, tx_msl_m) };
                let up_deg =
                    elevation_angle_deg(receivers.distance_m[place], from_m, to_m, radius_m);
                let loss_db = pointing_loss_db(
                    &station.antenna,
                    station.pointing,
                    receivers.azimuth_deg[end][place],
                    up_deg,
                );
                pointing_db[end][place] = lesser(loss_db, pattern_loss_db_max[end]);
            }
        }
        let sent_dbm = tx.radio.tx_power_dbm - tx.radio.feeder_loss_db + tx.antenna.gain_dbi;
        let received_db = rx.antenna.gain_dbi - rx.radio.feeder_loss_db - link.polarization_loss_db;
        let gas_db_m = link.gas().total_db_km() * 1e-3;
        let field_db = field_term_db(link.frequency_mhz);
        let fixed_db = transmitter.vegetation_db + link.env.other_loss_db;
        // 4 π / λ.
        let wavenumber = 4.0 * std::f64::consts::PI * link.frequency_mhz * 1e6 / SPEED_OF_LIGHT_M_S;
        // Calibrations are rare, and no vector code: they stay out of the loops.
        let mut moved_db = [0.0; BATCH];
        if let Some(calibration) = &link.env.calibration {
            for place in 0..BATCH {
                let distance_m = receivers.distance_m[place];
                moved_db[place] = calibration.loss_db(link.frequency_mhz, distance_m);
            }
        }
        // Into arrays of its own, which nothing else can lie in: so the loops are vector code.
        let (mut spread_db, mut open_db) = ([0.0; BATCH], [[0.0; BATCH]; QUANTILES]);
        for place in 0..BATCH {
            let slant_m = heights.slant_m(receivers, place);
            spread_db[place] = greater(20.0 * log10(wavenumber * slant_m), 0.0);
            let bare_db = spread_db[place] + gas_db_m * slant_m + fixed_db;
            for quantile in 0..QUANTILES {
                open_db[quantile][place] = bare_db + extra_db[quantile][place];
            }
        }
        // As in a link: calibration does not go below free space.
        let calibrated = |place: usize, loss_db: f64| {
            let moved = greater(loss_db + moved_db[place], spread_db[place]);
            if moved_db[place] == 0.0 { loss_db } else { moved }
        };
        budgets.free_space_db = spread_db;
        for quantile in 0..QUANTILES {
            let mut losses_db = [0.0; BATCH];
            for place in 0..BATCH {
                let terrain_db = attenuation_db[quantile][place];
                losses_db[place] = calibrated(place, open_db[quantile][place] + terrain_db);
            }
            if quantile == 1 {
                budgets.median_loss_db = losses_db;
            } else {
                budgets.path_loss_db = losses_db;
                let mut fields_dbuv_m = [0.0; BATCH];
                for place in 0..BATCH {
                    let eirp_dbm = sent_dbm - pointing_db[0][place];
                    fields_dbuv_m[place] = eirp_dbm - losses_db[place] + field_db;
                }
                budgets.field_strength_dbuv_m = fields_dbuv_m;
                let mut rx_power_dbm = [0.0; BATCH];
                for place in 0..BATCH {
                    let gains_dbm =
                        sent_dbm + received_db - pointing_db[0][place] - pointing_db[1][place];
                    rx_power_dbm[place] = gains_dbm - losses_db[place];
                }
                budgets.rx_power_dbm = rx_power_dbm;
            }
        }
    }
}
