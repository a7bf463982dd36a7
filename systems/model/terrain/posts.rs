//! Posts of terrain as whole metres on a lattice, for evaluation on other processors.

use super::{GeoPoint, Terrain};

/// Value of a post without a height.
pub const POST_VOID: i16 = i16::MIN;

/// Rectangle of posts on whole fractions of a degree, numbered from the equator northwards and from Greenwich
/// eastwards; columns are continuous across the antimeridian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PostWindow {
    /// Posts in a degree, 1 or more.
    pub per_deg: u32,
    /// Number of the southernmost row.
    pub south: i64,
    /// Number of the westernmost column.
    pub west: i64,
    /// Number of rows.
    pub rows: u32,
    /// Number of columns.
    pub columns: u32,
}

impl PostWindow {
    /// The posts around all positions within `radius_m` (m) of `centre`, and some more.
    #[must_use]
    pub fn around(per_deg: u32, centre: GeoPoint, radius_m: f64) -> Self {
        let [up_deg, aside_deg] = centre.reach_deg(radius_m);
        let posts = f64::from(per_deg);
        let low = |deg: f64| (deg * posts).floor() as i64 - 1;
        let (south, west) = (low(centre.lat_deg() - up_deg), low(centre.lon_deg() - aside_deg));
        // The post beyond, and one more for rounding.
        let count = |first: i64, deg: f64| (low(deg) + 4 - first) as u32;
        Self {
            per_deg,
            south,
            west,
            rows: count(south, centre.lat_deg() + up_deg),
            columns: count(west, centre.lon_deg() + aside_deg),
        }
    }

    /// The posts around circles of a centre and a radius (m), in the spacing of `terrain` at the first centre; `None`
    /// where it has none there.
    #[must_use]
    pub fn covering(
        terrain: &dyn Terrain,
        circles: impl IntoIterator<Item = (GeoPoint, f64)>,
    ) -> Option<Self> {
        let mut circles = circles.into_iter().peekable();
        let spacing_arcsec = terrain.resolution_arcsec(circles.peek()?.0)?;
        let per_deg = (3_600.0 / spacing_arcsec).round() as u32;
        circles
            .map(|(centre, radius_m)| Self::around(per_deg, centre, radius_m))
            .reduce(Self::union)
    }

    /// The smallest window that holds this one and another of the same lattice, the other turned about the
    /// Earth so that it is nearest.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        let turn = 360 * i64::from(self.per_deg);
        let apart = (other.west - self.west) as f64 / turn as f64;
        let other_west = other.west - turn * apart.round() as i64;
        let (south, west) = (self.south.min(other.south), self.west.min(other_west));
        let end = |first: i64, count: u32| first + i64::from(count);
        let north = end(self.south, self.rows).max(end(other.south, other.rows));
        let east = end(self.west, self.columns).max(end(other_west, other.columns));
        Self { south, west, rows: (north - south) as u32, columns: (east - west) as u32, ..self }
    }

    /// Number of posts.
    #[must_use]
    pub fn len(&self) -> u64 {
        u64::from(self.rows) * u64::from(self.columns)
    }

    /// True if there are no posts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_hold_the_positions_within_a_radius() {
        let centre = GeoPoint::new(-44.95, 179.97).unwrap();
        let window = PostWindow::around(1_200, centre, 12e3);
        for azimuth_deg in (0..36).map(|step| f64::from(step) * 10.0) {
            let at = crate::terrain::geodesic::direct(centre, azimuth_deg, 12e3).unwrap();
            let row = (at.lat_deg() * 1_200.0).floor() as i64 - window.south;
            let lon_deg = at.lon_deg() + if at.lon_deg() < 0.0 { 360.0 } else { 0.0 };
            let column = (lon_deg * 1_200.0).floor() as i64 - window.west;
            assert!((0..i64::from(window.rows) - 1).contains(&row), "{row}");
            assert!((0..i64::from(window.columns) - 1).contains(&column), "{column}");
        }
    }

    #[test]
    fn a_union_across_the_antimeridian_is_narrow() {
        let at = |lon_deg| GeoPoint::new(10.0, lon_deg).unwrap();
        let (west, east) =
            (PostWindow::around(1_200, at(179.9), 5e3), PostWindow::around(1_200, at(-179.9), 5e3));
        let both = west.union(east);
        assert!((240..600).contains(&both.columns), "{both:?}");
        assert_eq!(both.rows, west.rows);
        assert_eq!(both.union(west), both);
    }
}
