//! Great circles on the auxiliary sphere.

use groundwave_propagation::numeric::{atan2, sin_cos};

use super::{EP2, N, POLAR_AXIS_M, Parallel};
use crate::terrain::geodesic::WGS84_F;

/// A great circle on the auxiliary sphere.
pub(super) struct Circle {
    /// Sine and cosine of the bearings.
    pub azimuth_1: [f64; 2],
    pub azimuth_2: [f64; 2],
    /// Sine of the bearing at the equator.
    sin_azimuth_0: f64,
    /// Length, rad, with the sines of it and its multiples.
    sigma: f64,
    sines: [f64; 3],
    /// Cosines of the sum of both distances from the node, and of its multiples.
    cosines: [f64; 3],
}

impl Circle {
    #[inline(always)]
    pub fn new(from: &Parallel, to: &Parallel, omega: f64) -> Self {
        let (sin_half, cos_half) = sin_cos(0.5 * omega);
        let versed = 2.0 * sin_half * sin_half;
        let sin_omega = 2.0 * sin_half * cos_half;
        let rise = to.sin_beta * from.cos_beta - to.cos_beta * from.sin_beta;
        let (north_1, east_1) =
            (rise + from.sin_beta * to.cos_beta * versed, to.cos_beta * sin_omega);
        let (north_2, east_2) =
            (rise - to.sin_beta * from.cos_beta * versed, from.cos_beta * sin_omega);
        let sin_sigma = (north_1 * north_1 + east_1 * east_1).sqrt();
        let cos_sigma = from.sin_beta * to.sin_beta + from.cos_beta * to.cos_beta * (1.0 - versed);
        // Both bearings come of vectors of one length. Where there is none, they are north.
        let none = sin_sigma == 0.0;
        let scale = 1.0 / if none { 1.0 } else { sin_sigma };
        let bearing = |east: f64, north: f64| {
            let north = if none { 1.0 } else { north * scale };
            [east * scale, north]
        };
        let [azimuth_1, azimuth_2] = [bearing(east_1, north_1), bearing(east_2, north_2)];
        // Distances from the northward crossing of the equator: their sines and cosines, times
        // that of the bearing there. On the equator there are none, and nothing depends on them.
        let [sin_1, cos_1] = [from.sin_beta, azimuth_1[1] * from.cos_beta];
        let [sin_2, cos_2] = [to.sin_beta, azimuth_2[1] * to.cos_beta];
        let scale = sin_1 * sin_1 + cos_1 * cos_1;
        let cos_sum = (cos_1 * cos_2 - sin_1 * sin_2) / if scale == 0.0 { 1.0 } else { scale };
        let square = sin_sigma * sin_sigma;
        Self {
            azimuth_1,
            azimuth_2,
            sin_azimuth_0: azimuth_1[0] * from.cos_beta,
            sigma: atan2(sin_sigma, cos_sigma),
            sines: [sin_sigma, 2.0 * sin_sigma * cos_sigma, sin_sigma * (3.0 - 4.0 * square)],
            cosines: [
                cos_sum,
                2.0 * cos_sum * cos_sum - 1.0,
                cos_sum * (4.0 * cos_sum * cos_sum - 3.0),
            ],
        }
    }

    /// Expansion parameter ε (eq. 16).
    #[inline(always)]
    fn epsilon(&self) -> f64 {
        let k2 = EP2 * (1.0 - self.sin_azimuth_0 * self.sin_azimuth_0);
        let root = (1.0 + k2).sqrt();
        k2 / (2.0 * (1.0 + root) + k2)
    }

    /// `A (σ + Σ C_l sin 2lσ)` between the two ends.
    #[inline(always)]
    fn integral(&self, scale: f64, c: [f64; 3]) -> f64 {
        let terms = c[0] * self.cosines[0] * self.sines[0]
            + c[1] * self.cosines[1] * self.sines[1]
            + c[2] * self.cosines[2] * self.sines[2];
        scale * (self.sigma + 2.0 * terms)
    }

    /// Length on the ellipsoid, m (eqs 15, 17, 18).
    #[inline(always)]
    pub fn distance_m(&self) -> f64 {
        let e = self.epsilon();
        let e2 = e * e;
        let scale = (1.0 + e2 * (0.25 + e2 / 64.0)) / (1.0 - e);
        let c = [e * (-0.5 + e2 * (3.0 / 16.0)), e2 * (-1.0 / 16.0), e * e2 * (-1.0 / 48.0)];
        POLAR_AXIS_M * self.integral(scale, c)
    }

    /// Excess of the great circle's longitude over the geodesic's, rad (eqs 8, 23 to 25).
    #[inline(always)]
    pub fn longitude_excess(&self) -> f64 {
        let e = self.epsilon();
        let scale = 1.0
            - e * ((0.5 - 0.5 * N)
                + e * ((0.25 + N / 8.0 - 3.0 / 8.0 * N * N) + e * (1.0 / 16.0 + 3.0 / 16.0 * N)));
        let c = [
            e * ((0.25 - 0.25 * N) + e * ((1.0 - N * N) / 8.0 + e * (3.0 + 3.0 * N) / 64.0)),
            e * e * ((1.0 / 16.0 - 3.0 / 32.0 * N) + e * (3.0 / 64.0)),
            e * e * e * (5.0 / 192.0),
        ];
        WGS84_F * self.sin_azimuth_0 * self.integral(scale, c)
    }
}
