//! A history whose disk has no space, and has it again.

use std::sync::atomic::Ordering;

use groundwave_engine::FaultKind;

use super::tests::{T0, all, minute, node};
use super::*;

fn late(second: u64) -> [Sample; 1] {
    [Sample { ts_ms: T0 + second * 1_000, metric: "sys.load1".to_owned(), value: 1.0 }]
}

#[test]
fn a_history_on_a_full_disk_says_so_is_read_and_takes_writes_again() {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::default();
    let is_full = Arc::clone(&files.is_full);
    let store = TelemetryStore::open_files(&folder.path().join("t.redb"), files).unwrap();
    let first = T0 / MINUTE_MS;
    store.keep(&[minute(1, first, &[0])]).unwrap();
    assert_eq!(store.failure(), None);
    is_full.store(true, Ordering::Relaxed);
    let waiting: Vec<_> = (1..200).map(|at| minute(1, first + at, &[0, 30])).collect();
    // Every failure is that of the disk, not that of a file that has to be opened again.
    for _ in 0..3 {
        assert_eq!(store.keep(&waiting).unwrap_err().kind, FaultKind::Full);
        let failed = store.add(node(1), &late(7)).unwrap_err();
        assert_eq!(failed.kind, FaultKind::Full);
        assert_eq!(store.roll(T0 + 4 * 3_600_000).unwrap_err().kind, FaultKind::Full);
        let snapshot = store.store_topology(T0, [b"{}"].into_iter());
        assert_eq!(snapshot.unwrap_err().kind, FaultKind::Full);
        assert_eq!(store.failure().unwrap().kind, FaultKind::Full);
    }
    is_full.store(false, Ordering::Relaxed);
    // What was there is read; minutes wait, so that a smaller write does not end the failure.
    assert_eq!(all(&store, 1).len(), 1);
    store.probe().unwrap();
    assert!(store.failure().is_some());
    store.keep(&waiting).unwrap();
    assert_eq!(store.failure(), None);
    store.add(node(1), &late(7)).unwrap();
    assert_eq!(all(&store, 1).len(), 1 + 2 * 199 + 1);
}

#[test]
fn a_damaged_row_keeps_no_other_minute_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = TelemetryStore::open(&folder.path().join("t.redb")).unwrap();
    let first = T0 / MINUTE_MS;
    let damaged = store.write(|write| {
        let mut table = write.open_table(RECENT)?;
        table.insert((first, 1), &b"\x28\xb5\x2f\xfdno row"[..])?;
        Ok(())
    });
    damaged.unwrap();
    let minutes = [minute(1, first, &[0]), minute(2, first, &[0])];
    assert_eq!(store.keep(&minutes), Ok(1));
    assert_eq!(store.failure(), None);
    assert_eq!(all(&store, 2).len(), 1);
}

#[test]
fn threads_that_meet_a_failure_of_another_do_their_work() {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::default();
    let is_full = Arc::clone(&files.is_full);
    let store = TelemetryStore::open_files(&folder.path().join("t.redb"), files).unwrap();
    let first = T0 / MINUTE_MS;
    store.keep(&[minute(1, first, &[0])]).unwrap();
    for round in 1..20 {
        is_full.store(true, Ordering::Relaxed);
        std::thread::scope(|scope| {
            for number in 2..6 {
                let store = store.clone();
                scope.spawn(move || {
                    let kept = store.keep(&[minute(number, first + round, &[0])]);
                    assert_eq!(kept.unwrap_err().kind, FaultKind::Full);
                });
            }
        });
        is_full.store(false, Ordering::Relaxed);
        std::thread::scope(|scope| {
            for number in 2..6 {
                let store = store.clone();
                scope.spawn(move || store.keep(&[minute(number, first + round, &[0])]).unwrap());
            }
        });
    }
    assert_eq!(all(&store, 5).len(), 19);
}
