//! Lines of a pattern file, with their numbers, and the numbers in them.

use super::PatternError;

/// Losses and gains that a line may have, dB.
const LEVEL_DB: std::ops::RangeInclusive<f64> = -300.0..=300.0;

/// Angles that a line may have, deg.
const ANGLE_DEG: std::ops::RangeInclusive<f64> = -360.0..=360.0;

/// Lines of a file that are neither empty nor a comment.
pub(super) struct Lines<'a> {
    file: &'a str,
    lines: Vec<(usize, &'a str)>,
}

/// A line of a file with its number, from 1.
pub(super) type Line<'a> = (usize, &'a str);

impl<'a> Lines<'a> {
    /// The lines of a text. Comments begin with `;`, `#`, `!` or `//`.
    pub fn of(file: &'a str, text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        // A line ends with `\n` or `\r\n`, on old machines with `\r` alone.
        let end = if text.contains('\n') { '\n' } else { '\r' };
        let numbered = text.split(end).enumerate().map(|(at, line)| (at + 1, line.trim()));
        let lines = numbered.filter(|(_, line)| !line.is_empty() && !is_comment(line));
        Self { file, lines: lines.collect() }
    }

    /// The lines.
    pub fn iter(&self) -> impl Iterator<Item = Line<'a>> + '_ {
        self.lines.iter().copied()
    }

    /// The lines from one of them on, counted from 0.
    pub fn from(&self, index: usize) -> &[Line<'a>] {
        self.lines.get(index..).unwrap_or_default()
    }

    /// The first line.
    pub fn first(&self) -> Option<Line<'a>> {
        self.lines.first().copied()
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// An error of the file as a whole.
    pub fn error(&self, what: &str, actual: impl Into<String>, allowed: &str) -> PatternError {
        PatternError {
            file: self.file.to_owned(),
            what: what.to_owned(),
            actual: actual.into(),
            allowed: allowed.to_owned(),
        }
    }

    /// An error of a line.
    pub fn error_at(
        &self,
        line: usize,
        what: &str,
        actual: impl Into<String>,
        allowed: &str,
    ) -> PatternError {
        self.error(&format!("{what} of line {line}"), actual, allowed)
    }

    /// An angle, deg.
    pub fn angle_deg(&self, line: usize, text: &str) -> Result<f64, PatternError> {
        let value = number(text).filter(|deg| ANGLE_DEG.contains(deg));
        value.ok_or_else(|| self.error_at(line, "angle", quoted(text), "-360 to 360 degrees"))
    }

    /// A loss or gain, dB.
    pub fn level_db(&self, line: usize, text: &str) -> Result<f64, PatternError> {
        let value = number(text).filter(|db| LEVEL_DB.contains(db));
        value.ok_or_else(|| self.error_at(line, "loss", quoted(text), "-300 to 300 dB"))
    }
}

fn is_comment(line: &str) -> bool {
    [";", "#", "!", "//"].iter().any(|mark| line.starts_with(mark))
}

/// A line without a comment behind `mark`.
pub(super) fn without_comment(line: &str, mark: char) -> &str {
    line.split(mark).next().unwrap_or_default().trim()
}

/// A finite number, with a decimal point or comma.
pub(super) fn number(text: &str) -> Option<f64> {
    let plain = text.trim();
    let plain = plain.strip_prefix('+').unwrap_or(plain);
    let is_comma = plain.matches(',').count() == 1 && !plain.contains('.');
    let value = match is_comma {
        true => plain.replace(',', ".").parse::<f64>(),
        false => plain.parse::<f64>(),
    };
    value.ok().filter(|value| value.is_finite())
}

/// Numbers of a line of `count`, apart by spaces, tabs or semicolons; `None` for another line.
pub(super) fn numbers<const N: usize>(line: &str) -> Option<[f64; N]> {
    let mut words = words(line);
    let mut values = [0.0; N];
    for value in &mut values {
        *value = number(words.next()?)?;
    }
    words.next().is_none().then_some(values)
}

/// Words of a line.
pub(super) fn words(line: &str) -> impl Iterator<Item = &str> {
    let is_between = |letter: char| letter.is_whitespace() || letter == ';';
    line.split(is_between).filter(|word| !word.is_empty())
}

/// Frequencies that a radio may have, MHz.
const FREQUENCY_MHZ: std::ops::RangeInclusive<f64> = 10.0..=100_000.0;

/// Minimum lower end of a band whose ends are apart by a comma, MHz.
const BAND_MHZ_MIN: f64 = 100.0;

/// Frequency, MHz, of `1900`, `1900 MHz` or `1.9 GHz`, in the middle of `1710-1880` or `2400,2500`; another text has
/// none. Below 10 without a unit it counts GHz: no antenna is for so few MHz.
pub(super) fn frequency_mhz(value: &str) -> Option<f64> {
    let lower = value.to_ascii_lowercase();
    let is_part = |letter: char| letter.is_ascii_digit() || ".,".contains(letter);
    let has_digit = |part: &&str| part.contains(|letter: char| letter.is_ascii_digit());
    let parts = lower.split(|letter: char| !is_part(letter)).filter(has_digit);
    let mut numbers = Vec::new();
    for part in parts {
        // A comma is that of a fraction, unless the number behind it is the upper end of a band.
        let band = part.split_once(',').and_then(|(low, high)| number(low).zip(number(high)));
        match band.filter(|(low, high)| *low >= BAND_MHZ_MIN && high > low) {
            Some((low, high)) => numbers.extend([low, high]),
            None => numbers.push(number(part)?),
        }
    }
    let is_few = numbers.iter().all(|value| value < FREQUENCY_MHZ.start());
    let factor = match (lower.contains("ghz"), lower.contains("mhz")) {
        (true, _) => 1e3,
        (false, false) if is_few => 1e3,
        _ => 1.0,
    };
    let middle_mhz = match numbers[..] {
        [one] => one * factor,
        [low, high] => f64::midpoint(low * factor, high * factor),
        _ => return None,
    };
    Some(middle_mhz).filter(|mhz| FREQUENCY_MHZ.contains(mhz))
}

/// A text as it stands in an error: at most 40 characters.
pub(super) fn quoted(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    let rest = if short.len() < text.len() { "…" } else { "" };
    format!("{:?}{rest}", short)
}
