//! Samples of the last hours, ordered by time: the minutes of all nodes that are stored together lie
//! together, so that they cost their own bytes and not a page each.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use redb::{
    ReadTransaction, ReadableDatabase, ReadableTable, Table, TableDefinition, WriteTransaction,
};

use super::row::{self, Aggregates, Raw};
use super::{
    ABOUT, DAY_HOURS, HOUR_MINUTES, HistoryError, MINUTE_MS, MINUTES, RAW, TelemetryStore, held,
};

/// Samples of a minute: (minute, node) to a row.
pub(super) const RECENT: TableDefinition<'_, (u64, u128), &[u8]> = TableDefinition::new("recent");

/// Keys of the last node of the oldest hour that is rolled up, in the table of metadata: upper and
/// lower half of its id. The rows of an hour are removed at once, when it is rolled up wholly.
const ROLLED_NODE: [&str; 2] = ["rolled_node_high", "rolled_node_low"];
/// Nodes rolled up in one transaction: a bound on the time that arriving readings wait.
const NODES_AT_ONCE: usize = 32;

/// Tables of samples in a transaction.
pub(super) struct Samples<'t> {
    raw: Table<'t, (u64, u128, u64), &'static [u8]>,
    recent: Table<'t, (u64, u128), &'static [u8]>,
    /// First hour that is not being rolled up.
    rolled: u64,
}

impl<'t> Samples<'t> {
    /// Opens both; hours before `rolled` are rolled up or about to be.
    pub fn open(write: &'t WriteTransaction, rolled: u64) -> Result<Self, HistoryError> {
        Ok(Self { raw: write.open_table(RAW)?, recent: write.open_table(RECENT)?, rolled })
    }

    /// Changes the samples of a minute.
    pub fn change(
        &mut self,
        node: u128,
        minute: u64,
        change: impl FnOnce(&mut Raw),
    ) -> Result<(), HistoryError> {
        let hour = minute / HOUR_MINUTES;
        let (raw_key, key) = ((hour, node, minute), (minute, node));
        // The rows of an hour do not change while they are rolled up, and a sample is in one table.
        if hour < self.rolled || self.raw.get(raw_key)?.is_some() {
            let mut row = held::<_, Raw>(&self.raw, raw_key)?;
            change(&mut row);
            row.remove_all(&held::<_, Raw>(&self.recent, key)?);
            if !row.is_empty() {
                self.raw.insert(raw_key, row::write(&row)?.as_slice())?;
            }
        } else {
            let mut row = held::<_, Raw>(&self.recent, key)?;
            change(&mut row);
            self.recent.insert(key, row::write(&row)?.as_slice())?;
        }
        Ok(())
    }
}

/// Last node of the oldest hour that is rolled up.
fn rolled_node(
    about: &impl ReadableTable<&'static str, u64>,
) -> Result<Option<u128>, HistoryError> {
    let [high, low] = ROLLED_NODE.map(|key| about.get(key));
    let (Some(high), Some(low)) = (high?, low?) else {
        return Ok(None);
    };
    Ok(Some(u128::from(high.value()) << 64 | u128::from(low.value())))
}

/// Hands over the rows of a node in a range of minutes, in order of time.
pub(super) fn read(
    read: &ReadTransaction,
    node: u128,
    minutes: RangeInclusive<u64>,
    mut take: impl FnMut(&Raw),
) -> Result<(), HistoryError> {
    let recent = read.open_table(RECENT)?;
    let mut next = *minutes.start();
    let rolled = rolled_node(&read.open_table(ABOUT)?)?;
    if rolled.is_some_and(|rolled| node <= rolled)
        && let Some((oldest, _)) = recent.first()?
    {
        let hour = oldest.value().0 / HOUR_MINUTES;
        next = next.max((hour + 1) * HOUR_MINUTES);
    }
    // Minutes with rows only: a clock that was ahead may have left one far away.
    while let Some(entry) = recent.range((next, 0)..)?.next().transpose()? {
        let (minute, _) = entry.0.value();
        if minute > *minutes.end() {
            break;
        }
        if let Some(held) = recent.get((minute, node))? {
            take(&row::read::<Raw>(Some(held.value()))?);
        }
        let Some(after) = minute.checked_add(1) else {
            break;
        };
        next = after;
    }
    Ok(())
}

impl TelemetryStore {
    /// Rolls up some nodes of the oldest hour before `keep_from`; returns whether more is left.
    pub(super) fn roll_recent(&self, keep_from: u64) -> Result<bool, HistoryError> {
        let oldest = self.database.with(|database| {
            let recent = database.begin_read()?.open_table(RECENT)?;
            let first = recent.first()?;
            Ok::<_, HistoryError>(first.map(|(key, _)| key.value().0 / HOUR_MINUTES))
        })?;
        let Some(hour) = oldest.filter(|hour| *hour < keep_from) else {
            return Ok(false);
        };
        self.write(|write| {
            let mut about = write.open_table(ABOUT)?;
            let mut recent = write.open_table(RECENT)?;
            let mut minutes = write.open_table(MINUTES)?;
            let of_hour = (hour * HOUR_MINUTES, 0)..((hour + 1) * HOUR_MINUTES, 0);
            let mut nodes = BTreeSet::new();
            for entry in recent.range(of_hour.clone())? {
                nodes.insert(entry?.0.value().1);
            }
            if let Some(rolled) = rolled_node(&about)? {
                nodes.retain(|node| *node > rolled);
            }
            for node in nodes.iter().take(NODES_AT_ONCE) {
                let key = (hour / DAY_HOURS, *node, hour);
                let mut row = held::<_, Aggregates>(&minutes, key)?;
                for minute in hour * HOUR_MINUTES..(hour + 1) * HOUR_MINUTES {
                    let ts_ms = minute * MINUTE_MS;
                    for (name, point) in held::<_, Raw>(&recent, (minute, *node))?.folded(ts_ms) {
                        row.add(name, ts_ms, &point);
                    }
                }
                minutes.insert(key, row::write(&row)?.as_slice())?;
            }
            match nodes.iter().nth(NODES_AT_ONCE - 1) {
                Some(last) if nodes.len() > NODES_AT_ONCE => {
                    about.insert(ROLLED_NODE[0], (last >> 64) as u64)?;
                    about.insert(ROLLED_NODE[1], *last as u64)?;
                }
                _ => {
                    for key in ROLLED_NODE {
                        about.remove(key)?;
                    }
                    recent.retain_in(of_hour.clone(), |_, _| false)?;
                }
            }
            Ok(true)
        })
    }
}
