//! Mapping of a layer's values to colours.

use std::borrow::Cow;

use super::super::grid::Grid;
use super::palette::{Palette, Sequence, VERDICTS, category};
use crate::scene::Rgba;
use crate::scene::scale::trimmed;

/// One value of a categorical layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    /// The value of its cells.
    pub value: u32,
    /// Name in the legend.
    pub label: String,
    /// Colour of the cells.
    pub colour: Rgba,
}

/// Values to colours.
#[derive(Debug, Clone, PartialEq)]
pub enum Colours {
    /// A scale from `low` to `high`; values beyond take the colour of their end.
    Ramp {
        /// The colours.
        palette: Palette,
        /// Value of the first colour.
        low: f64,
        /// Value of the last colour, above `low`.
        high: f64,
        /// Classes of this width instead of an even flow.
        step: Option<f64>,
    },
    /// A colour for each class between borders, which belong to the class above them.
    Thresholds {
        /// The colours.
        palette: Palette,
        /// Rising borders, at least one.
        borders: Vec<f64>,
        /// Name and colour of what lies below all of them, if not by value and palette.
        lowest: Option<(String, Rgba)>,
    },
    /// A colour for each value; others are shown as no data.
    Categories(Vec<Category>),
}

/// Title, unit and colours of a layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Style {
    /// Heading of the legend, e.g. `Received power`.
    pub title: String,
    /// Unit of the values, e.g. `dBm`; empty for categories and counts.
    pub unit: String,
    /// Units of the layer in one of `unit`: 1 unless the legend counts in thousands or millions.
    pub unit_size: f64,
    /// The colours.
    pub colours: Colours,
    /// Values outside of this range are left out; both ends lie in it.
    pub visible: [f64; 2],
    /// Name of what is left out, e.g. `not covered`.
    pub hidden: &'static str,
    /// Opacity of the line between areas of different categories, [0, 1].
    pub boundary: f64,
}

/// All values are shown.
pub const ALL_SHOWN: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// Opacity of the line between classes of one quantity.
const FAINT_BOUNDARY: f64 = 0.2;

/// Opacity of the line between areas of sites.
const SITE_BOUNDARY: f64 = 0.7;

impl Style {
    fn new(title: &str, unit: &str, colours: Colours) -> Self {
        Self {
            title: title.to_owned(),
            unit: unit.to_owned(),
            unit_size: 1.0,
            colours,
            visible: ALL_SHOWN,
            hidden: "not shown",
            boundary: FAINT_BOUNDARY,
        }
    }

    /// A viridis scale in classes of `step`.
    #[must_use]
    pub fn ramp(title: &str, unit: &str, [low, high]: [f64; 2], step: Option<f64>) -> Self {
        let colours = Colours::Ramp { palette: Palette::VIRIDIS, low, high, step };
        Self::new(title, unit, colours)
    }

    /// Classes between rising borders, in viridis.
    #[must_use]
    pub fn thresholds(title: &str, unit: &str, borders: Vec<f64>) -> Self {
        let colours = Colours::Thresholds { palette: Palette::VIRIDIS, borders, lowest: None };
        Self::new(title, unit, colours)
    }

    /// The values that are left out, in words; `None` when all are shown.
    #[must_use]
    pub fn left_out(&self) -> Option<String> {
        let [low, high] = self.visible;
        let level = |value: f64| format!("{} {}", self.number(value), self.unit);
        match (low.is_finite(), high.is_finite()) {
            (false, false) => None,
            (true, false) => Some(format!("below {}: {}", level(low), self.hidden)),
            (false, true) => Some(format!("above {}: {}", level(high), self.hidden)),
            (true, true) => {
                let (low, high) = (self.number(low), level(high));
                Some(format!("outside {low} to {high}: {}", self.hidden))
            }
        }
    }

    /// A value in the unit of the legend.
    pub(super) fn number(&self, value: f64) -> String {
        let value = value / self.unit_size;
        // Rates have four digits, levels those of the input.
        let digits = if self.unit_size == 1.0 { 6 } else { 4 };
        let whole = value.abs().max(1e-9).log10().floor() as i32 + 1;
        trimmed(value, (digits - whole).clamp(0, 6) as usize)
    }

    /// Classes that a legend lists, the highest first; `None` where it draws a scale.
    pub(super) fn listed(&self) -> Option<Cow<'_, [Category]>> {
        match &self.colours {
            Colours::Ramp { .. } => None,
            Colours::Categories(all) => Some(Cow::Borrowed(all)),
            Colours::Thresholds { borders, lowest, .. } => {
                let label = |class: usize| match (class, lowest) {
                    (0, Some((label, _))) => label.clone(),
                    (0, None) => format!("< {}", self.number(borders[0])),
                    _ if class == borders.len() => {
                        format!("\u{2265} {}", self.number(borders[class - 1]))
                    }
                    _ => {
                        let [low, high] = [borders[class - 1], borders[class]];
                        format!("{} to {}", self.number(low), self.number(high))
                    }
                };
                let entry = |class: usize| Category {
                    value: class as u32,
                    label: label(class),
                    colour: self.colours.of_class(class),
                };
                // Classes that are left out altogether are not listed.
                let is_shown = |class: &usize| {
                    let below = class.checked_sub(1).map(|at| borders[at]);
                    let above = borders.get(*class).copied();
                    above.is_none_or(|above| above > self.visible[0])
                        && below.is_none_or(|below| below <= self.visible[1])
                };
                let classes = (0..=borders.len()).rev().filter(is_shown);
                Some(Cow::Owned(classes.map(entry).collect()))
            }
        }
    }

    /// The verdicts on a link as 0 to 4.
    #[must_use]
    pub fn verdicts() -> Self {
        let labels = ["no link", "poor", "marginal", "good", "excellent"];
        let entry = |(value, (label, colour)): (u32, (&str, Rgba))| Category {
            value,
            label: label.to_owned(),
            colour,
        };
        let categories = (0..).zip(labels.into_iter().zip(VERDICTS)).map(entry).collect();
        Self::new("Verdict", "", Colours::Categories(categories))
    }

    /// One category for each name, counted from 0, in the colour of its number among `colours`
    /// ([`colours_apart`](super::colours_apart)), else in that of its own number; with a line between areas.
    #[must_use]
    pub fn sites<'a>(
        title: &str,
        names: impl IntoIterator<Item = &'a str>,
        colours: &[usize],
    ) -> Self {
        let entry = |(index, name): (usize, &str)| Category {
            value: u32::try_from(index).unwrap_or(u32::MAX),
            label: name.to_owned(),
            colour: category(colours.get(index).copied().unwrap_or(index)),
        };
        let colours = Colours::Categories(names.into_iter().enumerate().map(entry).collect());
        Self { boundary: SITE_BOUNDARY, ..Self::new(title, "", colours) }
    }

    /// Counts from 1 to `most`; 0 is left out.
    #[must_use]
    pub fn counts(title: &str, most: u32) -> Self {
        let entry = |value: u32| {
            let t = f64::from(value - 1) / f64::from(most.max(2) - 1);
            Category { value, label: value.to_string(), colour: Sequence::Viridis.at(t) }
        };
        let colours = Colours::Categories((1..=most).map(entry).collect());
        Self { visible: [1.0, f64::INFINITY], ..Self::new(title, "", colours) }
    }

    /// Lowest and highest value of a layer that is shown; `None` without any.
    pub(crate) fn range_of(&self, layer: &Grid) -> Option<[f32; 2]> {
        let values = layer.cells.iter().copied().filter(|value| value.is_finite());
        values.filter(|value| self.shows(*value)).fold(None, |range, value| {
            let [low, high] = range.unwrap_or([value, value]);
            Some([value.min(low), value.max(high)])
        })
    }

    /// True if a value has a colour as far as [`Style::visible`] goes; NaN has none.
    pub(super) fn shows(&self, value: f32) -> bool {
        let [low, high] = self.visible;
        f64::from(value) >= low && f64::from(value) <= high
    }

    /// The colour of a value; `None` for no data and for what is left out.
    #[must_use]
    pub fn colour(&self, value: f32) -> Option<Rgba> {
        if !self.shows(value) {
            return None;
        }
        match &self.colours {
            &Colours::Ramp { palette, low, high, step } => {
                let value = f64::from(value);
                let value = step.map_or(value, |step| class_middle(value, low, high, step));
                Some(palette.at((value - low) / (high - low)))
            }
            Colours::Thresholds { borders, .. } => {
                let class = borders.partition_point(|border| *border <= f64::from(value));
                Some(self.colours.of_class(class))
            }
            Colours::Categories(all) => {
                let is_it = |entry: &&Category| f64::from(entry.value) == f64::from(value);
                // Most lists count from 0: look there first.
                let own_entry = all.get(value as usize).filter(is_it);
                own_entry.or_else(|| all.iter().find(is_it)).map(|entry| entry.colour)
            }
        }
    }

    /// True if all values of a class have one colour: false for a ramp without classes.
    pub(super) fn has_classes(&self) -> bool {
        !matches!(self.colours, Colours::Ramp { step: None, .. })
    }

    /// The colour of the category of this name.
    #[must_use]
    pub fn colour_of(&self, label: &str) -> Option<Rgba> {
        match &self.colours {
            Colours::Ramp { .. } | Colours::Thresholds { .. } => None,
            Colours::Categories(all) => {
                all.iter().find(|entry| entry.label == label).map(|entry| entry.colour)
            }
        }
    }
}

impl Colours {
    /// The colour of a class between thresholds, counted from what lies below all of them.
    fn of_class(&self, class: usize) -> Rgba {
        let Self::Thresholds { palette, borders, lowest } = self else {
            return [0; 4];
        };
        match (class.checked_sub(usize::from(lowest.is_some())), lowest) {
            (None, Some((_, colour))) => *colour,
            (above, _) => {
                let last = borders.len() - usize::from(lowest.is_some());
                palette.at(above.unwrap_or(0) as f64 / last.max(1) as f64)
            }
        }
    }

    /// The same with another palette, where there is one.
    pub fn set_palette(&mut self, new: Palette) {
        match self {
            Self::Ramp { palette, .. } | Self::Thresholds { palette, .. } => *palette = new,
            Self::Categories(_) => {}
        }
    }
}

/// Steps that a scale without classes is drawn in over shaded ground.
const STEPS: u16 = 24;

/// The classes of a style: values with one colour. Class 0 is "no data".
pub(super) struct Classes {
    style: Style,
    colours: Vec<Option<Rgba>>,
    /// Class of each value of a list of categories that counts from 0.
    of_values: Vec<u16>,
}

impl Classes {
    /// The classes of `style`.
    pub fn new(style: &Style) -> Self {
        let mut colours = vec![None];
        let mut of_values = Vec::new();
        match &style.colours {
            &Colours::Ramp { low, high, step, .. } => {
                let steps =
                    step.map_or(STEPS, |step| ((high - low) / step).round().max(2.0) as u16);
                let middle = |i: u16| low + (high - low) * (f64::from(i) + 0.5) / f64::from(steps);
                // Of all values: those left out are sorted out one by one.
                let all = Style { visible: ALL_SHOWN, ..style.clone() };
                colours.extend((0..steps).map(|i| all.colour(middle(i) as f32)));
            }
            Colours::Thresholds { borders, .. } => {
                colours.extend((0..=borders.len()).map(|i| Some(style.colours.of_class(i))));
            }
            Colours::Categories(all) => {
                let highest = all.iter().map(|entry| entry.value).max().unwrap_or(0);
                // A number of a site or a count: 16 bits.
                of_values.resize(highest.min(u32::from(u16::MAX)) as usize + 1, 0);
                for entry in all {
                    let Some(place) = of_values.get_mut(entry.value as usize) else {
                        continue;
                    };
                    *place = colours.len() as u16;
                    colours.push(Some(entry.colour));
                }
            }
        }
        Self { style: style.clone(), colours, of_values }
    }

    /// Number of classes.
    pub fn count(&self) -> usize {
        self.colours.len()
    }

    /// Colour of a class; `None` for no data.
    pub fn colour(&self, class: usize) -> Option<Rgba> {
        self.colours[class]
    }

    /// Class of a value.
    pub fn of(&self, value: f32) -> u16 {
        if !self.style.shows(value) {
            return 0;
        }
        match &self.style.colours {
            &Colours::Ramp { low, high, .. } => {
                let steps = self.colours.len() - 1;
                let t = (f64::from(value) - low) / (high - low) * steps as f64;
                // The cast takes what lies beyond to the ends.
                1 + (t.max(0.0) as u16).min(steps as u16 - 1)
            }
            Colours::Thresholds { borders, .. } => {
                1 + borders.partition_point(|border| *border <= f64::from(value)) as u16
            }
            Colours::Categories(_) => {
                let is_whole = value >= 0.0 && value.fract() == 0.0;
                let class = self.of_values.get(value as usize).filter(|_| is_whole);
                class.copied().unwrap_or(0)
            }
        }
    }
}

/// Stretches the classes so that the outer two take the ends of the scale.
fn class_middle(value: f64, low: f64, high: f64, step: f64) -> f64 {
    let classes = ((high - low) / step).round().max(2.0);
    let class = ((value - low) / step).floor().clamp(0.0, classes - 1.0);
    low + (high - low) * class / (classes - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_take_the_colour_of_their_class() {
        let style = Style::ramp("power", "dBm", [-120.0, -40.0], Some(10.0));
        let colour = |v| style.colour(v).unwrap();
        assert_eq!(colour(-500.0), Sequence::Viridis.at(0.0));
        assert_eq!(colour(-110.1), Sequence::Viridis.at(0.0));
        assert_eq!(colour(-109.9), Sequence::Viridis.at(1.0 / 7.0));
        assert_eq!(colour(-40.0), Sequence::Viridis.at(1.0));
        assert_eq!(style.colour(f32::NAN), None);
    }

    #[test]
    fn classes_have_the_colours_of_their_values() {
        let ramp = Style::ramp("margin", "dB", [-10.0, 40.0], Some(5.0));
        let borders = vec![-5.0, 0.0, 4.99, 40.0];
        let mut cut = Style::thresholds("margin", "dB", borders);
        let whole = cut.clone();
        cut.visible[0] = 0.5;
        for style in
            [ramp, whole, cut, Style::sites("Best server", ["A", "B"], &[]), Style::verdicts()]
        {
            let classes = Classes::new(&style);
            for value in [-400.0, -10.0, -0.1, 0.0, 0.5, 1.0, 2.0, 4.99, 5.0, 39.9, 40.0, 1e9] {
                let class = usize::from(classes.of(value));
                assert_eq!(classes.colour(class), style.colour(value), "{value}");
            }
            assert_eq!(classes.of(f32::NAN), 0);
        }
    }

    #[test]
    fn categories_are_exact() {
        let style = Style::sites("Best server", ["A", "B"], &[]);
        assert_eq!(style.colour(1.0), style.colour_of("B"));
        assert_eq!(style.colour(2.0), None);
        assert_eq!(style.colour(0.5), None);
        assert_eq!(Style::verdicts().colour(4.0), Some(VERDICTS[4]));
    }

    #[test]
    fn thresholds_make_classes_and_what_is_left_out_has_no_colour() {
        let mut style = Style::thresholds("margin", "dB", vec![0.0, 3.0, 10.0]);
        assert_eq!(style.colour(-0.1), Some(Sequence::Viridis.at(0.0)));
        assert_eq!(style.colour(0.0), Some(Sequence::Viridis.at(1.0 / 3.0)));
        assert_eq!(style.colour(10.0), Some(Sequence::Viridis.at(1.0)));
        let labels = |style: &Style| -> Vec<String> {
            let listed = style.listed().unwrap();
            listed.iter().map(|entry| entry.label.clone()).collect()
        };
        assert_eq!(labels(&style), ["\u{2265} 10", "3 to 10", "0 to 3", "< 0"]);
        assert_eq!(style.left_out(), None);
        style.visible[0] = 0.0;
        assert_eq!(style.colour(-0.1), None);
        assert_eq!(style.colour(0.0), Some(Sequence::Viridis.at(1.0 / 3.0)));
        assert_eq!(labels(&style), ["\u{2265} 10", "3 to 10", "0 to 3"]);
        assert_eq!(style.left_out().unwrap(), "below 0 dB: not shown");
    }

    #[test]
    fn legends_count_in_their_own_unit() {
        let mut style = Style::thresholds("rate", "Mbit/s", vec![5_468_750.0, 468e6]);
        style.unit_size = 1e6;
        if let Colours::Thresholds { lowest, .. } = &mut style.colours {
            *lowest = Some(("no link".to_owned(), VERDICTS[0]));
        }
        let listed = style.listed().unwrap();
        let labels: Vec<&str> = listed.iter().map(|entry| &*entry.label).collect();
        assert_eq!(labels, ["\u{2265} 468", "5.469 to 468", "no link"]);
        assert_eq!(style.colour(0.0), Some(VERDICTS[0]));
        assert_eq!(style.colour(468e6), Some(Sequence::Viridis.at(1.0)));
    }
}
