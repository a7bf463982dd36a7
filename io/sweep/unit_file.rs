//! Units as files, named by all that their contents depend on.
//!
//! A finished unit is right by its name and is never computed again, by whichever process, after
//! whatever crash. It appears under that name by rename, whole or not at all; a trailing digest
//! catches a disk that lied.
//!
//! Sites stand one after another: a unit is written and read a site at a time, so that memory does
//! not grow with the number of sites that share a tile, and who wants one site does not unpack the
//! others. Of each come the flags, compressed, then the values of the cells that have an answer,
//! layer by layer, what the network needs first, columns that the plan asks for last. Those are not compressed: of four bytes of a loss
//! over real ground hardly one can be foreseen, and looking for it takes longer than writing it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use groundwave_raster::{PartFile, RasterError};
use sha2::{Digest, Sha256};
use tempfile::{SpooledData, SpooledTempFile, spooled_tempfile_in};

use super::shared_file::is_busy;
use super::unit::{Answers, Column, SiteTile, is_answered};

/// First bytes of a unit file; the digits are the format.
const MAGIC: &[u8; 8] = b"GWUNIT05";

/// Bytes of the digest at the end.
const DIGEST: usize = 32;

/// Bytes read at a time.
const READ_BYTES: usize = 1 << 16;

/// Before each site: its number (`u16`), its cells, the bytes of its flags and those of all that
/// follows (`u32`), little-endian.
const HEAD: usize = 14;

/// Path of the unit `digest` in `folder`.
#[must_use]
pub fn path(folder: &Path, digest: &str) -> PathBuf {
    // Two levels, because some file systems are slow with a hundred thousand names in a folder.
    folder.join(&digest[..2]).join(format!("{digest}.unit"))
}

/// True if these are the bytes of a whole unit, by its digest.
#[must_use]
pub fn is_whole(bytes: &[u8]) -> bool {
    let Some((body, stated)) = bytes.split_last_chunk::<DIGEST>() else {
        return false;
    };
    body.starts_with(MAGIC) && Sha256::digest(body).as_slice() == stated
}

/// Memory limit of a unit being written, bytes: one site, usually. More goes to a scratch file.
const MEMORY_MAX: usize = 2 << 20;

/// A unit being made, site by site in the plan's order.
pub struct UnitWriter {
    path: PathBuf,
    body: SpooledTempFile,
    digest: Sha256,
    packed: Vec<u8>,
}

impl UnitWriter {
    /// Begins the unit that will be `path`.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn create(path: &Path) -> io::Result<Self> {
        let folder = path.parent().expect("a unit lies in a folder");
        fs::create_dir_all(folder)?;
        let mut writer = Self {
            path: path.to_owned(),
            body: spooled_tempfile_in(MEMORY_MAX, folder),
            digest: Sha256::new(),
            packed: Vec::new(),
        };
        writer.put(MAGIC)?;
        Ok(writer)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.digest.update(bytes);
        self.body.write_all(bytes)
    }

    /// Adds a site.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn push(&mut self, tile: &SiteTile) -> io::Result<()> {
        let answers = &tile.answers;
        self.packed.clear();
        let mut pack = DeflateEncoder::new(&mut self.packed, Compression::fast());
        pack.write_all(&answers.flags)?;
        pack.finish()?;
        let flags = u32::try_from(self.packed.len()).map_err(io::Error::other)?;
        let powers = [&tile.rx_power_dbm, &tile.p10_dbm, &tile.p90_dbm];
        let columns = tile.columns.iter().map(|(_, layer)| layer);
        for layer in [&answers.margin_db].into_iter().chain(powers).chain(columns) {
            assert_eq!(layer.len(), answers.cells(), "layers have one length");
            put_answered(layer, &answers.flags, &mut self.packed);
        }
        let cells = u32::try_from(answers.cells()).map_err(io::Error::other)?;
        let bytes = u32::try_from(self.packed.len()).map_err(io::Error::other)?;
        let packed = std::mem::take(&mut self.packed);
        self.put(&tile.site.to_le_bytes())?;
        self.put(&cells.to_le_bytes())?;
        self.put(&flags.to_le_bytes())?;
        self.put(&bytes.to_le_bytes())?;
        self.put(&packed)?;
        self.packed = packed;
        Ok(())
    }

    /// Puts the unit in its place.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn commit(self) -> io::Result<()> {
        // Only now under its name, which is locked while it is written.
        let mut part = loop {
            match PartFile::create(&self.path).map_err(RasterError::into_io) {
                // Another worker is writing the same bytes, which takes a moment.
                Err(err) if is_busy(&err) => std::thread::sleep(Duration::from_millis(10)),
                part => break part?,
            }
        };
        match self.body.into_inner() {
            SpooledData::InMemory(bytes) => part.write_all(bytes.get_ref())?,
            SpooledData::OnDisk(mut file) => {
                file.rewind()?;
                io::copy(&mut file, &mut part)?;
            }
        }
        part.write_all(&self.digest.finalize())?;
        // Not waiting for the disk: a unit that a power cut tears is missed by its digest.
        part.place().map_err(RasterError::into_io)
    }
}

/// A whole unit, still packed. Its sites are read one after another.
pub struct UnitReader {
    file: BufReader<File>,
    /// Length without the digest, bytes.
    body: u64,
}

/// One site of a unit, still packed.
#[derive(Clone, PartialEq)]
pub struct PackedSite {
    /// Index of the site in the plan.
    pub site: u16,
    cells: usize,
    /// Flags, then the layers.
    packed: Vec<u8>,
    /// Length of the flags, bytes.
    flags: usize,
}

impl UnitReader {
    /// Reads a unit; `None` when there is none, or what lies there is not whole: it must be
    /// computed.
    ///
    /// # Errors
    /// When the disk fails otherwise.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let Some(mut unit) = Self::open_known(path)? else {
            return Ok(None);
        };
        let mut body = (&mut unit.file).take(unit.body);
        let mut digest = Sha256::new();
        loop {
            let bytes = body.fill_buf()?;
            if bytes.is_empty() {
                break;
            }
            digest.update(bytes);
            let read = bytes.len();
            body.consume(read);
        }
        let mut stated = [0; DIGEST];
        unit.file.read_exact(&mut stated)?;
        unit.file.rewind()?;
        Ok((digest.finalize().as_slice() == stated).then_some(unit))
    }

    /// As [`UnitReader::open`] for a unit whose digest is known to be right.
    ///
    /// # Errors
    /// As [`UnitReader::open`].
    pub fn open_known(path: &Path) -> io::Result<Option<Self>> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(err) => return Err(err),
        };
        let least = MAGIC.len() + DIGEST;
        let body = file.metadata()?.len().checked_sub(DIGEST as u64);
        let Some(body) = body.filter(|body| body + DIGEST as u64 >= least as u64) else {
            return Ok(None);
        };
        let mut file = BufReader::with_capacity(READ_BYTES, file);
        let mut magic = [0; MAGIC.len()];
        file.read_exact(&mut magic)?;
        file.rewind()?;
        Ok((magic == *MAGIC).then_some(Self { file, body }))
    }

    /// Sites in the plan's order.
    pub fn sites(&mut self) -> impl Iterator<Item = io::Result<PackedSite>> + '_ {
        let mut left = self.body - MAGIC.len() as u64;
        let mut begun = false;
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let site = self.begin(&mut begun).and_then(|()| self.next(&mut left));
            if site.is_err() {
                left = 0;
            }
            Some(site)
        })
    }

    fn begin(&mut self, begun: &mut bool) -> io::Result<()> {
        if !std::mem::replace(begun, true) {
            self.file.seek(SeekFrom::Start(MAGIC.len() as u64))?;
        }
        Ok(())
    }

    fn next(&mut self, left: &mut u64) -> io::Result<PackedSite> {
        let mut head = [0; HEAD];
        self.file.read_exact(&mut head)?;
        let number = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| head[at + i]));
        let (flags, bytes) = (number(6), number(10));
        let end = HEAD as u64 + u64::from(bytes);
        *left =
            (left.checked_sub(end).filter(|_| flags <= bytes)).ok_or(io::ErrorKind::InvalidData)?;
        let mut packed = vec![0; bytes as usize];
        self.file.read_exact(&mut packed)?;
        Ok(PackedSite {
            site: u16::from_le_bytes([head[0], head[1]]),
            cells: number(2) as usize,
            packed,
            flags: flags as usize,
        })
    }
}

impl PackedSite {
    /// Margins and flags of the site.
    ///
    /// # Errors
    /// When it cannot be unpacked, although its digest was right.
    pub fn answers(&self) -> io::Result<Answers> {
        Ok(self.unpack()?.0)
    }

    /// All of it, with the columns that its plan asks for. Cells without an answer have the values of
    /// `NO_ANSWER`.
    ///
    /// # Errors
    /// As [`PackedSite::answers`].
    pub fn tile(&self, columns: &BTreeSet<Column>) -> io::Result<SiteTile> {
        let (answers, mut layers) = self.unpack()?;
        let flags = &answers.flags;
        let mut next = || layer(&mut layers, flags);
        let [rx_power_dbm, p10_dbm, p90_dbm] = [next()?, next()?, next()?];
        let columns =
            columns.iter().map(|&column| Ok((column, next()?))).collect::<io::Result<_>>()?;
        Ok(SiteTile { site: self.site, rx_power_dbm, p10_dbm, p90_dbm, columns, answers })
    }

    fn unpack(&self) -> io::Result<(Answers, &[u8])> {
        let mut flags = vec![0; self.cells];
        let (packed, mut layers) = self.packed.split_at(self.flags);
        DeflateDecoder::new(packed).read_exact(&mut flags)?;
        let margin_db = layer(&mut layers, &flags)?;
        Ok((Answers { margin_db, flags }, layers))
    }
}

/// Value of all layers where a cell has no answer.
pub const NO_ANSWER: f32 = f32::NEG_INFINITY;

/// Adds the values of a layer where there is an answer, a run of cells at a time.
fn put_answered(layer: &[f32], flags: &[u8], packed: &mut Vec<u8>) {
    let mut from = 0;
    for run in flags.chunk_by(|one, next| is_answered(*one) == is_answered(*next)) {
        let values = &layer[from..from + run.len()];
        from += run.len();
        if is_answered(run[0]) {
            let start = packed.len();
            packed.resize(start + size_of_val(values), 0);
            let (places, _) = packed[start..].as_chunks_mut();
            for (place, value) in places.iter_mut().zip(values) {
                *place = value.to_le_bytes();
            }
        }
    }
}

/// Takes the values of one layer off the front of `layers`.
fn layer(layers: &mut &[u8], flags: &[u8]) -> io::Result<Vec<f32>> {
    let mut next = || {
        let (value, rest) = layers.split_first_chunk::<4>()?;
        *layers = rest;
        Some(f32::from_le_bytes(*value))
    };
    let value = |flags: &u8| {
        if is_answered(*flags) { next() } else { Some(NO_ANSWER) }
    };
    let values: Option<Vec<f32>> = flags.iter().map(value).collect();
    values.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> BTreeSet<Column> {
        BTreeSet::from([Column::PathLoss, Column::Rate])
    }

    fn exists(path: &Path) -> io::Result<bool> {
        UnitReader::open(path).map(|unit| unit.is_some())
    }

    fn sample() -> Vec<SiteTile> {
        let site = |site: u16| {
            let flags: Vec<u8> = (0..300).map(|i| (i % 16) as u8).collect();
            let value = |offset: f32, i: usize| match is_answered(flags[i]) {
                true => offset - i as f32 * 0.25,
                false => NO_ANSWER,
            };
            let layer = |offset: f32| (0..300).map(|i| value(offset, i)).collect();
            SiteTile {
                site,
                rx_power_dbm: layer(-60.0),
                p10_dbm: layer(-66.0),
                p90_dbm: layer(-54.0),
                columns: columns().into_iter().zip([layer(90.0), layer(1e6)]).collect(),
                answers: Answers { margin_db: layer(20.0), flags: flags.clone() },
            }
        };
        vec![site(0), site(7)]
    }

    fn write(path: &Path, tiles: &[SiteTile]) {
        let mut unit = UnitWriter::create(path).unwrap();
        tiles.iter().for_each(|tile| unit.push(tile).unwrap());
        unit.commit().unwrap();
    }

    #[test]
    fn what_is_written_is_read_and_the_same_bytes_come_twice() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two, none] = ["abcd", "abce", "ffff"].map(|name| path(folder.path(), name));
        write(&one, &sample());
        write(&two, &sample());
        let mut unit = UnitReader::open(&one).unwrap().unwrap();
        let read = unit.sites().map(|site| site.unwrap().tile(&columns()).unwrap());
        assert_eq!(read.collect::<Vec<_>>(), sample());
        let mut first = || unit.sites().next().unwrap().unwrap();
        let few = first().tile(&BTreeSet::new()).unwrap();
        assert_eq!(few.p90_dbm, sample()[0].p90_dbm);
        let beyond = BTreeSet::from([Column::PathLoss, Column::FieldStrength, Column::Rate]);
        assert!(first().tile(&beyond).is_err());
        let mut known = UnitReader::open_known(&one).unwrap().unwrap();
        for (site, tile) in known.sites().zip(sample()) {
            let site = site.unwrap();
            assert_eq!((site.site, site.answers().unwrap()), (tile.site, tile.answers));
        }
        assert_eq!(fs::read(&one).unwrap(), fs::read(&two).unwrap());
        assert!(exists(&one).unwrap());
        assert!(!exists(&none).unwrap());
        assert!(UnitReader::open(&none).unwrap().is_none());
    }

    #[test]
    fn a_unit_that_was_not_finished_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(folder.path(), "abcd");
        let mut unit = UnitWriter::create(&path).unwrap();
        unit.push(&sample()[0]).unwrap();
        drop(unit);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
    }

    #[test]
    fn a_damaged_unit_is_as_good_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(folder.path(), "abcd");
        write(&path, &sample());
        let whole = fs::read(&path).unwrap();
        assert!(is_whole(&whole));
        let refused = |what: &str, at: usize| {
            assert!(!is_whole(&fs::read(&path).unwrap()), "{what} {at}");
            assert!(!exists(&path).unwrap(), "{what} {at}");
            assert!(UnitReader::open(&path).unwrap().is_none(), "{what} {at}");
        };
        for at in (0..whole.len()).step_by(37) {
            let mut bent = whole.clone();
            bent[at] ^= 4;
            fs::write(&path, &bent).unwrap();
            refused("byte", at);
            fs::write(&path, &whole[..at]).unwrap();
            refused("cut at", at);
        }
    }
}
