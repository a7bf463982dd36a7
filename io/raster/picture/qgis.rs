//! Styles for QGIS: a `.qml` beside a raster of the same name is applied when the raster is opened.

use std::fmt::Write;

use super::palette::Palette;
use super::paper::LAYER_OPACITY;
use super::style::{ALL_SHOWN, Colours, Style};
use crate::scene::Rgba;
use crate::xml::escape;

/// Colours of a scale without classes.
const STOPS: usize = 17;

/// Share of a class by which its upper border lies below the next class: QGIS counts a border to the class below.
const BORDER: f64 = 1e-6;

/// The style of the first band of a raster as a document of QGIS 3.
///
/// ```
/// use groundwave_raster::picture::{Style, qgis_style};
/// let style = Style::ramp("Link margin", "dB", [-10.0, 40.0], Some(5.0));
/// assert!(qgis_style(&style).contains("colorRampType=\"DISCRETE\""));
/// ```
#[must_use]
pub fn qgis_style(style: &Style) -> String {
    let (kind, shader, palette) = match &style.colours {
        Colours::Categories(all) => {
            let entry = |out: String, category: &super::Category| {
                let (colour, label) = (hex(category.colour), escape(&category.label));
                let value = category.value;
                out + &format!(
                    "      <paletteEntry value=\"{value}\" color=\"{colour}\" alpha=\"255\" label=\"{label}\"/>\n"
                )
            };
            let entries = all.iter().fold(String::new(), entry);
            let palette = format!("     <colorPalette>\n{entries}     </colorPalette>\n");
            ("paletted", String::new(), palette)
        }
        Colours::Ramp { palette, low, high, step: None } => {
            let shader = shader("INTERPOLATED", &smooth(*palette, [*low, *high]), style);
            ("singlebandpseudocolor", shader, String::new())
        }
        Colours::Ramp { .. } | Colours::Thresholds { .. } => {
            let shader = shader("DISCRETE", &classes(style), style);
            ("singlebandpseudocolor", shader, String::new())
        }
    };
    format!(
        "<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>\n\
         <qgis version=\"3.22\" styleCategories=\"Symbology\">\n <pipe>\n  \
         <rasterrenderer type=\"{kind}\" band=\"1\" alphaBand=\"-1\" opacity=\"{LAYER_OPACITY}\">\n\
         {}{shader}{palette}  </rasterrenderer>\n </pipe>\n</qgis>\n",
        transparency(style.visible)
    )
}

/// Upper ends of values with their colours.
type Stops = Vec<(f64, Rgba)>;

fn smooth(palette: Palette, [low, high]: [f64; 2]) -> Stops {
    let at = |stop: usize| {
        let share = stop as f64 / (STOPS - 1) as f64;
        (low + (high - low) * share, palette.at(share))
    };
    (0..STOPS).map(at).collect()
}

/// Classes by their upper borders; the last has none.
fn classes(style: &Style) -> Stops {
    let borders: Vec<f64> = match &style.colours {
        &Colours::Ramp { low, high, step: Some(step), .. } => {
            let count = ((high - low) / step).round().max(2.0) as usize;
            (1..count).map(|border| low + border as f64 * step).collect()
        }
        Colours::Thresholds { borders, .. } => borders.clone(),
        _ => Vec::new(),
    };
    let all = Style { visible: ALL_SHOWN, ..style.clone() };
    // Colours in the middle of classes: as wide as their neighbours where they are open.
    let width = borders.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    let half = if width.is_finite() { width / 2.0 } else { 0.5 };
    let colour = |value: f64| all.colour(value as f32).unwrap_or_default();
    let mut stops: Stops = borders.iter().map(|border| (*border, colour(border - half))).collect();
    stops.extend(borders.last().map(|last| (f64::INFINITY, colour(last + half))));
    stops
}

fn shader(kind: &str, stops: &Stops, style: &Style) -> String {
    let unit = escape(&style.unit);
    let mut items = String::new();
    for (number, (value, colour)) in stops.iter().enumerate() {
        let below = number.checked_sub(1).map_or(0.0, |below| stops[below].0);
        let (value, label) = match (kind, value.is_finite()) {
            (_, false) => ("inf".to_owned(), format!("≥ {}", style.number(below))),
            ("DISCRETE", true) => {
                let under = value - (value - below).abs().max(style.unit_size) * BORDER;
                (under.to_string(), format!("&lt; {}", style.number(*value)))
            }
            _ => (value.to_string(), style.number(*value)),
        };
        let _ = writeln!(
            items,
            "      <item value=\"{value}\" color=\"{}\" alpha=\"255\" label=\"{label} {unit}\"/>",
            hex(*colour)
        );
    }
    format!(
        "     <rastershader>\n     <colorrampshader colorRampType=\"{kind}\" classificationMode=\"1\" clip=\"0\">\n\
         {items}     </colorrampshader>\n     </rastershader>\n"
    )
}

/// Values that a style leaves out, transparent.
fn transparency([low, high]: [f64; 2]) -> String {
    let mut entries = String::new();
    let mut clear = |from: f64, to: f64| {
        let _ = writeln!(
            entries,
            "      <pixelListEntry min=\"{from}\" max=\"{to}\" percentTransparent=\"100\"/>"
        );
    };
    if low.is_finite() {
        clear(-1e9, low - BORDER);
    }
    if high.is_finite() {
        clear(high + BORDER, 1e12);
    }
    match entries.is_empty() {
        true => entries,
        false => format!(
            "   <rasterTransparency>\n     <singleValuePixelList>\n{entries}     </singleValuePixelList>\n   </rasterTransparency>\n"
        ),
    }
}

/// A colour as `#rrggbb`.
pub(crate) fn hex([r, g, b, _]: Rgba) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(document: &str) -> Vec<(f64, String)> {
        let attribute = |line: &str, name: &str| {
            let rest = line.split_once(&format!("{name}=\"")).unwrap().1;
            rest.split_once('"').unwrap().0.to_owned()
        };
        let lines = document.lines().filter(|line| line.contains("<item "));
        lines
            .map(|line| (attribute(line, "value").parse().unwrap(), attribute(line, "color")))
            .collect()
    }

    #[test]
    fn classes_have_the_colours_of_the_map() {
        let mut style = Style::ramp("Link margin", "dB", [-10.0, 40.0], Some(5.0));
        style.visible[0] = 3.0;
        let document = qgis_style(&style);
        let items = items(&document);
        assert_eq!(items.len(), 10);
        assert!(document.contains("label=\"&lt; −5 dB\""), "{document}");
        assert!((items[0].0 + 5.0).abs() < 1e-4 && items[9].0 == f64::INFINITY);
        let all = Style { visible: ALL_SHOWN, ..style };
        for (number, (_, colour)) in items.iter().enumerate() {
            let middle = -7.5 + 5.0 * number as f32;
            assert_eq!(*colour, hex(all.colour(middle).unwrap()), "{middle}");
        }
        assert!(document.contains("max=\"2.999999\" percentTransparent=\"100\""), "{document}");
    }

    #[test]
    fn thresholds_scales_and_sites_are_styled() {
        let thresholds = Style::thresholds("Link margin", "dB", vec![0.0, 3.0, 10.0]);
        assert_eq!(items(&qgis_style(&thresholds)).len(), 4);
        let smooth = qgis_style(&Style::ramp("Received power", "dBm", [-140.0, -40.0], None));
        assert!(smooth.contains("INTERPOLATED"));
        assert_eq!(items(&smooth)[16].0, -40.0);
        let sites = qgis_style(&Style::sites("Best server", ["a<b", "c"], &[]));
        assert!(sites.contains("type=\"paletted\"") && sites.contains("label=\"a&lt;b\""));
    }
}
