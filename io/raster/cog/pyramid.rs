//! From rows to compressed tiles of all overviews, in one pass.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::thread;

use super::super::atomic::PartFile;
use super::super::error::RasterError;
use super::super::geometry::GridGeometry;
use super::super::grid::Resampling;
use super::directory::{Image, StoredTile};
use super::tile::Strip;
use super::{CogLayout, Samples, TILE_SIDE};

/// Receives rows and hands full rows of tiles to the spool.
pub(super) struct Pyramid {
    levels: Vec<Level>,
    bands: Vec<Resampling>,
    samples: Samples,
    threads: NonZeroUsize,
    spool: Spool,
}

/// One image being filled.
struct Level {
    image: Image,
    /// The rows that do not yet make a row of tiles, in each of them band after band.
    strip: Vec<f32>,
    rows_done: u32,
}

impl Level {
    fn row_len(&self, bands: usize) -> usize {
        self.image.cols as usize * bands
    }
}

impl Pyramid {
    pub fn new(geometry: GridGeometry, layout: &CogLayout, spool: PartFile) -> Self {
        let mut levels = Vec::new();
        let (mut cols, mut rows) = (geometry.cols, geometry.rows);
        loop {
            levels.push(Level {
                image: Image {
                    cols,
                    rows,
                    tiles: Vec::new(),
                },
                strip: Vec::new(),
                rows_done: 0,
            });
            if cols.max(rows) <= TILE_SIDE {
                break;
            }
            (cols, rows) = (cols.div_ceil(2), rows.div_ceil(2));
        }
        Self {
            levels,
            bands: layout.bands.iter().map(|band| band.resampling).collect(),
            samples: layout.samples,
            threads: layout.threads,
            spool: Spool {
                file: spool,
                bytes: 0,
                empty: None,
            },
        }
    }

    /// Takes the next row of the full raster, and the rows of the overviews that follow from it.
    pub fn push(&mut self, row: &[f32]) -> Result<(), RasterError> {
        let bands = self.bands.len();
        let mut row = row.to_vec();
        for index in 0..self.levels.len() {
            let level = &mut self.levels[index];
            if level.strip.capacity() == 0 {
                // At once, because a strip that grows by doubling takes up to three times its size.
                let rows = level.image.rows.min(TILE_SIDE) as usize;
                level.strip.reserve_exact(rows * level.row_len(bands));
            }
            level.strip.extend_from_slice(&row);
            level.rows_done += 1;
            let (is_last, done) = (level.rows_done == level.image.rows, level.rows_done);
            // Tiles have an even number of rows: the partner of a row is still in the strip.
            let is_pair = done.is_multiple_of(2);
            let next = (is_pair || is_last).then(|| {
                let from = level.strip.len() - level.row_len(bands) * if is_pair { 2 } else { 1 };
                halve(&level.strip[from..], level.image.cols as usize, &self.bands)
            });
            if done.is_multiple_of(TILE_SIDE) || is_last {
                self.flush(index)?;
            }
            match next {
                Some(next) => row = next,
                None => break,
            }
        }
        Ok(())
    }

    /// Compresses the rows that a level has gathered.
    fn flush(&mut self, index: usize) -> Result<(), RasterError> {
        let level = &mut self.levels[index];
        let strip = Strip {
            cells: &level.strip,
            cols: level.image.cols as usize,
            bands: self.bands.len(),
            samples: self.samples,
        };
        let stored = self.spool.store(strip, self.threads.get());
        level
            .image
            .tiles
            .extend(stored.map_err(self.spool.file.failed())?);
        level.strip.clear();
        Ok(())
    }

    /// The images, largest first, and the file that holds their tiles.
    pub fn finish(self) -> (Vec<Image>, PartFile) {
        let images = self.levels.into_iter().map(|level| level.image).collect();
        (images, self.spool.file)
    }
}

/// One row out of one or two rows, half as many columns.
fn halve(rows: &[f32], cols: usize, bands: &[Resampling]) -> Vec<f32> {
    let row_len = cols * bands.len();
    let (upper, lower) = rows.split_at(row_len.min(rows.len()));
    let mut out = Vec::with_capacity(cols.div_ceil(2) * bands.len());
    let mut block = Vec::with_capacity(4);
    for (band, resampling) in bands.iter().enumerate() {
        for left in (0..cols).step_by(2) {
            block.clear();
            let (from, to) = (band * cols + left, band * cols + cols.min(left + 2));
            block.extend_from_slice(&upper[from..to]);
            if !lower.is_empty() {
                block.extend_from_slice(&lower[from..to]);
            }
            out.push(resampling.fold(&mut block));
        }
    }
    out
}

/// Compressed tiles in the order in which they were made.
struct Spool {
    file: PartFile,
    bytes: u64,
    /// The tile without any data, which large rasters have many of.
    empty: Option<Vec<u8>>,
}

impl Spool {
    /// Compresses a row of tiles, in as many threads, and appends it.
    fn store(&mut self, strip: Strip<'_>, threads: usize) -> io::Result<Vec<StoredTile>> {
        if strip.cells.iter().all(|value| value.is_nan()) {
            return self.store_empty(strip);
        }
        // Few tiles at a time, so that the compressed ones do not pile up.
        let mut stored = Vec::with_capacity(strip.tiles());
        for first in (0..strip.tiles()).step_by(threads) {
            let batch = first..strip.tiles().min(first + threads);
            for tile in encode_all(strip, batch)? {
                stored.push(self.append(&tile)?);
            }
        }
        Ok(stored)
    }

    fn store_empty(&mut self, strip: Strip<'_>) -> io::Result<Vec<StoredTile>> {
        let tile = match self.empty.take() {
            Some(tile) => tile,
            None => Strip {
                cells: &[],
                ..strip
            }
            .encode(0)?,
        };
        let stored = (0..strip.tiles()).map(|_| self.append(&tile)).collect();
        self.empty = Some(tile);
        stored
    }

    fn append(&mut self, tile: &[u8]) -> io::Result<StoredTile> {
        self.file.write_all(tile)?;
        let bytes = u32::try_from(tile.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let stored = StoredTile {
            spool_offset: self.bytes,
            bytes,
        };
        self.bytes += u64::from(bytes);
        Ok(stored)
    }
}

/// The tiles in their order, one thread each.
fn encode_all(strip: Strip<'_>, batch: std::ops::Range<usize>) -> io::Result<Vec<Vec<u8>>> {
    if batch.len() == 1 {
        return batch.map(|index| strip.encode(index)).collect();
    }
    thread::scope(|scope| {
        let running: Vec<_> = batch
            .map(|index| scope.spawn(move || strip.encode(index)))
            .collect();
        let panicked = || Err(io::Error::other("a compressing thread panicked"));
        running
            .into_iter()
            .map(|one| one.join().unwrap_or_else(|_| panicked()))
            .collect()
    })
}
