//! Tables of rates as research on adaptive video uses them ("cooked" traces of Mao et al., "Neural Adaptive Video
//! Streaming with Pensieve", SIGCOMM 2017): two columns, time in seconds and rate in Mbit/s, one row a line. Titles
//! above them may name other units.

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
    /// Titles with units that are not those of a time and a rate, in this order.
    #[error(
        "line {line}: found the titles {found:?}, allowed a time in h, min, s, ms, us or ns, then a rate in bit/s, \
         kbit/s, Mbit/s, Gbit/s, or bytes with a capital B, kB/s; without units seconds and Mbit/s"
    )]
    Units {
        /// From 1.
        line: usize,
        /// Titles found.
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
    let units = match heading {
        None => Units::PLAIN,
        Some((index, titles)) => Units::of(titles).ok_or_else(|| RateTableError::Units {
            line: index + 1,
            found: titles.chars().take(40).collect(),
        })?,
    };
    for (index, text_line) in text.lines().enumerate() {
        let line = index + 1;
        let row = content(text_line);
        if row.is_empty() || heading.is_some_and(|(place, _)| place == index) {
            continue;
        }
        let invalid = || RateTableError::Row { line, found: row.chars().take(40).collect() };
        let [time, rate] = columns(row).ok_or_else(invalid)?;
        let (time_s, rate_mbps) = (time * units.time_s, rate * units.rate_mbps);
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

/// Line of titles, such as `time_s,rate_mbps`, above the first row, with its index; not that of a timeline (`at`).
fn heading(text: &str) -> Option<(usize, &str)> {
    let lines = text.lines().map(content).enumerate();
    let mut lines = lines.filter(|(_, line)| !line.is_empty());
    let (index, first) = lines.next()?;
    let is_heading = first.starts_with(char::is_alphabetic)
        && !first.contains(|letter: char| letter.is_ascii_digit())
        && first.split([' ', '\t', ',', ';']).next() != Some("at");
    let is_above_rows = lines.next().is_some_and(|(_, line)| columns(line).is_some());
    (is_heading && is_above_rows).then_some((index, first))
}

/// Units of the two columns.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Units {
    /// That of the times, s.
    time_s: f64,
    /// That of the rates, Mbit/s.
    rate_mbps: f64,
}

impl Units {
    /// Seconds and Mbit/s.
    const PLAIN: Self = Self { time_s: 1.0, rate_mbps: 1.0 };

    /// Units in titles; [`Self::PLAIN`] where they name none. `None` for a rate before the time, and for `MBPS`, bits
    /// or bytes.
    fn of(titles: &str) -> Option<Self> {
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '/';
        let words = || titles.split(|letter| !is_part(letter)).filter(|word| !word.is_empty());
        let rate = |word: &str| of_word(rate_unit_mbps, word);
        // The seconds of a rate are no time.
        let time = |word: &str| of_word(time_unit_s, word).filter(|_| rate(word).is_none());
        let place_of = |unit: &dyn Fn(&str) -> Option<f64>| {
            words().enumerate().find_map(|(place, word)| Some((place, unit(word)?)))
        };
        let is_unclear = |word: &str| word.ends_with("BPS") || word.ends_with("B/S");
        match (place_of(&time), place_of(&rate)) {
            _ if words().any(is_unclear) => None,
            (Some((time_at, _)), Some((rate_at, _))) if rate_at < time_at => None,
            (time, rate) => Some(Self {
                time_s: time.map_or(1.0, |(_, unit)| unit),
                rate_mbps: rate.map_or(1.0, |(_, unit)| unit),
            }),
        }
    }
}

/// Unit that a word is, or has behind a slash: `t/ms`, `rate/kbit/s`.
fn of_word(unit: fn(&str) -> Option<f64>, word: &str) -> Option<f64> {
    unit(word).or_else(|| word.split_once('/').and_then(|(_, behind)| unit(behind)))
}

/// Unit of time, s.
fn time_unit_s(word: &str) -> Option<f64> {
    Some(match word.to_lowercase().as_str() {
        "h" | "hour" | "hours" => 3_600.0,
        "min" | "minute" | "minutes" => 60.0,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => 1e-3,
        "us" | "\u{b5}s" | "\u{3bc}s" | "usec" | "microsecond" | "microseconds" => 1e-6,
        "ns" | "nsec" | "nanosecond" | "nanoseconds" => 1e-9,
        _ => return None,
    })
}

/// Unit of rate, Mbit/s: bits, or bytes with a capital B.
fn rate_unit_mbps(word: &str) -> Option<f64> {
    let (scale, base) = match word.chars().next()? {
        'k' | 'K' => (1e-3, &word[1..]),
        'm' | 'M' => (1.0, &word[1..]),
        'g' | 'G' => (1e3, &word[1..]),
        _ => (1e-6, word),
    };
    let bits = match base {
        "bps" | "b/s" => 1.0,
        "Bps" | "B/s" => 8.0,
        other => match other.to_lowercase().as_str() {
            "bit" | "bits" | "bit/s" | "bits/s" => 1.0,
            "byte/s" | "bytes/s" => 8.0,
            _ => return None,
        },
    };
    Some(scale * bits)
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
    fn titles_may_name_other_units() {
        for (titles, rows, at_ms, bps) in [
            ("time_s,rate_mbps", "0,5\n2,6\n", 2_000, 6_000_000),
            ("time_ms,rate_kbps", "0,5000\n200,6000\n", 200, 6_000_000),
            ("t/ms Rate/kbit/s", "10 5000\n210 6000\n", 200, 6_000_000),
            ("Timestamp (ms); Throughput (Mbps)", "0;5\n200;6.5\n", 200, 6_500_000),
            ("minutes\tkB/s", "1\t500\n2\t750\n", 60_000, 6_000_000),
            ("elapsed ns bytes/s", "0 500000\n200000000 750000\n", 200, 6_000_000),
            ("when,speed", "0,5\n2,6\n", 2_000, 6_000_000),
        ] {
            let text = format!("{titles}\n{rows}");
            assert!(is_table(&text), "{titles}");
            let (rates, _) = steps(&text).unwrap();
            let last = rates.last().map(|(at_ms, rate)| (*at_ms, rate.bps));
            assert_eq!(last, Some((at_ms, bps)), "{titles}");
        }
        for titles in ["rate_mbps,time_s", "Mbit/s;ms", "TIME,MBPS"] {
            let error = steps(&format!("# by hand\n{titles}\n0,5\n1,6\n")).unwrap_err();
            let start = format!("line 2: found the titles {titles:?}, allowed a time in");
            assert!(error.to_string().starts_with(&start), "{error}");
        }
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
