//! Reading a series.

use groundwave_model::id::NodeId;
use redb::{Database, ReadableDatabase};

use super::row::{self, Aggregates, Point, Raw};
use super::{DAY_HOURS, HOUR_MINUTES, HOURS, HistoryError, MINUTE_MS, MINUTES, RAW, recent};

/// Points of one metric of one node between two times, ms since the Unix epoch, both included.
pub(super) fn points(
    database: &Database,
    node: NodeId,
    metric: &str,
    (from_ms, to_ms): (u64, u64),
) -> Result<Vec<Point>, HistoryError> {
    let read = database.begin_read()?;
    let id = node.as_u128();
    let hour_of = |ms: u64| ms / MINUTE_MS / HOUR_MINUTES;
    let (first, last) = (hour_of(from_ms), hour_of(to_ms));
    let mut points = Vec::new();
    let hours = read.open_table(HOURS)?;
    let minutes = read.open_table(MINUTES)?;
    // What was rolled up may be of a later time than the mark, once a clock was set back: days and
    // hours are those that have rows.
    let mut day = first / DAY_HOURS;
    loop {
        let next = minutes
            .range((day, 0, 0)..)?
            .next()
            .transpose()?
            .map_or(u64::MAX, |(key, _)| key.value().0);
        let of_hours = hours.range((day, 0)..)?.next().transpose()?;
        day = of_hours.map_or(u64::MAX, |(key, _)| key.value().0).min(next);
        if day > last / DAY_HOURS || day == u64::MAX {
            break;
        }
        if let Some(held) = hours.get((day, id))? {
            let row = row::read::<Aggregates>(Some(held.value()))?;
            points.extend(row.points(metric));
        }
        for entry in minutes.range((day, id, 0)..=(day, id, u64::MAX))? {
            let row = row::read::<Aggregates>(Some(entry?.1.value()))?;
            points.extend(row.points(metric));
        }
        day += 1;
    }
    let raw = read.open_table(RAW)?;
    let mut hour = first;
    loop {
        let next = raw.range((hour, 0, 0)..)?.next().transpose()?;
        hour = next.map_or(u64::MAX, |(key, _)| key.value().0);
        if hour > last || hour == u64::MAX {
            break;
        }
        for entry in raw.range((hour, id, 0)..=(hour, id, u64::MAX))? {
            let row = row::read::<Raw>(Some(entry?.1.value()))?;
            points.extend(row.points(metric));
        }
        hour += 1;
    }
    recent::read(&read, id, first * HOUR_MINUTES..=to_ms / MINUTE_MS, |row| {
        points.extend(row.points(metric));
    })?;
    points.retain(|point| (from_ms..=to_ms).contains(&point.ts_ms));
    points.sort_by_key(|point| point.ts_ms);
    Ok(points)
}
