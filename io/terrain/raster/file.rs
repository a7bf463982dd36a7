//! One GeoTIFF file of heights.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use groundwave_files::hex::hex;
use groundwave_model::terrain::{HeightKind, VerticalDatum};
use sha2::{Digest, Sha256};

use super::super::heights::{HIGHEST_M, LOWEST_M};
use super::blocks::{self, Block, Filtered};
use super::error::RasterError;
use super::header::Header;
use super::open::open;

/// GeoTIFF file of heights.
#[derive(Debug)]
pub(in super::super) struct Raster {
    pub path: PathBuf,
    /// Name that results show and replays compare.
    pub name: String,
    pub(super) header: Header,
    pub resolution_arcsec: f64,
    /// Number of the data set it belongs to.
    pub source: usize,
    pub kind: HeightKind,
    pub is_used: AtomicBool,
    /// Once a post counted as void though the file does not declare it so.
    is_filtered: AtomicBool,
    fault: OnceLock<RasterError>,
    digest: OnceLock<String>,
}

impl Raster {
    /// Reads the header of a file; no posts yet.
    ///
    /// # Errors
    /// When it is no GeoTIFF of heights.
    pub fn open(
        path: PathBuf,
        name: String,
        source: usize,
        kind: HeightKind,
    ) -> Result<Self, RasterError> {
        let header = Header::read(&open(&path)?, &path)?;
        let stated = header.datum;
        Ok(Self {
            resolution_arcsec: header.grid.resolution_arcsec(),
            kind: HeightKind {
                datum: if stated == VerticalDatum::Unknown { kind.datum } else { stated },
                ..kind
            },
            path,
            name,
            header,
            source,
            is_used: AtomicBool::new(false),
            is_filtered: AtomicBool::new(false),
            fault: OnceLock::new(),
            digest: OnceLock::new(),
        })
    }

    /// Number of the block that holds a post.
    pub(super) fn block_of(&self, row: usize, column: usize) -> u32 {
        let [rows, columns] = self.header.block;
        (row / rows * self.header.blocks_across() + column / columns) as u32
    }

    /// Decodes a block; notes a fault.
    pub(super) fn decode(&self, block: u32) -> Block {
        let mut outline = blocks::outline(&self.header, block);
        match blocks::decode(&self.path, &self.header, block) {
            Ok(decoded) => {
                self.warn_of(decoded.filtered);
                outline.posts = Some(decoded.posts);
            }
            Err(error) => {
                if self.fault.set(error.clone()).is_ok() {
                    tracing::warn!(target: super::super::FAULT_TARGET, %error, "terrain posts count as missing");
                }
            }
        }
        outline
    }

    /// Warns once of posts that count as voids though the file does not declare them so.
    fn warn_of(&self, filtered: Filtered) {
        if filtered.any() && !self.is_filtered.swap(true, Ordering::Relaxed) {
            let Filtered { customary, outside } = filtered;
            tracing::warn!(
                target: super::super::FAULT_TARGET,
                path = %self.path.display(),
                "posts of a block count as voids: {customary} are -9999, -32768, -32767 or 32767, \
                 {outside} are outside {LOWEST_M} to {HIGHEST_M} m; declare them by \
                 `gdal_edit.py -a_nodata`"
            );
        }
    }

    /// Decodes all blocks, keeping none.
    ///
    /// # Errors
    /// The first that cannot be decoded.
    pub fn check(&self) -> Result<(), RasterError> {
        let down = self.header.grid.rows.div_ceil(self.header.block[0]);
        let all = down * self.header.blocks_across();
        (0..all)
            .try_for_each(|block| blocks::decode(&self.path, &self.header, block as u32).map(drop))
    }

    /// Edges of the outermost posts: south, west, north, east, deg.
    pub fn bounds_deg(&self) -> [f64; 4] {
        let grid = &self.header.grid;
        let [south, west, north, east] = grid.bounds_deg();
        let (down, across) = (grid.rows as f64 + 1.0, grid.columns as f64 + 1.0);
        let (row, column) = ((north - south) / down, (east - west) / across);
        [south + row, west + column, north - row, east - column]
    }

    /// The first fault that was found.
    pub fn fault(&self) -> Option<&RasterError> {
        self.fault.get()
    }

    /// True once it supplied a sample.
    pub fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Relaxed)
    }

    /// SHA-256 digest of the file; of nothing where it cannot be read any more.
    pub fn digest(&self) -> &str {
        self.digest.get_or_init(|| file_digest(&self.path).unwrap_or_default())
    }
}

/// SHA-256 digest of a file, in hexadecimal digits.
///
/// # Errors
/// When it cannot be read.
pub(in super::super) fn file_digest(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut digest = Sha256::new();
    let mut chunk = vec![0; 1 << 16];
    loop {
        match io::Read::read(&mut file, &mut chunk)? {
            0 => return Ok(hex(&digest.finalize())),
            read => digest.update(&chunk[..read]),
        }
    }
}
