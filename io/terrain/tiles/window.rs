//! Windows of posts across tiles.

use groundwave_model::terrain::{POST_VOID, PostWindow, TileId};

use super::TileDirectory;

/// A post that no tile has given yet; no height of the Earth.
const UNSET: i16 = POST_VOID + 1;

impl TileDirectory {
    /// Copies the posts of a window, see
    /// [`Terrain::copy_posts`](groundwave_model::terrain::Terrain::copy_posts).
    pub(super) fn copy_window(&self, window: &PostWindow, posts: &mut [i16]) -> bool {
        let per_deg = i64::from(window.per_deg);
        if per_deg == 0 || posts.len() as u64 != window.len() {
            return false;
        }
        posts.fill(UNSET);
        let ends = |first: i64, count: u32| [first, first + i64::from(count) - 1];
        let [south, north] = ends(window.south, window.rows);
        let [west, east] = ends(window.west, window.columns);
        // Tiles beyond may share their edge with it.
        let squares =
            |[low, high]: [i64; 2]| (low - 1).div_euclid(per_deg)..=high.div_euclid(per_deg);
        for south_deg in squares([south, north]) {
            for west_deg in squares([west, east]) {
                self.copy_square(window, [south_deg, west_deg], posts);
            }
        }
        for post in posts {
            *post = if *post == UNSET { POST_VOID } else { *post };
        }
        true
    }

    /// Copies what a square degree has of a window. Where posts are given twice and differ there is none: the
    /// side of the edge decides which holds.
    fn copy_square(&self, window: &PostWindow, corner_deg: [i64; 2], posts: &mut [i16]) {
        let per_deg = i64::from(window.per_deg);
        let [south_deg, west_deg] = corner_deg;
        let wrapped_deg = (west_deg + 180).rem_euclid(360) - 180;
        let Some(id) = TileId::containing(south_deg as f64, wrapped_deg as f64) else {
            return;
        };
        // Posts of the window from the corner of the square, up to its far edges.
        let part = |first: i64, count: u32, corner: i64| {
            let low = (first - corner).max(0);
            let high = (first + i64::from(count) - 1 - corner).min(per_deg);
            (low <= high).then_some([low, high])
        };
        let rows = part(window.south, window.rows, south_deg * per_deg);
        let columns = part(window.west, window.columns, west_deg * per_deg);
        let (Some([first, last]), Some([west_column, east_column])) = (rows, columns) else {
            return;
        };
        let latitudes = [first, last].map(|row| row as f64 / per_deg as f64);
        let Some(tile) = self.tile(id, latitudes) else {
            return;
        };
        if tile.resolution().side() as i64 != per_deg + 1 {
            return;
        }
        let count = (east_column - west_column + 1) as usize;
        let mut row_posts = vec![0; count];
        for row in first..=last {
            tile.copy_row((per_deg - row) as usize, west_column as usize, &mut row_posts);
            let down = (south_deg * per_deg + row - window.south) as usize;
            let aside = (west_deg * per_deg + west_column - window.west) as usize;
            let start = down * window.columns as usize + aside;
            let is_edge = row == 0 || row == per_deg;
            let out = &mut posts[start..start + count];
            for (column, (out, post)) in (west_column..).zip(out.iter_mut().zip(&row_posts)) {
                let is_shared = is_edge || column == 0 || column == per_deg;
                let differs = is_shared && *out != UNSET && *out != *post;
                *out = if differs { POST_VOID } else { *post };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use groundwave_model::terrain::{Terrain, TileId};

    use super::*;

    /// Writes a tile of 3 arc-seconds with heights by the number of row from the south and column.
    fn write(folder: &Path, name: &str, height: impl Fn(usize, usize) -> i16) {
        let posts = (0..1_201).rev().flat_map(|row| (0..1_201).map(move |column| (row, column)));
        let bytes = posts.flat_map(|(row, column)| height(row, column).to_be_bytes());
        std::fs::write(folder.join(name), bytes.collect::<Vec<_>>()).unwrap();
    }

    #[test]
    fn windows_join_tiles_and_leave_out_what_differs() {
        let folder = tempfile::tempdir().unwrap();
        // One height across both but on the common edge, where one post differs.
        write(folder.path(), "S01E179.hgt", |row, column| match (row, column) {
            (600, 1_200) => 9,
            (700, 1_190) => POST_VOID,
            _ => ((row * 3 + column) % 500) as i16,
        });
        write(folder.path(), "S01W180.hgt", |row, column| {
            ((row * 3 + column + 1_200) % 500) as i16
        });
        let tiles = TileDirectory::open(folder.path()).unwrap();
        assert_eq!(TileId::containing(-1.0, -180.0).unwrap().to_string(), "S01W180");
        let window =
            PostWindow { per_deg: 1_200, south: -800, west: 216_000 - 40, rows: 900, columns: 60 };
        let mut posts = vec![0; window.len() as usize];
        assert!(tiles.copy_posts(&window, &mut posts));
        for (row, line) in posts.chunks(60).enumerate() {
            for (column, post) in line.iter().enumerate() {
                let expected = match (row + 400, column) {
                    (600, 40) | (700, 30) => POST_VOID,
                    // North of the tiles.
                    (1_201.., _) => POST_VOID,
                    (row, column) => ((row * 3 + column + 1_160) % 500) as i16,
                };
                assert_eq!(*post, expected, "{row} {column}");
            }
        }
        let finer = PostWindow { per_deg: 3_600, ..window };
        assert!(tiles.copy_posts(&finer, &mut posts));
        assert!(posts.iter().all(|post| *post == POST_VOID));
    }
}
