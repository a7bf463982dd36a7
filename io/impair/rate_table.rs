//! Tables of rates as research on adaptive video uses them ("cooked" traces of Mao et al., "Neural Adaptive Video
//! Streaming with Pensieve", SIGCOMM 2017): two columns, time in seconds and rate in Mbit/s, one row a line.

use groundwave_impair::Rate;
use thiserror::Error;

use super::impairment_spec::derived_burst_bytes;
use super::mahimahi::{LENGTH_MS_MAX, content, is_number};
use super::trace_rates::OUTAGE;

/// Maximum number of rows.
pub const ROWS_MAX: usize = 1_000_000;

/// Maximum rate, Mbit/s.
const RATE_MAX_MBPS: f64 = 1e6;

/// An invalid table.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RateTableError {
    /// A row that has not two numbers within their ranges, with times that rise.
    #[error(
        "line {line}: found {found:?}, allowed two columns: seconds, rising, up to a day, and Mbit/s, 0 to 1000000"
    )]
    Row {
        /// From 1.
        line: usize,
        /// Row found.
        found: String,
    },
    /// Too many rows.
    #[error("line {line}: found a longer table, allowed {ROWS_MAX} rows")]
    TooLong {
        /// From 1.
        line: usize,
    },
}

/// Rates from their times on, ms from the first row; and the length of the table, ms: the last rate lasts as long as
/// the one before it, or a second. Times without a rate pass a frame a second.
///
/// # Errors
/// The first invalid row.
pub fn steps(text: &str) -> Result<(Vec<(u64, Rate)>, u64), RateTableError> {
    let mut rows: Vec<(u64, Rate)> = Vec::new();
    let mut first_ms = 0;
    let heading = heading(text);
    for (index, text_line) in text.lines().enumerate() {
        let line = index + 1;
        let row = content(text_line);
        if row.is_empty() || heading == Some(index) {
            continue;
        }
        let invalid = || RateTableError::Row { line, found: row.chars().take(40).collect() };
        let [time_s, rate_mbps] = columns(row).ok_or_else(invalid)?;
        let at_ms = (time_s * 1000.0).round();
        if at_ms > LENGTH_MS_MAX as f64 || rate_mbps > RATE_MAX_MBPS {
            return Err(invalid());
        }
        if rows.is_empty() {
            first_ms = at_ms as u64;
        }
        let at_ms = (at_ms as u64).checked_sub(first_ms).ok_or_else(invalid)?;
        if rows.last().is_some_and(|(before_ms, _)| *before_ms >= at_ms) {
            return Err(invalid());
        }
        if rows.len() >= ROWS_MAX {
            return Err(RateTableError::TooLong { line });
        }
        let bps = (rate_mbps * 1e6).round() as u64;
        let rate = match bps <= OUTAGE.bps {
            true => OUTAGE,
            false => Rate { bps, burst_bytes: derived_burst_bytes(bps) },
        };
        rows.push((at_ms, rate));
    }
    let last_ms = match rows.as_slice() {
        [.., (before_ms, _), (last_ms, _)] => last_ms + (last_ms - before_ms),
        _ => 1000,
    };
    Ok((rows, last_ms))
}

/// The two numbers of a row, apart by blanks, a tab, a comma or a semicolon.
fn columns(row: &str) -> Option<[f64; 2]> {
    let mut words = row.split([' ', '\t', ',', ';']).filter(|word| !word.is_empty());
    let mut number = || words.next().filter(|word| is_number(word))?.parse::<f64>().ok();
    let both = [number()?, number()?];
    words.next().is_none().then_some(both)
}

/// Index of the line of titles, such as `time_s,rate_mbps`, above the first row; not that of a timeline (`at`).
fn heading(text: &str) -> Option<usize> {
    let lines = text.lines().map(content).enumerate();
    let mut lines = lines.filter(|(_, line)| !line.is_empty());
    let (index, first) = lines.next()?;
    let is_heading = first.starts_with(char::is_alphabetic)
        && !first.contains(|letter: char| letter.is_ascii_digit())
        && first.split([' ', '\t', ',', ';']).next() != Some("at");
    let is_above_rows = lines.next().is_some_and(|(_, line)| columns(line).is_some());
    (is_heading && is_above_rows).then_some(index)
}

/// `true` if the first row, below a line of titles if there is one, has two numbers.
#[must_use]
pub fn is_table(text: &str) -> bool {
    let first = text.lines().map(content).find(|line| !line.is_empty());
    first.is_some_and(|line| columns(line).is_some()) || heading(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_begin_with_the_first_row_and_the_last_lasts_as_long_as_the_one_before() {
        let text = "\u{feff}# seconds\tMbit/s\n100.0\t4.5\n100.5 0\n\n102, 12 # good again\n";
        let (rows, length_ms) = steps(text).unwrap();
        let bps: Vec<_> = rows.iter().map(|(at_ms, rate)| (*at_ms, rate.bps)).collect();
        assert_eq!(bps, [(0, 4_500_000), (500, OUTAGE.bps), (2_000, 12_000_000)]);
        assert_eq!((length_ms, rows[0].1.burst_bytes), (3_500, 9_000));
        let titled =
            format!("# by hand\ntime (s), rate (Mbit/s)\n{}", &text[text.find("100.0").unwrap()..]);
        assert_eq!(steps(&titled).unwrap().0, rows);
        assert!(is_table(&titled) && !is_table("at,rate\n0 1\n"));
        assert!(is_table(text) && !is_table("12\n13\n") && !is_table("at,rate\n0s,1mbit\n"));
    }

    #[test]
    fn invalid_rows_are_named() {
        for (text, line) in [
            ("0 1\n1\n", 2),
            ("0 1\n1 2 3\n", 2),
            ("1 1\n1 2\n", 2),
            ("2 1\n1 2\n", 2),
            ("0 -1\n", 1),
            ("0 1e9\n", 1),
            ("0 nan\n", 1),
            ("99999999 1\n", 1),
        ] {
            let error = steps(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("line {line}: found ")), "{text:?}: {error}");
            assert!(error.contains("allowed two columns"), "{error}");
        }
    }
}
