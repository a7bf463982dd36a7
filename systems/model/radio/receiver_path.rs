//! Geometry of the path to one of the receivers of a transmitter, and the losses that depend on it.

use groundwave_propagation::numeric::greater;

use super::building::WallLoss;
use super::clutter::ClutterPath;
use super::fresnel::EARTH_RADIUS_M;
use super::geometry::{SHORTEST_M, elevation_angle_deg, slant_range_m};
use super::transmitter::{PreparedTransmitter, Receivers};

impl PreparedTransmitter<'_> {
    /// The path to the receiver in a place as losses of clutter depend on it.
    pub(super) fn clutter_path(
        &self,
        receivers: &Receivers,
        place: usize,
        is_fine_surface: bool,
    ) -> ClutterPath {
        let link = &self.link;
        let elevation_deg = match link.is_clutter_by_elevation() {
            true => self.elevation_deg(receivers, place),
            false => [0.0; 2],
        };
        let distance_km = receivers.distance_m[place] * 1e-3;
        ClutterPath { distance_km, elevation_deg, is_fine_surface }
    }

    /// Losses of walls along the path to the receiver in a place.
    pub(super) fn walls(&self, receivers: &Receivers, place: usize) -> WallLoss {
        match self.link.walls.is_indoor() {
            true => self.link.walls.loss(self.elevation_deg(receivers, place)),
            false => WallLoss::default(),
        }
    }

    /// Elevations of the ray at transmitter and receiver, deg.
    fn elevation_deg(&self, receivers: &Receivers, place: usize) -> [f64; 2] {
        let link = &self.link;
        let radius_m = link.env.k_factor * EARTH_RADIUS_M;
        let tx_msl_m = receivers.ground_msl_m[0][place] + link.tx.height_agl_m;
        let rx_msl_m = receivers.ground_msl_m[1][place] + link.rx.height_agl_m;
        let distance_m = receivers.distance_m[place];
        [(tx_msl_m, rx_msl_m), (rx_msl_m, tx_msl_m)]
            .map(|(from_m, to_m)| elevation_angle_deg(distance_m, from_m, to_m, radius_m))
    }

    pub(super) fn heights(&self) -> Heights {
        Heights {
            tx_agl_m: self.link.tx.height_agl_m,
            rx_agl_m: self.link.rx.height_agl_m,
            undulation_m: self.undulation_m,
        }
    }
}

/// Antenna heights above ground at both ends, m, and the geoid under the transmitter.
#[derive(Clone, Copy)]
pub(super) struct Heights {
    tx_agl_m: f64,
    rx_agl_m: f64,
    undulation_m: f64,
}

impl Heights {
    #[inline(always)]
    pub(super) fn slant_m(&self, receivers: &Receivers, place: usize) -> f64 {
        let tx_hae_m = receivers.ground_msl_m[0][place] + self.tx_agl_m + self.undulation_m;
        let rx_hae_m =
            receivers.ground_msl_m[1][place] + self.rx_agl_m + receivers.undulation_m[place];
        greater(slant_range_m(receivers.distance_m[place], tx_hae_m, rx_hae_m), SHORTEST_M)
    }
}
