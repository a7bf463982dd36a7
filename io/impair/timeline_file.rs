//! Timelines from files of any of their formats.

use std::borrow::Cow;
use std::path::Path;

use super::impairment_spec::ImpairmentSpec;
use super::timeline::{
    Timeline, TimelineError, TimelineOptions, from_rate_table, from_toml, from_trace,
};
use super::{mahimahi, rate_table, timeline_csv};

/// Reads a file: by its ending `.toml` or `.csv`, else by its first line.
///
/// # Errors
/// The first invalid part, with its line.
pub fn load(path: &Path, options: &TimelineOptions) -> Result<Timeline, TimelineError> {
    let text = groundwave_toml_document::text(path)?;
    parse(&text, &path.display().to_string(), options)
}

/// Reads the text of a file with this name, as [`load`] does.
///
/// # Errors
/// The first invalid part, with its line.
pub fn parse(text: &str, name: &str, options: &TimelineOptions) -> Result<Timeline, TimelineError> {
    // Lines of classic Mac OS, which spreadsheets still write.
    let lines = match text.contains('\r') && !text.contains('\n') {
        true => Cow::Owned(text.replace('\r', "\n")),
        false => Cow::Borrowed(text),
    };
    let text = &*lines;
    let ending = Path::new(name).extension();
    let ending = ending.and_then(|ending| ending.to_str());
    let format = match ending.map(str::to_lowercase).as_deref() {
        Some("toml") => Format::Toml,
        Some("csv") if rate_table::is_table(text) => Format::RateTable,
        Some("csv") => Format::Csv,
        None if text.lines().map(mahimahi::content).all(str::is_empty) => Format::Toml,
        _ if mahimahi::is_trace(text) => Format::Trace,
        _ if rate_table::is_table(text) => Format::RateTable,
        _ if text.trim_start().starts_with("at,") => Format::Csv,
        _ if is_like_toml(text) => Format::Toml,
        // Its error has the line and the forms of traces.
        _ => Format::Trace,
    };
    check_base(&options.base, format, name)?;
    match format {
        Format::Toml => from_toml(text, name, options),
        Format::Csv => timeline_csv::read(text, name, options),
        Format::Trace => from_trace(text, name, options),
        Format::RateTable => from_rate_table(text, name, options),
    }
}

/// `true` if a line may be a key or a table of TOML.
fn is_like_toml(text: &str) -> bool {
    text.lines().map(mahimahi::content).any(|line| line.starts_with('[') || line.contains('='))
}

/// Format of a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Toml,
    Csv,
    Trace,
    RateTable,
}

/// Refuses an impairment beside a timeline whose steps are whole states, and a rate beside one of rates.
fn check_base(base: &ImpairmentSpec, format: Format, name: &str) -> Result<(), TimelineError> {
    let (is_refused, allowed): (fn(&str) -> bool, _) = match format {
        Format::Toml | Format::Csv => (|_| true, "beside a trace: each step is the whole state"),
        Format::Trace | Format::RateTable => {
            (|key| key == "rate", "without a trace, which gives the rate")
        }
    };
    let options = ImpairmentSpec::KEYS.into_iter().zip(base.texts());
    let mut refused = options.filter(|(key, text)| text.is_some() && is_refused(key));
    match refused.next() {
        None => Ok(()),
        Some((key, _)) => {
            let option = format!("--{}", key.replace('_', "-"));
            Err(TimelineError::Beside { option, file: name.to_owned(), allowed })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_may_end_with_carriage_returns() {
        let options = TimelineOptions {
            directions: Vec::new(),
            window_ns: 100_000_000,
            speed: 1.0,
            base: ImpairmentSpec::default(),
        };
        let read = |text: &str| parse(text, "trace", &options).unwrap();
        assert_eq!(read("1\r2\r40\r"), read("1\n2\n40\n"));
    }

    #[test]
    fn a_file_without_times_is_an_empty_trace() {
        let options = TimelineOptions {
            directions: Vec::new(),
            window_ns: 100_000_000,
            speed: 1.0,
            base: ImpairmentSpec::default(),
        };
        let error = parse("# later\n", "cell.down", &options).unwrap_err().to_string();
        assert!(error.starts_with("cell.down: found a length of 0 ms"), "{error}");
    }
}
