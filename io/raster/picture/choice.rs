//! Scale, palette and shown range of a map of one's own.

use serde::{Deserialize, Serialize};

use super::super::grid::Grid;
use super::palette::Palette;
use super::style::{Colours, Style};
use crate::scene::scale::ticks;

/// Thresholds of a map, at most: more classes cannot be distinguished.
pub const THRESHOLDS_MAX: usize = 20;

/// Classes of a scale, at most.
const CLASSES_MAX: f64 = 100.0;

/// Largest magnitude of a level on a scale.
const LEVEL_MAX: f64 = 1e15;

/// The values between which colours run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// From the 2nd to the 98th percentile of the data, rounded outwards.
    Auto {
        /// Width of classes; absent takes a round one.
        step: Option<f64>,
    },
    /// From `low` to `high`.
    Range {
        /// Value of the first colour.
        low: f64,
        /// Value of the last colour, above `low`.
        high: f64,
        /// Width of classes; absent takes that of the layer, where it divides the range, or none.
        step: Option<f64>,
    },
    /// Classes between rising borders.
    Thresholds(Vec<f64>),
}

/// Scale, palette and cleared levels chosen for a map; an absent one is the default of its layer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
    /// Name of a palette ([`Palette::ALL`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub palette: Option<String>,
    /// Cells below this level are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clear_below: Option<f64>,
    /// Cells above this level are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clear_above: Option<f64>,
}

impl Scale {
    /// Reads `MIN..MAX`, `MIN..MAX/STEP`, `auto`, `auto/STEP` or thresholds `T1,T2,...`.
    ///
    /// # Errors
    /// The reason why the text is not a scale.
    pub fn parse(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            let value: Result<f64, _> = text.trim().parse();
            value.map_err(|_| format!("invalid number {:?}", text.trim()))
        };
        let (span, step) = match text.split_once('/') {
            Some((span, step)) => (span.trim(), Some(number(step)?)),
            None => (text.trim(), None),
        };
        let scale = if span == "auto" {
            Self::Auto { step }
        } else if let Some((low, high)) = span.split_once("..") {
            let (low, high) = (number(low)?, number(high)?);
            Self::Range { low, high, step }
        } else if step.is_none() {
            Self::Thresholds(span.split(',').map(number).collect::<Result<_, _>>()?)
        } else {
            return Err("thresholds have no step".to_owned());
        };
        scale.check()?;
        Ok(scale)
    }

    /// Refuses scales that cannot be drawn.
    ///
    /// # Errors
    /// The value refused, with the range or number of classes allowed.
    pub fn check(&self) -> Result<(), String> {
        let level = |value: f64| {
            if value.abs() <= LEVEL_MAX {
                Ok(())
            } else {
                Err(format!("{value} is out of range; allowed: [-1e15, 1e15]"))
            }
        };
        let classes = |step: Option<f64>, width: f64| match step {
            Some(step) if !(step > 0.0 && step <= LEVEL_MAX) => {
                Err(format!("a step of {step}; allowed: above 0"))
            }
            Some(step) if width / step > CLASSES_MAX || width / step < 2.0 => {
                Err(format!("a step of {step} over {width}; allowed: 2 to {CLASSES_MAX} classes"))
            }
            _ => Ok(()),
        };
        match self {
            Self::Auto { step } => step.map_or(Ok(()), |step| classes(Some(step), 2.0 * step)),
            &Self::Range { low, high, step } => {
                level(low)?;
                level(high)?;
                if low >= high {
                    return Err(format!("invalid range {low} to {high}; allowed: MIN below MAX"));
                }
                classes(step, high - low)
            }
            Self::Thresholds(borders) => {
                if !(1..=THRESHOLDS_MAX).contains(&borders.len()) {
                    let count = borders.len();
                    return Err(format!("{count} thresholds; allowed: 1 to {THRESHOLDS_MAX}"));
                }
                borders.iter().try_for_each(|border| level(*border))?;
                match borders.windows(2).find(|pair| pair[0] >= pair[1]) {
                    Some(pair) => Err(format!(
                        "threshold {} after {}; allowed: each above the one before",
                        pair[1], pair[0]
                    )),
                    None => Ok(()),
                }
            }
        }
    }
}

impl Choice {
    /// Refuses a choice that cannot be drawn.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        if let Some(scale) = &self.scale {
            scale.check().map_err(|why| ("scale", why))?;
        }
        if let Some(name) = &self.palette {
            let named = Palette::named(name);
            named.map_err(|names| {
                ("palette", format!("invalid palette {name:?}; allowed: {names}"))
            })?;
        }
        for (key, level) in [("clear_below", self.clear_below), ("clear_above", self.clear_above)] {
            if level.is_some_and(|level| level.is_nan() || level.abs() > LEVEL_MAX) {
                return Err((key, "no finite level; allowed: [-1e15, 1e15]".to_owned()));
            }
        }
        match (self.clear_below, self.clear_above) {
            (Some(low), Some(high)) if low >= high => Err((
                "clear_above",
                format!("{high} leaves nothing to show; allowed: above clear_below = {low}"),
            )),
            _ => Ok(()),
        }
    }

    /// True if the scale comes from the data.
    #[must_use]
    pub fn is_auto(&self) -> bool {
        matches!(self.scale, Some(Scale::Auto { .. }))
    }

    /// The settings of this choice, those of `other` where it has none.
    #[must_use]
    pub fn or(self, other: &Self) -> Self {
        Self {
            scale: self.scale.or_else(|| other.scale.clone()),
            palette: self.palette.or_else(|| other.palette.clone()),
            clear_below: self.clear_below.or(other.clear_below),
            clear_above: self.clear_above.or(other.clear_above),
        }
    }

    /// Changes `style` to this choice; `spread` are the percentiles of an automatic scale. Of
    /// categories only what is left out changes.
    pub fn apply(&self, style: &mut Style, spread: Option<[f64; 2]>) {
        let (old_palette, old_step) = match &style.colours {
            Colours::Ramp { palette, step, .. } => (*palette, *step),
            Colours::Thresholds { palette, .. } => (*palette, None),
            Colours::Categories(_) => (Palette::VIRIDIS, None),
        };
        let ramp =
            |[low, high]: [f64; 2], step| Colours::Ramp { palette: old_palette, low, high, step };
        match &self.scale {
            None => {}
            Some(Scale::Auto { step }) => {
                if let Some(spread) = spread {
                    let (range, own) = rounded(spread, *step);
                    style.colours = ramp(range, Some(own));
                }
            }
            &Some(Scale::Range { low, high, step }) => {
                let divides = |step: &f64| {
                    let classes = (high - low) / step;
                    (2.0..=CLASSES_MAX).contains(&classes) && classes.fract() == 0.0
                };
                let step = step.or(old_step.filter(divides));
                style.colours = ramp([low, high], step);
            }
            Some(Scale::Thresholds(borders)) => {
                style.colours = Colours::Thresholds {
                    palette: old_palette,
                    borders: borders.clone(),
                    lowest: None,
                };
            }
        }
        let palette = self.palette.as_deref().map(Palette::named);
        if let Some(Ok(palette)) = palette {
            style.colours.set_palette(palette);
        }
        style.visible = [
            self.clear_below.unwrap_or(style.visible[0]),
            self.clear_above.unwrap_or(style.visible[1]),
        ];
    }
}

/// A range rounded outwards to whole classes, and their width.
fn rounded([low, high]: [f64; 2], step: Option<f64>) -> ([f64; 2], f64) {
    let high = if high > low { high } else { low + 1.0 };
    let step = step.unwrap_or_else(|| ticks(low, high, 12).step).max((high - low) / CLASSES_MAX);
    let ends = [(low / step).floor(), (high / step).ceil()];
    let ends = if ends[1] - ends[0] < 2.0 { [ends[0], ends[0] + 2.0] } else { ends };
    (ends.map(|end| end * step), step)
}

/// Bits of a value that determine its class: sign, exponent, 11 of 23 bits of the fraction.
const KEY_BITS: u32 = 20;

/// Values of several grids, counted in classes 0.05 % wide: percentiles without keeping the values.
#[derive(Debug, Clone)]
pub struct Spread {
    counts: Vec<u64>,
}

impl Default for Spread {
    fn default() -> Self {
        Self { counts: vec![0; 1 << KEY_BITS] }
    }
}

impl Spread {
    /// Counts the finite values of a grid.
    pub fn add(&mut self, grid: &Grid) {
        for value in grid.cells.iter().filter(|value| value.is_finite()) {
            let bits = value.to_bits();
            // Bits in the order of values.
            let ordered = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
            self.counts[(ordered >> (32 - KEY_BITS)) as usize] += 1;
        }
    }

    /// The 2nd and the 98th percentile; `None` without values.
    #[must_use]
    pub fn percentiles(&self) -> Option<[f64; 2]> {
        let all: u64 = self.counts.iter().sum();
        let at = |share: f64| {
            let rank = (share * all.saturating_sub(1) as f64).round() as u64;
            let mut before = 0;
            let class = self.counts.iter().position(|count| {
                before += count;
                before > rank
            })?;
            let ordered = (class as u32) << (32 - KEY_BITS);
            let bits = if ordered >> 31 == 1 { ordered & !(1 << 31) } else { !ordered };
            Some(f64::from(f32::from_bits(bits)))
        };
        Some([at(0.02)?, at(0.98)?])
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::geometry::GridGeometry;
    use super::*;

    #[test]
    fn scales_are_read_and_wrong_ones_refused() {
        let range = |low, high, step| Ok(Scale::Range { low, high, step });
        assert_eq!(Scale::parse("-10..40"), range(-10.0, 40.0, None));
        assert_eq!(Scale::parse(" -10 .. 40 / 5 "), range(-10.0, 40.0, Some(5.0)));
        assert_eq!(Scale::parse("auto"), Ok(Scale::Auto { step: None }));
        let borders = Scale::Thresholds(vec![0.0, 3.0, 10.0]);
        assert_eq!(Scale::parse("0,3,10"), Ok(borders));
        for (text, why) in [
            ("40..-10", "invalid range"),
            ("1..1", "invalid range"),
            ("0..x", "invalid number \"x\""),
            ("0..nan", "out of range"),
            ("0..40/0", "above 0"),
            ("0..40/0.001", "2 to 100 classes"),
            ("0..40/30", "2 to 100 classes"),
            ("3,0", "each above"),
            ("0,3/2", "no step"),
            ("", "invalid number"),
        ] {
            let error = Scale::parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn automatic_scales_are_round_and_hold_the_percentiles() {
        let geometry = GridGeometry {
            west_deg: 0.0,
            north_deg: 1.0,
            cell_lon_deg: 0.01,
            cell_lat_deg: 0.01,
            cols: 101,
            rows: 2,
        };
        let values = (0..202).map(|i| (i % 101) as f32 - 60.0);
        let mut grid = Grid::new(geometry, values.collect()).unwrap();
        grid.cells[0] = f32::NAN;
        grid.cells[1] = f32::NEG_INFINITY;
        let mut spread = Spread::default();
        assert_eq!(spread.percentiles(), None);
        spread.add(&grid);
        let [low, high] = spread.percentiles().unwrap();
        assert!((low + 58.0).abs() < 1.0 && (high - 38.0).abs() < 1.0, "{low} {high}");
        let mut style = Style::ramp("margin", "dB", [-10.0, 40.0], Some(5.0));
        let choice = Choice { scale: Some(Scale::Auto { step: None }), ..Choice::default() };
        choice.apply(&mut style, Some([low, high]));
        let Colours::Ramp { low, high, step, .. } = style.colours else {
            panic!("a ramp");
        };
        assert_eq!([low, high, step.unwrap()], [-60.0, 40.0, 10.0]);
    }

    #[test]
    fn choices_change_what_they_name() {
        let mut style = Style::ramp("margin", "dB", [-10.0, 40.0], Some(5.0));
        let choice = Choice {
            scale: Some(Scale::parse("0..30").unwrap()),
            palette: Some("cividis_r".to_owned()),
            clear_below: Some(0.0),
            clear_above: None,
        };
        choice.check().unwrap();
        choice.apply(&mut style, None);
        assert_eq!(style.colour(-0.1), None);
        let cividis = Palette::named("cividis_r").unwrap();
        assert_eq!(style.colour(0.0), Some(cividis.at(0.0)));
        assert_eq!(style.colour(4.9), style.colour(0.0), "the step stays");
        let wrong = Choice { palette: Some("jet".to_owned()), ..Choice::default() };
        let (key, why) = wrong.check().unwrap_err();
        assert!(key == "palette" && why.contains("viridis, viridis_r"), "{why}");
    }
}
