//! A disk whose writes are recorded, and what a loss of power may leave of it.
//!
//! Writes before the last sync of a file are on disk, and so are names of files before the last sync of
//! their folder. Of the writes after it each sector of 512 bytes may be on disk or not, whatever
//! the order; a length, a new name and a removal may be as well. Of a record that was being written
//! through, any sectors may be on disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tempfile::TempDir;

use super::{Change, Files};

/// Sector of a disk, bytes.
pub(crate) const SECTOR: usize = 512;

/// Numbers without a pattern, for choices and for values that do not compress.
pub struct Noise(pub u64);

impl Noise {
    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.0 >> 33
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.number() as u8).collect()
    }
}

/// A change as it was recorded.
#[derive(Debug, Clone)]
pub(crate) enum Event {
    Written(u64, Vec<u8>),
    WrittenThrough(u64, Vec<u8>),
    Sized(u64),
    Synced,
    Removed,
    Renamed(PathBuf),
    FolderSynced,
    /// So many commits are acknowledged.
    Acknowledged(usize),
}

/// All changes of a store's files, in order.
#[derive(Debug, Default)]
pub struct Recording(Mutex<Vec<(PathBuf, Event)>>);

impl Recording {
    /// A recording, and files whose changes it records.
    pub fn new() -> (Arc<Self>, Files) {
        let record = Arc::<Self>::default();
        let files = Files { record: Some(Arc::clone(&record)), ..Files::default() };
        (record, files)
    }

    /// Notes a change.
    pub fn note(&self, path: &Path, change: &Change<'_>) {
        let event = match *change {
            Change::Written(at, bytes) => Event::Written(at, bytes.to_vec()),
            Change::WrittenThrough(at, bytes) => Event::WrittenThrough(at, bytes.to_vec()),
            Change::Sized(length) => Event::Sized(length),
            Change::Synced => Event::Synced,
            Change::Removed => Event::Removed,
            Change::Renamed(to) => Event::Renamed(to.to_owned()),
            Change::FolderSynced => Event::FolderSynced,
        };
        self.0.lock().unwrap().push((path.to_owned(), event));
    }

    /// Notes that so many commits are acknowledged.
    pub fn acknowledge(&self, commits: usize) {
        let event = Event::Acknowledged(commits);
        self.0.lock().unwrap().push((PathBuf::new(), event));
    }
}

fn write(to: &mut Vec<u8>, at: u64, bytes: &[u8]) {
    let (from, end) = (at as usize, at as usize + bytes.len());
    if to.len() < end {
        to.resize(end, 0);
    }
    to[from..end].copy_from_slice(bytes);
}

/// A file on a disk.
#[derive(Debug, Clone, Default)]
struct OnDisk {
    bytes: Vec<u8>,
    /// Changes that may not be on disk.
    pending: Vec<Event>,
    /// The name is on disk.
    named: bool,
    /// The name is there, or there until the folder is synced.
    exists: bool,
    /// Name before it was renamed.
    before: Option<PathBuf>,
}

impl OnDisk {
    /// Makes a change that is on disk when it is over.
    fn apply(&mut self, event: &Event) {
        match event {
            Event::Written(at, bytes) | Event::WrittenThrough(at, bytes) => {
                write(&mut self.bytes, *at, bytes);
            }
            Event::Sized(length) => self.bytes.resize(*length as usize, 0),
            _ => {}
        }
    }

    /// Content after a loss of power; `keep` decides about each sector and length.
    fn content(&self, keep: &mut impl FnMut() -> bool) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for event in &self.pending {
            match event {
                Event::Written(at, new) | Event::WrittenThrough(at, new) => {
                    let mut from = 0;
                    while from < new.len() {
                        let offset = *at as usize + from;
                        let part = (SECTOR - offset % SECTOR).min(new.len() - from);
                        if keep() {
                            write(&mut bytes, offset as u64, &new[from..from + part]);
                        }
                        from += part;
                    }
                }
                Event::Sized(length) if keep() => bytes.resize(*length as usize, 0),
                _ => {}
            }
        }
        bytes
    }
}

/// The disk in the course of a recording.
#[derive(Debug, Clone, Default)]
struct Disk(BTreeMap<PathBuf, OnDisk>);

impl Disk {
    fn follow(&mut self, path: &Path, event: &Event) {
        if matches!(event, Event::FolderSynced) {
            for file in self.0.values_mut() {
                file.named = file.exists;
                file.before = None;
            }
            self.0.retain(|_, file| file.exists);
            return;
        }
        if matches!(event, Event::Acknowledged(_)) {
            return;
        }
        if let Event::Renamed(to) = event {
            if let Some(mut file) = self.0.remove(path) {
                file.before = Some(path.to_owned());
                self.0.insert(to.clone(), file);
            }
            return;
        }
        let file = self.0.entry(path.to_owned()).or_default();
        file.exists = !matches!(event, Event::Removed);
        match event {
            Event::Synced => {
                for event in std::mem::take(&mut file.pending) {
                    file.apply(&event);
                }
                // The name of a file that was synced is on disk on the file systems of Linux.
                file.named = true;
            }
            Event::WrittenThrough(..) => file.apply(event),
            Event::Removed => file.pending.clear(),
            _ => file.pending.push(event.clone()),
        }
    }

    /// The folder as a loss of power leaves it.
    fn left(&self, keep: &mut impl FnMut() -> bool) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, file) in &self.0 {
            let is_there = match (file.named, file.exists) {
                (true, true) => true,
                _ => keep(),
            };
            if is_there {
                let before = file.before.as_ref().filter(|_| !keep());
                let name = before.unwrap_or(path).file_name().unwrap();
                let to = folder.path().join(name);
                std::fs::write(to, file.content(keep)).unwrap();
            }
        }
        folder
    }
}

/// Hands over folders that a loss of power may leave, with the number of acknowledged commits and the
/// moment; returns their number.
pub fn every_loss(recording: &Recording, mut check: impl FnMut(&Path, usize, &str)) -> usize {
    let events = std::mem::take(&mut *recording.0.lock().unwrap());
    let (mut disk, mut acknowledged, mut chance) = (Disk::default(), 0, Noise(12));
    let mut count = 0;
    for (at, (path, event)) in events.iter().enumerate() {
        if let Event::Acknowledged(commits) = event {
            acknowledged = *commits;
            continue;
        }
        let before = disk.clone();
        disk.follow(path, event);
        // A run of writes without a sync has its states in common: most of them are passed over.
        let next = events.get(at + 1).map(|(_, event)| event);
        let is_run = matches!((event, next), (Event::Written(..), Some(Event::Written(..))));
        if is_run && chance.number() % 8 != 0 {
            continue;
        }
        let mut look = |disk: &Disk, what: &str, keep: &mut dyn FnMut() -> bool| {
            let left = disk.left(&mut || keep());
            let when = format!("event {at} of {}, {what}", events.len());
            check(left.path(), acknowledged, &when);
            count += 1;
        };
        look(&disk, "nothing kept", &mut || false);
        look(&disk, "all kept", &mut || true);
        look(&disk, "half kept", &mut || chance.number() % 2 == 0);
        look(&disk, "an eighth kept", &mut || chance.number() % 8 == 0);
        if matches!(event, Event::WrittenThrough(..)) {
            // The moment before it is over.
            let mut torn = before;
            let file = torn.0.get_mut(path).unwrap();
            file.pending.push(event.clone());
            look(&torn, "torn", &mut || chance.number() % 2 == 0);
        }
    }
    count
}
