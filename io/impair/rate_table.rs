//! Tables of rates as research on adaptive video uses them ("cooked" traces of Mao et al., "Neural Adaptive Video
//! Streaming with Pensieve", SIGCOMM 2017): two columns, time in seconds and rate in Mbit/s, one row a line. Titles
//! above them may name other units.

use groundwave_impair::Rate;
use thiserror::Error;

use super::impairment_spec::derived_burst_bytes;
use super::mahimahi::{LENGTH_MS_MAX, content};
use super::trace_rates::OUTAGE;

/// Maximum number of rows.
pub const ROWS_MAX: usize = 1_000_000;

/// Maximum rate, Mbit/s.
const RATE_MAX_MBPS: f64 = 1e6;

/// Maximum time of the first row, ms: times of the epoch are seconds up to the year 5138, larger ones
/// another unit.
const FIRST_MS_MAX: f64 = 1e14;

/// An invalid table.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RateTableError {
    /// A row that has not two numbers within their ranges, with times that rise.
    #[error(
        "line {line}: found {found:?}, allowed two columns: seconds, rising, up to a day after the first, and Mbit/s, \
         0 to 1000000"
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
         kbit/s, Mbit/s, Gbit/s, or bytes with a capital B, kB/s, each by the second; without units seconds and Mbit/s"
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
    let mut first_ms = None;
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
        let after_ms = at_ms - *first_ms.get_or_insert(at_ms);
        let is_in_day = (0.0..=LENGTH_MS_MAX as f64).contains(&after_ms) && at_ms <= FIRST_MS_MAX;
        if !is_in_day || rate_mbps > RATE_MAX_MBPS {
            return Err(invalid());
        }
        let at_ms = after_ms as u64;
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

/// The two numbers of a row, apart by blanks, a tab, a comma or a semicolon, in quotes or not; beside another
/// separator a comma is that of decimals.
fn columns(row: &str) -> Option<[f64; 2]> {
    let [time, rate] = cells(row)?;
    Some([number(&time)?, number(&rate)?])
}

/// The two cells of a row, with decimal points.
fn cells(row: &str) -> Option<[String; 2]> {
    let row = row.replace("\",\"", ";").replace('"', "");
    let words = |separators: &[char]| -> Vec<String> {
        row.split(separators).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let apart = words(&[' ', '\t', ';']);
    let is_decimal = |word: &String| !word.starts_with(',') && !word.ends_with(',');
    let cells: Vec<String> = match apart.len() == 2 && apart.iter().all(is_decimal) {
        true => apart.iter().map(|word| word.replace(',', ".")).collect(),
        false => words(&[' ', '\t', ',', ';']),
    };
    cells.try_into().ok()
}

/// A number that is not negative, also with an exponent.
fn number(word: &str) -> Option<f64> {
    let is_part = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
    let number = word.parse::<f64>().ok().filter(|_| word.chars().all(is_part))?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// `true` for a row whose two cells are numbers, be they allowed or not.
fn is_row(row: &str) -> bool {
    cells(row).is_some_and(|cells| cells.iter().all(|word| word.parse::<f64>().is_ok()))
}

/// Line of titles, such as `time_s,rate_mbps`, above the first row, with its index; not that of a timeline (`at`).
fn heading(text: &str) -> Option<(usize, &str)> {
    let lines = text.lines().map(content).enumerate();
    let mut lines = lines.filter(|(_, line)| !line.is_empty());
    let (index, first) = lines.next()?;
    let is_heading = first.trim_start_matches('"').starts_with(char::is_alphabetic)
        && !first.contains(|letter: char| letter.is_ascii_digit())
        && first.split([' ', '\t', ',', ';']).next() != Some("at");
    let is_above_rows = lines.next().is_some_and(|(_, line)| is_row(line));
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

    /// Units in titles; [`Self::PLAIN`] where they name none. `None` for a rate before the time, for `MBPS`, bits
    /// or bytes, and for an amount without its time (`kB`).
    fn of(titles: &str) -> Option<Self> {
        let rate = |word: &str| of_word(rate_unit_mbps, word);
        // The seconds of a rate are no time.
        let time = |word: &str| of_word(time_unit_s, word).filter(|_| rate(word).is_none());
        let is_unclear = |word: &String| {
            let is_capital = word.ends_with("BPS") || word.ends_with("B/S");
            is_capital || (rate(word).is_none() && is_amount(word))
        };
        let all = words(titles);
        if all.iter().any(is_unclear) {
            return None;
        }
        let columns: Vec<_> = titles.split([',', ';', '\t']).map(words).collect();
        let (time, rate) = match columns.as_slice() {
            [first, second] => {
                let is_swapped = place_of(&rate, first).is_some()
                    || (place_of(&rate, second).is_none() && place_of(&time, second).is_some());
                (!is_swapped).then(|| (place_of(&time, first), place_of(&rate, second)))?
            }
            _ => match (place_of(&time, &all), place_of(&rate, &all)) {
                (Some((time_at, _)), Some((rate_at, _))) if rate_at < time_at => return None,
                both => both,
            },
        };
        Some(Self {
            time_s: time.map_or(1.0, |(_, unit)| unit),
            rate_mbps: rate.map_or(1.0, |(_, unit)| unit),
        })
    }
}

/// The first word that is a unit, with its place.
fn place_of(unit: &dyn Fn(&str) -> Option<f64>, words: &[String]) -> Option<(usize, f64)> {
    words.iter().enumerate().find_map(|(place, word)| Some((place, unit(word)?)))
}

/// Words of titles; the time of a rate that follows it (`bits_per_second`, `kbit_s`) belongs to its word.
fn words(titles: &str) -> Vec<String> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '/';
    let is_of_rate = |word: &String| {
        is_amount(word) || word.eq_ignore_ascii_case("b") || word.to_lowercase().contains("bit")
    };
    let mut words: Vec<String> = Vec::new();
    let mut is_per = false;
    for word in titles.split(|letter| !is_part(letter)).filter(|word| !word.is_empty()) {
        if word.eq_ignore_ascii_case("per") && !words.is_empty() {
            is_per = true;
            continue;
        }
        let is_second = ["s", "sec", "second", "seconds"].contains(&&*word.to_lowercase());
        let follows = is_per || words.last().is_some_and(is_of_rate);
        if is_second
            && follows
            && let Some(rate) = words.last_mut()
        {
            rate.push_str("/s");
        } else {
            words.push(with_short_second(word));
        }
        is_per = false;
    }
    words
}

/// A word with `/s` in place of `/sec` and `/second`.
fn with_short_second(word: &str) -> String {
    match word.rsplit_once('/') {
        Some((before, "sec" | "second" | "seconds")) => format!("{before}/s"),
        _ => word.to_owned(),
    }
}

/// Unit that a word is, has behind a slash (`t/ms`, `rate/kbit/s`), or ends with (`timestampMs`, `rateKbps`).
fn of_word(unit: fn(&str) -> Option<f64>, word: &str) -> Option<f64> {
    let behind = || word.split_once('/').and_then(|(_, behind)| unit(behind));
    unit(word).or_else(behind).or_else(|| ends(word).find_map(unit))
}

/// Ends of a word that begin with a capital behind a small letter; not those of a prefix alone (`kB`).
fn ends(word: &str) -> impl Iterator<Item = &str> {
    let pairs = word.char_indices().zip(word.char_indices().skip(1));
    let starts = pairs.filter(|((at, small), (_, capital))| {
        *at > 0 && small.is_lowercase() && capital.is_uppercase()
    });
    starts.map(move |(_, (start, _))| &word[start..])
}

/// `true` for an amount, which gives a rate with its time alone: `kB`, `bytes`, and for packets.
fn is_amount(word: &str) -> bool {
    let is_one = |word: &str| {
        let word = word.to_lowercase();
        let word = word.trim_end_matches("/s");
        let prefix = word.trim_end_matches('s').strip_suffix("byte");
        let is_prefix = |prefix| ["", "k", "m", "g", "kilo", "mega", "giga"].contains(&prefix);
        let others = ["kb", "mb", "gb", "pps", "pkt", "pkts", "packet", "packets"];
        prefix.is_some_and(is_prefix) || others.contains(&word)
    };
    is_one(word) || ends(word).any(is_one)
}

/// Unit of time, s.
fn time_unit_s(word: &str) -> Option<f64> {
    Some(match word.to_lowercase().as_str() {
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600.0,
        "min" | "mins" | "minute" | "minutes" => 60.0,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "ms" | "msec" | "msecs" | "milli" | "millis" | "millisecond" | "milliseconds" => 1e-3,
        "us" | "\u{b5}s" | "\u{3bc}s" | "usec" | "usecs" | "micro" | "micros" | "microsecond"
        | "microseconds" => 1e-6,
        "ns" | "nsec" | "nsecs" | "nano" | "nanos" | "nanosecond" | "nanoseconds" => 1e-9,
        _ => return None,
    })
}

/// Unit of rate, Mbit/s: bits, or bytes with a capital B.
fn rate_unit_mbps(word: &str) -> Option<f64> {
    let prefixes =
        [("kilo", 1e-3), ("mega", 1.0), ("giga", 1e3), ("k", 1e-3), ("m", 1.0), ("g", 1e3)];
    let lower = word.to_lowercase();
    let prefix = prefixes.iter().find(|(prefix, _)| lower.starts_with(prefix));
    let (scale, base) = match prefix {
        // Lower case may have another length, but not of these letters.
        Some((prefix, scale)) => (*scale, word.get(prefix.len()..)?),
        None => (1e-6, word),
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
    first.is_some_and(is_row) || heading(text).is_some()
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
            ("timestampMs,dlRateKbps", "10,5000\n210,6000\n", 200, 6_000_000),
            ("elapsedMs,throughputMBps", "0,1\n200,2.5\n", 200, 20_000_000),
            ("time_millis,bytes_per_second", "0,500000\n200,750000\n", 200, 6_000_000),
            ("time,bits_per_second", "0,5e6\n2,6e6\n", 2_000, 6_000_000),
            ("time,rate_kbit_s", "0,5000\n2,6000\n", 2_000, 6_000_000),
            ("time,kb_s", "0,5000\n2,6000\n", 2_000, 6_000_000),
            ("time,kilobits", "0,5000\n2,6000\n", 2_000, 6_000_000),
            ("Interval start,bits/second", "0,5000000\n2,6000000\n", 2_000, 6_000_000),
            ("\"time_ms\",\"rate_kbps\"", "\"0\",\"5000\"\n\"200\",\"6000\"\n", 200, 6_000_000),
            ("epoch_ms;kbps", "1700000000000;1\n1700000000200;6000\n", 200, 6_000_000),
        ] {
            let text = format!("{titles}\n{rows}");
            assert!(is_table(&text), "{titles}");
            let (rates, _) = steps(&text).unwrap();
            let last = rates.last().map(|(at_ms, rate)| (*at_ms, rate.bps));
            assert_eq!(last, Some((at_ms, bps)), "{titles}");
        }
        for titles in [
            "rate_mbps,time_s",
            "Mbit/s;ms",
            "TIME,MBPS",
            "time,rate_kb",
            "value,time_ms",
            "time,bytes",
            "time,rateMB",
            "time,pps",
        ] {
            let error = steps(&format!("# by hand\n{titles}\n0,5\n1,6\n")).unwrap_err();
            let start = format!("line 2: found the titles {titles:?}, allowed a time in");
            assert!(error.to_string().starts_with(&start), "{error}");
        }
    }

    #[test]
    fn rows_may_be_quoted_and_have_decimal_commas_exponents_and_times_of_the_epoch() {
        for text in [
            "\"0,5\",\"4,5\"\n\"2,5\",\"6\"\n",
            "0,5;4,5\n2,5;6\n",
            "0,5 4,5\n2,5 6,0\n",
            "+0.5, 45e-1\n2.5e0 ,6\n",
            "1700000000.5\t4.5\n1700000002.5\t6\n",
        ] {
            assert!(is_table(text), "{text:?}");
            let (rows, _) = steps(text).unwrap();
            let bps: Vec<_> = rows.iter().map(|(at_ms, rate)| (*at_ms, rate.bps)).collect();
            assert_eq!(bps, [(0, 4_500_000), (2_000, 6_000_000)], "{text:?}");
        }
        // Invalid ones are tables of rates too, and explained as such.
        assert!(is_table("0,-5\n1,3\n") && is_table("time,rate\n0,nan\n"));
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
            ("0 1\n99999 1\n", 2),
            ("1700000000000 1\n", 1),
            ("time,rate\n0,1\n1,-2\n", 3),
        ] {
            let error = steps(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("line {line}: found ")), "{text:?}: {error}");
            assert!(error.contains("allowed two columns"), "{error}");
        }
    }
}
