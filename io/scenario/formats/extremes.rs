//! The first and the last rows of a recording by time.

/// 1990-01-01, s since the Unix epoch. Clocks that were not set begin in 1970 or, of GPS
/// receivers, in 1980; no mesh is older.
pub(super) const CLOCK_SET_UNIX_S: f64 = 631_152_000.0;

/// Begin of the year 2100, s since the Unix epoch: no recording is of a later time.
pub(super) const CENTURY_END_UNIX_S: f64 = 4_102_444_800.0;

/// Time of an event, s, and its line.
pub(super) type Row = (f64, usize);

/// The first and the last rows by time.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Extremes {
    /// Earliest of the rows before [`CLOCK_SET_UNIX_S`].
    pub(super) unset: Option<Row>,
    /// Number of the rows before [`CLOCK_SET_UNIX_S`].
    pub(super) unset_rows: usize,
    /// Line of the last of them.
    unset_line: usize,
    /// Earliest of the others.
    earliest: Option<Row>,
    latest: Option<Row>,
}

impl Extremes {
    /// Notes the time of a row.
    pub(super) fn note(&mut self, at_s: f64, line: usize) {
        if at_s < CLOCK_SET_UNIX_S && (line == 0 || line != self.unset_line) {
            self.unset_rows += 1;
            self.unset_line = line;
        }
        let early = match at_s < CLOCK_SET_UNIX_S {
            true => &mut self.unset,
            false => &mut self.earliest,
        };
        if early.is_none_or(|(early_s, _)| at_s < early_s) {
            *early = Some((at_s, line));
        }
        if self.latest.is_none_or(|(late_s, _)| at_s > late_s) {
            self.latest = Some((at_s, line));
        }
    }

    /// Adds a time to those of all rows, s.
    pub(super) fn shift(&mut self, by_s: f64) {
        for (at_s, _) in
            [&mut self.unset, &mut self.earliest, &mut self.latest].into_iter().flatten()
        {
            *at_s += by_s;
        }
    }

    /// The row that is farthest from a time.
    pub(super) fn farthest(&self, from_s: f64) -> Option<Row> {
        let rows = [self.unset, self.earliest, self.latest].into_iter().flatten();
        rows.max_by(|a, b| (a.0 - from_s).abs().total_cmp(&(b.0 - from_s).abs()))
    }
}
