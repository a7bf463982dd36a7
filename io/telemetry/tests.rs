use groundwave_gateway::fleet::{SampleBuffer, StoreMinute};
use groundwave_model::id::NodeId;
use groundwave_protocol::Sample;
use groundwave_store::files::simulated::{Recording, every_loss};

use super::row::Raw;
use super::*;

const HOUR_MS: u64 = 3_600_000;
/// The beginning of an hour and a day.
pub(super) const T0: u64 = 20_000 * 24 * HOUR_MS;

fn store() -> (tempfile::TempDir, TelemetryStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = TelemetryStore::open(&folder.path().join("t.redb")).unwrap();
    (folder, store)
}

pub(super) fn node(number: u128) -> NodeId {
    NodeId::from_u128(number)
}

/// A minute with samples at these seconds, whose values are their times in seconds.
pub(super) fn minute(number: u128, minute: u64, seconds: &[u64]) -> StoreMinute {
    let mut buffer = SampleBuffer::default();
    for second in seconds {
        let ts_ms = minute * MINUTE_MS + second * 1_000;
        buffer.admit("sys.load1", ts_ms, |_| false).unwrap();
        buffer.push("sys.load1", ts_ms, (ts_ms / 1_000) as f64, ts_ms).unwrap();
    }
    StoreMinute { node: node(number), names: buffer.names.clone(), minute: buffer.current }
}

pub(super) fn all(store: &TelemetryStore, number: u128) -> Vec<Point> {
    store.read(node(number), "sys.load1", 0, u64::MAX).unwrap()
}

#[test]
fn minutes_are_kept_once_and_read_by_node_and_time() {
    let (_folder, store) = store();
    let first = T0 / MINUTE_MS;
    let kept = [minute(1, first, &[0, 5, 10]), minute(2, first, &[7])];
    store.keep(&kept).unwrap();
    store.keep(&kept).unwrap();
    let times: Vec<_> = all(&store, 1).iter().map(|point| point.ts_ms - T0).collect();
    assert_eq!(times, [0, 5_000, 10_000]);
    let some = store.read(node(1), "sys.load1", T0 + 1, T0 + 9_000).unwrap();
    assert_eq!(some, [Point::one(T0 + 5_000, (T0 / 1_000 + 5) as f64)]);
    assert!(store.read(node(1), "sys.other", 0, u64::MAX).unwrap().is_empty());
    assert_eq!(all(&store, 2).len(), 1);
}

#[test]
fn rolling_up_keeps_count_sum_least_most_and_last() {
    let (_folder, store) = store();
    let first = T0 / MINUTE_MS;
    for step in 0..120 {
        store.keep(&[minute(1, first + step, &[3, 33])]).unwrap();
    }
    let before = all(&store, 1);
    assert_eq!(before.len(), 240);
    let whole = |points: &[Point]| {
        let mut whole = points[0];
        points[1..].iter().for_each(|point| whole.fold(point));
        (whole.count, whole.sum, whole.min, whole.max, whole.last)
    };
    let expected = whole(&before);
    while store.roll(T0 + 4 * HOUR_MS).unwrap() {}
    let minutes = all(&store, 1);
    assert_eq!((minutes.len(), minutes[1].ts_ms), (120, T0 + MINUTE_MS));
    assert_eq!(whole(&minutes), expected);
    while store.roll(T0 + 9 * 24 * HOUR_MS).unwrap() {}
    let hours = all(&store, 1);
    assert_eq!((hours.len(), hours[1].ts_ms), (2, T0 + HOUR_MS));
    assert_eq!(whole(&hours), expected);
    store.roll(T0 + 402 * 24 * HOUR_MS).unwrap();
    assert!(all(&store, 1).is_empty());
}

#[test]
fn late_samples_find_their_place_however_late() {
    let (_folder, store) = store();
    let first = T0 / MINUTE_MS;
    store.keep(&[minute(1, first, &[0])]).unwrap();
    let late = |second: u64, value: f64| {
        [Sample { ts_ms: T0 + second * 1_000, metric: "sys.load1".to_owned(), value }]
    };
    store.add(node(1), &late(30, -1.0)).unwrap();
    assert_eq!(all(&store, 1).len(), 2);
    while store.roll(T0 + 4 * HOUR_MS).unwrap() {}
    store.add(node(1), &late(45, -2.0)).unwrap();
    // A minute that was rolled up is not rolled up again.
    store.keep(&[minute(1, first, &[0])]).unwrap();
    while store.roll(T0 + 5 * HOUR_MS).unwrap() {}
    let minutes = all(&store, 1);
    assert_eq!((minutes.len(), minutes[0].count, minutes[0].min), (1, 3, -2.0));
    while store.roll(T0 + 30 * 24 * HOUR_MS).unwrap() {}
    store.add(node(1), &late(50, -3.0)).unwrap();
    let hours = all(&store, 1);
    assert_eq!((hours.len(), hours[0].count, hours[0].last.1), (1, 4, -3.0));
}

#[test]
fn a_late_sample_that_is_uploaded_again_counts_once() {
    let (_folder, store) = store();
    let late = |second: u64, value: f64| {
        [Sample { ts_ms: T0 + second * 1_000, metric: "sys.load1".to_owned(), value }]
    };
    while store.roll(T0 + 4 * HOUR_MS).unwrap() {}
    for _ in 0..3 {
        store.add(node(1), &late(0, 0.0)).unwrap();
    }
    store.add(node(1), &late(5, 10.0)).unwrap();
    store.add(node(2), &late(0, 0.0)).unwrap();
    let minutes = all(&store, 1);
    assert_eq!((minutes.len(), minutes[0].count, minutes[0].sum), (1, 2, 10.0));
    assert_eq!(all(&store, 2)[0].count, 1);
    // Also on the next day, and where minutes became hours.
    while store.roll(T0 + 28 * HOUR_MS).unwrap() {}
    store.add(node(1), &late(5, 10.0)).unwrap();
    assert_eq!(all(&store, 1)[0].count, 2);
    while store.roll(T0 + 9 * 24 * HOUR_MS).unwrap() {}
    for _ in 0..2 {
        store.add(node(1), &late(10, 1.0)).unwrap();
    }
    assert_eq!(all(&store, 1)[0].count, 3);
    while store.roll(T0 + 12 * 24 * HOUR_MS).unwrap() {}
    let is_empty = |database: &Database| {
        let late = database.begin_read()?.open_table(LATE)?;
        let first = late.first()?;
        Ok::<_, HistoryError>(first.is_none())
    };
    assert!(store.database.with(is_empty).unwrap());
}

#[test]
fn snapshots_thin_out_with_age_and_answer_for_any_time_since_the_first() {
    let (_folder, store) = store();
    assert_eq!(store.topology_range().unwrap(), None);
    assert_eq!(store.topology_at(u64::MAX).unwrap(), None);
    let now = T0 + 40 * 24 * HOUR_MS;
    // Every ten minutes for 40 days.
    for at in (T0..=now).step_by(10 * MINUTE_MS as usize) {
        let text = at.to_string();
        let (head, tail) = text.split_at(5);
        store.store_topology(at, [head, tail].into_iter()).unwrap();
    }
    let from = now - HOURLY_MS;
    assert_eq!(store.topology_range().unwrap(), Some((from, now)));
    let at = |ms: u64| store.topology_at(ms).unwrap().map(|(at, _)| at);
    assert_eq!(at(from - 1), None);
    // Of late each is there; before, the first of each hour.
    assert_eq!(at(now - 10 * MINUTE_MS - 1), Some(now - 20 * MINUTE_MS));
    let old = now - EACH_MS - 30 * 24 * HOUR_MS / 2;
    assert_eq!(at(old + 59 * MINUTE_MS), Some(old));
    let (found, snapshot) = store.topology_at(old + 1).unwrap().unwrap();
    assert_eq!(snapshot, found.to_string().as_bytes());
}

#[test]
fn snapshots_keep_to_their_size_limit_and_lose_the_oldest_first() {
    let (_folder, store) = store();
    let noise = |seed: u64| -> Vec<u8> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        (0..1_000).map(|_| next()).collect()
    };
    for number in 1..=20 {
        let at = T0 + number * MINUTE_MS;
        let snapshot = || std::iter::once(noise(number));
        store.store_topology_within(at, snapshot(), 5_500).unwrap();
        // The same again weighs nothing.
        store.store_topology_within(at, snapshot(), 5_500).unwrap();
    }
    let (first, last) = store.topology_range().unwrap().unwrap();
    assert_eq!((first, last), (T0 + 16 * MINUTE_MS, T0 + 20 * MINUTE_MS));
    assert_eq!(store.topology_at(last).unwrap(), Some((last, noise(20))));
}

#[test]
fn a_clock_set_forward_and_back_loses_no_reading() {
    let (folder, store) = store();
    let first = T0 / MINUTE_MS;
    let years = 10 * 365 * 24 * 60;
    let mut stored = 0;
    // Minutes since the start; the wall clock is ten years ahead from 60 to 63.
    for at in 0..360 {
        let wall = first + at + if (60..63).contains(&at) { years } else { 0 };
        store.keep(&[minute(1, wall, &[7])]).unwrap();
        stored += 1;
        let mark = store.advance_retention(wall * MINUTE_MS, at * MINUTE_MS, false).unwrap();
        while store.roll(mark).unwrap() {}
        if at % 20 == 19 || (60..66).contains(&at) {
            let count: u32 = all(&store, 1).iter().map(|point| point.count).sum();
            assert_eq!(count, stored, "minute {at}");
        }
    }
    // After a restart with the clock ahead and one with it right.
    drop(store);
    for (wall, boot) in [(first + years, 0), (first + 360, 10), (first + 361, 11)] {
        let store = TelemetryStore::open(&folder.path().join("t.redb")).unwrap();
        let mark = store.advance_retention(wall * MINUTE_MS, boot * MINUTE_MS, true).unwrap();
        while store.roll(mark).unwrap() {}
        store.keep(&[minute(1, wall, &[7])]).unwrap();
        stored += 1;
        let count: u32 = all(&store, 1).iter().map(|point| point.count).sum();
        assert_eq!(count, stored);
    }
}

#[test]
fn an_hour_without_anything_old_writes_nothing() {
    let (folder, store) = store();
    store.keep(&[minute(1, T0 / MINUTE_MS, &[0])]).unwrap();
    while store.roll(T0 + 60_000).unwrap() {}
    let before = std::fs::read(folder.path().join("t.redb")).unwrap();
    store.roll(T0 + 120_000).unwrap();
    assert!(std::fs::read(folder.path().join("t.redb")).unwrap() == before);
}

#[test]
fn an_hour_of_many_nodes_is_rolled_up_in_steps_and_read_the_same_between_them() {
    let (_folder, store) = store();
    let first = T0 / MINUTE_MS;
    let minutes = |number: u128| (0..60).map(move |at| minute(number, first + at, &[1, 30]));
    let kept: Vec<_> = (1..=100).flat_map(minutes).collect();
    store.keep(&kept).unwrap();
    assert_eq!(all(&store, 100).len(), 120);
    let mut steps = 0;
    let now_ms = T0 + 3 * HOUR_MS;
    loop {
        let more = store.roll(now_ms).unwrap();
        steps += 1;
        // Once more, as after a restart: it is known, rolled up or not.
        store.keep(&kept[..60]).unwrap();
        store.keep(&kept[kept.len() - 60..]).unwrap();
        for number in [1, 33, 64, 65, 100] {
            let points = all(&store, number);
            let samples: u32 = points.iter().map(|point| point.count).sum();
            assert_eq!(samples, 120, "node {number} after {steps} steps");
            assert!([60, 120].contains(&points.len()));
        }
        if !more {
            break;
        }
    }
    assert!(steps >= 4, "{steps}");
    assert_eq!(all(&store, 100).len(), 60);
}

#[test]
fn minutes_of_an_earlier_version_are_read_beside_new_ones_and_not_doubled() {
    let (_folder, store) = store();
    let first = T0 / MINUTE_MS;
    let mut raw = Raw::default();
    raw.add("sys.load1", T0, 1.0);
    let bytes = rmp_serde::to_vec(&raw).unwrap();
    let written = store.write(|write| {
        let mut table = write.open_table(RAW)?;
        table.insert((T0 / HOUR_MS, 1, first), bytes.as_slice())?;
        Ok(())
    });
    written.unwrap();
    store.keep(&[minute(1, first, &[5]), minute(1, first + 1, &[5])]).unwrap();
    let times: Vec<_> = all(&store, 1).iter().map(|point| point.ts_ms - T0).collect();
    assert_eq!(times, [0, 5_000, 65_000]);
    while store.roll(T0 + 4 * HOUR_MS).unwrap() {}
    let counts: Vec<_> = all(&store, 1).iter().map(|point| point.count).collect();
    assert_eq!(counts, [2, 1]);
}

#[test]
fn whatever_a_loss_of_power_leaves_of_the_history_has_every_stored_minute() {
    let folder = tempfile::tempdir().unwrap();
    let (record, files) = Recording::new();
    let store = TelemetryStore::open_files(&folder.path().join("t.redb"), files).unwrap();
    record.acknowledge(0);
    let first = T0 / MINUTE_MS;
    for at in 0..12 {
        let minutes: Vec<_> = (1..=20).map(|number| minute(number, first + at, &[3, 9])).collect();
        store.keep(&minutes).unwrap();
        record.acknowledge(at as usize + 1);
    }
    drop(store);
    let checked = every_loss(&record, |left, stored, when| {
        let path = left.join("t.redb");
        let store = TelemetryStore::open(&path).unwrap_or_else(|err| panic!("{when}: {err}"));
        for number in [1, 20] {
            let found = all(&store, number).len();
            let allowed = [2 * stored, 2 * stored + 2];
            assert!(allowed.contains(&found), "{when}: {found} samples of {stored} minutes");
        }
    });
    assert!(checked > 100, "{checked}");
}
