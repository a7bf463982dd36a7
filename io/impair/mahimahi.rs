//! Packet-delivery traces of Mahimahi: each line is a millisecond at which 1500 bytes may pass.
//!
//! Netravali et al., "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015, and the
//! manual page mm-link(1): times do not fall, one that repeats is several opportunities, and the
//! last one is the length of the trace, which then begins again. Beyond that, `#`, `%` and `//` begin a
//! comment, and a fraction of a millisecond is cut off.

use thiserror::Error;

/// Bytes of one opportunity.
pub const OPPORTUNITY_BYTES: u64 = 1500;

/// Opportunities in one trace: ten minutes at 1 Gbit/s.
pub const OPPORTUNITIES_MAX: usize = 50_000_000;

/// Longest trace, ms: a day.
pub const LENGTH_MS_MAX: u64 = 86_400_000;

/// An invalid trace.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TraceError {
    /// A line that is not a time.
    #[error(
        "line {line}: found {found:?}, allowed milliseconds, one a line; or two columns, seconds and Mbit/s; or a \
         timeline in TOML"
    )]
    NotATime {
        /// From 1.
        line: usize,
        /// Value found.
        found: String,
    },
    /// A time before that of the line above.
    #[error("line {line}: found {found_ms} ms, allowed {before_ms} ms (the line above) or more")]
    Decreasing {
        /// From 1.
        line: usize,
        /// Value found.
        found_ms: u64,
        /// Value of the line above.
        before_ms: u64,
    },
    /// No times, or none above 0.
    #[error("found a length of 0 ms, allowed at least one time above 0")]
    Empty,
    /// Too long.
    #[error("line {line}: found a longer trace, allowed a day, {OPPORTUNITIES_MAX} lines")]
    TooLong {
        /// From 1.
        line: usize,
    },
}

/// Rates of a trace in windows of one length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rates {
    /// Length of a window, ms.
    pub window_ms: u64,
    /// Length of the trace, ms: the last window may be cut short.
    pub length_ms: u64,
    /// Mean rate in each window, bit/s.
    pub bps: Vec<u64>,
}

/// The mean rate of the trace in each window of `window_ms`, at least 1.
///
/// # Errors
/// The first line that is wrong.
pub fn rates(text: &str, window_ms: u64) -> Result<Rates, TraceError> {
    let times = times(text)?;
    let length_ms = times.last().copied().filter(|&last| last > 0).ok_or(TraceError::Empty)?;
    let window_ms = window_ms.clamp(1, length_ms);
    let windows = length_ms.div_ceil(window_ms) as usize;
    let mut counts = vec![0_u64; windows];
    for time in times {
        // The last time of the trace is its end, which belongs to the window it closes.
        let window = (time / window_ms) as usize;
        counts[window.min(windows - 1)] += 1;
    }
    let rate = |(window, count): (usize, u64)| {
        let from = window as u64 * window_ms;
        let lasts_ms = window_ms.min(length_ms - from);
        count * OPPORTUNITY_BYTES * 8 * 1000 / lasts_ms
    };
    Ok(Rates { window_ms, length_ms, bps: counts.into_iter().enumerate().map(rate).collect() })
}

fn times(text: &str) -> Result<Vec<u64>, TraceError> {
    let mut times: Vec<u64> = Vec::new();
    for (index, written) in text.lines().enumerate() {
        let line = index + 1;
        let written = content(written);
        if written.is_empty() {
            continue;
        }
        let whole = written.split_once('.').map_or(written, |(whole, _)| whole);
        let time = is_number(written).then(|| whole.parse::<u64>().ok()).flatten();
        let time = time.ok_or_else(|| TraceError::NotATime {
            line,
            found: written.chars().take(32).collect(),
        })?;
        if let Some(&before_ms) = times.last()
            && time < before_ms
        {
            return Err(TraceError::Decreasing { line, found_ms: time, before_ms });
        }
        if time > LENGTH_MS_MAX || times.len() >= OPPORTUNITIES_MAX {
            return Err(TraceError::TooLong { line });
        }
        times.push(time);
    }
    Ok(times)
}

/// A line without byte order mark, comment (`#`, `%`, `//`, at its beginning `;`) and blanks around.
pub(super) fn content(line: &str) -> &str {
    let line = line.trim_start_matches('\u{feff}').trim_start();
    let before = |mark: &str| line.find(mark).unwrap_or(line.len());
    let end = ["#", "%", "//"].map(before).into_iter().min().unwrap_or(line.len());
    if line.starts_with(';') { "" } else { line[..end].trim() }
}

/// `true` for digits, with a fraction or without.
pub(super) fn is_number(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
    digits(whole) && digits(fraction)
}

/// `true` if the first lines that are not empty, two at most, are times, as in a trace.
#[must_use]
pub fn is_trace(text: &str) -> bool {
    let mut first = text.lines().map(content).filter(|line| !line.is_empty()).take(2).peekable();
    first.peek().is_some() && first.all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_packet_a_millisecond_is_twelve_megabit() {
        // mm-link(1): a file that contains just "1" is a 12 Mbit/s link.
        let found = rates("1\n", 100).unwrap();
        assert_eq!((found.length_ms, found.bps), (1, vec![12_000_000]));
        let steady: String = (1..=1000).map(|ms| format!("{ms}\n")).collect();
        let found = rates(&steady, 250).unwrap();
        assert_eq!(found.bps.iter().sum::<u64>() / 4, 12_000_000);
        assert_eq!(found.bps.len(), 4);
    }

    #[test]
    fn bytes_are_kept_whatever_the_window() {
        let trace = "0\n0\n3\n40\n41\n41\n90\n135\n";
        for window_ms in [1, 7, 50, 135, 1000] {
            let found = rates(trace, window_ms).unwrap();
            let bits: f64 = (0..found.bps.len())
                .map(|i| {
                    let from = i as u64 * found.window_ms;
                    let lasts = found.window_ms.min(found.length_ms - from);
                    found.bps[i] as f64 * lasts as f64 / 1000.0
                })
                .sum();
            let error = (bits - 8.0 * 12_000.0).abs();
            assert!(error < found.bps.len() as f64, "{window_ms}: {bits}");
        }
        assert_eq!(rates("0\n100\n200\n", 100).unwrap().bps, [120_000, 240_000]);
    }

    #[test]
    fn invalid_lines_are_named() {
        let cases = [
            ("1\n2\nthree\n", "line 3: found \"three\""),
            ("5\n4\n", "line 2: found 4 ms, allowed 5 ms"),
            ("", "a length of 0 ms"),
            ("0\n0\n", "a length of 0 ms"),
            ("99999999999\n", "line 1: found a longer trace"),
            ("-1\n", "line 1"),
        ];
        for (text, says) in cases {
            let told = rates(text, 100).unwrap_err().to_string();
            assert!(told.contains(says), "{told} does not say {says}");
        }
        let commented = "\u{feff}# a trace\n1.0\n2.7 # late\n\n4\n";
        assert_eq!(times(commented), Ok(vec![1, 2, 4]));
        assert!(is_trace(commented));
        assert_eq!(times("; a\n1 // b\n% c\n2 % d\n"), Ok(vec![1, 2]));
        assert!(is_trace("\n12\n") && !is_trace("at,rate\n") && !is_trace(""));
    }
}
