//! Decoding of tiles: of bytes, of a stream, of a plain file in bands side by side.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::thread;

use groundwave_files::positioned::read_at;

use super::super::gather::VOID;
use super::super::heights::is_post;
use super::super::spikes::{self, Spikes};
use super::census::may_have_spike;
use super::{Census, HeightKind, Resolution, Tile, WrongSize};

/// Bands of rows that are decoded side by side: more wait for the disk.
const BANDS_MAX: usize = 8;

/// A file from a place on.
struct Section<'a> {
    file: &'a File,
    at: u64,
}

impl Read for Section<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = read_at(self.file, out, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Properties of some rows of posts.
#[derive(Default)]
struct Extremes {
    /// Greatest absolute height, m.
    greatest: u16,
    census: Census,
    /// Numbers of the rows, from the north, that may have a post that stands alone.
    rough_rows: Vec<usize>,
}

/// Fills rows of pairs with those of rows of posts, of which there is one more; posts that
/// are no heights become voids. The first row of posts has the number `first` from the north, and is
/// counted only where no band ends with it, `is_first`. `None` when the source ends before the last post.
fn decode_rows(
    source: &mut impl Read,
    resolution: Resolution,
    (first, is_first): (usize, bool),
    pairs: &mut [[i16; 2]],
) -> io::Result<Option<Extremes>> {
    let side = resolution.side();
    let mut bytes = Vec::with_capacity(2 * side);
    let (mut raw, mut raw_north, mut north) = (vec![0; side], vec![0; side], vec![0; side]);
    let Extremes { mut greatest, mut census, mut rough_rows } = Extremes::default();
    let minimum_m = spikes::minimum_m(resolution.arcsec()) as u16;
    for row in 0..=pairs.len() / side {
        bytes.clear();
        source.take(2 * side as u64).read_to_end(&mut bytes)?;
        if bytes.len() < 2 * side {
            return Ok(None);
        }
        let (posts, _) = bytes.as_chunks::<2>();
        for (raw, &post) in raw.iter_mut().zip(posts) {
            *raw = i16::from_be_bytes(post);
        }
        if row > 0 || is_first {
            census.count(first + row, &raw, (row > 0).then_some(&*raw_north));
        }
        let south = raw.iter().map(|&post| if is_post(post) { post } else { VOID });
        if row > 0 {
            let pairs = &mut pairs[(row - 1) * side..][..side];
            for ((pair, &n), s) in pairs.iter_mut().zip(&north).zip(south.clone()) {
                *pair = [n, s];
            }
        }
        north.iter_mut().zip(south).for_each(|(n, s)| *n = s);
        for &post in &north {
            let is_void = post == VOID;
            greatest = greatest.max(if is_void { 0 } else { post.unsigned_abs() });
        }
        if (row > 0 || is_first) && may_have_spike(&north, minimum_m) {
            rough_rows.push(first + row);
        }
        std::mem::swap(&mut raw, &mut raw_north);
    }
    Ok(Some(Extremes { greatest, census, rough_rows }))
}

impl Tile {
    /// Decodes a whole tile. Posts that are no heights of the Earth become voids, see [`Tile::census`].
    ///
    /// # Errors
    /// When the bytes are not exactly those of one of the two tile sizes.
    pub fn decode(bytes: &[u8]) -> Result<Self, WrongSize> {
        let found_bytes = bytes.len() as u64;
        let resolution = Resolution::from_bytes(found_bytes).ok_or(WrongSize { found_bytes })?;
        let decoded = Self::decode_from(&mut &bytes[..], resolution);
        Ok(decoded.ok().flatten().expect("all posts are there"))
    }

    /// Decodes the posts of a tile as they are read, without a copy of the file; `None` when the source
    /// ends before the last one. What comes after it is not read.
    ///
    /// # Errors
    /// Those of the source.
    pub fn decode_from(source: &mut impl Read, resolution: Resolution) -> io::Result<Option<Self>> {
        let side = resolution.side();
        let mut pairs = vec![[0; 2]; side * (side - 1)];
        let extremes = decode_rows(source, resolution, (0, true), &mut pairs)?;
        let rows = resolution.rows();
        Ok(extremes.map(|extremes| Self::new(resolution, rows, pairs, extremes)))
    }

    /// Some rows of a plain file, whose bands are decoded side by side; nothing else is read, and no
    /// memory is taken for it.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn decode_file(
        file: &File,
        resolution: Resolution,
        rows: Range<usize>,
    ) -> io::Result<Option<Self>> {
        let side = resolution.side();
        // Zeros take no memory until they are written.
        let mut pairs = vec![[0; 2]; side * (side - 1)];
        let bands = rayon::current_num_threads().min(BANDS_MAX);
        let height = rows.len().div_ceil(bands).max(1);
        let decode = |(first, band): (usize, &mut [[i16; 2]])| {
            let at = (2 * side * first) as u64;
            let mut source = BufReader::with_capacity(1 << 16, Section { file, at });
            decode_rows(&mut source, resolution, (first, first == rows.start), band)
        };
        // No jobs of a pool: while one waits for others it may take one that waits for this tile.
        let bands = thread::scope(|scope| {
            let strip = &mut pairs[rows.start * side..rows.end * side];
            let bands = (rows.start..).step_by(height).zip(strip.chunks_mut(height * side));
            let bands: Vec<_> = bands.map(|band| scope.spawn(move || decode(band))).collect();
            let extremes = bands
                .into_iter()
                .map(|band| band.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            extremes.collect::<io::Result<Option<Vec<Extremes>>>>()
        });
        let join = |mut all: Extremes, band: Extremes| {
            all.greatest = all.greatest.max(band.greatest);
            all.census += band.census;
            all.rough_rows.extend(band.rough_rows);
            all
        };
        let extremes = bands?.map(|bands| bands.into_iter().fold(Extremes::default(), join));
        Ok(extremes.map(|extremes| Self::new(resolution, rows, pairs, extremes)))
    }

    fn new(
        resolution: Resolution,
        rows: Range<usize>,
        pairs: Vec<[i16; 2]>,
        Extremes { greatest, census, rough_rows }: Extremes,
    ) -> Self {
        let mut tile = Self {
            resolution,
            own_edges: resolution.held_by(&rows),
            rows,
            has_voids: census.voids + census.outside > 0,
            census,
            greatest_m: f64::from(greatest),
            kind: HeightKind::SRTM,
            pairs,
        };
        tile.count_spikes(&rough_rows);
        tile
    }

    /// Counts the posts of some rows that stand alone; not of those beside rows that were not decoded.
    fn count_spikes(&mut self, rough_rows: &[usize]) {
        let side = self.resolution.side();
        let minimum_m = spikes::minimum_m(self.resolution.arcsec());
        let [north, south] = [self.rows.start, self.rows.end];
        let mut count = Spikes::default();
        for &row in rough_rows {
            let is_whole = (row > north || row == 0) && (row < south || row == side - 1);
            for column in (0..side).filter(|_| is_whole) {
                let height_m = |[row, column]: [usize; 2]| self.post_m(row, column).map(f64::from);
                count.judge(minimum_m, [row, column], height_m);
            }
        }
        self.census.spikes = count;
    }
}
