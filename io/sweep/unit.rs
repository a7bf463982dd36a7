//! Units of work: one tile of one variant, all sites in it, as one file named by its contents'
//! inputs.
//!
//! A unit's name is a digest of everything its contents depend on, so a finished unit is right by
//! its name and is never computed again, by whichever process, after whatever crash. It appears
//! under that name by rename, whole or not at all; a trailing digest catches a disk that lied.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use sha2::{Digest, Sha256};

/// First bytes of a unit file; the digits are the format.
const MAGIC: &[u8; 8] = b"GWUNIT02";

/// What a cell of one site is, as bits.
pub mod flag {
    /// Outside the site's radius: no other field counts.
    pub const OUTSIDE: u8 = 1;
    /// The ground under the cell is not known: no other field counts.
    pub const NO_DATA: u8 = 2;
    /// The path crosses ground that is not known.
    pub const PATH_UNKNOWN: u8 = 4;
    /// Line of sight.
    pub const LINE_OF_SIGHT: u8 = 8;
}

/// One site in one tile; vectors in row-major order of the tile's cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SiteTile {
    /// Which site of the plan.
    pub site: u16,
    /// Received power, dBm: the value of the `link` command, rounded to `f32`.
    pub rx_power_dbm: Vec<f32>,
    /// Received power exceeded at 90 % of times and places, dBm.
    pub p10_dbm: Vec<f32>,
    /// Received power exceeded at 10 % of times and places, dBm.
    pub p90_dbm: Vec<f32>,
    /// Link margin, dB.
    pub margin_db: Vec<f32>,
    /// Bits of [`flag`].
    pub flags: Vec<u8>,
}

impl SiteTile {
    /// The margin of a cell where the site has an answer.
    #[must_use]
    pub fn answer(&self, cell: usize) -> Option<f32> {
        (self.flags[cell] & (flag::OUTSIDE | flag::NO_DATA) == 0).then(|| self.margin_db[cell])
    }
}

/// Where the unit called `digest` lies in `folder`.
#[must_use]
pub fn path(folder: &Path, digest: &str) -> PathBuf {
    // Two levels, because some file systems are slow with a hundred thousand names in a folder.
    folder.join(&digest[..2]).join(format!("{digest}.unit"))
}

/// Writes a unit, whole or not at all.
///
/// # Errors
/// When the disk does not take it.
pub fn write(path: &Path, sites: &[SiteTile]) -> io::Result<()> {
    let folder = path.parent().expect("a unit lies in a folder");
    fs::create_dir_all(folder)?;
    let mut bytes = MAGIC.to_vec();
    let mut out = DeflateEncoder::new(&mut bytes, Compression::fast());
    let count = u32::try_from(sites.len()).map_err(io::Error::other)?;
    out.write_all(&count.to_le_bytes())?;
    for site in sites {
        let cells = u32::try_from(site.flags.len()).map_err(io::Error::other)?;
        out.write_all(&site.site.to_le_bytes())?;
        out.write_all(&cells.to_le_bytes())?;
        for layer in [
            &site.rx_power_dbm,
            &site.p10_dbm,
            &site.p90_dbm,
            &site.margin_db,
        ] {
            assert_eq!(layer.len(), site.flags.len(), "layers have one length");
            let layer: Vec<u8> = layer.iter().flat_map(|value| value.to_le_bytes()).collect();
            out.write_all(&layer)?;
        }
        out.write_all(&site.flags)?;
    }
    out.finish()?;
    let digest = Sha256::digest(&bytes);
    bytes.extend_from_slice(&digest);
    crate::raster::write_whole(path, &bytes).map_err(io::Error::other)
}

/// Reads a unit; `None` when there is none, or what lies there is not whole: it must be computed.
///
/// # Errors
/// When the disk fails otherwise.
pub fn read(path: &Path) -> io::Result<Option<Vec<SiteTile>>> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(err) => return Err(err),
    };
    Ok(decode(&bytes))
}

/// Whether a whole unit lies at `path`.
///
/// # Errors
/// When the disk fails.
pub fn exists(path: &Path) -> io::Result<bool> {
    match fs::read(path) {
        Ok(bytes) => Ok(payload(&bytes).is_some()),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(err) => Err(err),
    }
}

fn payload(bytes: &[u8]) -> Option<&[u8]> {
    let (body, digest) = bytes.split_at_checked(bytes.len().checked_sub(32)?)?;
    (Sha256::digest(body).as_slice() == digest).then_some(())?;
    body.strip_prefix(MAGIC)
}

fn decode(bytes: &[u8]) -> Option<Vec<SiteTile>> {
    let mut raw = Vec::new();
    DeflateDecoder::new(payload(bytes)?)
        .read_to_end(&mut raw)
        .ok()?;
    let mut rest = raw.as_slice();
    let mut take = |count: usize| -> Option<&[u8]> {
        let (head, tail) = rest.split_at_checked(count)?;
        rest = tail;
        Some(head)
    };
    let count = u32::from_le_bytes(take(4)?.try_into().ok()?);
    let mut sites = Vec::new();
    for _ in 0..count {
        let site = u16::from_le_bytes(take(2)?.try_into().ok()?);
        let cells = u32::from_le_bytes(take(4)?.try_into().ok()?) as usize;
        let mut layer = || -> Option<Vec<f32>> {
            let bytes = take(cells.checked_mul(4)?)?;
            let values = bytes.as_chunks::<4>().0.iter();
            Some(values.map(|chunk| f32::from_le_bytes(*chunk)).collect())
        };
        let (rx_power_dbm, p10_dbm, p90_dbm, margin_db) = (layer()?, layer()?, layer()?, layer()?);
        let flags = take(cells)?.to_vec();
        sites.push(SiteTile {
            site,
            rx_power_dbm,
            p10_dbm,
            p90_dbm,
            margin_db,
            flags,
        });
    }
    Some(sites)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<SiteTile> {
        let site = |site: u16| {
            let layer = |offset: f32| (0..300).map(|i| offset - i as f32 * 0.25).collect();
            SiteTile {
                site,
                rx_power_dbm: layer(-60.0),
                p10_dbm: layer(-66.0),
                p90_dbm: layer(-54.0),
                margin_db: layer(20.0),
                flags: (0..300).map(|i| (i % 16) as u8).collect(),
            }
        };
        vec![site(0), site(7)]
    }

    #[test]
    fn what_is_written_is_read_and_the_same_bytes_come_twice() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (path(folder.path(), "abcd"), path(folder.path(), "abce"));
        write(&one, &sample()).unwrap();
        write(&two, &sample()).unwrap();
        assert_eq!(read(&one).unwrap().unwrap(), sample());
        assert_eq!(fs::read(&one).unwrap(), fs::read(&two).unwrap());
        assert!(exists(&one).unwrap());
        assert!(!exists(&path(folder.path(), "ffff")).unwrap());
        assert_eq!(read(&path(folder.path(), "ffff")).unwrap(), None);
    }

    #[test]
    fn a_damaged_unit_is_as_good_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(folder.path(), "abcd");
        write(&path, &sample()).unwrap();
        let whole = fs::read(&path).unwrap();
        for at in (0..whole.len()).step_by(37) {
            let mut bent = whole.clone();
            bent[at] ^= 4;
            fs::write(&path, &bent).unwrap();
            assert!(
                !exists(&path).unwrap() && read(&path).unwrap().is_none(),
                "byte {at}"
            );
            fs::write(&path, &whole[..at]).unwrap();
            assert!(
                !exists(&path).unwrap() && read(&path).unwrap().is_none(),
                "cut at {at}"
            );
        }
    }

    #[test]
    fn answers_are_none_where_nothing_is_known() {
        let mut tile = sample().remove(0);
        tile.flags = vec![0, flag::OUTSIDE, flag::NO_DATA, flag::PATH_UNKNOWN];
        let answers: Vec<_> = (0..4).map(|cell| tile.answer(cell).is_some()).collect();
        assert_eq!(answers, [true, false, false, true]);
    }
}
