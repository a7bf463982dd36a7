//! A window of posts.

use groundwave_model::terrain::{POST_VOID, PostWindow, Terrain};

/// Posts of whole metres, two to a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scene {
    /// The window.
    pub window: PostWindow,
    /// Words a row.
    pub stride: u32,
    /// Rows from the south; the western post of each pair in the low half of its word.
    pub words: Vec<u32>,
}

impl Scene {
    /// Copies the posts of a window; `None` where the terrain is not made of such posts.
    #[must_use]
    pub fn of(terrain: &dyn Terrain, window: PostWindow) -> Option<Self> {
        let mut posts = vec![POST_VOID; usize::try_from(window.len()).ok()?];
        if !terrain.copy_posts(&window, &mut posts) {
            return None;
        }
        let stride = window.columns.div_ceil(2);
        let rows = posts.chunks(window.columns as usize);
        let words = rows.flat_map(|row| {
            row.chunks(2).map(|pair| {
                let half = |post: i16| u32::from(post.cast_unsigned());
                half(pair[0]) | half(*pair.get(1).unwrap_or(&POST_VOID)) << 16
            })
        });
        Some(Self { window, stride, words: words.collect() })
    }

    /// True if all posts of `window` are in this one.
    #[must_use]
    pub fn holds(&self, window: &PostWindow) -> bool {
        window.per_deg == self.window.per_deg && self.window.union(*window) == self.window
    }
}

#[cfg(test)]
mod tests {
    use groundwave_model::terrain::{GeoPoint, TerrainSource, TerrainUse};

    use super::*;

    /// Posts by the sum of their row and ten times their column.
    struct Slope;

    impl Terrain for Slope {
        fn sample(&self, _: &[f64], _: &[f64], _: &mut [f64]) -> TerrainUse {
            TerrainUse::default()
        }

        fn copy_posts(&self, window: &PostWindow, posts: &mut [i16]) -> bool {
            for (place, post) in (0_i64..).zip(posts) {
                let columns = i64::from(window.columns);
                let (row, column) = (window.south + place / columns, window.west + place % columns);
                *post = (row + 10 * column) as i16;
            }
            true
        }

        fn undulation_m(&self, _: GeoPoint) -> f64 {
            0.0
        }

        fn resolution_arcsec(&self, _: GeoPoint) -> Option<f64> {
            Some(3.0)
        }

        fn describe(&self) -> TerrainSource {
            TerrainSource::default()
        }
    }

    #[test]
    fn posts_lie_in_pairs_and_an_odd_one_beside_a_void() {
        let window = PostWindow { per_deg: 1_200, south: -40, west: 1, rows: 2, columns: 3 };
        let scene = Scene::of(&Slope, window).unwrap();
        let halves = scene.words.iter().flat_map(|word| [*word as u16, (word >> 16) as u16]);
        let posts: Vec<i16> = halves.map(u16::cast_signed).collect();
        assert_eq!(posts, [-30, -20, -10, POST_VOID, -29, -19, -9, POST_VOID]);
        assert_eq!(scene.stride, 2);
        assert!(scene.holds(&PostWindow { columns: 2, ..window }));
        assert!(!scene.holds(&PostWindow { west: 0, ..window }));
        assert!(!scene.holds(&PostWindow { per_deg: 3_600, ..window }));
    }

    #[test]
    fn terrain_without_posts_has_no_scene() {
        let flat = groundwave_model::terrain::Flat::default();
        let window = PostWindow { per_deg: 1_200, south: 0, west: 0, rows: 2, columns: 2 };
        assert_eq!(Scene::of(&flat, window), None);
    }
}
