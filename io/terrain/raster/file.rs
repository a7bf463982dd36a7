//! One GeoTIFF file of heights.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use groundwave_files::hex::hex;
use groundwave_model::terrain::{Ground, HeightKind, VerticalDatum};
use sha2::{Digest, Sha256};
use tiff_reader::TiffFile;

use super::super::about::{ABOUT_FILE, About};
use super::super::heights::{HIGHEST_M, LOWEST_M};
use super::super::sea::{DOUBTFUL_M, surface_m};
use super::super::spikes::minimum_m;
use super::blocks::{self, Block, Filtered};
use super::contents::Contents;
use super::error::RasterError;
use super::grid::turned;
use super::header::Header;
use super::open::{RemoteFile, open, open_source};

/// Spacing of posts of 5 m, arc-seconds, with room for rounded figures.
const FINE_POSTS_ARCSEC: f64 = 0.17;

/// GeoTIFF file of heights or land cover.
#[derive(Debug)]
pub(in super::super) struct Raster {
    /// The file, or its address.
    pub path: PathBuf,
    /// Bytes of a file at an address; none of one on this machine.
    pub remote: Option<Arc<dyn RemoteFile>>,
    /// Name that results show and replays compare.
    pub name: String,
    pub(super) header: Header,
    pub resolution_arcsec: f64,
    /// Number of the data set it belongs to.
    pub source: usize,
    pub kind: HeightKind,
    contents: Contents,
    /// True if the heights at sea are those of its bed.
    sea_bed: bool,
    pub is_used: AtomicBool,
    /// Once a post counted as void though the file does not declare it so.
    is_filtered: AtomicBool,
    /// Once a post stood alone.
    has_spike: AtomicBool,
    /// Once a post was as deep as the sea bed.
    is_deep: AtomicBool,
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
        about: &About,
        contents: Contents,
    ) -> Result<Self, RasterError> {
        Self::with(path, None, name, source, about, contents)
    }

    /// Reads the header of a file at an address; no posts yet.
    ///
    /// # Errors
    /// When it is not a GeoTIFF of land cover, or its bytes cannot be received.
    pub fn open_remote(
        remote: Arc<dyn RemoteFile>,
        name: String,
        about: &About,
        contents: Contents,
    ) -> Result<Self, RasterError> {
        Self::with(PathBuf::from(remote.url()), Some(remote), name, 0, about, contents)
    }

    fn with(
        path: PathBuf,
        remote: Option<Arc<dyn RemoteFile>>,
        name: String,
        source: usize,
        about: &About,
        contents: Contents,
    ) -> Result<Self, RasterError> {
        let header = Header::read(&file_of(&path, remote.as_ref())?, &path)?;
        let (stated, kind) = (header.datum, about.kind());
        Ok(Self {
            resolution_arcsec: header.grid.resolution_arcsec(),
            kind: HeightKind {
                datum: if stated == VerticalDatum::Unknown { kind.datum } else { stated },
                ..kind
            },
            contents,
            sea_bed: about.sea_bed,
            path,
            remote,
            name,
            header,
            source,
            is_used: AtomicBool::new(false),
            is_filtered: AtomicBool::new(false),
            has_spike: AtomicBool::new(false),
            is_deep: AtomicBool::new(false),
            fault: OnceLock::new(),
            digest: OnceLock::new(),
        })
    }

    /// Number of the block that holds a post.
    pub(super) fn block_of(&self, row: usize, column: usize) -> u32 {
        let [rows, columns] = self.header.block;
        (row / rows * self.header.blocks_across() + column / columns) as u32
    }

    fn decoded(&self, block: u32) -> Result<blocks::Decoded, RasterError> {
        let file = file_of(&self.path, self.remote.as_ref())?;
        blocks::decode(&file, &self.path, &self.header, block, self.contents)
    }

    /// Decodes a block; notes a fault.
    pub(super) fn decode(&self, block: u32) -> Block {
        let mut outline = blocks::outline(&self.header, block);
        match self.decoded(block) {
            Ok(decoded) if self.contents == Contents::Cover => outline.posts = Some(decoded.posts),
            Ok(mut decoded) => {
                self.warn_of("a block", &decoded.filtered);
                self.cover(&outline, &mut decoded.posts);
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

    /// Gives water its surface in a source with the sea bed; else warns once of posts as deep.
    fn cover(&self, block: &Block, posts: &mut [f32]) {
        let grid = &self.header.grid;
        for (at, post) in posts.iter_mut().enumerate().filter(|(_, post)| **post < 0.0) {
            let (row, column) = (block.row + at / block.columns, block.column + at % block.columns);
            if !self.sea_bed && *post >= f32::from(DOUBTFUL_M) {
                continue;
            }
            let [lat_deg, lon_deg] = grid.position(row as f64, column as f64);
            let surface_m = surface_m(f64::from(*post), lat_deg, lon_deg) as f32;
            if self.sea_bed {
                *post = surface_m;
            } else if surface_m != *post && !self.is_deep.swap(true, Ordering::Relaxed) {
                tracing::warn!(
                    path = %self.path.display(),
                    "posts are below {DOUBTFUL_M} m; where they are the sea bed, say `sea_bed = true` in \
                     {ABOUT_FILE}, so that water counts as ground at 0 m"
                );
            }
        }
    }

    /// Text about the posts that count as voids though the file does not declare them so, if there is one.
    fn voids_text(filtered: &Filtered) -> Option<String> {
        let Filtered { posts, customary, outside, .. } = filtered;
        (customary + outside > 0).then(|| {
            format!(
                "{customary} of {posts} posts are -9999, -32768, -32767 or 32767, {outside} are outside \
                 {LOWEST_M} to {HIGHEST_M} m; they count as voids; declare them by `gdal_edit.py -a_nodata`"
            )
        })
    }

    /// Text about the posts that stand alone, if there is one.
    fn spikes_text(&self, Filtered { posts, spikes, .. }: &Filtered) -> Option<String> {
        let position = |[row, column]: [usize; 2]| {
            let [lat_deg, lon_deg] = self.header.grid.position(row as f64, column as f64);
            [lat_deg, turned(lon_deg)]
        };
        spikes.text(*posts as u64, minimum_m(self.resolution_arcsec), position)
    }

    /// Doubts about posts, for a message.
    pub fn doubt(&self, counts: &Filtered) -> Option<String> {
        let texts = [Self::voids_text(counts), self.spikes_text(counts)];
        texts.into_iter().flatten().reduce(|first, second| format!("{first}; {second}"))
    }

    /// Warns once of each kind of doubt about the posts of a file or a block.
    fn warn_of(&self, part: &str, counts: &Filtered) {
        let texts = [
            (Self::voids_text(counts), &self.is_filtered),
            (self.spikes_text(counts), &self.has_spike),
        ];
        for (text, is_logged) in texts {
            if let Some(text) = text.filter(|_| !is_logged.swap(true, Ordering::Relaxed)) {
                tracing::warn!("terrain file {}: {part}: {text}", self.path.display());
            }
        }
    }

    /// Decodes all blocks, keeping none.
    ///
    /// # Errors
    /// The first that cannot be decoded.
    pub fn counts(&self) -> Result<Filtered, RasterError> {
        let down = self.header.grid.rows.div_ceil(self.header.block[0]);
        let all = down * self.header.blocks_across();
        let mut counts = Filtered::default();
        for block in 0..all {
            counts += self.decoded(block as u32)?.filtered;
        }
        Ok(counts)
    }

    /// Decodes all blocks, keeping none, of a file on this machine; doubts about their posts are logged once.
    ///
    /// # Errors
    /// The first that cannot be decoded.
    pub fn check(&self) -> Result<(), RasterError> {
        // A file at an address may be a continent.
        if self.remote.is_some() {
            return Ok(());
        }
        let counts = self.counts()?;
        if self.contents == Contents::Ground {
            self.warn_of("all of it", &counts);
        }
        Ok(())
    }

    /// Edges of the outermost posts: south, west, north, east, deg.
    pub fn bounds_deg(&self) -> [f64; 4] {
        let grid = &self.header.grid;
        let [south, west, north, east] = grid.bounds_deg();
        let (down, across) = (grid.rows as f64 + 1.0, grid.columns as f64 + 1.0);
        let (row, column) = ((north - south) / down, (east - west) / across);
        [south + row, west + column, north - row, east - column]
    }

    /// True for posts of 5 m or finer that are not stated to be those of bare earth: walls and roofs stand in
    /// them.
    pub fn is_fine_surface(&self) -> bool {
        self.resolution_arcsec <= FINE_POSTS_ARCSEC && self.kind.ground != Ground::BareEarth
    }

    /// The first fault that was found.
    pub fn fault(&self) -> Option<&RasterError> {
        self.fault.get()
    }

    /// True once it supplied a sample.
    pub fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Relaxed)
    }

    /// SHA-256 digest of the file, of what names its version where it is at an address; of nothing where it cannot be read any more.
    pub fn digest(&self) -> &str {
        self.digest.get_or_init(|| match &self.remote {
            Some(remote) => remote.digest(),
            None => file_digest(&self.path).unwrap_or_default(),
        })
    }
}

/// A file, or the one at an address.
fn file_of(path: &Path, remote: Option<&Arc<dyn RemoteFile>>) -> Result<TiffFile, RasterError> {
    match remote {
        Some(remote) => open_source(remote.clone(), path),
        None => open(path),
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
