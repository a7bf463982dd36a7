//! Quantities fixed by two stations and an environment, independent of the path between them.
//!
//! Preparing costs some microseconds (spectral lines, rain coefficients); coverage does it once
//! and then evaluates thousands of paths.

use std::sync::Arc;

use groundwave_propagation::free_space::wavelength_m;
use groundwave_propagation::gases::{Atmosphere, Gamma};
use groundwave_propagation::noise::{ManMadeNoise, NoiseEnvironment, noise_floor_dbm};
use groundwave_propagation::polarization::Polarization;
use groundwave_propagation::rain::{RAIN_FREQUENCY_MIN_GHZ, RainCoefficients};
use groundwave_propagation::vegetation::MIXED_FOREST_MHZ;
use groundwave_values::bounds::BadValue;

use super::building::Walls;
use super::clutter::EndClutter;
use super::environment::{Environment, NoiseCategory};
use super::modulation::{McsTable, Selected};
use super::outcome::Verdict;
use super::path_loss::{Direction, FALLBACK_MODEL, PreparedModel, SettingValues, Validity};
use super::prediction::{Distribution, Exposure};
use super::station::{Radio, Station, Waveform};
use super::surroundings::Surroundings;
use super::warning::{Warning, Warnings};

/// Loss between crossed linear polarisations, dB. A planning value: real antennas discriminate by
/// 15 to 35 dB, and depolarisation along the path takes some of it back.
pub const CROSS_POLARIZATION_DB: f64 = 20.0;

/// The two ends may be tuned this share of the narrower bandwidth apart: a planning convention, wide
/// enough for oscillators and too narrow for neighbouring channels.
const TUNING_SHARE: f64 = 0.25;

/// Absorption of the air where the last link was evaluated. Its spectral lines are the dearest part
/// of preparing a link, and the links of a world share environment and frequency.
#[derive(Debug, Clone, Default)]
pub struct GasMemo(Option<(Environment, f64, Gamma)>);

impl GasMemo {
    /// Absorption of the air of an environment, dB/km; checks the environment where it is new.
    ///
    /// # Errors
    /// The first [`BadValue`] in the environment.
    fn gamma(&mut self, env: &Environment, frequency_mhz: f64) -> Result<Gamma, BadValue> {
        match &self.0 {
            Some((environment, at_mhz, gamma)) if environment == env => {
                if *at_mhz == frequency_mhz {
                    return Ok(*gamma);
                }
            }
            _ => env.validate()?,
        }
        let gamma = gas(env, frequency_mhz);
        self.0 = Some((env.clone(), frequency_mhz, gamma));
        Ok(gamma)
    }
}

/// One direction of a pair of stations, validated and prepared for [`super::budget`].
#[derive(Debug, Clone)]
pub struct Prepared<'a> {
    pub(super) tx: &'a Station,
    pub(super) rx: &'a Station,
    pub(super) env: &'a Environment,
    pub(super) packet_octets: u32,
    /// Settings with the shares of time, locations and situations that the model has.
    pub(super) shares: SettingValues,
    pub(super) frequency_mhz: f64,
    pub(super) wavelength_m: f64,
    /// The receiver's radio at the bandwidth and streams both ends have.
    pub(super) link_radio: Radio,
    /// True if the receiver can understand the transmitter at all.
    pub(super) compatible: bool,
    pub(super) polarization_loss_db: f64,
    /// Clutter at transmitter and receiver.
    pub(super) clutter: [EndClutter; 2],
    pub(super) walls: Walls,
    /// Uniform air at the ends.
    pub(super) air: Gamma,
    /// `true` if the model has the absorption of air, so that none is added.
    pub(super) is_air_in_model: bool,
    /// Absent below 1 GHz, where P.838 has no coefficients and rain no effect.
    pub(super) rain: Option<RainCoefficients>,
    /// The model of the environment, or the warning that explains why it is not valid for
    /// frequency, heights or ground.
    pub(super) model: Result<Arc<dyn PreparedModel>, Warning>,
    pub(super) validity: Validity,
    /// Share of the model between antennas of these heights, [0, 1].
    pub(super) height_share: f64,
    /// True for ends whose clutter the model computes along the path, so that none is added there.
    pub(super) is_on_path: [bool; 2],
    /// [`FALLBACK_MODEL`].
    pub(super) fallback: Arc<dyn PreparedModel>,
    pub(super) man_made: Option<ManMadeNoise>,
    pub(super) thermal_floor_dbm: f64,
    pub(super) noise_floor_dbm: f64,
    /// Noise floor and interference, dBm.
    disturbed_dbm: f64,
    pub(super) mcs_table: McsTable,
    pub(super) warnings: Warnings,
}

impl<'a> Prepared<'a> {
    /// Prepares the direction from `tx` to `rx` for packets of `packet_octets` (1 or more), without land cover.
    ///
    /// # Errors
    /// The first [`BadValue`] in the stations or the environment.
    pub fn new(
        tx: &'a Station,
        rx: &'a Station,
        env: &'a Environment,
        packet_octets: u32,
    ) -> Result<Self, BadValue> {
        Self::among([tx, rx], [Surroundings::Unknown; 2], env, packet_octets)
    }

    /// The same where the land cover at `tx` and `rx` amounts to `cover`; unknown where none was read.
    ///
    /// # Errors
    /// The first [`BadValue`] in the stations or the environment.
    pub fn among(
        [tx, rx]: [&'a Station; 2],
        cover: [Surroundings; 2],
        env: &'a Environment,
        packet_octets: u32,
    ) -> Result<Self, BadValue> {
        tx.validate()?;
        rx.validate()?;
        let gas = GasMemo::default().gamma(env, tx.radio.frequency_mhz)?;
        Ok(Self::of_valid([tx, rx], cover, env, packet_octets, gas))
    }

    /// Prepares both directions between `a` and `b`, where the land cover amounts to `cover`, for packets of
    /// `packet_octets` (1 or more); returns (a to b, b to a).
    ///
    /// # Errors
    /// The first [`BadValue`] in the stations or the environment.
    pub(super) fn both(
        [a, b]: [&'a Station; 2],
        cover: [Surroundings; 2],
        env: &'a Environment,
        packet_octets: u32,
        memo: &mut GasMemo,
    ) -> Result<(Self, Self), BadValue> {
        a.validate()?;
        b.validate()?;
        let [there, back] = [a, b].map(|station| station.radio.frequency_mhz);
        let (there, back) = (memo.gamma(env, there)?, memo.gamma(env, back)?);
        let forward = Self::of_valid([a, b], cover, env, packet_octets, there);
        let cover = [cover[1], cover[0]];
        Ok((forward, Self::of_valid([b, a], cover, env, packet_octets, back)))
    }

    /// Prepares the direction between validated stations in a validated environment.
    fn of_valid(
        [tx, rx]: [&'a Station; 2],
        cover: [Surroundings; 2],
        env: &'a Environment,
        packet_octets: u32,
        gas: Gamma,
    ) -> Self {
        let frequency_mhz = tx.radio.frequency_mhz;
        let mut warnings = Warnings::default();
        let link_radio = common_radio(&tx.radio, &rx.radio, &mut warnings);
        let compatible = understand(&tx.radio, &rx.radio);
        let polarization = tx.antenna.polarization;
        let crossed = polarization != rx.antenna.polarization;
        warnings.note(crossed, Warning::CrossPolarized);
        let man_made =
            env.man_made_noise.and_then(|place| place.curve().man_made_noise(frequency_mhz).ok());
        warnings.note(man_made.is_some_and(|noise| noise.extrapolated), Warning::NoiseExtrapolated);
        let thermal_floor_dbm = floor_dbm(&link_radio, None);
        let noise_floor_dbm = floor_dbm(&link_radio, man_made);
        let model = env.model.get();
        let clutter = [(tx, cover[0]), (rx, cover[1])]
            .map(|(station, cover)| EndClutter::new(station, cover, env, frequency_mhz));
        let in_woodland = [tx, rx].into_iter().any(Station::is_in_woodland);
        let [low_mhz, high_mhz] = MIXED_FOREST_MHZ;
        let is_measured = (low_mhz..=high_mhz).contains(&frequency_mhz);
        warnings.note(in_woodland && !is_measured, Warning::WoodlandExtrapolated);
        let (values, not_modelled) = env.modelled_values();
        warnings.note(!not_modelled.is_empty(), Warning::ShareNotModelled);
        warnings.note(env.is_k_factor_unread(), Warning::KFactorNotModelled);
        let over =
            |antenna_agl_m| Direction::new(frequency_mhz, polarization, antenna_agl_m, values);
        let raised_agl_m = clutter.map(|end| end.terrain_agl_m);
        let fallback = FALLBACK_MODEL.get().prepare(&over(raised_agl_m));
        // A model with clutter along its paths or around its ends has antennas within it.
        let mut is_on_path = clutter.map(|end| {
            let has_clutter = end.path_agl_m.is_some() || end.has_cover;
            model.includes_surroundings() || (model.uses_clutter() && has_clutter)
        });
        let own_agl_m = [tx.height_agl_m, rx.height_agl_m];
        let antenna_agl_m =
            [0, 1].map(|end| if is_on_path[end] { own_agl_m[end] } else { raised_agl_m[end] });
        let height_share = model.heights().share(antenna_agl_m);
        let antenna_agl_m = model.heights().limited(antenna_agl_m);
        let clutter_agl_m = clutter.map(|end| end.path_agl_m);
        let surroundings = clutter.map(|end| end.surroundings);
        let direction =
            over(antenna_agl_m).with_clutter(clutter_agl_m).with_surroundings(surroundings);
        let prepared = match height_share > 0.0 {
            true => model.prepare(&direction).map(Arc::<dyn PreparedModel>::from),
            false => Err(Warning::ModelOutOfRange),
        };
        let height_share = match &prepared {
            Ok(model) => height_share * model.share(),
            Err(_) => {
                is_on_path = [false; 2];
                height_share
            }
        };
        let clutter =
            [0, 1].map(|end| if is_on_path[end] { clutter[end].on_path() } else { clutter[end] });
        let mcs_table = McsTable::new(&link_radio, env.required_margin_db, thermal_floor_dbm);
        let walls = Walls::new([tx, rx], env, frequency_mhz, &mut warnings);
        Self {
            tx,
            rx,
            env,
            packet_octets: packet_octets.clamp(1, mcs_table.lowest().id.packet_octets_max()),
            shares: values,
            frequency_mhz,
            wavelength_m: wavelength_m(frequency_mhz),
            compatible,
            polarization_loss_db: if crossed { CROSS_POLARIZATION_DB } else { 0.0 },
            clutter,
            walls,
            air: gas,
            is_air_in_model: model.includes_gases() && prepared.is_ok(),
            rain: rain(frequency_mhz, polarization),
            model: prepared,
            is_on_path,
            validity: model.validity(),
            height_share,
            fallback: Arc::from(fallback.expect("the fallback model has an unlimited range")),
            man_made,
            thermal_floor_dbm,
            noise_floor_dbm,
            disturbed_dbm: env
                .interference_dbm
                .map_or(noise_floor_dbm, |power_dbm| power_sum_dbm(noise_floor_dbm, power_dbm)),
            mcs_table,
            link_radio,
            warnings,
        }
    }

    /// `true` if losses of clutter depend on the path from `distance_m` on.
    pub(super) fn is_clutter_by_path(&self, distance_m: f64) -> bool {
        let by_path = |end: &EndClutter| end.is_by_path(distance_m);
        self.is_on_path.contains(&true) || self.clutter.iter().any(by_path)
    }

    /// `true` if losses of clutter depend on the elevation of the ray.
    pub(super) fn is_clutter_by_elevation(&self) -> bool {
        self.clutter.iter().any(EndClutter::is_by_elevation)
    }

    /// Place of the antenna that is known less among its surroundings.
    pub(super) fn exposure(&self) -> Exposure {
        self.clutter[0].exposure.max(self.clutter[1].exposure)
    }

    /// Share of the antenna of which less is known among unknown surroundings over `distance_m`, [0, 1].
    pub(super) fn unknown_share(&self, distance_m: f64, is_fine_surface: bool) -> f64 {
        let added = self.end_clutter_share(distance_m, is_fine_surface);
        let [tx, rx] = [0, 1].map(|end| self.clutter[end].unknown_share_of(added[end], distance_m));
        tx.max(rx)
    }

    /// `true` if an antenna stands wholly among unknown surroundings over any distance.
    pub(super) fn is_unknown(&self) -> bool {
        self.clutter.iter().any(|end| end.unknown_share >= 1.0)
    }

    /// `true` if the calibration profile was fitted with another model, environment or kind of ends.
    pub(super) fn is_calibration_of_others(&self) -> bool {
        let has_cover = self.clutter.iter().any(|end| end.has_cover);
        self.is_unlike() || !self.env.calibration_differences(Some(has_cover)).is_empty()
    }

    /// `true` if an end is not like those that the calibration profile was fitted on.
    pub(super) fn is_unlike(&self) -> bool {
        let fitted = self.env.calibration.as_ref().and_then(|profile| profile.fitted.as_ref());
        fitted.is_some_and(|fitted| ![self.tx, self.rx].into_iter().all(|end| fitted.is_like(end)))
    }

    /// Limits of the loss of the antenna patterns of transmitter and receiver, dB: each of the surroundings
    /// at the other end.
    pub(super) fn pattern_loss_db_max(&self) -> [f64; 2] {
        let [tx, rx] = &self.clutter;
        [rx.pattern_loss_db_max(), tx.pattern_loss_db_max()]
    }

    /// Absorption of air that is added to the attenuation of the model or of [`Self::fallback`], dB/km.
    pub(super) const fn gas(&self) -> Gamma {
        if self.is_air_in_model {
            Gamma { oxygen_db_km: 0.0, water_vapour_db_km: 0.0 }
        } else {
            self.air
        }
    }

    /// Received power over noise floor and interference, dB.
    #[inline]
    pub(super) fn sinr_db(&self, rx_power_dbm: f64) -> f64 {
        rx_power_dbm - self.disturbed_dbm
    }

    /// SINR above the SNR that MCS index 0 requires, dB.
    #[inline]
    pub(super) fn link_margin_db(&self, sinr_db: f64) -> f64 {
        sinr_db - self.mcs_table.lowest().required_snr_db
    }

    /// The modulation in use at a SINR, if the receiver can decode any.
    #[inline]
    pub(super) fn modulation(&self, sinr_db: f64) -> Option<&Selected> {
        let selected = self.mcs_table.select(sinr_db);
        selected.filter(|_| self.compatible)
    }

    /// Rising SINR, dB, and the data rate from there, bit/s; none if the receiver cannot decode any.
    pub(super) fn rate_steps(&self) -> impl Iterator<Item = (f64, f64)> {
        self.mcs_table.steps().filter(|_| self.compatible)
    }

    /// Rating of a link with a path loss of `loss_db` and a margin of `link_margin_db` among those alike.
    #[inline]
    pub(super) fn verdict(
        &self,
        alike: &Distribution,
        loss_db: f64,
        link_margin_db: f64,
    ) -> Verdict {
        if self.compatible { alike.verdict(loss_db, link_margin_db) } else { Verdict::NoLink }
    }
}

/// Sum of two powers, dBm.
pub(super) fn power_sum_dbm(a_dbm: f64, b_dbm: f64) -> f64 {
    let (high, low) = if a_dbm >= b_dbm { (a_dbm, b_dbm) } else { (b_dbm, a_dbm) };
    high + 10.0 * libm::log1p(libm::pow(10.0, (low - high) / 10.0)) / std::f64::consts::LN_10
}

/// The radio both ends have in common: the receiver's, at the narrower bandwidth and the fewer
/// streams. Notes what keeps them from understanding each other.
fn common_radio(tx: &Radio, rx: &Radio, warnings: &mut Warnings) -> Radio {
    let bandwidth_hz = tx.bandwidth_hz.min(rx.bandwidth_hz);
    let apart_hz = (tx.frequency_mhz - rx.frequency_mhz).abs() * 1e6;
    warnings.note(apart_hz > TUNING_SHARE * bandwidth_hz, Warning::FrequencyMismatch);
    let waveform = common_waveform(&tx.waveform, &rx.waveform);
    let same_bandwidth = (tx.bandwidth_hz - rx.bandwidth_hz).abs() <= 1e-9 * bandwidth_hz;
    warnings.note(!same_bandwidth, Warning::BandwidthMismatch);
    // Only OFDM narrows its channel to that of the other end.
    let narrows = matches!(rx.waveform, Waveform::Ofdm { .. });
    warnings.note(waveform.is_none() || !(same_bandwidth || narrows), Warning::WaveformMismatch);
    Radio { bandwidth_hz, waveform: waveform.unwrap_or_else(|| rx.waveform.clone()), ..rx.clone() }
}

/// Waveform both ends have in common; `None` if the receiver cannot decode the transmitter.
fn common_waveform(tx: &Waveform, rx: &Waveform) -> Option<Waveform> {
    match (tx, rx) {
        (
            Waveform::Ofdm { spatial_streams: tx_streams, mac_efficiency_prob },
            Waveform::Ofdm { spatial_streams: rx_streams, .. },
        ) => Some(Waveform::Ofdm {
            spatial_streams: *tx_streams.min(rx_streams),
            mac_efficiency_prob: *mac_efficiency_prob,
        }),
        (
            Waveform::Lora { spreading_factor: tx_factor, coding_rate },
            Waveform::Lora { spreading_factor: rx_factor, .. },
        ) if tx_factor == rx_factor => {
            // The code rate travels in the header: the transmitter's counts.
            Some(Waveform::Lora { spreading_factor: *tx_factor, coding_rate: *coding_rate })
        }
        (
            Waveform::Narrowband { bit_rate_bps: tx_bps, .. },
            Waveform::Narrowband { bit_rate_bps: rx_bps, .. },
        ) if tx_bps == rx_bps => Some(rx.clone()),
        _ => None,
    }
}

/// Noise floor of a validated radio, dBm.
fn floor_dbm(radio: &Radio, external: Option<ManMadeNoise>) -> f64 {
    noise_floor_dbm(radio.bandwidth_hz, radio.noise_figure_db, external)
        .expect("a validated radio has a bandwidth and a noise figure in range")
}

/// Absorption of the air, dB/km.
fn gas(env: &Environment, frequency_mhz: f64) -> Gamma {
    Atmosphere::from_total_pressure(env.pressure_hpa, env.temperature_k, env.water_vapour_g_m3)
        .specific_attenuation(frequency_mhz * 1e-3)
        .expect("a validated environment lies within the ranges of P.676")
}

/// Rain coefficients of a level path, where P.838 has them.
fn rain(frequency_mhz: f64, polarization: Polarization) -> Option<RainCoefficients> {
    let frequency_ghz = frequency_mhz * 1e-3;
    if frequency_ghz < RAIN_FREQUENCY_MIN_GHZ {
        return None;
    }
    RainCoefficients::level(frequency_ghz, polarization).ok()
}

impl NoiseCategory {
    /// The curve of P.372.
    pub(super) fn curve(self) -> NoiseEnvironment {
        match self {
            Self::City => NoiseEnvironment::City,
            Self::Residential => NoiseEnvironment::Residential,
            Self::Rural => NoiseEnvironment::Rural,
            Self::QuietRural => NoiseEnvironment::QuietRural,
        }
    }
}

/// True if receiver `rx` can decode transmitter `tx`: same channel, same kind of waveform.
#[must_use]
pub fn understand(tx: &Radio, rx: &Radio) -> bool {
    let mut warnings = Warnings::default();
    common_radio(tx, rx, &mut warnings);
    !warnings.contains(Warning::WaveformMismatch) && !warnings.contains(Warning::FrequencyMismatch)
}
