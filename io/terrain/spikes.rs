//! Posts that stand alone: higher or lower than all posts around them by more than ground of the Earth is.
//!
//! They are errors of the measurement (layover and thermal noise of the radar, birds and clouds of a lidar) or
//! masts and towers in a surface model. They are counted and named, and keep their heights.

use std::ops::AddAssign;

/// Minimum difference between a spike and each post around it, m, in posts of up to [`FULL_ARCSEC`].
///
/// A needle of rock would have to be narrower than two distances of posts over that height: 185 m of 3
/// arc-seconds, which is a slope above 72 degrees on all sides. Ball's Pyramid, the highest sea stack (562 m),
/// is 300 m wide. In 19 tiles of 3 and 1 arc-seconds, 50 million posts of the Pyrenees, the Rocky Mountains and
/// the Himalaya (neighbours up to 500 m apart) among them, no post exceeds 137 m.
const SPIKE_M: f64 = 300.0;

/// Spacing from which the difference grows with it, so that the slope stays the same, arc-seconds.
const FULL_ARCSEC: f64 = 3.0;

/// Minimum known posts around a spike: those around one at an edge. With fewer, at the corner of a file or
/// among voids, the brow of a cliff would count.
const NEIGHBOURS_MIN: usize = 5;

/// Rows and columns from a post to those around it.
const AROUND: [[isize; 2]; 8] =
    [[-1, -1], [-1, 0], [-1, 1], [0, -1], [0, 1], [1, -1], [1, 0], [1, 1]];

/// Minimum difference of a spike in posts of a spacing, m.
pub(super) fn minimum_m(spacing_arcsec: f64) -> f64 {
    SPIKE_M * (spacing_arcsec / FULL_ARCSEC).max(1.0)
}

/// Post that stands alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spike {
    /// Row from the north and column from the west.
    pub post: [usize; 2],
    /// Difference to the nearest height around it, m, negative for a pit.
    pub difference_m: f64,
}

/// Spikes of a file, or of a part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spikes {
    /// Number of them.
    pub count: u32,
    /// The one that stands out most; the first of equal ones.
    pub largest: Option<Spike>,
}

impl AddAssign for Spikes {
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        let size_m = |spike: Option<Spike>| spike.map_or(0.0, |spike| spike.difference_m.abs());
        if size_m(other.largest) > size_m(self.largest) {
            self.largest = other.largest;
        }
    }
}

impl Spikes {
    /// Judges the post in a row and a column against those around it. `height_m` has the heights of the
    /// file, m, none for voids and beyond its edge.
    pub(super) fn judge(
        &mut self,
        minimum_m: f64,
        post: [usize; 2],
        height_m: impl Fn([usize; 2]) -> Option<f64>,
    ) {
        let Some(own_m) = height_m(post) else { return };
        let (mut neighbours, mut nearest_m, mut sum_m) = (0, f64::INFINITY, 0.0);
        for steps in AROUND {
            let [row, column] =
                [0, 1].map(|axis| post[axis].checked_add_signed(steps[axis]).unwrap_or(usize::MAX));
            let Some(other_m) = height_m([row, column]) else { continue };
            let difference_m = own_m - other_m;
            if difference_m.abs() <= minimum_m || difference_m * sum_m < 0.0 {
                return;
            }
            neighbours += 1;
            sum_m += difference_m;
            nearest_m = nearest_m.min(difference_m.abs());
        }
        if neighbours >= NEIGHBOURS_MIN {
            let difference_m = nearest_m.copysign(sum_m);
            *self += Self { count: 1, largest: Some(Spike { post, difference_m }) };
        }
    }

    /// Text for a message; none without a spike. `position` gives latitude and longitude, deg, of a row and
    /// a column.
    pub(super) fn text(
        &self,
        posts: u64,
        minimum_m: f64,
        position: impl Fn([usize; 2]) -> [f64; 2],
    ) -> Option<String> {
        let Spike { post, difference_m } = self.largest?;
        let [lat_deg, lon_deg] = position(post);
        let side = if difference_m > 0.0 { "above" } else { "below" };
        Some(format!(
            "{} of {posts} posts stand more than {minimum_m:.0} m above or below all posts around them, most at \
             {lat_deg:.5}, {lon_deg:.5} ({:.0} m {side}); they are kept: a tower, or an error of the data",
            self.count,
            difference_m.abs()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spikes among rows of heights; NaN for a void.
    fn spikes(rows: &[&[f64]]) -> Spikes {
        let height_m = |[row, column]: [usize; 2]| {
            let height_m = *rows.get(row)?.get(column)?;
            (!height_m.is_nan()).then_some(height_m)
        };
        let mut spikes = Spikes::default();
        for (row, heights_m) in rows.iter().enumerate() {
            for column in 0..heights_m.len() {
                spikes.judge(minimum_m(1.0), [row, column], height_m);
            }
        }
        spikes
    }

    const VOID: f64 = f64::NAN;

    #[test]
    fn post_above_or_below_all_others_is_a_spike() {
        for (own_m, expected_m) in [(411.0, Some(301.0)), (-300.5, Some(-300.5)), (410.0, None)] {
            let rows: [&[f64]; 3] = [&[0.0, 10.0, 50.0], &[20.0, own_m, 110.0], &[5.0, 1.0, 0.0]];
            let spikes = spikes(&rows);
            assert_eq!(spikes.count, u32::from(expected_m.is_some()), "{own_m}");
            let expected = expected_m.map(|difference_m| Spike { post: [1, 1], difference_m });
            assert_eq!(spikes.largest, expected, "{own_m}");
        }
    }

    #[test]
    fn brow_and_foot_of_a_cliff_are_not_spikes() {
        let cliff: [&[f64]; 4] =
            [&[900.0, 900.0, 0.0], &[900.0, 900.0, 0.0], &[900.0, 0.0, 0.0], &[900.0, 0.0, 0.0]];
        assert_eq!(spikes(&cliff), Spikes::default());
        // A ridge of two posts, and the brow between voids.
        assert_eq!(spikes(&[&[0.0; 4], &[0.0, 900.0, 900.0, 0.0], &[0.0; 4]]).count, 0);
        assert_eq!(spikes(&[&[VOID; 3], &[VOID, 900.0, VOID], &[0.0; 3]]).count, 0);
        // One side higher, the other lower.
        assert_eq!(spikes(&[&[0.0; 3], &[0.0, 900.0, 1_800.0], &[1_800.0; 3]]).count, 0);
    }

    #[test]
    fn spikes_at_an_edge_and_beside_a_void_count_and_the_largest_is_named() {
        let rows: [&[f64]; 4] = [
            &[0.0, 0.0, 500.0, 0.0, 0.0],
            &[0.0, 0.0, 0.0, 0.0, 0.0],
            &[0.0, VOID, -900.0, 0.0, 0.0],
            &[0.0, 0.0, 0.0, 0.0, 0.0],
        ];
        let spikes = spikes(&rows);
        assert_eq!(spikes.count, 2);
        assert_eq!(spikes.largest, Some(Spike { post: [2, 2], difference_m: -900.0 }));
        let text =
            spikes.text(20, 300.0, |[row, column]| [58.0 - row as f64, 11.0 + column as f64]);
        assert_eq!(
            text.unwrap(),
            "2 of 20 posts stand more than 300 m above or below all posts around them, most at 56.00000, 13.00000 \
             (900 m below); they are kept: a tower, or an error of the data"
        );
    }

    #[test]
    fn difference_grows_with_the_spacing_of_coarse_posts() {
        for (spacing_arcsec, expected_m) in
            [(0.03, 300.0), (1.0, 300.0), (3.0, 300.0), (30.0, 3_000.0)]
        {
            assert_eq!(minimum_m(spacing_arcsec), expected_m);
        }
    }
}
