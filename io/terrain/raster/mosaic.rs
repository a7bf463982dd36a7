//! Several rasters, the finest first.

use std::sync::Arc;

use groundwave_model::terrain::Posts;
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};

use super::blocks::{Block, Blocks};
use super::file::Raster;

/// Bounds of a raster in degrees, eastwards and northwards, and its number.
type Bounds = GeomWithData<Rectangle<[f64; 2]>, u32>;

/// Rasters, the finest first.
#[derive(Debug, Default)]
pub(in super::super) struct Mosaic {
    rasters: Vec<Raster>,
    tree: RTree<Bounds>,
    blocks: Blocks,
}

/// Heights around a position on one raster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) enum Reading {
    /// The height, m; true if a post that matters has none.
    Height(f64, bool),
    /// The posts have no height.
    Void,
    /// The raster does not reach there, or cannot be decoded there.
    Outside,
}

/// Blocks in use by one reader.
#[derive(Debug, Default)]
pub(in super::super) struct RecentBlocks {
    recent: [Option<(u32, u32, Arc<Block>)>; 4],
    oldest: usize,
}

impl Mosaic {
    /// Orders rasters; those of equal spacing by name.
    pub fn new(mut rasters: Vec<Raster>) -> Self {
        rasters.sort_by(|a, b| {
            let spacing = a.resolution_arcsec.total_cmp(&b.resolution_arcsec);
            spacing.then_with(|| a.name.cmp(&b.name))
        });
        let mut bounds = Vec::new();
        for (number, raster) in rasters.iter().enumerate() {
            let [south, west, north, east] = raster.header.grid.bounds_deg();
            for turn in [-360.0, 0.0, 360.0] {
                if west + turn < 181.0 && east + turn > -181.0 {
                    let corners = ([west + turn, south], [east + turn, north]);
                    let rectangle = Rectangle::from_corners(corners.0, corners.1);
                    bounds.push(GeomWithData::new(rectangle, number as u32));
                }
            }
        }
        Self { rasters, tree: RTree::bulk_load(bounds), blocks: Blocks::default() }
    }

    /// The same, keeping decoded posts of so many bytes.
    pub fn with_budget(self, budget_bytes: u64) -> Self {
        let blocks = Blocks::within(budget_bytes);
        Self { blocks, ..self }
    }

    pub fn rasters(&self) -> &[Raster] {
        &self.rasters
    }

    pub fn raster(&self, number: u32) -> &Raster {
        &self.rasters[number as usize]
    }

    /// Numbers of the rasters that reach into a rectangle, deg, longitudes within [-181, 181]; the
    /// finest first.
    pub fn within(&self, [south, west, north, east]: [f64; 4], numbers: &mut Vec<u32>) {
        numbers.clear();
        let area = AABB::from_corners([west, south], [east, north]);
        numbers.extend(self.tree.locate_in_envelope_intersecting(&area).map(|item| item.data));
        numbers.sort_unstable();
        numbers.dedup();
    }

    /// The post in a row and a column; NaN without a height, none where it cannot be decoded.
    fn post(
        &self,
        blocks: &mut RecentBlocks,
        number: u32,
        row: usize,
        column: usize,
    ) -> Option<f64> {
        let raster = self.raster(number);
        let key = (number, raster.block_of(row, column));
        let is_same = |slot: &&Option<(u32, u32, Arc<Block>)>| {
            slot.as_ref().is_some_and(|(raster, block, _)| (*raster, *block) == key)
        };
        let block = match blocks.recent.iter().find(is_same) {
            Some(Some((.., block))) => block,
            _ => {
                let block = self.blocks.get(key, || raster.decode(key.1));
                let slot = &mut blocks.recent[blocks.oldest];
                blocks.oldest = (blocks.oldest + 1) % 4;
                &slot.insert((key.0, key.1, block)).2
            }
        };
        let posts = block.posts.as_ref()?;
        let at = (row - block.row) * block.columns + column - block.column;
        posts.get(at).copied().map(f64::from)
    }

    /// Height at a position. Posts that this raster lacks, across its edge or in a void, are read by
    /// `beyond` with their positions, deg.
    pub fn read(
        &self,
        blocks: &mut RecentBlocks,
        number: u32,
        [lat_deg, lon_deg]: [f64; 2],
        posts: Posts,
        mut beyond: impl FnMut(&mut RecentBlocks, [f64; 2]) -> Option<f64>,
    ) -> Reading {
        let grid = &self.raster(number).header.grid;
        let [y, x] = grid.place(lat_deg, lon_deg);
        let [bottom, right] = [grid.rows, grid.columns].map(|count| (count - 1) as f64);
        let is_near =
            |room: f64| (-room..=bottom + room).contains(&y) && (-room..=right + room).contains(&x);
        if posts == Posts::Nearest {
            if !is_near(0.5) {
                return Reading::Outside;
            }
            let (row, column) = (y.round().clamp(0.0, bottom), x.round().clamp(0.0, right));
            return match self.post(blocks, number, row as usize, column as usize) {
                None => Reading::Outside,
                Some(height_m) if height_m.is_nan() => Reading::Void,
                Some(height_m) => Reading::Height(height_m, false),
            };
        }
        if !is_near(1.0) {
            return Reading::Outside;
        }
        let (row, column) = (y.floor(), x.floor());
        let (v, u) = (y - row, x - column);
        let weights = [(1.0 - v) * (1.0 - u), (1.0 - v) * u, v * (1.0 - u), v * u];
        let mut around = [f64::NAN; 4];
        let (mut own, mut has_void) = (0, false);
        for (index, weight) in weights.into_iter().enumerate() {
            let (row, column) = (row + (index / 2) as f64, column + (index % 2) as f64);
            let is_inside = (0.0..=bottom).contains(&row) && (0.0..=right).contains(&column);
            if weight == 0.0 || !is_inside {
                continue;
            }
            let Some(height_m) = self.post(blocks, number, row as usize, column as usize) else {
                return Reading::Outside;
            };
            around[index] = height_m;
            own += u32::from(height_m.is_finite());
            has_void |= height_m.is_nan();
        }
        if own == 0 {
            return if has_void { Reading::Void } else { Reading::Outside };
        }
        let (mut sum, mut weight_sum, mut is_whole) = (0.0, 0.0, true);
        for (index, weight) in weights.into_iter().enumerate().filter(|(_, weight)| *weight > 0.0) {
            let mut height_m = around[index];
            if height_m.is_nan() {
                let (row, column) = (row + (index / 2) as f64, column + (index % 2) as f64);
                height_m = beyond(blocks, grid.position(row, column)).unwrap_or(f64::NAN);
            }
            if height_m.is_nan() {
                is_whole = false;
                continue;
            }
            sum += weight * height_m;
            weight_sum += weight;
        }
        match is_whole {
            true => Reading::Height(sum, false),
            // Half a post beyond the outermost one, its height is taken.
            false if is_near(0.5) => Reading::Height(sum / weight_sum, has_void),
            false => Reading::Outside,
        }
    }
}
