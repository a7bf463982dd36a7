//! Reading one tile from its file, plain or packed.
//!
//! A packed file may claim or hold anything, so decoding stops one byte past the largest tile.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use groundwave_model::terrain::TileId;
use thiserror::Error;
use zip::ZipArchive;
use zip::result::ZipError;

use super::hgt::{Resolution, Tile, WrongSize};
use super::name::{self, Packing};

/// Reasons for refusing a tile file.
#[derive(Debug, Clone, Error)]
pub enum HgtError {
    /// The file cannot be opened or read, or its compressed data is damaged or cut short.
    #[error("terrain tile {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Error of the operating system or the decoder.
        source: Arc<io::Error>,
    },
    /// The posts are not one of the two squares.
    #[error("terrain tile {}: {source}", path.display())]
    Size {
        /// The file.
        path: PathBuf,
        /// Found and allowed sizes.
        source: WrongSize,
    },
    /// The data unpacks to more than the largest tile; the rest was not unpacked.
    #[error(
        "terrain tile {}: unpacks to more than {} bytes, the largest tile",
        path.display(),
        Resolution::MAX_BYTES
    )]
    TooLong {
        /// The file.
        path: PathBuf,
    },
    /// The file is not the one that was decoded before; heights of both would be mixed.
    #[error("terrain tile {}: the file changed while it was in use", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The octets of the posts are in the wrong order; the heights would be those of no ground.
    #[error(
        "terrain tile {}: its octets are in the wrong order: neighbours differ by {as_read_m:.0} m on average, \
         by {swapped_m:.0} m with swapped octets; allowed: the higher octet first (`dd conv=swab` swaps them)",
        path.display()
    )]
    Octets {
        /// The file.
        path: PathBuf,
        /// Mean difference between neighbours in the order of the file, m.
        as_read_m: f64,
        /// The same in the other order, m.
        swapped_m: f64,
    },
    /// The zip archive is damaged or uses what is not supported here.
    #[error("terrain tile {}: {reason} (allowed are stored or deflated, unencrypted entries)", path.display())]
    Archive {
        /// The file.
        path: PathBuf,
        /// Format error.
        reason: String,
    },
    /// The zip archive does not hold exactly one file of this tile.
    #[error(
        "terrain tile {}: invalid archive: found {found} entries named {expected}.hgt, allowed 1",
        path.display()
    )]
    Entries {
        /// The file.
        path: PathBuf,
        /// The tile the archive is named after.
        expected: TileId,
        /// Entries of that name.
        found: usize,
    },
}

/// Reads the tile `id` from the file at `path`; of a plain file only the rows between two fractions of
/// the way from the southern to the northern edge, where they are given.
pub(super) fn read_tile(
    path: &Path,
    id: TileId,
    packing: Packing,
    latitudes: Option<[f64; 2]>,
) -> Result<Tile, HgtError> {
    let claimed = probe(path, id, packing).unwrap_or(Resolution::ThreeArcSeconds);
    match read_as(path, id, packing, claimed, latitudes) {
        // Packed data of several parts claims the size of its last one.
        Err(HgtError::Size { source, path }) => match Resolution::from_bytes(source.found_bytes) {
            Some(actual) => read_as(&path, id, packing, actual, latitudes),
            None => Err(HgtError::Size { source, path }),
        },
        read => read,
    }
}

fn read_as(
    path: &Path,
    id: TileId,
    packing: Packing,
    resolution: Resolution,
    latitudes: Option<[f64; 2]>,
) -> Result<Tile, HgtError> {
    let tile = unpack(path, id, packing, resolution, latitudes)?;
    if !tile.is_swapped() {
        return Ok(tile);
    }
    let [as_read_m, swapped_m] = tile.census().mean_jumps_m();
    Err(HgtError::Octets { path: path.to_owned(), as_read_m, swapped_m })
}

fn unpack(
    path: &Path,
    id: TileId,
    packing: Packing,
    resolution: Resolution,
    latitudes: Option<[f64; 2]>,
) -> Result<Tile, HgtError> {
    let file = open(path)?;
    match packing {
        Packing::Plain => take_file(&file, path, resolution, latitudes),
        Packing::Gzip => {
            let file = io::BufReader::new(file);
            take_tile(MultiGzDecoder::new(file), path, resolution)
        }
        Packing::Zip => {
            let (mut archive, index) = find_entry(file, path, id)?;
            let entry = archive.by_index(index).map_err(|error| bad_archive(path, &error))?;
            take_tile(entry, path, resolution)
        }
    }
}

/// The resolution a file claims, without decoding it; `None` when it claims neither. Used to
/// choose between two files of one tile.
pub(super) fn probe(path: &Path, id: TileId, packing: Packing) -> Option<Resolution> {
    let mut file = open(path).ok()?;
    let bytes = match packing {
        Packing::Plain => file.metadata().ok()?.len(),
        Packing::Zip => {
            let (mut archive, index) = find_entry(file, path, id).ok()?;
            archive.by_index_raw(index).ok()?.size()
        }
        // RFC 1952: the last four bytes are the unpacked size modulo 2^32.
        Packing::Gzip => {
            let mut size = [0; 4];
            file.seek(SeekFrom::End(-4)).ok()?;
            file.read_exact(&mut size).ok()?;
            u64::from(u32::from_le_bytes(size))
        }
    };
    Resolution::from_bytes(bytes)
}

fn open(path: &Path) -> Result<File, HgtError> {
    File::open(path).map_err(|error| unreadable(path, error))
}

/// The tile that a plain file contains from its first to its last byte, or some of its rows.
fn take_file(
    file: &File,
    path: &Path,
    resolution: Resolution,
    latitudes: Option<[f64; 2]>,
) -> Result<Tile, HgtError> {
    let unreadable = |error| unreadable(path, error);
    let found_bytes = file.metadata().map_err(unreadable)?.len();
    let tile = if found_bytes == resolution.bytes() {
        let around = |latitudes| resolution.rows_around(latitudes);
        let rows = latitudes.map_or_else(|| resolution.rows(), around);
        Tile::decode_file(file, resolution, rows).map_err(unreadable)?
    } else {
        None
    };
    tile.ok_or_else(|| wrong_size(path, found_bytes))
}

/// The tile that a source contains from its first to its last byte.
fn take_tile(source: impl Read, path: &Path, resolution: Resolution) -> Result<Tile, HgtError> {
    const MORE: u64 = Resolution::MAX_BYTES + 1;
    let mut source = io::BufReader::with_capacity(1 << 16, source.take(MORE));
    let unreadable = |error| unreadable(path, error);
    let tile = Tile::decode_from(&mut source, resolution).map_err(unreadable)?;
    // The end of packed data confirms that all of it was intact.
    io::copy(&mut source, &mut io::sink()).map_err(unreadable)?;
    let found_bytes = MORE - source.get_ref().limit();
    tile.filter(|_| found_bytes == resolution.bytes()).ok_or_else(|| wrong_size(path, found_bytes))
}

fn wrong_size(path: &Path, found_bytes: u64) -> HgtError {
    let path = path.to_owned();
    if found_bytes > Resolution::MAX_BYTES {
        HgtError::TooLong { path }
    } else {
        HgtError::Size { path, source: WrongSize { found_bytes } }
    }
}

/// The one entry that is called after the tile, whatever folder of the archive it lies in. An
/// archive renamed to another tile would put mountains in the wrong place, so it is refused.
fn find_entry(
    file: File,
    path: &Path,
    id: TileId,
) -> Result<(ZipArchive<io::BufReader<File>>, usize), HgtError> {
    let archive =
        ZipArchive::new(io::BufReader::new(file)).map_err(|error| bad_archive(path, &error))?;
    let is_tile = |entry: &str| {
        let base = entry.rsplit(['/', '\\']).next().unwrap_or(entry);
        matches!(name::parse(base), Some(Ok((tile, Packing::Plain))) if tile == id)
    };
    let mut entries =
        (0..archive.len()).filter(|&i| archive.name_for_index(i).is_some_and(is_tile));
    let (first, others) = (entries.next(), entries.count());
    match first {
        Some(index) if others == 0 => Ok((archive, index)),
        _ => Err(HgtError::Entries {
            path: path.to_owned(),
            expected: id,
            found: usize::from(first.is_some()) + others,
        }),
    }
}

fn unreadable(path: &Path, error: io::Error) -> HgtError {
    HgtError::Read { path: path.to_owned(), source: Arc::new(error) }
}

fn bad_archive(path: &Path, error: &ZipError) -> HgtError {
    HgtError::Archive { path: path.to_owned(), reason: error.to_string() }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
