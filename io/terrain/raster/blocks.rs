//! Posts of a raster, decoded in blocks and kept within a budget.

use std::ops::AddAssign;
use std::path::Path;
use std::sync::Arc;

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use tiff_reader::{TiffError, TiffFile, TiffSample};

use super::super::heights::{VOIDS, is_height};
use super::super::spikes::{Spikes, minimum_m};
use super::contents::Contents;
use super::error::RasterError;
use super::header::{Header, Samples};

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
        let block =
            self.0.get_or_insert_with(&key, || Ok::<_, std::convert::Infallible>(Arc::new(make())));
        match block {
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

/// Posts of a block, row by row from the north; NaN without a height.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    pub posts: Vec<f32>,
    pub filtered: Filtered,
}

/// Decodes a block.
pub(super) fn decode(
    file: &TiffFile,
    path: &Path,
    header: &Header,
    number: u32,
    contents: Contents,
) -> Result<Decoded, RasterError> {
    if Header::read(file, path)? != *header {
        return Err(RasterError::Read {
            path: path.to_owned(),
            reason: "the file changed while it was in use".to_owned(),
        });
    }
    let block = outline(header, number);
    let decoded = decode_window(file, path, header, &block, number);
    let mut decoded = decoded.map_err(|reason| RasterError::Block {
        path: path.to_owned(),
        rows: [block.row, block.row + block.rows - 1],
        columns: [block.column, block.column + block.columns - 1],
        reason: reason.to_string(),
    })?;
    decoded.filtered.posts = decoded.posts.len();
    let unknown = decoded.posts.iter().filter(|post| post.is_nan()).count();
    let Filtered { customary, outside, .. } = decoded.filtered;
    decoded.filtered.voids = unknown - customary - outside;
    if contents == Contents::Ground {
        decoded.filtered.spikes = spikes(header, &block, &decoded.posts);
    }
    Ok(decoded)
}

fn decode_window(
    file: &TiffFile,
    path: &Path,
    header: &Header,
    block: &Block,
    number: u32,
) -> Result<Decoded, TiffError> {
    let ifd = file.ifd(0)?;
    // A tile is one part; a block of strips has several, of which the last may be shorter.
    let (lengths, first, part_rows) = match header.is_tiled {
        true => (ifd.tile_byte_counts(), number as usize, block.rows),
        false => (ifd.strip_byte_counts(), block.row / header.strip_rows, header.strip_rows),
    };
    // Parts of length 0 are left out: they hold no heights.
    let is_sparse = |part: usize| lengths.as_ref().is_some_and(|all| all.get(part) == Some(&0));
    let mut decoded = Decoded::default();
    decoded.posts.reserve(block.rows * block.columns);
    let end = block.row + block.rows;
    for (part, row) in (block.row..end).step_by(part_rows).enumerate() {
        let rows = part_rows.min(end - row);
        if is_sparse(first + part) {
            decoded.posts.resize(decoded.posts.len() + rows * block.columns, f32::NAN);
            continue;
        }
        let window = [row, block.column, rows, block.columns];
        let mask = header.mask.window(file, path, window)?;
        read_part(file, header, window, mask.as_deref(), &mut decoded)?;
    }
    Ok(decoded)
}

/// Counts of the posts of a block, or of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in super::super) struct Filtered {
    /// Posts in all.
    pub posts: usize,
    /// Posts without a height that the file declares so.
    pub voids: usize,
    /// Posts of a value that means a void by custom, though the file does not declare it: -9999, -32768,
    /// -32767, 32767.
    pub customary: usize,
    /// Posts outside the heights of the Earth, which count as voids too.
    pub outside: usize,
    /// Posts that stand alone.
    pub spikes: Spikes,
}

impl AddAssign for Filtered {
    fn add_assign(&mut self, other: Self) {
        self.posts += other.posts;
        self.voids += other.voids;
        self.customary += other.customary;
        self.outside += other.outside;
        self.spikes += other.spikes;
    }
}

/// Counts the posts of a block that stand alone; those around it are not known.
fn spikes(header: &Header, block: &Block, posts: &[f32]) -> Spikes {
    let minimum_m = minimum_m(header.grid.resolution_arcsec());
    let height_m = |[row, column]: [usize; 2]| {
        let [row, column] = [row.checked_sub(block.row)?, column.checked_sub(block.column)?];
        let is_inside = row < block.rows && column < block.columns;
        let height_m = is_inside.then(|| posts.get(row * block.columns + column)).flatten()?;
        (!height_m.is_nan()).then_some(f64::from(*height_m))
    };
    let mut spikes = Spikes::default();
    for (row, heights_m) in posts.chunks(block.columns.max(1)).enumerate() {
        // Few posts differ as much from the one west of them: the others need no look at all eight.
        let differs = |one: f32, other: f32| {
            let difference_m = f64::from((one - other).abs());
            difference_m.is_nan() || difference_m > minimum_m
        };
        let is_rough = heights_m.array_windows().any(|[west, east]| differs(*west, *east));
        for column in (0..heights_m.len()).filter(|_| is_rough) {
            spikes.judge(minimum_m, [block.row + row, block.column + column], height_m);
        }
    }
    spikes
}

fn read_part(
    file: &TiffFile,
    header: &Header,
    window: [usize; 4],
    mask: Option<&[u8]>,
    decoded: &mut Decoded,
) -> Result<(), TiffError> {
    match header.samples {
        Samples::U8 => window_of::<u8>(file, header, window, mask, decoded),
        Samples::I8 => window_of::<i8>(file, header, window, mask, decoded),
        Samples::U16 => window_of::<u16>(file, header, window, mask, decoded),
        Samples::I16 => window_of::<i16>(file, header, window, mask, decoded),
        Samples::U32 => window_of::<u32>(file, header, window, mask, decoded),
        Samples::I32 => window_of::<i32>(file, header, window, mask, decoded),
        Samples::F32 => window_of::<f32>(file, header, window, mask, decoded),
        Samples::F64 => window_of::<f64>(file, header, window, mask, decoded),
    }
}

/// Values that mean a post without a height where a file declares none: those of whole metres, and -9999
/// of many tools. Exactly this deep, the sea bed lies at a few posts of trenches.
fn is_customary_void(sample: f64) -> bool {
    VOIDS.iter().any(|void| sample == f64::from(*void))
}

fn window_of<T: TiffSample + Into<f64> + Copy>(
    file: &TiffFile,
    header: &Header,
    [row, column, rows, columns]: [usize; 4],
    mask: Option<&[u8]>,
    decoded: &mut Decoded,
) -> Result<(), TiffError> {
    let samples =
        file.read_band_window_from_ifd::<T>(file.ifd(0)?, 0, row, column, rows, columns)?;
    // The text of the value may have more digits than a sample.
    let is_nodata = |sample: f64| {
        let declared = header.nodata.unwrap_or(f64::NAN);
        sample == declared || (header.samples == Samples::F32 && sample as f32 == declared as f32)
    };
    let Decoded { posts, filtered } = decoded;
    posts.extend(samples.iter().enumerate().map(|(index, &sample)| {
        let sample: f64 = sample.into();
        let is_masked = mask.is_some_and(|mask| mask.get(index) == Some(&0));
        if is_masked || is_nodata(sample) || sample.is_nan() {
            return f32::NAN;
        }
        let height_m = sample * header.scale + header.offset_m;
        if is_customary_void(sample) {
            filtered.customary += 1;
            f32::NAN
        } else if !is_height(height_m) {
            filtered.outside += 1;
            f32::NAN
        } else {
            height_m as f32
        }
    }));
    Ok(())
}
