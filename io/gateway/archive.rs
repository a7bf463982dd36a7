//! Archive of a gateway: its store, keys, audit log, telemetry and firmware images as a zip file.
//!
//! Names in the archive are `store.redb`, and `state/NAME` or `state/FOLDER/NAME` for the files of the
//! state folder.

use std::fs;
use std::io::{self, Cursor, Read, Seek, Write};
use std::path::Path;

use groundwave_telemetry::TelemetryStore;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Name of the store in the archive.
pub const STORE: &str = "store.redb";
/// Name of the history of readings in the state folder.
pub const TELEMETRY: &str = "telemetry.redb";
/// Folder of the state in the archive.
const STATE: &str = "state/";
/// Largest file that is unpacked, bytes.
const FILE_BYTES_MAX: u64 = 16 << 30;

/// Total of the files in folders of the state, bytes: archives are sealed in memory.
const IMAGES_BYTES_MAX: u64 = 4 << 30;

/// A file of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedFile {
    /// Name in the state folder, with the folder in it; `None` is the store.
    pub name: Option<String>,
    /// Content.
    pub bytes: Vec<u8>,
}

/// Writes an archive of a store that was copied to `store`, the folder `state` and its open history.
///
/// # Errors
/// When a file cannot be read or copied, or `out` fails.
pub fn pack<W: Write + Seek>(
    out: W,
    store: &Path,
    state: &Path,
    history: &TelemetryStore,
) -> io::Result<()> {
    let mut zip = ZipWriter::new(out);
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .large_file(true)
        .unix_permissions(0o600);
    zip.start_file(STORE, options)?;
    io::copy(&mut fs::File::open(store)?, &mut zip)?;
    let copies = tempfile::tempdir()?;
    let copy = copies.path().join(TELEMETRY);
    history.copy(&copy)?;
    let (files, folders) = entries(state)?;
    for name in files.into_iter().filter(|name| !name.starts_with(TELEMETRY)) {
        let mut bytes = fs::read(state.join(&name))?;
        if name.ends_with(".jsonl") {
            // A line that is being written is not part of the copy.
            let whole = bytes.iter().rposition(|byte| *byte == b'\n');
            bytes.truncate(whole.map_or(0, |at| at + 1));
        }
        zip.start_file(format!("{STATE}{name}"), options)?;
        zip.write_all(&bytes)?;
    }
    zip.start_file(format!("{STATE}{TELEMETRY}"), options)?;
    io::copy(&mut fs::File::open(&copy)?, &mut zip)?;
    // Images are compressed already.
    let options = options.compression_method(CompressionMethod::Stored);
    let mut size_bytes = 0;
    for folder in folders {
        for name in entries(&state.join(&folder))?.0 {
            let mut file = match fs::File::open(state.join(&folder).join(&name)) {
                // Removed since.
                Err(err) if err.kind() == io::ErrorKind::NotFound => continue,
                file => file?,
            };
            size_bytes += file.metadata()?.len();
            if size_bytes > IMAGES_BYTES_MAX {
                return Err(io::Error::other(format!(
                    "invalid size of the folders in {}: found more than {IMAGES_BYTES_MAX} bytes, \
                     allowed that many: remove firmware images",
                    state.display()
                )));
            }
            zip.start_file(format!("{STATE}{folder}/{name}"), options)?;
            io::copy(&mut file, &mut zip)?;
        }
    }
    zip.finish()?;
    Ok(())
}

/// Names of the files and of the folders of a folder, sorted; those that begin with a dot are being
/// written.
fn entries(folder: &Path) -> io::Result<(Vec<String>, Vec<String>)> {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let kind = entry.file_type()?;
        if name.starts_with('.') {
            continue;
        }
        if kind.is_file() {
            files.push(name);
        } else if kind.is_dir() {
            folders.push(name);
        }
    }
    files.sort_unstable();
    folders.sort_unstable();
    Ok((files, folders))
}

/// `true` for `NAME` and `FOLDER/NAME` of visible files.
fn is_state_file(path: &str) -> bool {
    let fits =
        |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains(['\\', '\0']);
    path.split('/').count() <= 2 && path.split('/').all(fits)
}

/// True when bytes begin as an archive does.
#[must_use]
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

/// Files of an archive.
///
/// # Errors
/// When it is damaged or has a file that no gateway writes.
pub fn unpack(bytes: &[u8]) -> io::Result<Vec<ArchivedFile>> {
    let foreign = |name: &str| io::Error::other(format!("foreign file {name:?} in the archive"));
    let mut zip = ZipArchive::new(Cursor::new(bytes))?;
    let mut files = Vec::new();
    for at in 0..zip.len() {
        let file = zip.by_index(at)?;
        let name = match file.name() {
            STORE => None,
            path => {
                let name = path.strip_prefix(STATE).ok_or_else(|| foreign(path))?;
                if !is_state_file(name) {
                    return Err(foreign(path));
                }
                Some(name.to_owned())
            }
        };
        let mut bytes = Vec::new();
        file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
        files.push(ArchivedFile { name, bytes });
    }
    match files.iter().filter(|file| file.name.is_none()).count() {
        1 => Ok(files),
        count => Err(io::Error::other(format!("{count} stores in the archive"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_has_every_file_of_the_state_and_no_half_line() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        fs::create_dir(&state).unwrap();
        fs::write(folder.path().join("copy"), b"store").unwrap();
        fs::write(state.join("token.key"), [7; 32]).unwrap();
        fs::write(state.join("audit.jsonl"), b"{}\n{\"numb").unwrap();
        fs::write(state.join(".key123"), b"being written").unwrap();
        fs::create_dir(state.join("firmware")).unwrap();
        fs::write(state.join("firmware/0001"), b"image").unwrap();
        fs::write(state.join("firmware/.upload1"), b"being written").unwrap();
        let history = TelemetryStore::open(&state.join(TELEMETRY)).unwrap();
        let mut out = Cursor::new(Vec::new());
        pack(&mut out, &folder.path().join("copy"), &state, &history).unwrap();
        let bytes = out.into_inner();
        assert!(is_archive(&bytes));
        let files = unpack(&bytes).unwrap();
        let names: Vec<_> = files.iter().map(|file| file.name.as_deref()).collect();
        let expected = ["audit.jsonl", "token.key", TELEMETRY, "firmware/0001"].map(Some);
        assert_eq!((names[0], &names[1..]), (None, &expected[..]));
        assert_eq!(files[4].bytes, b"image");
        assert_eq!((&files[0].bytes[..], &files[1].bytes[..]), (&b"store"[..], &b"{}\n"[..]));
        let copy = folder.path().join("again");
        fs::write(&copy, &files[3].bytes).unwrap();
        assert!(TelemetryStore::open(&copy).is_ok());
        for cut in [0, 10, bytes.len() / 2, bytes.len() - 1] {
            assert!(unpack(&bytes[..cut]).is_err(), "{cut}");
        }
    }

    #[test]
    fn names_outside_the_state_folder_are_refused() {
        for name in
            ["../token.key", "/etc/passwd", "a/b/c", "firmware/..", "a//b", "", ".key", "a/"]
        {
            assert!(!is_state_file(name), "{name}");
        }
        assert!(is_state_file("firmware/0001") && is_state_file("token.key"));
    }
}
