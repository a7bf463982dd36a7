//! From units to the network: one pass over the tiles, row of tiles by row of tiles.
//!
//! The layers of the network are spooled to a scratch file in row order, because every product
//! reads them again from the north; memory holds one row of tiles whatever the raster.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use groundwave_systems::sweep::{Tally, cell_area_m2, fold};

use super::plan::{TILE_CELLS, Unit};
use super::unit::{SiteTile, flag};
use super::work::{Sweep, SweepError};

/// Layers of the network, in spool order, four bytes each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// Number of the best server.
    Best,
    /// Number of the second best.
    Second,
    /// Largest link margin, dB.
    Margin,
    /// How many sites serve.
    Servers,
}

/// Layers there are.
const LAYERS: usize = 4;

/// The folded network of a variant: NaN where a layer has no value.
pub struct Network {
    spool: BufReader<File>,
    cols: usize,
    /// Areas.
    pub tally: Tally,
}

impl Network {
    /// Reads a row of a layer into `out`.
    ///
    /// # Errors
    /// When the scratch file fails.
    pub fn read(&mut self, layer: Layer, row: u32, out: &mut [f32]) -> io::Result<()> {
        let bytes = self.cols * 4;
        let at = (u64::from(row) * LAYERS as u64 + layer as u64) * bytes as u64;
        self.spool.seek(SeekFrom::Start(at))?;
        let mut raw = vec![0; bytes];
        self.spool.read_exact(&mut raw)?;
        for (value, chunk) in out.iter_mut().zip(raw.as_chunks::<4>().0) {
            *value = f32::from_le_bytes(*chunk);
        }
        Ok(())
    }
}

/// A row of tiles, ready to be read cell row by cell row.
struct TileRow {
    /// For each tile column, the sites in it.
    tiles: Vec<Vec<SiteTile>>,
}

/// Folds a variant. `covered` hears, in order, of each cell with servers: its area and the sites
/// that serve it.
///
/// # Errors
/// When a unit is missing or the disk fails.
pub fn fold_variant(
    sweep: &Sweep,
    variant: u32,
    scratch: &Path,
    mut covered: impl FnMut(u64, f64, &[u16]),
) -> Result<Network, SweepError> {
    let disk = |err| SweepError::Disk {
        operation: "spool to",
        path: scratch.to_owned(),
        err,
    };
    let grid = &sweep.plan.grid;
    let (tile_cols, tile_rows) = grid.tiles();
    let mut spool = BufWriter::new(tempfile::tempfile_in(scratch).map_err(disk)?);
    let mut tally = Tally::new(sweep.plan.sites.len());
    let required_db = sweep.plan.margin_db as f32;
    let mut servers = Vec::new();
    let mut layers = vec![vec![f32::NAN; grid.cols as usize]; LAYERS];
    for tile_row in 0..tile_rows {
        let tiles = read_row(sweep, variant, tile_row, tile_cols)?;
        let first = tile_row * TILE_CELLS;
        for row in first..(first + TILE_CELLS).min(grid.rows) {
            let north_deg = grid.north_deg - f64::from(row) * grid.cell_deg;
            let area_m2 = cell_area_m2(north_deg - grid.cell_deg, north_deg, grid.cell_deg);
            for col in 0..grid.cols {
                let sites = &tiles.tiles[(col / TILE_CELLS) as usize];
                let cell = tile_cell(grid.cols, row, col);
                servers.clear();
                let offer = |site: &SiteTile| (site.site, site.answer(cell));
                let network = fold(sites.iter().map(offer), required_db);
                let serves = |site: &&SiteTile| site.answer(cell).is_some_and(|m| m >= required_db);
                servers.extend(sites.iter().filter(serves).map(|site| site.site));
                let flags = |site: &SiteTile| site.flags[cell];
                if network.margin_db.is_none()
                    && sites
                        .iter()
                        .any(|site| flags(site) & (flag::OUTSIDE | flag::NO_DATA) == flag::NO_DATA)
                {
                    tally.add_no_data(area_m2);
                }
                let best = network
                    .best
                    .and_then(|best| sites.iter().find(|site| site.site == best));
                let known = best.is_none_or(|site| flags(site) & flag::PATH_UNKNOWN == 0);
                tally.add(area_m2, &network, &servers, known);
                if !servers.is_empty() {
                    covered(
                        u64::from(row) * u64::from(grid.cols) + u64::from(col),
                        area_m2,
                        &servers,
                    );
                }
                let col = col as usize;
                let number = |site: Option<u16>| site.map_or(f32::NAN, f32::from);
                layers[Layer::Best as usize][col] = number(network.best);
                layers[Layer::Second as usize][col] = number(network.second);
                layers[Layer::Margin as usize][col] = network.margin_db.unwrap_or(f32::NAN);
                let answered = network.margin_db.is_some();
                layers[Layer::Servers as usize][col] = if answered {
                    f32::from(network.servers)
                } else {
                    f32::NAN
                };
            }
            for layer in &layers {
                for value in layer {
                    spool.write_all(&value.to_le_bytes()).map_err(disk)?;
                }
            }
        }
    }
    let spool = spool.into_inner().map_err(|err| disk(err.into_error()))?;
    Ok(Network {
        spool: BufReader::new(spool),
        cols: grid.cols as usize,
        tally,
    })
}

/// Index of a cell within its tile.
#[must_use]
pub fn tile_cell(cols: u32, row: u32, col: u32) -> usize {
    let tile_first = col / TILE_CELLS * TILE_CELLS;
    let width = TILE_CELLS.min(cols - tile_first);
    (row % TILE_CELLS * width + (col - tile_first)) as usize
}

fn read_row(sweep: &Sweep, variant: u32, row: u32, cols: u32) -> Result<TileRow, SweepError> {
    let mut tiles = Vec::with_capacity(cols as usize);
    for col in 0..cols {
        let reached = !sweep.plan.reaching(row, col).is_empty();
        tiles.push(if reached {
            sweep.read(Unit { variant, row, col })?
        } else {
            Vec::new()
        });
    }
    Ok(TileRow { tiles })
}

/// Reads the layers of one site row by row: received power, p10, p90, margin; NaN outside its
/// radius and where nothing is known.
pub struct SiteRows<'a> {
    sweep: &'a Sweep,
    variant: u32,
    site: u16,
    /// Part of the raster that is read: first column and row, then columns and rows.
    window: [u32; 4],
    loaded: Option<(u32, Vec<Option<SiteTile>>)>,
}

impl<'a> SiteRows<'a> {
    /// Reads `site` of `variant` within a window of the raster.
    #[must_use]
    pub fn new(sweep: &'a Sweep, variant: u32, site: u16, window: [u32; 4]) -> Self {
        Self {
            sweep,
            variant,
            site,
            window,
            loaded: None,
        }
    }

    fn load(&mut self, tile_row: u32) -> Result<(), SweepError> {
        if self
            .loaded
            .as_ref()
            .is_some_and(|(row, _)| *row == tile_row)
        {
            return Ok(());
        }
        let (tile_cols, _) = self.sweep.plan.grid.tiles();
        let mut tiles = Vec::new();
        for col in 0..tile_cols {
            let reached = self.sweep.plan.reaching(tile_row, col).contains(&self.site);
            let unit = Unit {
                variant: self.variant,
                row: tile_row,
                col,
            };
            let found = if reached {
                self.sweep.read(unit)?
            } else {
                Vec::new()
            };
            tiles.push(found.into_iter().find(|tile| tile.site == self.site));
        }
        self.loaded = Some((tile_row, tiles));
        Ok(())
    }
}

impl crate::raster::Rows for SiteRows<'_> {
    fn read(&mut self, row: u32, out: &mut [f32]) -> io::Result<()> {
        let [first_col, first_row, cols, _] = self.window;
        let row = first_row + row;
        self.load(row / TILE_CELLS).map_err(io::Error::other)?;
        let (_, tiles) = self.loaded.as_ref().expect("just loaded");
        out.fill(f32::NAN);
        for i in 0..cols {
            let col = first_col + i;
            let Some(tile) = &tiles[(col / TILE_CELLS) as usize] else {
                continue;
            };
            let cell = tile_cell(self.sweep.plan.grid.cols, row, col);
            if tile.answer(cell).is_none() {
                continue;
            }
            let bands = [
                &tile.rx_power_dbm,
                &tile.p10_dbm,
                &tile.p90_dbm,
                &tile.margin_db,
            ];
            for (band, values) in out.chunks_exact_mut(cols as usize).zip(bands) {
                band[i as usize] = values[cell];
            }
        }
        Ok(())
    }
}
