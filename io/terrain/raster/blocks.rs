//! Posts of a raster, decoded in blocks and kept within a budget.

use std::path::Path;
use std::sync::Arc;

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use tiff_reader::{Ifd, TiffFile, TiffSample};

use super::super::heights::is_height;
use super::error::RasterError;
use super::header::{self, Header, Samples};

/// Decoded posts, row by row from the north; NaN without a height. None where they cannot be decoded.
#[derive(Debug)]
pub(super) struct Block {
    pub row: usize,
    pub column: usize,
    pub rows: usize,
    pub columns: usize,
    pub posts: Option<Vec<f32>>,
}

/// Number of a raster and of a block in it.
pub(super) type Key = (u32, u32);

/// Memory of a block.
#[derive(Debug, Clone)]
struct Size;

impl Weighter<Key, Arc<Block>> for Size {
    fn weight(&self, _: &Key, block: &Arc<Block>) -> u64 {
        64 + 4 * block.posts.as_ref().map_or(0, |posts| posts.len() as u64)
    }
}

/// Blocks of several rasters.
#[derive(Debug)]
pub(super) struct Blocks(Cache<Key, Arc<Block>, Size>);

impl Default for Blocks {
    fn default() -> Self {
        Self::within(512 << 20)
    }
}

impl Blocks {
    /// None yet; those of so many bytes are kept.
    pub fn within(budget_bytes: u64) -> Self {
        // One shard: a block of the largest size must fit into it.
        let options = OptionsBuilder::new()
            .shards(1)
            .estimated_items_capacity(1024)
            .weight_capacity(budget_bytes)
            .build()
            .expect("capacities are given");
        Self(Cache::with_options(
            options,
            Size,
            DefaultHashBuilder::default(),
            DefaultLifecycle::default(),
        ))
    }

    /// A block, made now if it is not kept.
    pub fn get(&self, key: Key, make: impl FnOnce() -> Block) -> Arc<Block> {
        let made =
            self.0.get_or_insert_with(&key, || Ok::<_, std::convert::Infallible>(Arc::new(make())));
        match made {
            Ok(block) => block,
            Err(never) => match never {},
        }
    }
}

/// The part of a raster that a block covers, without its posts.
pub(super) fn outline(header: &Header, block: u32) -> Block {
    let across = header.blocks_across();
    let (row, column) =
        (block as usize / across * header.block[0], block as usize % across * header.block[1]);
    Block {
        row,
        column,
        rows: header.block[0].min(header.grid.rows - row),
        columns: header.block[1].min(header.grid.columns - column),
        posts: None,
    }
}

/// Decodes a block.
pub(super) fn decode(path: &Path, header: &Header, number: u32) -> Result<Vec<f32>, RasterError> {
    let file = header::open(path)?;
    if Header::read(&file, path)? != *header {
        return Err(RasterError::Read {
            path: path.to_owned(),
            reason: "the file changed while it was in use".to_owned(),
        });
    }
    let block = outline(header, number);
    let fail = |reason: tiff_reader::TiffError| RasterError::Block {
        path: path.to_owned(),
        rows: [block.row, block.row + block.rows - 1],
        columns: [block.column, block.column + block.columns - 1],
        reason: reason.to_string(),
    };
    let ifd = file.ifd(0).map_err(fail)?;
    let lengths = match header.is_tiled {
        true => ifd.tile_byte_counts(),
        false => ifd.strip_byte_counts(),
    };
    // Parts of length 0 are left out: they hold no heights.
    let is_sparse = |part: usize| lengths.as_ref().is_some_and(|all| all.get(part) == Some(&0));
    let mut posts = Vec::with_capacity(block.rows * block.columns);
    if header.is_tiled {
        read_part(
            &file,
            ifd,
            header,
            [block.row, block.column, block.rows, block.columns],
            is_sparse(number as usize),
            &mut posts,
        )
        .map_err(fail)?;
        return Ok(posts);
    }
    for row in (block.row..block.row + block.rows).step_by(header.strip_rows) {
        let rows = header.strip_rows.min(block.row + block.rows - row);
        read_part(
            &file,
            ifd,
            header,
            [row, 0, rows, block.columns],
            is_sparse(row / header.strip_rows),
            &mut posts,
        )
        .map_err(fail)?;
    }
    Ok(posts)
}

fn read_part(
    file: &TiffFile,
    ifd: &Ifd,
    header: &Header,
    window: [usize; 4],
    is_sparse: bool,
    posts: &mut Vec<f32>,
) -> Result<(), tiff_reader::TiffError> {
    if is_sparse {
        posts.resize(posts.len() + window[2] * window[3], f32::NAN);
        return Ok(());
    }
    match header.samples {
        Samples::U8 => window_of::<u8>(file, ifd, header, window, posts),
        Samples::U16 => window_of::<u16>(file, ifd, header, window, posts),
        Samples::I16 => window_of::<i16>(file, ifd, header, window, posts),
        Samples::U32 => window_of::<u32>(file, ifd, header, window, posts),
        Samples::I32 => window_of::<i32>(file, ifd, header, window, posts),
        Samples::F32 => window_of::<f32>(file, ifd, header, window, posts),
        Samples::F64 => window_of::<f64>(file, ifd, header, window, posts),
    }
}

fn window_of<T: TiffSample + Into<f64> + Copy>(
    file: &TiffFile,
    ifd: &Ifd,
    header: &Header,
    [row, column, rows, columns]: [usize; 4],
    posts: &mut Vec<f32>,
) -> Result<(), tiff_reader::TiffError> {
    let samples = file.read_window_from_ifd::<T>(ifd, row, column, rows, columns)?;
    // The text of the value may have more digits than a sample.
    let is_nodata = |sample: f64| {
        let declared = header.nodata.unwrap_or(f64::NAN);
        sample == declared || (header.samples == Samples::F32 && sample as f32 == declared as f32)
    };
    posts.extend(samples.iter().map(|&sample| {
        let sample: f64 = sample.into();
        let height_m = f64::mul_add(sample, header.scale, header.offset_m);
        // Files without a declared value for missing posts have -32768 or -1e38.
        match !is_nodata(sample) && is_height(height_m) {
            true => height_m as f32,
            false => f32::NAN,
        }
    }));
    Ok(())
}
