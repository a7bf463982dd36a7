//! The way of a curve over a tile.

use groundwave_model::terrain::Curve;

/// Positions of a curve as polynomials, northwards and eastwards, lowest power first: of the share
/// of the way, deg, or of their number, in posts from the south-western corner of a tile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Track {
    pub(super) powers: [[f64; 6]; 2],
    /// Step of the polynomials from one position to the next.
    pub(super) pace: f64,
    /// The last position, which is given.
    pub(super) end: [f64; 2],
    /// Index.
    pub(super) last: usize,
    /// The highest power that is not 0.
    pub(super) degree: u8,
    /// True if it is in posts; it then lies within its tile.
    pub(super) is_in_posts: bool,
}

impl Track {
    /// The curve itself, in degrees.
    pub fn in_degrees(curve: &Curve) -> Self {
        Self {
            powers: [curve.lat_deg, curve.lon_deg],
            pace: curve.pace,
            end: curve.end_deg,
            last: curve.last,
            degree: curve.degree,
            is_in_posts: false,
        }
    }

    /// The curve over a tile that surrounds it, whose corner is given, deg, and which has `cells` cells
    /// along a side.
    pub fn in_posts(curve: &Curve, corner_deg: [f64; 2], cells: f64) -> Self {
        let mut powers = [curve.lat_deg, curve.lon_deg];
        let mut end = curve.end_deg;
        for axis in 0..2 {
            powers[axis][0] -= corner_deg[axis];
            end[axis] = (end[axis] - corner_deg[axis]) * cells;
            let mut scale = cells;
            for power in &mut powers[axis] {
                *power *= scale;
                scale *= curve.pace;
            }
        }
        Self { powers, pace: 1.0, end, last: curve.last, degree: curve.degree, is_in_posts: true }
    }

    /// Positions from number `first` on, as many as the slices hold, with the bits of
    /// [`super::follow`].
    pub fn positions(&self, first: usize, north: &mut [f64], east: &mut [f64]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the features.
            #[expect(unsafe_code, reason = "calls what is compiled for AVX2")]
            return unsafe { self.positions_narrow(first, north, east) };
        }
        self.plain_positions(first, north, east);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn positions_narrow(&self, first: usize, north: &mut [f64], east: &mut [f64]) {
        self.plain_positions(first, north, east);
    }

    #[inline(always)]
    pub(in super::super) fn plain_positions(
        &self,
        first: usize,
        north: &mut [f64],
        east: &mut [f64],
    ) {
        let count = north.len().min(east.len());
        for (axis, out) in [&mut north[..count], &mut east[..count]].into_iter().enumerate() {
            let c = self.powers[axis];
            for index in 0..count {
                let t = (first as f64 + f64::from(index as i32)) * self.pace;
                // Coefficients left out of lower degrees are 0, which does not change a bit of the
                // result.
                let high = t * (t * c[5] + c[4]) + c[3];
                let high = t * (t * high + c[2]) + c[1];
                out[index] = t * high + c[0];
            }
            if count > 0 && first + count == self.last + 1 {
                out[count - 1] = self.end[axis];
            }
        }
    }
}
