//! Secrets in files that only their owner may read.

use std::fs::{self, File};
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Reason why a secret is not available.
#[derive(Debug, Error)]
pub enum SecretError {
    /// The file cannot be read or written.
    #[error("secret {path}: {err}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Why.
        #[source]
        err: io::Error,
    },
    /// Others may read it.
    #[error("secret {path} has mode {mode:o}: others may read it; allowed: 600")]
    Open {
        /// Path of the file.
        path: PathBuf,
        /// File mode.
        mode: u32,
    },
    /// Others than its owner and group may read it, or others than its owner write it.
    #[error("secret {path} has mode {mode:o}: others may read or change it; allowed: 600, 640")]
    Shared {
        /// Which file.
        path: PathBuf,
        /// Mode.
        mode: u32,
    },
    /// It is not what it should be.
    #[error("secret {path} holds {found} bytes; allowed: {wanted}")]
    Length {
        /// Path of the file.
        path: PathBuf,
        /// Length of the file, bytes.
        found: usize,
        /// Required length, bytes.
        wanted: usize,
    },
    /// The system has no random numbers.
    #[error("the system gives no random numbers: {0}")]
    Random(getrandom::Error),
}

/// Random bytes of the system.
///
/// # Errors
/// [`SecretError::Random`].
pub fn random<const N: usize>() -> Result<[u8; N], SecretError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(SecretError::Random)?;
    Ok(bytes)
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> SecretError + use<> {
    let path = path.to_owned();
    |err| SecretError::File { path, err }
}

/// Writes a secret into a new file that only its owner may read, wholly or not at all.
///
/// # Errors
/// [`SecretError::File`], also when there is such a file already.
pub fn keep_once(path: &Path, secret: &[u8]) -> Result<(), SecretError> {
    write_private(path, secret).map_err(failed(path))
}

/// As [`keep_once`], for those with errors of their own.
///
/// # Errors
/// When the file is there already or cannot be written.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    // Mode 600 from the start; written whole or not at all, and never over another file.
    let mut file = tempfile::Builder::new().prefix(".key").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|err| err.error)?;
    // Folders of systems other than Unix are not opened.
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Rights of a file: those of its folder on systems other than Unix, which have no modes.
fn mode(path: &Path) -> Result<u32, SecretError> {
    let file = fs::metadata(path).map_err(failed(path))?;
    #[cfg(unix)]
    let mode = file.mode() & 0o777;
    #[cfg(not(unix))]
    let mode = if file.is_file() { 0o600 } else { 0o700 };
    Ok(mode)
}

/// The secret of `N` bytes in a file, made when there is none.
///
/// # Errors
/// [`SecretError`].
pub fn load_or_make<const N: usize>(path: &Path) -> Result<[u8; N], SecretError> {
    if !path.exists() {
        keep_once(path, &random::<N>()?)?;
    }
    let mode = mode(path)?;
    if mode & 0o077 != 0 {
        let path = path.to_owned();
        return Err(SecretError::Open { path, mode });
    }
    let bytes = fs::read(path).map_err(failed(path))?;
    let found = bytes.len();
    bytes.try_into().map_err(|_| SecretError::Length { path: path.to_owned(), found, wanted: N })
}

/// Refuses a file with a secret that a person put there, unless only its owner may change it, and only
/// owner and group may read it.
///
/// # Errors
/// [`SecretError::File`], [`SecretError::Shared`].
pub fn check_private(path: &Path) -> Result<(), SecretError> {
    let mode = mode(path)?;
    match mode & 0o037 {
        0 => Ok(()),
        _ => Err(SecretError::Shared { path: path.to_owned(), mode }),
    }
}

/// The first line of a file that a person wrote a secret into.
///
/// # Errors
/// [`SecretError::File`], [`SecretError::Shared`].
pub fn read_words(path: &Path) -> Result<String, SecretError> {
    check_private(path)?;
    let text = fs::read_to_string(path).map_err(failed(path))?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_secret_is_made_once_and_nobody_else_may_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let first = load_or_make::<32>(&path).unwrap();
        assert_eq!(load_or_make::<32>(&path).unwrap(), first);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_ne!(first, load_or_make::<32>(&folder.path().join("other")).unwrap());
        assert!(matches!(load_or_make::<16>(&path), Err(SecretError::Length { .. })));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(load_or_make::<32>(&path), Err(SecretError::Open { .. })));
        assert!(keep_once(&path, b"x").is_err());
    }

    #[test]
    fn words_that_others_may_read_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        fs::write(&path, "first line\nsecond\n").unwrap();
        for (mode, fits) in [
            (0o600, true),
            (0o640, true),
            (0o400, true),
            (0o440, true),
            (0o644, false),
            (0o660, false),
            (0o604, false),
        ] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let words = read_words(&path);
            match fits {
                true => assert_eq!(words.unwrap(), "first line"),
                false => assert!(matches!(words, Err(SecretError::Shared { .. })), "{mode:o}"),
            }
        }
    }
}
