//! Keeping completed minutes.

use groundwave_gateway::fleet::StoreMinute;
use redb::{ReadableTable, WriteTransaction};

use super::recent::Samples;
use super::row::Aggregates;
use super::{
    ABOUT, DAY_HOURS, HOUR_MINUTES, HOURS, HistoryError, MINUTE_MS, MINUTES, held, rolled_hour,
};

/// Puts minutes into a transaction.
pub(super) fn keep_in(
    write: &WriteTransaction,
    minutes: &[StoreMinute],
) -> Result<(), HistoryError> {
    let rolled = rolled_hour(&write.open_table(ABOUT)?)?;
    let mut samples = Samples::open(write, rolled)?;
    let (minutes_table, hours) = (write.open_table(MINUTES)?, write.open_table(HOURS)?);
    for kept in minutes {
        let hour = kept.minute.minute / HOUR_MINUTES;
        // A minute of a time that was rolled up is new after the clock was set back, and comes a
        // second time after a restart.
        if hour < rolled && is_rolled_up(&minutes_table, &hours, kept)? {
            continue;
        }
        samples.change(kept.node.as_u128(), kept.minute.minute, |row| {
            for (place, ts_ms, value) in kept.minute.samples() {
                if let Some(name) = kept.names.get(place) {
                    row.add(name, ts_ms, value);
                }
            }
        })?;
    }
    Ok(())
}

/// True when the roll-up has that minute of that node.
fn is_rolled_up(
    minutes: &impl ReadableTable<(u64, u128, u64), &'static [u8]>,
    hours: &impl ReadableTable<(u64, u128), &'static [u8]>,
    kept: &StoreMinute,
) -> Result<bool, HistoryError> {
    let hour = kept.minute.minute / HOUR_MINUTES;
    let (day, node) = (hour / DAY_HOURS, kept.node.as_u128());
    let has = |row: Aggregates, ts_ms: u64| {
        let mut names = kept.names.iter();
        names.any(|name| row.points(name).any(|point| point.ts_ms == ts_ms))
    };
    let minute = held::<_, Aggregates>(minutes, (day, node, hour))?;
    let of_hour = held::<_, Aggregates>(hours, (day, node))?;
    Ok(has(minute, kept.minute.minute * MINUTE_MS) || has(of_hour, hour * HOUR_MINUTES * MINUTE_MS))
}
