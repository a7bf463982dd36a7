//! Documents to read: a file, the files of a folder, or a stream.

use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;

use super::Format;
use super::error::quoted;
use super::limits::{FILES_MAX, SOURCE_BYTES_MAX};
use super::xz;
use crate::encoding::to_utf8;

/// A document, or a folder of documents of one kind.
#[derive(Debug, Default)]
pub struct Source {
    /// Path of the file or folder, for messages and titles; empty for bytes without a file.
    pub path: PathBuf,
    /// The documents in the order of their names, at least one; texts in UTF-8.
    pub documents: Vec<Vec<u8>>,
    /// Names of the files of a folder, one for each document; empty otherwise.
    pub names: Vec<String>,
    /// Folder of the files that documents may name; `None` for bytes, whose names come from a client.
    pub folder: Option<PathBuf>,
    /// Encoding that a document was written in, where it is not UTF-8.
    pub encoding: Option<&'static str>,
}

impl Source {
    /// A document without a file.
    #[must_use]
    pub fn of(bytes: Vec<u8>) -> Self {
        Self::decoded(PathBuf::new(), vec![bytes], Vec::new())
    }

    /// Reads a file, or all files of a folder and of the folders in it, in the order of their paths; standard input for the path `-`.
    ///
    /// # Errors
    /// I/O errors and files larger than [`SOURCE_BYTES_MAX`], with the path.
    pub fn open(path: &Path) -> Result<Self, String> {
        if path == Path::new("-") {
            return Self::of_stream(std::io::stdin().lock());
        }
        let read = |path: &Path| {
            let failed = |error: std::io::Error| format!("read {}: {error}", path.display());
            let bytes = std::fs::metadata(path).map_err(failed)?.len();
            if bytes > SOURCE_BYTES_MAX {
                let allowed = format!("allowed up to {SOURCE_BYTES_MAX}");
                return Err(format!("{}: found {bytes} bytes, {allowed}", path.display()));
            }
            let packed = std::fs::read(path).map_err(failed)?;
            unpacked(packed).map_err(|what| format!("{}: {what}", path.display()))
        };
        let mut paths = vec![path.to_owned()];
        if path.is_dir() {
            paths = files(path)?;
            if paths.is_empty() {
                return Err(format!(
                    "{}: found a folder without files, allowed documents in it",
                    path.display()
                ));
            }
        }
        let documents = paths.iter().map(|path| read(path)).collect::<Result<_, _>>()?;
        let names = match path.is_dir() {
            true => {
                let names = paths.iter().map(|file| file.strip_prefix(path).unwrap_or(file));
                names.map(|name| name.to_string_lossy().into_owned()).collect()
            }
            false => Vec::new(),
        };
        let folder = match path.is_dir() {
            true => Some(path.to_owned()),
            false => path.parent().map(Path::to_owned),
        };
        Ok(Self { folder, ..Self::decoded(path.to_owned(), documents, names) })
    }

    /// The documents with their texts in UTF-8.
    fn decoded(path: PathBuf, documents: Vec<Vec<u8>>, names: Vec<String>) -> Self {
        let mut encoding = None;
        let decode = |octets| {
            let (document, name) = to_utf8(octets);
            encoding = encoding.or(name);
            document
        };
        let documents = documents.into_iter().map(decode).collect();
        Self { path, documents, names, folder: None, encoding }
    }

    /// Reads a document to its end.
    fn of_stream(stream: impl Read) -> Result<Self, String> {
        let mut bytes = Vec::new();
        let read = stream
            .take(SOURCE_BYTES_MAX + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| format!("read standard input: {error}"))?;
        if read as u64 > SOURCE_BYTES_MAX {
            return Err(format!(
                "standard input: found more than {SOURCE_BYTES_MAX} bytes, allowed no more"
            ));
        }
        let bytes = unpacked(bytes).map_err(|what| format!("standard input: {what}"))?;
        Ok(Self::of(bytes))
    }

    /// Name of a document: that of its file in a folder, else its number from 1.
    pub(super) fn name(&self, index: usize) -> String {
        let name = self.names.get(index).cloned();
        name.unwrap_or_else(|| format!("document {}", index + 1))
    }

    /// `true` for a file of a folder that belongs to a document of `format`: it is read with that.
    pub(super) fn is_companion(&self, index: usize, format: &Format) -> bool {
        let Some(path) = self.names.get(index).map(Path::new) else { return false };
        let has = |path: &Path, endings: &[&str]| {
            let ending = path.extension().unwrap_or_default();
            endings.iter().any(|own| ending.eq_ignore_ascii_case(own))
        };
        has(path, format.companions)
            && self.names.iter().map(Path::new).any(|other| {
                // One file may serve all sites of a folder.
                other.parent() == path.parent() && has(other, format.extensions)
            })
    }

    /// The first document.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.documents.first().map_or(&[], Vec::as_slice)
    }

    /// File name without its ending.
    #[must_use]
    pub fn stem(&self) -> String {
        let stem = self.path.file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    }
}

/// The files of a folder and of the folders in it, sorted. Folders whose names begin with a dot, which hold data
/// of programs, and links to folders are passed over.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        let failed = |error: std::io::Error| format!("read {}: {error}", folder.display());
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            if entry.file_type().map_err(failed)?.is_dir() {
                let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
                folders.extend((!is_hidden).then_some(path));
            } else if path.is_file() {
                files.push(path);
            }
        }
        if files.len() > FILES_MAX {
            let allowed = format!("allowed up to {FILES_MAX}");
            return Err(format!("{}: found {} files, {allowed}", folder.display(), files.len()));
        }
    }
    files.sort();
    Ok(files)
}

/// First octets of a file of gzip (RFC 1952, 2.3.1).
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// True for the first octets of a file that gzip or xz has packed.
#[must_use]
pub fn is_packed(octets: &[u8]) -> bool {
    octets.starts_with(GZIP_MAGIC) || octets.starts_with(xz::MAGIC)
}

/// The content of a document that gzip or xz has packed, recognised by its first bytes; other documents as
/// they are.
///
/// # Errors
/// Damaged data, and more than [`SOURCE_BYTES_MAX`].
pub fn unpacked(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    let (name, stream): (_, Box<dyn Read + '_>) = match &bytes[..] {
        packed if packed.starts_with(GZIP_MAGIC) => ("gzip", Box::new(MultiGzDecoder::new(packed))),
        packed if packed.starts_with(xz::MAGIC) => {
            xz::check_dictionaries(packed)?;
            ("xz", Box::new(XzReader::new(packed, true)))
        }
        plain => {
            refuse_archive(plain)?;
            return Ok(bytes);
        }
    };
    let mut document = Vec::new();
    stream
        .take(SOURCE_BYTES_MAX + 1)
        .read_to_end(&mut document)
        .map_err(|error| format!("found damaged {name} data ({error}), allowed a whole file"))?;
    if document.len() as u64 > SOURCE_BYTES_MAX {
        return Err(format!(
            "found {name} data of more than {SOURCE_BYTES_MAX} bytes, allowed no more"
        ));
    }
    refuse_archive(&document)?;
    Ok(document)
}

/// Octets of the header of a file in a tar archive, and of the name and the checksum in it (POSIX.1, pax).
const TAR_OCTETS: usize = 512;
const TAR_NAME: Range<usize> = 0..100;
const TAR_CHECKSUM: Range<usize> = 148..156;

/// Refuses a tar archive, whose headers would be read as parts of a document.
fn refuse_archive(octets: &[u8]) -> Result<(), String> {
    let Some(header) = octets.get(..TAR_OCTETS) else { return Ok(()) };
    let text = |range: Range<usize>| {
        let field = &header[range];
        let end = field.iter().position(|octet| *octet == 0).unwrap_or(field.len());
        String::from_utf8_lossy(&field[..end]).trim().to_owned()
    };
    // The sum counts its own octets as spaces.
    let is_sum = |(index, octet): (usize, &u8)| match TAR_CHECKSUM.contains(&index) {
        true => u32::from(b' '),
        false => u32::from(*octet),
    };
    let sum: u32 = header.iter().enumerate().map(is_sum).sum();
    if u32::from_str_radix(&text(TAR_CHECKSUM), 8) != Ok(sum) {
        return Ok(());
    }
    let first = quoted(&text(TAR_NAME));
    Err(format!(
        "found a tar archive, whose first file is {first}, allowed a document, or a folder of documents"
    ))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    /// `printf 'lat,lon\n57.7,11.9\n' | xz`, by XZ Utils.
    const XZ: &[u8] = include_bytes!("tests/packed.xz");

    #[test]
    fn documents_packed_with_xz_are_unpacked() {
        assert_eq!(unpacked(XZ.to_vec()).unwrap(), b"lat,lon\n57.7,11.9\n");
        let twice = [XZ, XZ].concat();
        assert_eq!(unpacked(twice).unwrap().len(), 2 * b"lat,lon\n57.7,11.9\n".len());
    }

    /// A tar archive of one empty file.
    fn tar(name: &str, magic: &[u8]) -> Vec<u8> {
        let mut octets = vec![0; 3 * TAR_OCTETS];
        octets[..name.len()].copy_from_slice(name.as_bytes());
        octets[100..107].copy_from_slice(b"0000644");
        octets[257..257 + magic.len()].copy_from_slice(magic);
        octets[TAR_CHECKSUM].fill(b' ');
        let sum: u32 = octets.iter().map(|octet| u32::from(*octet)).sum();
        octets[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        octets
    }

    #[test]
    fn tar_archive_gives_an_error_that_names_its_first_file() {
        for magic in [b"ustar".as_slice(), b""] {
            let plain = tar("split.csv", magic);
            let mut packed = GzEncoder::new(Vec::new(), Compression::default());
            packed.write_all(&plain).unwrap();
            for archive in [plain, packed.finish().unwrap()] {
                let error = unpacked(archive).unwrap_err();
                assert!(
                    error.starts_with("found a tar archive, whose first file is \"split.csv\""),
                    "{error}"
                );
            }
        }
        let zeros = vec![0; 2 * TAR_OCTETS];
        assert_eq!(unpacked(zeros.clone()), Ok(zeros));
    }

    #[test]
    fn damaged_xz_data_gives_an_error() {
        for end in 6..XZ.len() - 1 {
            let error = unpacked(XZ[..end].to_vec()).unwrap_err();
            assert!(error.starts_with("found damaged xz data ("), "{error}");
        }
        let mut flipped = XZ.to_vec();
        flipped[30] ^= 0x10;
        assert!(unpacked(flipped).is_err());
    }
}
