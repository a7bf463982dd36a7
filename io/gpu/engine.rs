//! Losses of many sites over blocks of cells, by a device and the posts it needs.

use std::sync::{Arc, Mutex, PoisonError};

use groundwave_model::coverage::{Block, Grid, KnownLoss, LossSource, NoTerms, SiteTerms};
use groundwave_model::terrain::{PostWindow, Terrain};
use ndarray::{Array2, s};
use thiserror::Error;

#[cfg(feature = "wgpu")]
use super::device::{Device, DeviceScene};
#[cfg(not(feature = "wgpu"))]
use super::no_device::{Device, DeviceScene};

use super::adapter::{Adapter, Adapters, DeviceFailure, Unavailable};
use super::scene::Scene;
use super::tables::Tables;

/// Cells of all sites that one batch returns: 64 MB.
const BATCH_CELLS: u64 = 1 << 22;

/// Reasons for having no losses.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoLosses {
    /// The terrain is not made of posts of whole metres.
    #[error("the terrain is not made of tiles of whole metres")]
    Posts,
    /// The posts do not fit on the device.
    #[error("the terrain of {posts} posts does not fit on the GPU")]
    Memory {
        /// Number of posts.
        posts: u64,
    },
    /// A site without plain numbers.
    #[error(transparent)]
    Terms(NoTerms),
    /// Link margins depend on more than distance and heights.
    #[error(
        "link margins depend on rain, calibration, clutter by distance, walls or the azimuth of an antenna"
    )]
    Margins,
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceFailure),
}

/// A device with the posts that were used last.
#[derive(Debug)]
pub struct Engine {
    device: Device,
    scene: Mutex<Option<(Arc<Scene>, Arc<DeviceScene>)>>,
}

impl Engine {
    /// Opens an adapter.
    ///
    /// # Errors
    /// The reason for having none.
    pub fn open(adapters: Adapters) -> Result<Self, Unavailable> {
        Ok(Self { device: Device::open(adapters)?, scene: Mutex::default() })
    }

    /// The adapter.
    #[must_use]
    pub fn adapter(&self) -> &Adapter {
        self.device.adapter()
    }

    /// Maximum number of posts of a window.
    #[must_use]
    pub fn posts_max(&self) -> u64 {
        self.device.posts_max()
    }

    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    /// The posts of a window on the device; those of the last call are kept.
    pub(super) fn scene(
        &self,
        terrain: &dyn Terrain,
        window: PostWindow,
    ) -> Result<(Arc<Scene>, Arc<DeviceScene>), NoLosses> {
        let mut scene = self.scene.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(scene) = scene.as_ref().filter(|(scene, _)| scene.holds(&window)) {
            return Ok(scene.clone());
        }
        if window.len() > self.posts_max() {
            return Err(NoLosses::Memory { posts: window.len() });
        }
        // The old posts go before the new ones come.
        *scene = None;
        let posts = Arc::new(Scene::of(terrain, window).ok_or(NoLosses::Posts)?);
        let uploaded = self.device.upload(&posts)?;
        Ok(scene.insert((posts, uploaded)).clone())
    }

    /// Losses from each of `sites` to the cells of a block of `grid`; what lies beyond the radius of a site is not
    /// valid. The posts of `window` contain all paths; it may be larger, for calls that follow.
    ///
    /// # Errors
    /// The reason for having none.
    pub fn losses(
        &self,
        terrain: &dyn Terrain,
        window: PostWindow,
        sites: &[&SiteTerms],
        grid: &Grid,
        block: Block,
    ) -> Result<Vec<Array2<KnownLoss>>, NoLosses> {
        let (scene, uploaded) = self.scene(terrain, window)?;
        let [rows, columns] = [block.rows, block.columns].map(|count| count as usize);
        let blank = || Array2::from_elem([rows, columns], KnownLoss::default());
        let mut losses: Vec<_> = sites.iter().map(|_| blank()).collect();
        let a_row = u64::from(block.columns);
        let rows_max = (BATCH_CELLS / a_row).clamp(1, u64::from(block.rows));
        let sites_max = (BATCH_CELLS / (a_row * rows_max)).max(1) as usize;
        let mut buffer = Vec::new();
        for (number, sites) in sites.chunks(sites_max).enumerate() {
            let mut row = 0;
            while row < block.rows {
                let high = (block.rows - row).min(rows_max as u32);
                let part = Block { row: block.row + row, rows: high, ..block };
                let tables = Tables::new(sites, grid, part, &scene.window);
                buffer.resize(sites.len() * high as usize * columns, KnownLoss::default());
                self.device.run(&uploaded, &tables, &mut buffer)?;
                let parts = buffer.chunks(high as usize * columns);
                let [first, end] = [row as usize, (row + high) as usize];
                for (site, part) in parts.enumerate() {
                    let mut out = losses[number * sites_max + site].slice_mut(s![first..end, ..]);
                    let out = out.as_slice_mut().expect("whole rows are contiguous");
                    out.copy_from_slice(part);
                }
                row += high;
            }
        }
        Ok(losses)
    }

    /// Has the losses computed and leaves them on the device, for measurements of the kernel.
    ///
    /// # Errors
    /// As [`Engine::losses`].
    pub fn dispatch(
        &self,
        terrain: &dyn Terrain,
        window: PostWindow,
        sites: &[&SiteTerms],
        grid: &Grid,
        block: Block,
    ) -> Result<(), NoLosses> {
        let (scene, uploaded) = self.scene(terrain, window)?;
        let tables = Tables::new(sites, grid, block, &scene.window);
        Ok(self.device.run_only(&uploaded, &tables)?)
    }
}

impl LossSource for Engine {
    fn name(&self) -> String {
        let Adapter { name, driver } = self.adapter();
        format!("{name}, {driver}")
    }

    fn losses(
        &self,
        terrain: &dyn Terrain,
        sites: &[&SiteTerms],
        grid: &Grid,
        block: Block,
    ) -> Result<Vec<Array2<KnownLoss>>, String> {
        let circles = sites.iter().map(|site| (site.position, site.radius_m));
        let window = PostWindow::covering(terrain, circles);
        let window = window.ok_or_else(|| NoLosses::Posts.to_string())?;
        let losses = Self::losses(self, terrain, window, sites, grid, block);
        losses.map_err(|reason| reason.to_string())
    }
}
