//! Operations on record before they are carried out: slots of a file whose space is taken from the start,
//! so that a disk that fills up meanwhile, a crash or a client that goes away hides none.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::audit_entry::AuditEntry;

/// Slots: operations that are carried out or wait for the audit log at a time.
pub(super) const SLOTS: usize = 512;
/// Length of a slot, bytes.
const SLOT_BYTES: usize = 1 << 10;
/// Length of the path of a request in a slot at most, bytes.
const TARGET_BYTES_MAX: usize = 256;

#[derive(Debug)]
struct State {
    /// `None` while its space could not be taken.
    file: Option<File>,
    free: Vec<usize>,
}

/// Slots of operations.
#[derive(Debug)]
pub(super) struct AuditSlots {
    path: PathBuf,
    state: Mutex<State>,
}

/// The file with the space of all slots.
fn allocated(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false);
    let file = options.mode(0o600).open(path)?;
    let bytes = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    // Zeros that are written take space, a length that is set does not.
    for slot in bytes / SLOT_BYTES..SLOTS {
        file.write_all_at(&[0; SLOT_BYTES], (slot * SLOT_BYTES) as u64)?;
    }
    file.sync_data()?;
    Ok(file)
}

/// Entry in the bytes of a slot.
fn entry(bytes: &[u8]) -> Option<AuditEntry> {
    let text = bytes.split(|byte| *byte == 0).next()?;
    serde_json::from_slice(text).ok()
}

impl AuditSlots {
    /// Slots of a file, and those that an earlier run left in use with their entries.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn open(path: &Path) -> io::Result<(Self, Vec<(usize, AuditEntry)>)> {
        let bytes = match std::fs::read(path) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => Vec::new(),
            bytes => bytes?,
        };
        let slots = bytes.chunks(SLOT_BYTES).take(SLOTS).enumerate();
        let entries: Vec<_> =
            slots.filter_map(|(slot, bytes)| Some((slot, entry(bytes)?))).collect();
        let is_free = |slot: &usize| entries.iter().all(|(other, _)| other != slot);
        let free = (0..SLOTS).rev().filter(is_free).collect();
        // Without space now, operations are refused until there is some.
        let state = State { file: allocated(path).ok(), free };
        Ok((Self { path: path.to_owned(), state: Mutex::new(state) }, entries))
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an entry into a slot.
    ///
    /// # Errors
    /// Without a free slot, or when the disk fails.
    pub fn begin(&self, entry: &AuditEntry) -> io::Result<usize> {
        let mut state = self.locked();
        if state.file.is_none() {
            state.file = Some(allocated(&self.path)?);
        }
        let slot = state.free.last().copied().ok_or(io::ErrorKind::WouldBlock)?;
        write(&state, slot, entry)?;
        state.free.pop();
        Ok(slot)
    }

    /// Replaces the entry of a slot.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn replace(&self, slot: usize, entry: &AuditEntry) -> io::Result<()> {
        write(&self.locked(), slot, entry)
    }

    /// Frees a slot.
    pub fn free(&self, slot: usize) {
        let mut state = self.locked();
        let file = state.file.as_ref();
        let cleared =
            file.map(|file| file.write_all_at(&[0; SLOT_BYTES], (slot * SLOT_BYTES) as u64));
        match cleared {
            // Otherwise the next start would find its entry twice: it stays in use.
            Some(Err(err)) => tracing::error!(%err, "slot of the audit log not freed"),
            _ => state.free.push(slot),
        }
    }
}

fn write(state: &State, slot: usize, entry: &AuditEntry) -> io::Result<()> {
    let mut entry = entry.clone();
    if entry.target.len() > TARGET_BYTES_MAX {
        entry.target.truncate(entry.target.floor_char_boundary(TARGET_BYTES_MAX));
    }
    let mut bytes = serde_json::to_vec(&entry).map_err(io::Error::other)?;
    if bytes.len() >= SLOT_BYTES {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    bytes.resize(SLOT_BYTES, 0);
    let file = state.file.as_ref().ok_or(io::ErrorKind::StorageFull)?;
    file.write_all_at(&bytes, (slot * SLOT_BYTES) as u64)
}
