//! Files of antenna patterns: MSI/Planet, SPLAT! `.az` and `.el`, TIA/EIA-804 `.adf` and Radio Mobile `.ant`.
//!
//! The content decides the format, not the ending. Losses are relative to the maximum, whatever the file
//! counts: values of a file that are all zero or less are relative gains, and where a direction lies above
//! the gain that the file states, that gain is raised to it. A dBd is 2.15 dBi.

mod adf;
pub(crate) mod choice;
mod lines;
mod msi;
mod radio_mobile;
mod splat;
mod summary;
mod turn;

#[cfg(test)]
mod tests;

use std::io::Read;
use std::path::Path;

use groundwave_model::radio::Pattern;
use groundwave_model::radio::pattern::{Cuts, LOSS_DB_MAX};
use groundwave_propagation::polarization::Polarization;

use self::lines::Lines;
pub use self::summary::AntennaSummary;

/// Greatest file of a pattern, bytes.
pub const BYTES_MAX: u64 = 4 << 20;

/// Gain of a half-wave dipole, dBi (ITU-R BS.561).
pub(crate) const DIPOLE_DBI: f64 = 2.15;

/// An antenna as a file describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct AntennaFile {
    /// Format: `MSI/Planet`, `SPLAT!`, `TIA/EIA-804` or `Radio Mobile`.
    pub format: &'static str,
    /// Name of the antenna, where the file has one.
    pub name: Option<String>,
    /// Gain of the maximum, dBi, where the file has one.
    pub gain_dbi: Option<f64>,
    /// Frequency, MHz, where the file has one.
    pub frequency_mhz: Option<f64>,
    /// Polarization that the pattern is of, where the file has one and it is vertical or horizontal.
    pub polarization: Option<Polarization>,
    /// Losses in all directions.
    pub pattern: Pattern,
}

/// Content of a file, before it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternDocument {
    /// Name of the file, for errors.
    pub name: String,
    /// Bytes of the file.
    pub octets: Vec<u8>,
}

/// An invalid file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct PatternError {
    /// Name of the file.
    pub file: String,
    /// Invalid part and its line, such as `loss of line 7`.
    pub what: String,
    /// Value in the file.
    pub actual: String,
    /// Allowed values.
    pub allowed: String,
}

impl std::fmt::Display for PatternError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { file, what, actual, allowed } = self;
        write!(f, "{file}: invalid {what}: found {actual}, allowed {allowed}")
    }
}

/// Cuts of a file, before they are a pattern. Losses may be negative, and so relative to less than the
/// maximum.
#[derive(Default)]
struct Raw {
    name: Option<String>,
    gain_dbi: Option<f64>,
    frequency_mhz: Option<f64>,
    polarization: Option<Polarization>,
    horizontal_db: Vec<f64>,
    vertical_db: Vec<f64>,
}

/// Reads a pattern. A `.az` of SPLAT! brings the `.el` beside it, and the other way round.
///
/// # Errors
/// A file that cannot be read, of no known format, or with an invalid line.
pub fn load(path: &Path) -> Result<AntennaFile, PatternError> {
    let first = document(path)?;
    let text = text_of(&first)?;
    let kind = splat::kind(&Lines::of(&first.name, &text));
    let other = kind.map(|kind| path.with_extension(kind.other_ending()));
    match other.filter(|other| other != path && other.is_file()) {
        Some(other) => of_documents(&first, Some(&document(&other)?)),
        None => of_documents(&first, None),
    }
}

/// Reads a pattern from the content of its files: one, or both cuts of SPLAT! in any order.
///
/// # Errors
/// A content of no known format, with an invalid line, or two that are not both cuts of SPLAT!.
pub fn of_documents(
    first: &PatternDocument,
    other: Option<&PatternDocument>,
) -> Result<AntennaFile, PatternError> {
    let text = text_of(first)?;
    let Some(other) = other else {
        return read(&first.name, &text);
    };
    let other_text = text_of(other)?;
    let (lines, other_lines) = (Lines::of(&first.name, &text), Lines::of(&other.name, &other_text));
    let Some(kind) = splat::kind(&lines) else {
        let allowed = "one file, or an azimuth and an elevation pattern of SPLAT!";
        return Err(lines.error("content", "one of two files", allowed));
    };
    if splat::kind(&other_lines).is_none_or(|other_kind| other_kind == kind) {
        return Err(other_lines.error("content", "no such pattern", kind.other_content()));
    }
    finish("SPLAT!", splat::read(kind, &lines, Some(&other_lines))?, &lines)
}

/// Reads the text of a file; `name` is that of errors.
///
/// # Errors
/// A text of no known format, or with an invalid line.
pub fn read(name: &str, text: &str) -> Result<AntennaFile, PatternError> {
    let lines = Lines::of(name, text);
    if adf::is_adf(&lines) {
        return finish("TIA/EIA-804", adf::read(&lines)?, &lines);
    }
    if msi::is_msi(&lines) {
        return finish("MSI/Planet", msi::read(&lines)?, &lines);
    }
    if radio_mobile::is_radio_mobile(&lines) {
        return finish("Radio Mobile", radio_mobile::read(&lines)?, &lines);
    }
    if let Some(kind) = splat::kind(&lines) {
        return finish("SPLAT!", splat::read(kind, &lines, None)?, &lines);
    }
    let first = lines.first().map_or("no lines".to_owned(), |(_, line)| lines::quoted(line));
    let allowed = "MSI/Planet, SPLAT! azimuth or elevation, TIA/EIA-804, or 360, 540, 541 or 720 lines of Radio Mobile";
    Err(lines.error("content", first, allowed))
}

fn error(file: &str, what: &str, actual: &str, allowed: &str) -> PatternError {
    let [file, what, actual, allowed] = [file, what, actual, allowed].map(ToOwned::to_owned);
    PatternError { file, what, actual, allowed }
}

/// The polarization that a file names: `V`, `VERTICAL`, `VPOL`, `H` and so on. Slanted, circular and dual ones are none:
/// what such an antenna receives over ground lies between both.
fn polarization(text: &str) -> Option<Polarization> {
    let letters: String = text.chars().filter(|letter| letter.is_ascii_alphanumeric()).collect();
    match letters.to_ascii_uppercase().trim_end_matches("POL") {
        "V" | "VERT" | "VERTICAL" => Some(Polarization::Vertical),
        "H" | "HOR" | "HORIZ" | "HORIZONTAL" => Some(Polarization::Horizontal),
        _ => None,
    }
}

/// Content of a file on disk.
fn document(path: &Path) -> Result<PatternDocument, PatternError> {
    let name = path.display().to_string();
    let mut octets = Vec::new();
    let result = std::fs::File::open(path)
        .and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut octets));
    match result {
        Ok(_) => Ok(PatternDocument { name, octets }),
        Err(fault) => Err(error(&name, "file", &fault.to_string(), "a file that can be read")),
    }
}

/// Text of a file: UTF-8, the encoding of a byte order mark, or Windows-1252.
fn text_of(file: &PatternDocument) -> Result<String, PatternError> {
    if file.octets.len() as u64 > BYTES_MAX {
        return Err(error(&file.name, "size", "more", "up to 4 MiB"));
    }
    let (octets, _) = crate::encoding::to_utf8(file.octets.clone());
    String::from_utf8(octets).map_err(|_| error(&file.name, "content", "no text", "text"))
}

/// The antenna of its cuts: losses and gain relative to the maximum, to a thousandth.
fn finish(format: &'static str, raw: Raw, lines: &Lines<'_>) -> Result<AntennaFile, PatternError> {
    let both = raw.horizontal_db.iter().chain(&raw.vertical_db);
    let raise_db = both.fold(0.0, |most: f64, loss_db| most.max(-loss_db));
    let thousandth = |value: f64| (value * 1e3).round() / 1e3;
    let losses_db = |cut: Vec<f64>| -> Vec<f64> {
        cut.into_iter().map(|db| thousandth((db + raise_db).min(LOSS_DB_MAX))).collect()
    };
    let cuts = Cuts {
        horizontal_loss_db: losses_db(raw.horizontal_db),
        vertical_loss_db: losses_db(raw.vertical_db),
    };
    let pattern =
        Pattern::new(cuts).map_err(|bad| lines.error(&bad.key, bad.found.clone(), &bad.allowed))?;
    let gain_dbi = raw.gain_dbi.map(|dbi| thousandth(dbi + raise_db));
    if let Some(dbi) = gain_dbi.filter(|dbi| !(-30.0..=60.0).contains(dbi)) {
        return Err(lines.error("gain", format!("{dbi} dBi"), "-30 to 60 dBi"));
    }
    Ok(AntennaFile {
        format,
        name: raw.name,
        gain_dbi,
        frequency_mhz: raw.frequency_mhz,
        polarization: raw.polarization,
        pattern,
    })
}
