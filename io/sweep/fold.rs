//! From units to the network: tile by tile, side by side, joined in the order of the tiles.
//!
//! The layers of the network are spooled to a scratch file in row order, because every product
//! reads them again from the north. Memory holds the layers of one row of tiles, and for each
//! thread one tile with one site of it at a time, whatever the raster and however many sites share
//! a tile.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use groundwave_systems::sweep::Tally;
use rayon::prelude::*;

use super::fold_tile::{Folded, Sets, fold_tile};
use super::plan::{TILE_CELLS, Unit};
use super::work::{Sweep, SweepError};

/// Layers of the network, in spool order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// Number of the best server.
    Best,
    /// Number of the second best.
    Second,
    /// Number of sites that serve.
    Servers,
    /// Largest link margin, dB.
    Margin,
}

/// Bytes of a cell in the spool: three numbers and a margin.
const CELL_BYTES: usize = 3 * 2 + 4;

/// The number that says "none" in the spool; a plan has fewer sites.
const NONE: u16 = u16::MAX;

/// The folded network of a variant: NaN where a layer has no value.
pub struct Network {
    spool: BufReader<File>,
    cols: usize,
    raw: Vec<u8>,
    /// Areas.
    pub tally: Tally,
    /// Area by the sites that serve it, where a choice of sites was asked for.
    pub sets: Sets,
}

impl Network {
    /// Reads a row of a layer into `out`.
    ///
    /// # Errors
    /// When the scratch file fails.
    pub fn read(&mut self, layer: Layer, row: u32, out: &mut [f32]) -> io::Result<()> {
        let bytes = if layer == Layer::Margin { 4 } else { 2 };
        let before = layer as usize * 2 * self.cols;
        let at = u64::from(row) * (self.cols * CELL_BYTES) as u64 + before as u64;
        self.spool.seek(SeekFrom::Start(at))?;
        self.raw.resize(self.cols * bytes, 0);
        self.spool.read_exact(&mut self.raw)?;
        if layer == Layer::Margin {
            let values = self.raw.as_chunks::<4>().0.iter();
            let values = values.map(|chunk| f32::from_le_bytes(*chunk));
            out.iter_mut()
                .zip(values)
                .for_each(|(out, value)| *out = value);
        } else {
            let numbers = self.raw.as_chunks::<2>().0.iter();
            let numbers = numbers.map(|chunk| match u16::from_le_bytes(*chunk) {
                NONE => f32::NAN,
                number => f32::from(number),
            });
            out.iter_mut()
                .zip(numbers)
                .for_each(|(out, value)| *out = value);
        }
        Ok(())
    }
}

/// Folds a variant.
///
/// # Errors
/// When a unit is missing or the disk fails.
pub fn fold_variant(sweep: &Sweep, variant: u32, scratch: &Path) -> Result<Network, SweepError> {
    let disk = |err| SweepError::Disk {
        operation: "spool to",
        path: scratch.to_owned(),
        err,
    };
    let grid = &sweep.plan.grid;
    let (tile_cols, tile_rows) = grid.tiles();
    let mut spool =
        BufWriter::with_capacity(1 << 18, tempfile::tempfile_in(scratch).map_err(disk)?);
    let mut tally = Tally::new(sweep.plan.sites.len());
    let mut sets = Sets::new();
    for row in 0..tile_rows {
        let units = (0..tile_cols).into_par_iter();
        let units = units.map(|col| Unit { variant, row, col });
        let tiles: Result<Vec<Folded>, SweepError> =
            units.map(|unit| fold_tile(sweep, unit)).collect();
        let tiles = tiles?;
        // Sums of areas are joined here, in the order of the tiles and not of their threads.
        for tile in &tiles {
            tally.add_all(&tile.tally);
            for (set, area_m2) in &tile.sets {
                match sets.get_mut(set) {
                    Some(sum) => *sum += area_m2,
                    None => drop(sets.insert(set.clone(), *area_m2)),
                }
            }
        }
        let rows = TILE_CELLS.min(grid.rows - row * TILE_CELLS);
        for row in 0..rows as usize {
            write_row(&mut spool, &tiles, row).map_err(disk)?;
        }
    }
    let spool = spool.into_inner().map_err(|err| disk(err.into_error()))?;
    Ok(Network {
        spool: BufReader::new(spool),
        cols: grid.cols as usize,
        raw: Vec::new(),
        tally,
        sets,
    })
}

/// One row of cells through a row of tiles, layer after layer.
fn write_row(spool: &mut impl Write, tiles: &[Folded], row: usize) -> io::Result<()> {
    let numbers = [
        |tile: &Folded, cell: usize| tile.cells[cell].best.unwrap_or(NONE),
        |tile: &Folded, cell: usize| tile.cells[cell].second.unwrap_or(NONE),
        |tile: &Folded, cell: usize| {
            let network = &tile.cells[cell];
            network.margin_db.map_or(NONE, |_| network.servers)
        },
    ];
    for number in numbers {
        for tile in tiles {
            for cell in tile.row(row) {
                spool.write_all(&number(tile, cell).to_le_bytes())?;
            }
        }
    }
    for tile in tiles {
        for cell in tile.row(row) {
            let margin_db = tile.cells[cell].margin_db.unwrap_or(f32::NAN);
            spool.write_all(&margin_db.to_le_bytes())?;
        }
    }
    Ok(())
}
