//! Images of firmware in the folder of a gateway: written whole and checked, or not at all.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use groundwave_files::hex::hex;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use uuid::Uuid;

/// Prefix of the names of unfinished files.
const UNFINISHED: &str = ".upload";

/// Reason why an upload is refused.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// More bytes than allowed.
    #[error("image too large: allowed 1 to {0} bytes")]
    TooLarge(u64),
    /// No bytes.
    #[error("empty image: allowed 1 byte or more")]
    Empty,
    /// Not the bytes that were announced.
    #[error("wrong digest: found SHA-256 {found} of {size_bytes} bytes")]
    Digest {
        /// SHA-256 of what came, hexadecimal.
        found: String,
        /// Bytes that came.
        size_bytes: u64,
    },
    /// The disk.
    #[error(transparent)]
    File(#[from] io::Error),
}

impl UploadError {
    /// `true` while the disk has no space or takes no writes.
    #[must_use]
    pub fn is_storage_full(&self) -> bool {
        use io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let full = [QuotaExceeded, ReadOnlyFilesystem, StorageFull];
        matches!(self, Self::File(err) if full.contains(&err.kind()))
    }
}

/// Folder of images.
#[derive(Debug, Clone)]
pub struct FirmwareFolder(PathBuf);

/// An image that is being written.
#[derive(Debug)]
pub struct ImageUpload {
    file: NamedTempFile,
    digest: Sha256,
    size_bytes: u64,
    bytes_max: u64,
}

impl FirmwareFolder {
    /// The folder, made if it is missing; files of interrupted uploads are removed.
    ///
    /// # Errors
    /// When the folder cannot be made or read.
    pub fn open(path: &Path) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(Self(path.to_owned()))
    }

    fn file(&self, id: Uuid) -> PathBuf {
        self.0.join(id.to_string())
    }

    /// Begins an image of at most `bytes_max`.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn begin(&self, bytes_max: u64) -> Result<ImageUpload, UploadError> {
        let file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.0)?;
        Ok(ImageUpload { file, digest: Sha256::new(), size_bytes: 0, bytes_max })
    }

    /// Bytes of an image from `offset`, at most `length`.
    ///
    /// # Errors
    /// Without such an image, and those of the disk.
    pub fn read(&self, id: Uuid, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        let mut file = File::open(self.file(id))?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        file.take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Size of an image, bytes.
    ///
    /// # Errors
    /// Without such an image, and those of the disk.
    pub fn size_bytes(&self, id: Uuid) -> io::Result<u64> {
        Ok(fs::metadata(self.file(id))?.len())
    }

    /// Removes an image.
    ///
    /// # Errors
    /// Those of the disk; no error without such an image.
    pub fn remove(&self, id: Uuid) -> io::Result<()> {
        match fs::remove_file(self.file(id)) {
            Err(err) if err.kind() != io::ErrorKind::NotFound => Err(err),
            _ => Ok(()),
        }
    }

    /// Removes images that are not among `images`: of uploads without a record.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn retain(&self, images: &[Uuid]) -> io::Result<()> {
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            let name = entry.file_name();
            let id = name.to_str().and_then(|name| Uuid::try_parse(name).ok());
            if id.is_some_and(|id| !images.contains(&id)) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

impl ImageUpload {
    /// Appends bytes.
    ///
    /// # Errors
    /// [`UploadError::TooLarge`], and those of the disk.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), UploadError> {
        self.size_bytes += bytes.len() as u64;
        if self.size_bytes > self.bytes_max {
            return Err(UploadError::TooLarge(self.bytes_max));
        }
        self.digest.update(bytes);
        Ok(self.file.write_all(bytes)?)
    }

    /// Keeps the image as `id` if its digest is `sha256`, hexadecimal; returns its size, bytes.
    ///
    /// # Errors
    /// [`UploadError::Empty`], [`UploadError::Digest`], and those of the disk.
    pub fn finish(
        self,
        folder: &FirmwareFolder,
        id: Uuid,
        sha256: &str,
    ) -> Result<u64, UploadError> {
        if self.size_bytes == 0 {
            return Err(UploadError::Empty);
        }
        let digest = hex(&self.digest.finalize());
        if digest != sha256 {
            return Err(UploadError::Digest { found: digest, size_bytes: self.size_bytes });
        }
        self.file.as_file().sync_all()?;
        let result = self.file.persist_noclobber(folder.file(id));
        result.map_err(|err| err.error)?;
        File::open(&folder.0)?.sync_all()?;
        Ok(self.size_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of `abc`, FIPS 180-4.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn an_image_is_kept_whole_or_not_at_all() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("firmware");
        let folder = FirmwareFolder::open(&path).unwrap();
        let id = Uuid::from_u128(1);
        let upload = |bytes: &[u8], most: u64| {
            let mut upload = folder.begin(most)?;
            upload.write(bytes)?;
            upload.finish(&folder, id, ABC)
        };
        assert!(matches!(upload(b"abcd", 3), Err(UploadError::TooLarge(3))));
        for wrong in [&b"abd"[..], b"ab"] {
            assert!(matches!(upload(wrong, 9), Err(UploadError::Digest { .. })), "{wrong:?}");
        }
        assert!(matches!(upload(b"", 9), Err(UploadError::Empty)));
        assert_eq!(names(&path), 0);
        assert_eq!(upload(b"abc", 3).unwrap(), 3);
        // Never over another one.
        assert!(matches!(upload(b"abc", 3), Err(UploadError::File(_))));
        assert_eq!(folder.read(id, 1, 99).unwrap(), b"bc");
        assert_eq!(folder.read(id, 0, 2).unwrap(), b"ab");
        assert!(folder.read(id, 3, 1).unwrap().is_empty());
        assert!(folder.read(Uuid::nil(), 0, 1).is_err());
        assert_eq!(folder.size_bytes(id).unwrap(), 3);
        assert!(folder.size_bytes(Uuid::nil()).is_err());
    }

    #[test]
    fn what_interrupted_uploads_left_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let folder = FirmwareFolder::open(place.path()).unwrap();
        let begun = folder.begin(9).unwrap();
        std::mem::forget(begun);
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        for id in [one, other] {
            fs::write(folder.file(id), "x").unwrap();
        }
        assert_eq!(names(place.path()), 3);
        let folder = FirmwareFolder::open(place.path()).unwrap();
        folder.retain(&[other]).unwrap();
        assert!(folder.read(one, 0, 1).is_err() && folder.read(other, 0, 1).is_ok());
        folder.remove(other).unwrap();
        folder.remove(other).unwrap();
        assert_eq!(names(place.path()), 0);
    }
}
