//! A file being written, tile by tile.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::super::atomic::PartFile;
use super::super::error::RasterError;
use super::super::pyramid::{Pyramid, TILE_SIDE, Tile};
use super::directory::{Header, Image, StoredTile};
use super::{CogFacts, CogLayout, Place, metadata, tile};

/// A file that receives the tiles of a [`Pyramid`], in any order and from any thread.
pub struct CogWriter {
    geometry: Place,
    layout: CogLayout,
    part: PartFile,
    /// The tile without any data, which large rasters have many of.
    empty: OnceLock<StoredTile>,
    spool: Mutex<Spool>,
}

/// Compressed tiles in the order in which they came.
struct Spool {
    file: PartFile,
    bytes: u64,
    images: Vec<Vec<Option<StoredTile>>>,
    sizes: Vec<[u32; 2]>,
}

impl CogWriter {
    /// Begins the file that will be `path`.
    ///
    /// # Errors
    /// When the raster or a text is impossible, or the disk fails.
    pub fn create(
        path: &Path,
        geometry: impl Into<Place>,
        layout: CogLayout,
    ) -> Result<Self, RasterError> {
        let geometry = geometry.into().check()?;
        metadata::check_texts(&layout)?;
        let [cols, rows] = geometry.size();
        let sizes = Pyramid::new(cols, rows, Vec::new()).sizes().to_vec();
        let tiles = |[cols, rows]: &[u32; 2]| {
            let count = u64::from(cols.div_ceil(TILE_SIDE)) * u64::from(rows.div_ceil(TILE_SIDE));
            vec![None; count as usize]
        };
        Ok(Self {
            geometry,
            layout,
            part: PartFile::create(path)?,
            empty: OnceLock::new(),
            spool: Mutex::new(Spool {
                file: PartFile::scratch(path)?,
                bytes: 0,
                images: sizes.iter().map(tiles).collect(),
                sizes,
            }),
        })
    }

    /// Compresses a tile and keeps it.
    ///
    /// # Errors
    /// When a cell does not fit the samples, or the disk fails.
    pub fn store(&self, tile: &Tile) -> Result<(), RasterError> {
        self.check(tile)?;
        let failed = self.part.failed();
        if tile.cells.is_none() {
            let stored = match self.empty.get() {
                Some(stored) => *stored,
                None => {
                    let bytes = tile::encode(tile, &self.layout).map_err(&failed)?;
                    let stored = self.spool().append(&bytes).map_err(&failed)?;
                    *self.empty.get_or_init(|| stored)
                }
            };
            self.spool().place(tile, stored);
            return Ok(());
        }
        let bytes = tile::encode(tile, &self.layout).map_err(&failed)?;
        let mut spool = self.spool();
        let stored = spool.append(&bytes).map_err(&failed)?;
        spool.place(tile, stored);
        Ok(())
    }

    fn spool(&self) -> std::sync::MutexGuard<'_, Spool> {
        self.spool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses cells that the samples cannot hold. Overviews lie between the cells below them.
    fn check(&self, tile: &Tile) -> Result<(), RasterError> {
        let samples = self.layout.samples;
        let cells = tile.cells.as_deref().filter(|_| tile.level == 0);
        let Some(cells) = cells else { return Ok(()) };
        // All at once, in whole vectors, and only then one by one.
        let fits = cells.iter().fold(true, |fits, &value| fits & samples.holds(value));
        let wrong = if fits { None } else { cells.iter().position(|&value| !samples.holds(value)) };
        let Some(at) = wrong else { return Ok(()) };
        let (band, at_band) = (at / (tile.cols * tile.rows), at % (tile.cols * tile.rows));
        Err(RasterError::BadCell {
            row: tile.row * TILE_SIDE + (at_band / tile.cols) as u32,
            col: tile.col * TILE_SIDE + (at_band % tile.cols) as u32,
            band,
            value: cells[at],
            samples: samples.name(),
        })
    }

    /// Puts the file in its place, with these remarks after those of its layout.
    ///
    /// # Errors
    /// When a tile is missing, a remark has a control character in it, or the disk fails.
    pub fn finish(self, remarks: &[(String, String)]) -> Result<CogFacts, RasterError> {
        let Self { geometry, mut layout, mut part, spool, .. } = self;
        layout.remarks.extend_from_slice(remarks);
        metadata::check_texts(&layout)?;
        let Spool { mut file, images, sizes, .. } =
            spool.into_inner().unwrap_or_else(PoisonError::into_inner);
        let image = |(tiles, [cols, rows]): (Vec<Option<StoredTile>>, [u32; 2])| {
            let tiles: Option<Vec<StoredTile>> = tiles.into_iter().collect();
            tiles.map(|tiles| Image { cols, rows, tiles })
        };
        let images: Option<Vec<Image>> = images.into_iter().zip(sizes).map(image).collect();
        let images = images.ok_or_else(|| RasterError::Unwritable {
            what: format!("raster {}", part.path().display()),
            why: "cells are missing",
        })?;
        let header = Header::new(geometry, &layout, &images);
        let written = assemble(&mut part, &header, &images, &mut file);
        written.map_err(part.failed())?;
        part.commit()?;
        Ok(CogFacts {
            bytes: header.file_bytes,
            overviews: images.len() - 1,
            is_big: header.is_big,
        })
    }
}

impl Spool {
    fn append(&mut self, tile: &[u8]) -> io::Result<StoredTile> {
        self.file.write_all(tile)?;
        let bytes = u32::try_from(tile.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let stored = StoredTile { spool_offset: self.bytes, bytes };
        self.bytes += u64::from(bytes);
        Ok(stored)
    }

    fn place(&mut self, tile: &Tile, stored: StoredTile) {
        let across = self.sizes[tile.level][0].div_ceil(TILE_SIDE);
        self.images[tile.level][(tile.row * across + tile.col) as usize] = Some(stored);
    }
}

/// The header, then all tiles, the smallest image first.
fn assemble(
    out: &mut PartFile,
    header: &Header,
    images: &[Image],
    spool: &mut PartFile,
) -> io::Result<()> {
    out.write_all(&header.bytes)?;
    let spool = spool.flushed()?;
    let mut tile = Vec::new();
    for stored in images.iter().rev().flat_map(|image| &image.tiles) {
        tile.resize(stored.bytes as usize, 0);
        spool.seek(SeekFrom::Start(stored.spool_offset))?;
        spool.read_exact(&mut tile)?;
        out.write_all(&stored.bytes.to_le_bytes())?;
        out.write_all(&tile)?;
        // Streams are longer than 4 bytes: zlib's have 2 of head and 4 of checksum, Zstandard's 9.
        out.write_all(&tile[tile.len().saturating_sub(4)..])?;
    }
    Ok(())
}
