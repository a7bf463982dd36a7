//! Antenna heights for which path-loss models are valid.

use super::{FAR_RATIO, TAKEOVER_RATIO};

/// Ratio of antenna heights from which on one of them counts wholly as the lower one.
const ROLE_RATIO: f64 = 1.2;

/// Distance of two antenna heights, m, by the logarithm of their ratio: 0 at one height, 1 at [`ROLE_RATIO`].
pub(super) fn apart(low_m: f64, high_m: f64) -> f64 {
    libm::log2(high_m / low_m) / libm::log2(ROLE_RATIO)
}

/// Minimum and maximum heights of antennas, m above ground.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeightRanges {
    /// Of the lower antenna.
    pub lower_agl_m: [f64; 2],
    /// Of the higher antenna.
    pub higher_agl_m: [f64; 2],
}

impl HeightRanges {
    /// Every height.
    pub const UNLIMITED: Self = Self::of_both([0.0, f64::INFINITY]);

    /// One range for both antennas.
    #[must_use]
    pub const fn of_both(range_agl_m: [f64; 2]) -> Self {
        Self { lower_agl_m: range_agl_m, higher_agl_m: range_agl_m }
    }

    /// The heights at the nearest ones of the ranges. Of antennas of about one height the lower one is limited in
    /// part as the higher one is, of one height both are.
    #[must_use]
    pub fn limited(&self, [a_m, b_m]: [f64; 2]) -> [f64; 2] {
        let [low_m, high_m] = if a_m < b_m { [a_m, b_m] } else { [b_m, a_m] };
        let limited =
            |height_m: f64, [minimum_m, maximum_m]: [f64; 2]| height_m.clamp(minimum_m, maximum_m);
        let higher_m = limited(high_m, self.higher_agl_m);
        let lower_m = limited(low_m, self.lower_agl_m);
        let as_higher_m = limited(low_m, self.higher_agl_m);
        let apart = apart(low_m, high_m);
        let lower_m = match apart < 1.0 {
            true => lower_m + (1.0 - apart) * (as_higher_m - lower_m),
            false => lower_m,
        };
        if a_m < b_m { [lower_m, higher_m] } else { [higher_m, lower_m] }
    }

    /// Share of the model between antennas of these heights, [0, 1]; the rest is that of the fallback model. It
    /// falls with the logarithm of the height from 1 at the minimum to 0 at the [`TAKEOVER_RATIO`]th part of it,
    /// and from 1 at the maximum to 0 at [`FAR_RATIO`] times it: a step there would be one of some centimetres.
    #[must_use]
    pub fn share(&self, [a_m, b_m]: [f64; 2]) -> f64 {
        let share = |height_m: f64, [minimum_m, maximum_m]: [f64; 2]| {
            if height_m < minimum_m {
                let octaves = libm::log2(height_m / minimum_m) / libm::log2(TAKEOVER_RATIO);
                (1.0 + octaves).clamp(0.0, 1.0)
            } else if height_m > maximum_m {
                let beyond = libm::log2(height_m / maximum_m) / libm::log2(FAR_RATIO);
                (1.0 - beyond).clamp(0.0, 1.0)
            } else {
                1.0
            }
        };
        let [low_m, high_m] = if a_m < b_m { [a_m, b_m] } else { [b_m, a_m] };
        share(low_m, self.lower_agl_m) * share(high_m, self.higher_agl_m)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_fall_beyond_the_ranges_without_a_step() {
        let ranges = HeightRanges { lower_agl_m: [1.5, 1_000.0], higher_agl_m: [10.0, 1_000.0] };
        for (heights_m, share) in [
            ([1.5, 10.0], 1.0),
            ([10.0, 1.5], 1.0),
            ([0.75, 10.0], 0.0),
            ([0.0, 10.0], 0.0),
            ([1.5, 5.0], 0.0),
            ([2.0, 1_050.0], 0.0),
            ([7.0, 10.0], 1.0),
        ] {
            assert!((ranges.share(heights_m) - share).abs() < 1e-12, "{heights_m:?}");
        }
        // One of two antennas of one height counts as the lower one.
        assert_eq!(ranges.share([8.0, 8.0]), ranges.share([7.99, 8.0]));
        let [near_m, one_m] = [7.999_999, 8.0].map(|low_m| ranges.limited([low_m, 8.0]));
        assert!((near_m[0] - one_m[0]).abs() < 1e-4 && near_m[1] == one_m[1]);
        assert_eq!(ranges.limited([8.0, 6.0]), [10.0, 6.0]);
        assert!((1.0 - ranges.share([1.49, 30.0])) < 0.02);
        assert!((1.0 - ranges.share([30.0, 1_000.1])) < 0.01);
        assert_eq!(ranges.limited([1.0, 8.0]), [1.5, 10.0]);
        assert_eq!(ranges.limited([8.0, 8.0]), [10.0, 10.0]);
        assert_eq!(HeightRanges::UNLIMITED.limited([0.0, 1e5]), [0.0, 1e5]);
        assert_eq!(HeightRanges::UNLIMITED.share([0.0, 1e5]), 1.0);
    }
}
