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
    fn categories_are_exact() {
        let style = Style::sites("Best server", ["A", "B"]);
        assert_eq!(style.colour(1.0), style.colour_of("B"));
        assert_eq!(style.colour(2.0), None);
        assert_eq!(style.colour(0.5), None);
        assert_eq!(Style::verdicts().colour(4.0), Some(VERDICTS[4]));
    }
}
