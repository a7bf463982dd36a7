//! `[study]`: values that a study varies, and its seeds.

use std::collections::BTreeMap;

use garde::Validate;
use groundwave_toml_document::error::Report;
use groundwave_toml_document::key::KeyPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use toml::Value;

use super::check;
use super::overrides::Override;

/// Maximum number of runs of a study.
pub const CELLS_MAX: usize = 100_000;

/// Values that `groundwave study` varies. A run ignores them.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
#[serde(deny_unknown_fields)]
pub struct StudyFile {
    /// Values of each key, every one with every one of the others: `"environment.rain_rate_mm_h" = [0, 20, 50]`.
    /// Items of lists go by their names or numbers: `"node.west.height_agl_m"`.
    #[serde(default)]
    pub vary: BTreeMap<String, Vec<Json>>,
    /// Runs of each combination, with the seed of the scenario, the one after it and so on, [1, 100000].
    #[serde(default = "one")]
    #[garde(range(min = 1, max = 100_000))]
    pub seeds: u32,
}

const fn one() -> u32 {
    1
}

/// Values that a study varies, and its seeds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Study {
    /// Each key with its values, by the names of the keys.
    pub vary: Vec<Vec<Override>>,
    /// Runs of each combination.
    pub seeds: u32,
}

impl Study {
    /// Combinations of values, those of the last key changing first.
    #[must_use]
    pub fn combinations(&self) -> Vec<Vec<Override>> {
        let mut all = vec![Vec::new()];
        for values in &self.vary {
            let longer = |before: &Vec<Override>| {
                let before = before.clone();
                let with =
                    move |value: &Override| [&before[..], std::slice::from_ref(value)].concat();
                values.iter().map(with).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }

    /// Runs in all; `None` above [`CELLS_MAX`].
    #[must_use]
    pub fn cells(&self) -> Option<usize> {
        let combinations =
            self.vary.iter().try_fold(1_usize, |count, values| count.checked_mul(values.len()))?;
        let cells = combinations.checked_mul(self.seeds as usize)?;
        (1..=CELLS_MAX).contains(&cells).then_some(cells)
    }
}

/// A value of JSON as one of TOML; `None` for null, which TOML lacks.
fn toml_value(value: &Json) -> Option<Value> {
    match value {
        Json::Null => None,
        value => Value::try_from(value).ok(),
    }
}

pub(super) fn study(file: Option<&StudyFile>, report: &mut Report) -> Option<Study> {
    let file = file?;
    let path = KeyPath::section("study");
    check::ranges(file, &path, report);
    let mut study = Study { vary: Vec::new(), seeds: file.seeds };
    for (key, values) in &file.vary {
        let at = path.key("vary").owned_key(key);
        if values.is_empty() {
            report.at(&at, "no values", "1 or more");
        }
        let mut overrides = Vec::new();
        for value in values {
            let own = toml_value(value)
                .ok_or_else(|| format!("invalid value: found {value}, allowed values of TOML"));
            match own.and_then(|value| Override::new(key, &value)) {
                Ok(own) => overrides.push(own),
                Err(what) => report.at(&at, what, "keys of the scenario with numbers or text"),
            }
        }
        study.vary.push(overrides);
    }
    if file.seeds > 0 && study.cells().is_none() {
        let runs = format!("{} seeds of {} keys", file.seeds, file.vary.len());
        report.at(&path, runs, format!("1 to {CELLS_MAX} runs"));
    }
    Some(study)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(key: &str, values: &[i64]) -> Vec<Override> {
        values.iter().map(|value| Override::new(key, &Value::Integer(*value)).unwrap()).collect()
    }

    #[test]
    fn every_value_meets_every_other() {
        let vary = vec![values("a", &[1, 2]), values("b", &[3, 4, 5])];
        let study = Study { vary, seeds: 4 };
        let texts: Vec<_> = study
            .combinations()
            .iter()
            .map(|own| own.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(texts, ["a=1 b=3", "a=1 b=4", "a=1 b=5", "a=2 b=3", "a=2 b=4", "a=2 b=5"]);
        assert_eq!(study.cells(), Some(24));
        assert_eq!(Study { vary: Vec::new(), seeds: 3 }.combinations(), [Vec::new()]);
        assert_eq!(Study { vary: vec![values("a", &[1; 400]); 3], seeds: 1 }.cells(), None);
        assert_eq!(Study { vary: Vec::new(), seeds: 0 }.cells(), None);
    }
}
