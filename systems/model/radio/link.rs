//! One direction of a link, put together term by term.

use groundwave_propagation::numeric::lesser;
use groundwave_propagation::profile::PathProfile;
use groundwave_values::bounds::BadValue;

use super::antenna::pointing_loss_db;
use super::availability::availability;
use super::fresnel::{CLEAR_RATIO, Clearance, clearance, is_clear};
use super::geometry::{SHORTEST_M, View, geometry};
use super::losses::{PathLoss, path_loss, terrain_attenuation};
use super::modulation::{Selected, packet_error_prob};
use super::outcome::{Costs, LimitingFactor, Margin, Rate, Receiver};
use super::path_loss::{Attenuation, Model};
use super::prediction::Evidence;
use super::prepare::Prepared;
use super::result::{Budget, Geometry, LinkResult, Losses};
use super::warning::Warning;
use crate::terrain::Profile;

impl Prepared<'_> {
    /// Evaluates this direction over `profile`, as [`super::evaluate`] does.
    ///
    /// # Errors
    /// A [`BadValue`] in the profile or the undulations.
    pub fn evaluate(
        &self,
        profile: &Profile,
        undulation_m: [f64; 2],
    ) -> Result<LinkResult, BadValue> {
        let view = View::along(profile, undulation_m)?;
        let terrain = terrain_attenuation(self, &view);
        Ok(self.link(&view, self.clearance(&view), terrain))
    }

    /// Clearance over the path at this direction's frequency.
    pub(super) fn clearance(&self, view: &View<'_>) -> Clearance {
        self.clearance_over(&view.path())
    }

    /// The same over a profile of two heights or more.
    pub(super) fn clearance_over(&self, profile: &PathProfile<'_>) -> Clearance {
        self.over(profile, clearance)
    }

    /// `true` if 0.6 of the first Fresnel zone over a path is clear.
    pub(super) fn is_clear_over(&self, profile: &PathProfile<'_>) -> bool {
        self.over(profile, is_clear)
    }

    /// A measure of the ray over a path.
    fn over<T>(
        &self,
        profile: &PathProfile<'_>,
        measure: impl Fn(&[f64], f64, [f64; 2], f64, f64) -> T,
    ) -> T {
        let heights_msl_m = profile.elevation_msl_m;
        let antennas = [
            heights_msl_m[0] + self.tx.height_agl_m,
            heights_msl_m[heights_msl_m.len() - 1] + self.rx.height_agl_m,
        ];
        measure(heights_msl_m, profile.step_m, antennas, self.wavelength_m, self.env.k_factor)
    }

    /// Geometry of the antennas at the ends of a checked path.
    pub(super) fn geometry(&self, view: &View<'_>) -> Geometry {
        geometry(view, [self.tx.height_agl_m, self.rx.height_agl_m], self.env)
    }

    /// The budget over a checked path with the attenuation of `terrain`.
    pub(super) fn link(
        &self,
        view: &View<'_>,
        clearance: Clearance,
        terrain: (Model, Attenuation),
    ) -> LinkResult {
        let geometry = self.geometry(view);
        let path = path_loss(self, view, &geometry, &clearance, terrain);
        let budget = self.budget(&geometry);
        let receiver = self.receiver(&budget, &path.losses);
        let chosen = self.modulation(receiver.sinr_db);
        let margin = self.margin(&receiver, chosen);
        let loss_db = path.losses.total_path_loss_db;
        let alike = self.evidence(view, geometry.slant_range_m, &clearance, &path).distribution();
        let closes = self.compatible && margin.link_margin_db >= 0.0;
        let clear_air_db = margin.link_margin_db + path.losses.rain_loss_db;
        let mut warnings = path.warnings;
        warnings.note(view.terrain.missing_samples > 0, Warning::TerrainMissing);
        warnings.note(view.terrain.void_samples > 0, Warning::TerrainVoid);
        warnings.note(view.is_mixed, Warning::TerrainMixed);
        warnings.note(geometry.slant_range_m < SHORTEST_M, Warning::DistanceTooShort);
        LinkResult {
            tx_node_id: None,
            rx_node_id: None,
            model: path.model,
            model_version: path.model.get().version().into(),
            frequency_mhz: self.frequency_mhz,
            bandwidth_hz: self.link_radio.bandwidth_hz,
            polarization: self.tx.antenna.polarization,
            geometry,
            clearance,
            itm: path.itm,
            budget,
            losses: path.losses,
            propagation_mode: path.mode,
            rate: self.rate(receiver.sinr_db, chosen),
            availability: availability(self, view, &geometry, &clearance, clear_air_db, closes),
            terrain: view.terrain,
            warnings,
            verdict: self.verdict(&alike, loss_db, margin.link_margin_db),
            prediction: alike.prediction(
                loss_db,
                receiver.rx_power_dbm,
                self.compatible.then_some(margin.link_margin_db),
            ),
            limiting_factor: self
                .compatible
                .then(|| LimitingFactor::of(&self.costs(&path, &clearance, &budget, &receiver))),
            receiver,
            margin,
        }
    }

    /// Inputs of the prediction of a path.
    fn evidence<'b>(
        &'b self,
        view: &View<'_>,
        slant_m: f64,
        clearance: &Clearance,
        path: &PathLoss,
    ) -> Evidence<'b> {
        let terrain = &view.terrain;
        let unknown_share = self.unknown_share(view.distance_m, view.is_fine_surface);
        let [known_db, woodland_db] =
            if unknown_share > 0.0 { self.known_db(slant_m) } else { [0.0; 2] };
        Evidence {
            exposure: self.exposure(),
            unknown_share,
            entry: path.entry,
            ground: terrain.ground,
            clear: clearance.is_clear(),
            calibrated: self.calibrated(view.distance_m),
            is_unlike: self.is_unlike(),
            is_elsewhere: self.is_elsewhere(view.ends),
            model_sigma_db: path.sigma_db,
            model_excess_db: path.model_excess_db,
            distance_m: view.distance_m,
            free_space_db: path.losses.free_space_loss_db,
            model_loss_db: path.median_db,
            known_db,
            woodland_db,
        }
    }

    /// Powers and gains of the two ends.
    fn budget(&self, geometry: &Geometry) -> Budget {
        let (tx, rx) = (self.tx, self.rx);
        let [tx_db_max, rx_db_max] = self.pattern_loss_db_max();
        let tx_pointing_loss_db = pointing_loss_db(
            &tx.antenna,
            tx.pointing,
            geometry.azimuth_deg,
            geometry.tx_elevation_angle_deg,
        );
        let tx_pointing_loss_db = lesser(tx_pointing_loss_db, tx_db_max);
        let rx_pointing_loss_db = pointing_loss_db(
            &rx.antenna,
            rx.pointing,
            geometry.back_azimuth_deg,
            geometry.rx_elevation_angle_deg,
        );
        let rx_pointing_loss_db = lesser(rx_pointing_loss_db, rx_db_max);
        Budget {
            tx_power_dbm: tx.radio.tx_power_dbm,
            tx_feeder_loss_db: tx.radio.feeder_loss_db,
            tx_gain_dbi: tx.antenna.gain_dbi,
            tx_pointing_loss_db,
            eirp_dbm: tx.radio.tx_power_dbm - tx.radio.feeder_loss_db + tx.antenna.gain_dbi
                - tx_pointing_loss_db,
            rx_gain_dbi: rx.antenna.gain_dbi,
            rx_pointing_loss_db,
            rx_feeder_loss_db: rx.radio.feeder_loss_db,
            polarization_loss_db: self.polarization_loss_db,
        }
    }

    /// Power over noise at the receiver.
    fn receiver(&self, budget: &Budget, losses: &Losses) -> Receiver {
        let rx_power_dbm = budget.rx_power_dbm(losses);
        Receiver {
            rx_power_dbm,
            noise_figure_db: self.rx.radio.noise_figure_db,
            man_made_noise_db: self.man_made.map(|noise| noise.fam_db),
            interference_dbm: self.env.interference_dbm,
            noise_floor_dbm: self.noise_floor_dbm,
            sinr_db: self.sinr_db(rx_power_dbm),
        }
    }

    /// Rate of `chosen` at `sinr_db`.
    fn rate(&self, sinr_db: f64, chosen: Option<&Selected>) -> Rate {
        let judged = chosen.unwrap_or(self.mcs_table.lowest());
        let per = if self.compatible {
            packet_error_prob(sinr_db, judged, self.packet_octets)
        } else {
            1.0
        };
        let phy_rate_bps = chosen.map_or(0.0, |m| m.phy_rate_bps);
        // Below this a packet is as good as lost, and the expectation overflows.
        let delivered = Some(1.0 - per).filter(|&share| chosen.is_some() && share > 1e-9);
        Rate {
            modulation_id: chosen.map(|m| m.id),
            mcs_index: chosen.map(|m| m.mcs_index),
            bits_per_symbol: chosen.and_then(|m| m.bits_per_symbol),
            code_rate: chosen.and_then(|m| m.code_rate),
            required_snr_db: chosen.map(|m| m.required_snr_db),
            spectral_efficiency: phy_rate_bps / self.link_radio.bandwidth_hz,
            phy_rate_bps,
            data_rate_bps: chosen.map_or(0.0, |m| m.data_rate_bps),
            packet_octets: self.packet_octets,
            per,
            etx_forward: delivered.map(f64::recip),
            etx: None,
            ett_s: None,
        }
    }

    /// Margins over sensitivity and the modulation in use.
    fn margin(&self, receiver: &Receiver, chosen: Option<&Selected>) -> Margin {
        let lowest_snr_db = self.mcs_table.lowest().required_snr_db;
        Margin {
            sensitivity_dbm: receiver.rx_power_dbm - receiver.sinr_db + lowest_snr_db,
            fade_margin_db: chosen.map(|m| receiver.sinr_db - m.required_snr_db),
            link_margin_db: self.link_margin_db(receiver.sinr_db),
            required_margin_db: self.env.required_margin_db,
        }
    }

    /// Cost of each limiting factor, dB.
    fn costs(
        &self,
        path: &PathLoss,
        clear: &Clearance,
        budget: &Budget,
        receiver: &Receiver,
    ) -> Costs {
        let losses = &path.losses;
        let ground_db = losses.reference_attenuation_db.unwrap_or(0.0)
            + losses.variability_db.unwrap_or(0.0)
            + losses.diffraction_loss_db.unwrap_or(0.0);
        let grazing =
            clear.line_of_sight && clear.fresnel_clearance_ratio.is_some_and(|r| r < CLEAR_RATIO);
        let walls_db = losses.building_tx_db.unwrap_or(0.0) + losses.building_rx_db.unwrap_or(0.0);
        let cover_db =
            losses.clutter_tx_db + losses.clutter_rx_db + walls_db + losses.vegetation_db;
        Costs {
            terrain_db: cover_db + if grazing { 0.0 } else { ground_db },
            fresnel_db: if grazing { ground_db } else { 0.0 },
            rain_db: losses.rain_loss_db,
            noise_db: receiver.rx_power_dbm - receiver.sinr_db - self.thermal_floor_dbm,
            pointing_db: budget.tx_pointing_loss_db
                + budget.rx_pointing_loss_db
                + budget.polarization_loss_db,
        }
    }
}
