//! The store after a kill, a torn write and a plain copy.
//!
//! A copy of the files of an open store is what a kill leaves: records are in the file when a commit
//! returns. A power cut may leave any of the sectors of the record that was being written.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use groundwave_engine::{Row, Store};
use tempfile::TempDir;

use super::super::journal::{self, JournalError};
use super::super::{RedbStore, StoreError};
use crate::files::simulated::{Noise, SECTOR};

pub(super) type Rows = BTreeMap<[u8; 16], Vec<u8>>;

fn path(folder: &TempDir) -> PathBuf {
    folder.path().join("world.db")
}

/// Commits rows and notes them in `model`.
pub(super) fn commit(
    store: &mut RedbStore,
    model: &mut Rows,
    tick: u64,
    rows: &[(u8, Option<Vec<u8>>)],
) {
    let mut written = Vec::new();
    for (key, value) in rows {
        let key = [*key; 16];
        match value {
            Some(value) => drop(model.insert(key, value.clone())),
            None => drop(model.remove(&key)),
        }
        let (table, value) = ("fleet".to_owned(), value.clone());
        written.push(Row { table, key, value });
    }
    store.space().unwrap();
    store.commit(tick, &written).unwrap();
}

pub(super) fn rows(store: &mut RedbStore) -> Rows {
    let rows = store.load().unwrap().into_iter();
    rows.map(|row| (row.key, row.value.unwrap())).collect()
}

/// The files of a store as they are now, in a folder of their own.
fn image(store: &Path) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in fs::read_dir(store.parent().unwrap()).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    folder
}

#[test]
fn a_kill_at_any_moment_leaves_every_commit() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = RedbStore::open(&path(&folder)).unwrap();
    let (mut model, mut noise) = (Rows::new(), Noise(1));
    for tick in 1..=60 {
        // A document that changes a little, one that changes wholly, one that comes and goes.
        let mut little = vec![7; 3000];
        little[(tick % 3000) as usize] = tick as u8;
        let whole = noise.bytes(60_000);
        let gone = (tick % 3 == 0).then(|| noise.bytes(10));
        let changed = [(1, Some(little)), ((tick % 5) as u8 + 2, Some(whole)), (9, gone)];
        commit(&mut store, &mut model, tick, &changed);
        if tick % 4 == 0 {
            let left = image(&path(&folder));
            for again in 0..2 {
                let mut opened = RedbStore::open(&path(&left)).unwrap();
                assert_eq!(rows(&mut opened), model, "tick {tick}, opened {again} times before");
                assert_eq!(opened.last_tick().unwrap(), tick);
            }
        }
    }
    drop(store);
    let files = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 1, "a closed store is one file");
    assert_eq!(rows(&mut RedbStore::open(&path(&folder)).unwrap()), model);
}

#[test]
fn a_commit_larger_than_a_segment_is_stored_between_others() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = RedbStore::open(&path(&folder)).unwrap();
    let (mut model, mut noise) = (Rows::new(), Noise(2));
    commit(&mut store, &mut model, 1, &[(1, Some(vec![1]))]);
    commit(&mut store, &mut model, 2, &[(2, Some(noise.bytes(3 << 20)))]);
    commit(&mut store, &mut model, 3, &[(1, Some(vec![3]))]);
    let left = image(&path(&folder));
    assert_eq!(rows(&mut RedbStore::open(&path(&left)).unwrap()), model);
}

/// Where the last record of a segment begins and how long it is.
fn last_record(segment: &Path) -> (usize, usize) {
    let bytes = fs::read(segment).unwrap();
    let mut found = (0, 0);
    let mut at = 0;
    while bytes[at..].starts_with(b"GWJ1") {
        let length = u32::from_le_bytes(bytes[at + 12..at + 16].try_into().unwrap()) as usize;
        found = (at, length);
        at += length;
    }
    found
}

#[test]
fn a_torn_record_is_left_out_whatever_of_its_sectors_reached_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = RedbStore::open(&path(&folder)).unwrap();
    let (mut model, mut noise) = (Rows::new(), Noise(3));
    for tick in 1..=5 {
        commit(&mut store, &mut model, tick, &[(1, Some(noise.bytes(300)))]);
    }
    let before = model.clone();
    commit(&mut store, &mut model, 6, &[(2, Some(noise.bytes(3 * SECTOR)))]);
    let [segment, _] = journal::paths(&path(&folder));
    let (from, length) = last_record(&segment);
    let sectors = length / SECTOR;
    assert!(sectors >= 4, "{sectors}");
    let left = image(&path(&folder));
    let [torn, _] = journal::paths(&path(&left));
    let (whole, database) = (fs::read(&torn).unwrap(), fs::read(path(&left)).unwrap());
    // The last sectors of a record may hold no more than its padding.
    let payload = u32::from_le_bytes(whole[from + 8..from + 12].try_into().unwrap()) as usize;
    let used = (40 + payload).div_ceil(SECTOR);
    for reached in 0..1u32 << used {
        for stale in [0, 0xa5] {
            let mut bytes = whole.clone();
            for sector in (0..used).filter(|sector| reached >> sector & 1 == 0) {
                bytes[from + sector * SECTOR..][..SECTOR].fill(stale);
            }
            fs::write(&torn, &bytes).unwrap();
            fs::write(path(&left), &database).unwrap();
            fs::write(&journal::paths(&path(&left))[1], []).unwrap();
            let mut opened = RedbStore::open(&path(&left)).unwrap();
            let all = reached.count_ones() as usize == used;
            let expected = if all { &model } else { &before };
            assert_eq!(&rows(&mut opened), expected, "sectors {reached:b}");
        }
    }
}

#[test]
fn a_store_goes_on_after_a_torn_record() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = RedbStore::open(&path(&folder)).unwrap();
    let mut model = Rows::new();
    for tick in 1..=3 {
        commit(&mut store, &mut model, tick, &[(tick as u8, Some(vec![1; 2000]))]);
    }
    let left = image(&path(&folder));
    let [torn, _] = journal::paths(&path(&left));
    let (from, _) = last_record(&torn);
    let mut bytes = fs::read(&torn).unwrap();
    bytes[from + 20] ^= 1;
    fs::write(&torn, bytes).unwrap();
    model.remove(&[3; 16]);
    for round in 0..3 {
        let mut opened = RedbStore::open(&path(&left)).unwrap();
        assert_eq!(rows(&mut opened), model);
        commit(&mut opened, &mut model, 10 + round, &[(10, Some(vec![round as u8; 50]))]);
        let again = image(&path(&left));
        assert_eq!(rows(&mut RedbStore::open(&path(&again)).unwrap()), model);
    }
}

#[test]
fn damage_before_a_whole_record_is_told_and_nothing_is_dropped_in_silence() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = RedbStore::open(&path(&folder)).unwrap();
    let mut model = Rows::new();
    for tick in 1..=4 {
        commit(&mut store, &mut model, tick, &[(1, Some(vec![tick as u8; 10]))]);
    }
    let left = image(&path(&folder));
    let [damaged, _] = journal::paths(&path(&left));
    let mut bytes = fs::read(&damaged).unwrap();
    let second = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    bytes[second + 17] ^= 1;
    fs::write(&damaged, bytes).unwrap();
    for _ in 0..2 {
        let failed = RedbStore::open(&path(&left)).unwrap_err();
        let StoreError::Journal { err, .. } = &failed else {
            panic!("{failed}");
        };
        assert!(matches!(err, JournalError::Damaged { last: 1, beyond: 4, .. }), "{err}");
    }
}

#[test]
fn a_plain_copy_opens_or_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = RedbStore::open(&path(&folder)).unwrap();
    let (mut model, mut noise) = (Rows::new(), Noise(4));
    let mut write = |store: &mut RedbStore, ticks: std::ops::Range<u64>| {
        for tick in ticks {
            commit(store, &mut model, tick, &[((tick % 4) as u8, Some(noise.bytes(50_000)))]);
        }
    };
    write(&mut store, 1..10);
    // The file alone, without its journal.
    let alone = tempfile::tempdir().unwrap();
    fs::copy(path(&folder), path(&alone)).unwrap();
    let failed = RedbStore::open(&path(&alone)).unwrap_err().to_string();
    assert!(failed.contains("groundwave backup"), "{failed}");
    // The file first, its journal after both segments were used again.
    let copied = image(&path(&folder));
    write(&mut store, 10..100);
    for segment in journal::paths(Path::new("world.db")) {
        fs::copy(folder.path().join(&segment), copied.path().join(&segment)).unwrap();
    }
    let failed = RedbStore::open(&path(&copied)).unwrap_err().to_string();
    assert!(failed.contains("not of one moment"), "{failed}");
    // All files at once.
    let whole = image(&path(&folder));
    let mut opened = RedbStore::open(&path(&whole)).unwrap();
    assert_eq!(opened.last_tick().unwrap(), 99);
    assert_eq!(rows(&mut opened).len(), 4);
}
