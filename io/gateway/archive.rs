//! Archive of a gateway: its store, keys, audit log and telemetry as a zip file.
//!
//! Names in the archive are `store.redb` and `state/NAME` for the files of the state folder.

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

/// A file of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedFile {
    /// Name in the state folder; `None` is the store.
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
    let mut names = Vec::new();
    for entry in fs::read_dir(state)? {
        let entry = entry?;
        let name = entry.file_name().into_string();
        // Names that begin with a dot are of files that are being written.
        if let Ok(name) = name
            && entry.file_type()?.is_file()
            && !name.starts_with('.')
            && !name.starts_with(TELEMETRY)
        {
            names.push(name);
        }
    }
    names.sort_unstable();
    for name in names {
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
    zip.finish()?;
    Ok(())
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
                if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', '\0']) {
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
        let history = TelemetryStore::open(&state.join(TELEMETRY)).unwrap();
        let mut out = Cursor::new(Vec::new());
        pack(&mut out, &folder.path().join("copy"), &state, &history).unwrap();
        let bytes = out.into_inner();
        assert!(is_archive(&bytes));
        let files = unpack(&bytes).unwrap();
        let names: Vec<_> = files.iter().map(|file| file.name.as_deref()).collect();
        assert_eq!(names, [None, Some("audit.jsonl"), Some("token.key"), Some(TELEMETRY)]);
        assert_eq!((&files[0].bytes[..], &files[1].bytes[..]), (&b"store"[..], &b"{}\n"[..]));
        let copy = folder.path().join("again");
        fs::write(&copy, &files[3].bytes).unwrap();
        assert!(TelemetryStore::open(&copy).is_ok());
        for cut in [0, 10, bytes.len() / 2, bytes.len() - 1] {
            assert!(unpack(&bytes[..cut]).is_err(), "{cut}");
        }
    }
}
