//! The texts of a file: remarks, names and units of bands.

use super::super::error::RasterError;
use super::super::grid::Resampling;
use super::{BANDS_MAX, CogLayout};

/// GDAL's metadata: remarks, names and units of bands, how overviews were made.
pub(super) fn metadata(layout: &CogLayout) -> String {
    let mut xml = String::from("<GDALMetadata>\n");
    for (key, value) in &layout.remarks {
        xml += &format!("  <Item name=\"{}\">{}</Item>\n", escape(key), escape_text(value));
    }
    if layout.is_rounded {
        xml += "  <Item name=\"RESOLUTION\">values are rounded to multiples of 2^-7 (0.0078125)</Item>\n";
    }
    let means = layout.bands.iter().all(|band| band.resampling == Resampling::Mean);
    let modes = layout.bands.iter().all(|band| band.resampling == Resampling::Mode);
    let how = if means { "AVERAGE" } else { "MODE" };
    if means || modes {
        xml += &format!("  <Item name=\"OVERVIEW_RESAMPLING\">{how}</Item>\n");
    }
    for (index, band) in layout.bands.iter().enumerate() {
        let (name, unit) = (escape_text(&band.name), escape_text(&band.unit));
        xml += &format!(
            "  <Item name=\"DESCRIPTION\" sample=\"{index}\" role=\"description\">{name}</Item>\n"
        );
        if !unit.is_empty() {
            xml += &format!(
                "  <Item name=\"UNITTYPE\" sample=\"{index}\" role=\"unittype\">{unit}</Item>\n"
            );
        }
    }
    xml + "</GDALMetadata>\n"
}

/// Text of GDAL's metadata: GDAL escapes it once more than XML requires, and unescapes it twice.
fn escape_text(text: &str) -> String {
    escape(&escape(text))
}

/// Text between XML tags or quotes.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Refuses what the head cannot hold.
pub(super) fn check_texts(layout: &CogLayout) -> Result<(), RasterError> {
    if layout.bands.is_empty() || layout.bands.len() > BANDS_MAX {
        return Err(RasterError::Unwritable {
            what: format!("a raster of {} bands", layout.bands.len()),
            why: "allowed are 1 to 32",
        });
    }
    let names = layout.bands.iter().flat_map(|band| [&band.name, &band.unit]);
    let remarks = layout.remarks.iter().flat_map(|(key, value)| [key, value]);
    match names.chain(remarks).find(|text| text.chars().any(char::is_control)) {
        Some(text) => Err(RasterError::Unwritable {
            what: format!("{text:?}"),
            why: "it has a control character",
        }),
        None => Ok(()),
    }
}
