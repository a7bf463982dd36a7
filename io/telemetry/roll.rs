//! Roll-up: samples to minutes, minutes to hours, removal of the rest.

use redb::{ReadableDatabase, ReadableTable};

use super::row::{self, Aggregates, Raw};
use super::{
    ABOUT, DAY_HOURS, HOUR_DAYS, HOUR_MINUTES, HOURS, HistoryError, MINUTE_DAYS, MINUTE_MS,
    MINUTES, RAW, RAW_HOURS, TelemetryStore, held, rolled_hour,
};

/// Rows rolled up in one transaction: a bound on the time that arriving readings wait.
const ROWS_AT_ONCE: usize = 2_000;

impl TelemetryStore {
    /// Rolls up a part of what is old at `now_ms`, ms since the Unix epoch by
    /// [`Self::advance_retention`]; returns whether more is left. Writes nothing when nothing is old.
    ///
    /// # Errors
    /// When the disk fails; then this step changed nothing.
    pub fn roll(&self, now_ms: u64) -> Result<bool, HistoryError> {
        let hour = now_ms / MINUTE_MS / HOUR_MINUTES;
        let day = hour / DAY_HOURS;
        let keep_from = hour.saturating_sub(RAW_HOURS);
        let more = self.roll_samples(keep_from)?;
        let more = self.roll_recent(keep_from)? || more;
        let more = self.roll_minutes(day.saturating_sub(MINUTE_DAYS))? || more;
        self.drop_late(keep_from)?;
        self.drop_hours(day.saturating_sub(HOUR_DAYS))?;
        Ok(more)
    }

    fn roll_samples(&self, keep_from: u64) -> Result<bool, HistoryError> {
        let is_rolled = self.database.with(|database| {
            let read = database.begin_read()?;
            let rolled = rolled_hour(&read.open_table(ABOUT)?)?;
            let oldest = read.open_table(RAW)?.first()?.map(|(key, _)| key.value().0);
            let is_rolled = rolled == keep_from && oldest.is_none_or(|oldest| oldest >= keep_from);
            Ok::<_, HistoryError>(is_rolled)
        })?;
        if is_rolled {
            return Ok(false);
        }
        self.write(|write| {
            let mut done = 0;
            let mut about = write.open_table(ABOUT)?;
            // From here on, late samples of these hours go to the minutes.
            about.insert("rolled", keep_from)?;
            let mut raw = write.open_table(RAW)?;
            let mut minutes = write.open_table(MINUTES)?;
            let mut old = Vec::new();
            for entry in raw.range(..(keep_from, 0, 0))?.take(ROWS_AT_ONCE) {
                let (key, value) = entry?;
                old.push((key.value(), value.value().to_vec()));
            }
            for ((hour, node, minute), bytes) in &old {
                let samples = row::read::<Raw>(Some(bytes.as_slice()))?;
                let key = (hour / DAY_HOURS, *node, *hour);
                let mut row = held::<_, Aggregates>(&minutes, key)?;
                let ts_ms = minute * MINUTE_MS;
                for (name, point) in samples.folded(ts_ms) {
                    row.add(name, ts_ms, &point);
                }
                minutes.insert(key, row::write(&row)?.as_slice())?;
                raw.remove((*hour, *node, *minute))?;
                done += 1;
            }
            Ok(done == ROWS_AT_ONCE)
        })
    }

    fn roll_minutes(&self, keep_from: u64) -> Result<bool, HistoryError> {
        let oldest = self.database.with(|database| {
            let minutes = database.begin_read()?.open_table(MINUTES)?;
            let oldest = minutes.first()?;
            Ok::<_, HistoryError>(oldest.map(|(key, _)| key.value().0))
        })?;
        if oldest.is_none_or(|oldest| oldest >= keep_from) {
            return Ok(false);
        }
        self.write(|write| {
            let mut done = 0;
            let mut minutes = write.open_table(MINUTES)?;
            let mut hours = write.open_table(HOURS)?;
            let mut old = Vec::new();
            for entry in minutes.range(..(keep_from, 0, 0))?.take(ROWS_AT_ONCE) {
                let (key, value) = entry?;
                old.push((key.value(), value.value().to_vec()));
            }
            for ((day, node, hour), bytes) in &old {
                let mut row = held::<_, Aggregates>(&hours, (*day, *node))?;
                let ts_ms = hour * HOUR_MINUTES * MINUTE_MS;
                for (name, point) in row::read::<Aggregates>(Some(bytes.as_slice()))?.folded(ts_ms)
                {
                    row.add(name, ts_ms, &point);
                }
                hours.insert((*day, *node), row::write(&row)?.as_slice())?;
                minutes.remove((*day, *node, *hour))?;
                done += 1;
            }
            Ok(done == ROWS_AT_ONCE)
        })
    }

    fn drop_hours(&self, keep_from: u64) -> Result<(), HistoryError> {
        let oldest = self.database.with(|database| {
            let hours = database.begin_read()?.open_table(HOURS)?;
            let oldest = hours.first()?;
            Ok::<_, HistoryError>(oldest.map(|(key, _)| key.value().0))
        })?;
        if oldest.is_none_or(|oldest| oldest >= keep_from) {
            return Ok(());
        }
        self.write(|write| {
            let mut hours = write.open_table(HOURS)?;
            hours.retain_in(..(keep_from, 0), |_, _| false)?;
            Ok(())
        })
    }
}
