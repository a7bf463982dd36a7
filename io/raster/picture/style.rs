//! Mapping of a layer's values to colours.

use super::palette::{Sequence, VERDICTS, category};
use crate::picture::Rgba;

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
        sequence: Sequence,
        /// Value of the first colour.
        low: f64,
        /// Value of the last colour, above `low`.
        high: f64,
        /// Classes of this width instead of an even flow.
        step: Option<f64>,
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
    /// The colours.
    pub colours: Colours,
}

impl Style {
    /// A viridis scale in classes of `step`.
    #[must_use]
    pub fn ramp(title: &str, unit: &str, [low, high]: [f64; 2], step: Option<f64>) -> Self {
        let colours = Colours::Ramp {
            sequence: Sequence::Viridis,
            low,
            high,
            step,
        };
        Self {
            title: title.to_owned(),
            unit: unit.to_owned(),
            colours,
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
        let categories = (0..)
            .zip(labels.into_iter().zip(VERDICTS))
            .map(entry)
            .collect();
        let colours = Colours::Categories(categories);
        Self {
            title: "Verdict".to_owned(),
            unit: String::new(),
            colours,
        }
    }

    /// One category for each name, counted from 0.
    #[must_use]
    pub fn sites<'a>(title: &str, names: impl IntoIterator<Item = &'a str>) -> Self {
        let entry = |(index, name): (usize, &str)| Category {
            value: u32::try_from(index).unwrap_or(u32::MAX),
            label: name.to_owned(),
            colour: category(index),
        };
        let colours = Colours::Categories(names.into_iter().enumerate().map(entry).collect());
        Self {
            title: title.to_owned(),
            unit: String::new(),
            colours,
        }
    }

    /// Counts from 0 to `most`, 0 as faint as "no link" is among verdicts.
    #[must_use]
    pub fn counts(title: &str, most: u32) -> Self {
        let entry = |value: u32| {
            let t = f64::from(value.saturating_sub(1)) / f64::from(most.max(2) - 1);
            let colour = if value == 0 {
                VERDICTS[0]
            } else {
                Sequence::Viridis.at(t)
            };
            Category {
                value,
                label: value.to_string(),
                colour,
            }
        };
        let colours = Colours::Categories((0..=most).map(entry).collect());
        Self {
            title: title.to_owned(),
            unit: String::new(),
            colours,
        }
    }

    /// The colour of a value; `None` for no data.
    #[must_use]
    pub fn colour(&self, value: f32) -> Option<Rgba> {
        if value.is_nan() {
            return None;
        }
        match &self.colours {
            &Colours::Ramp {
                sequence,
                low,
                high,
                step,
            } => {
                let value = f64::from(value);
                let value = step.map_or(value, |step| class_middle(value, low, high, step));
                Some(sequence.at((value - low) / (high - low)))
            }
            Colours::Categories(all) => {
                let is_it = |entry: &&Category| f64::from(entry.value) == f64::from(value);
                // Most lists count from 0: look there first.
                let found = all.get(value as usize).filter(is_it);
                found
                    .or_else(|| all.iter().find(is_it))
                    .map(|entry| entry.colour)
            }
        }
    }

    /// The colour of the category of this name.
    #[must_use]
    pub fn colour_of(&self, label: &str) -> Option<Rgba> {
        match &self.colours {
            Colours::Ramp { .. } => None,
            Colours::Categories(all) => all
                .iter()
                .find(|entry| entry.label == label)
                .map(|entry| entry.colour),
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
            &Colours::Ramp {
                low, high, step, ..
            } => {
                let steps =
                    step.map_or(STEPS, |step| ((high - low) / step).round().max(2.0) as u16);
                let middle = |i: u16| low + (high - low) * (f64::from(i) + 0.5) / f64::from(steps);
                colours.extend((0..steps).map(|i| style.colour(middle(i) as f32)));
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
        Self {
            style: style.clone(),
            colours,
            of_values,
        }
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
        if value.is_nan() {
            return 0;
        }
        match self.style.colours {
            Colours::Ramp { low, high, .. } => {
                let steps = self.colours.len() - 1;
                let t = (f64::from(value) - low) / (high - low) * steps as f64;
                // The cast takes what lies beyond to the ends.
                1 + (t.max(0.0) as u16).min(steps as u16 - 1)
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
        for style in [
            ramp,
            Style::sites("Best server", ["A", "B"]),
            Style::verdicts(),
        ] {
            let classes = Classes::new(&style);
            for value in [
                -400.0, -10.0, -0.1, 0.0, 0.5, 1.0, 2.0, 4.99, 5.0, 39.9, 40.0, 1e9,
            ] {
                let class = usize::from(classes.of(value));
                assert_eq!(classes.colour(class), style.colour(value), "{value}");
            }
            assert_eq!(classes.of(f32::NAN), 0);
        }
    }

    #[test]
    fn categories_are_exact() {
        let style = Style::sites("Best server", ["A", "B"]);
        assert_eq!(style.colour(1.0), style.colour_of("B"));
        assert_eq!(style.colour(2.0), None);
        assert_eq!(style.colour(0.5), None);
        assert_eq!(Style::verdicts().colour(4.0), Some(VERDICTS[4]));
    }
}
