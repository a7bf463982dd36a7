//! WireGuard key of the node, in a file that only its owner can read.

use std::fs;
use std::io;
use std::path::Path;

use groundwave_credentials::PrivateKey;
use groundwave_credentials::write_private;
use groundwave_files::ReadingError;

/// Only the owner may read, and write.
#[cfg(unix)]
const MODE: u32 = 0o600;

/// The key in the file at `path`; a fresh one is made where there is none.
///
/// # Errors
/// [`ReadingError::Permission`] when others may read it; [`ReadingError::Decode`] when it holds
/// something else; nothing is written then.
pub fn private_key(path: &Path) -> Result<PrivateKey, ReadingError> {
    let what = || format!("key file {}", path.display());
    match fs::File::open(path) {
        Ok(file) => {
            if open_to_others(&file).map_err(|err| ReadingError::io(what(), err))? {
                let what = format!("{}: others may read it (chmod 600)", what());
                return Err(ReadingError::Permission { what });
            }
            let text = io::read_to_string(io::Read::take(file, 4096))
                .map_err(|err| ReadingError::io(what(), err))?;
            let content = if text.trim().is_empty() { "an empty file" } else { "other text" };
            let allowed = "base64 of the 32 bytes of a WireGuard key";
            PrivateKey::from_text(&text).ok_or_else(|| {
                ReadingError::decode(format!("{}: found {content}, allowed {allowed}", what()))
            })
        }
        Err(err) if err.kind() == io::ErrorKind::NotFound => {
            make(path).map_err(|err| ReadingError::io(what(), err))
        }
        Err(err) => Err(ReadingError::io(what(), err)),
    }
}

fn make(path: &Path) -> io::Result<PrivateKey> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(folder)?;
    let key = PrivateKey::generate()?;
    write_private(path, format!("{}\n", key.to_text()).as_bytes())?;
    Ok(key)
}

#[cfg(unix)]
fn open_to_others(file: &fs::File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    Ok(file.metadata()?.permissions().mode() & 0o777 & !MODE != 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_kept_to_oneself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/node.key");
        let first = private_key(&path).unwrap().public();
        assert_eq!(private_key(&path).unwrap().public(), first);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, MODE);
        let other = private_key(&folder.path().join("other.key")).unwrap().public();
        assert_ne!(first, other);
    }

    #[test]
    fn a_key_that_others_may_read_and_a_text_that_is_none_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.key");
        private_key(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(private_key(&path), Err(ReadingError::Permission { .. })));
        fs::set_permissions(&path, fs::Permissions::from_mode(MODE)).unwrap();
        fs::write(&path, "no key").unwrap();
        assert!(matches!(private_key(&path), Err(ReadingError::Decode { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "no key");
        fs::write(&path, "").unwrap();
        let error = private_key(&path).unwrap_err().to_string();
        assert!(error.contains("found an empty file, allowed base64"), "{error}");
    }
}
