//! Values before a change that awaits its confirmation: a gateway that was killed meanwhile restores them
//! when it starts again.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// File with the values before an unconfirmed change; there is none otherwise.
#[derive(Debug, Clone)]
pub struct UnconfirmedFile(PathBuf);

impl UnconfirmedFile {
    /// The file at `path`, whether or not it is there.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// Path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Values that an earlier process left.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read<T: DeserializeOwned>(&self) -> io::Result<Option<T>> {
        match std::fs::read(&self.0) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(err) => Err(err),
        }
    }

    /// Writes the values, whole or not at all; they are on the disk afterwards.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write<T: Serialize>(&self, before: &T) -> io::Result<()> {
        let text = serde_json::to_vec(before)?;
        let folder = self.0.parent().filter(|folder| *folder != Path::new(""));
        let folder = folder.unwrap_or(Path::new("."));
        let mut file = tempfile::Builder::new().prefix(".unconfirmed").tempfile_in(folder)?;
        file.write_all(&text)?;
        file.as_file().sync_all()?;
        file.persist(&self.0).map_err(|err| err.error)?;
        // Folders of systems other than Unix are not opened.
        if cfg!(unix) {
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    }

    /// Removes the file, if it is there.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(&self) -> io::Result<()> {
        match std::fs::remove_file(&self.0) {
            Err(err) if err.kind() != io::ErrorKind::NotFound => Err(err),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_there_until_they_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = UnconfirmedFile::new(&folder.path().join("values.json"));
        assert_eq!(file.read::<Vec<u8>>().unwrap(), None);
        file.write(&[1, 2]).unwrap();
        file.write(&[3]).unwrap();
        assert_eq!(file.read::<Vec<u8>>().unwrap(), Some(vec![3]));
        file.remove().unwrap();
        file.remove().unwrap();
        assert_eq!(file.read::<Vec<u8>>().unwrap(), None);
        std::fs::write(file.path(), "[").unwrap();
        assert_eq!(file.read::<Vec<u8>>().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
