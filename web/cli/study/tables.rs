//! Tables of a finished study: a line for each run, a line for each combination and measure, a picture.

use std::fmt::Write as _;
use std::path::Path;

use groundwave_http::Failure;
use groundwave_plot::{MeasurePanel, StudyPicture, study_svg};
use groundwave_scenario::Study as Plan;
use groundwave_text::{Align, Table};
use serde::Serialize;

use super::super::output::{self, Output, write_whole};
use super::super::run_tables::{field, number};
use super::cell::{Cell, Outcome};
use super::measures::{COUNT, MEASURES};
use super::summary::{Mean, means};

/// Means of one combination of values.
#[derive(Serialize)]
struct Combination {
    values: Vec<[String; 2]>,
    runs: usize,
    refused_commands: usize,
    measures: Vec<Measure>,
}

#[derive(Serialize)]
struct Measure {
    name: &'static str,
    #[serde(flatten)]
    mean: Option<Mean>,
}

/// Writes `runs.csv`, `summary.csv` and `summary.svg`, and shows the means.
pub fn write(
    folder: &Path,
    plan: &Plan,
    cells: &[Cell],
    outcomes: &[Outcome],
    output: Output,
) -> Result<(), Failure> {
    let keys: Vec<&str> =
        plan.vary.iter().filter_map(|own| own.first()).map(|own| own.key()).collect();
    write_whole(&folder.join("runs.csv"), runs(&keys, cells, outcomes).as_bytes())?;
    let combinations = combinations(&keys, plan, cells, outcomes);
    write_whole(&folder.join("summary.csv"), summary(&keys, &combinations).as_bytes())?;
    let labels: Vec<String> = combinations.iter().map(label).collect();
    let panel = |at: usize| MeasurePanel {
        title: MEASURES[at].0.to_owned(),
        means: combinations
            .iter()
            .map(|own| own.measures[at].mean.map(|mean| (mean.mean, mean.half_width)))
            .collect(),
    };
    let panels: Vec<_> = (0..COUNT).map(panel).collect();
    let by = short_names(&keys);
    let title = match by.is_empty() {
        true => format!("{} runs: means with 95 % intervals", cells.len()),
        false => format!("{} runs: means with 95 % intervals, by {}", cells.len(), by.join(" · ")),
    };
    let picture = StudyPicture { title: &title, labels: &labels, panels: &panels };
    write_whole(&folder.join("summary.svg"), study_svg(&picture).as_bytes())?;
    let refused: usize = outcomes.iter().map(|outcome| outcome.refused).sum();
    if output.json {
        output.json(&serde_json::json!({
            "folder": folder, "runs": cells.len(), "combinations": combinations,
        }))?;
    } else {
        output.text(&text(folder, &combinations))?;
    }
    match refused {
        0 => Ok(()),
        _ => Err(Failure::Input(format!("{refused} command(s) of the runs were rejected"))),
    }
}

fn runs(keys: &[&str], cells: &[Cell], outcomes: &[Outcome]) -> String {
    let names = MEASURES.iter().map(|(name, _)| (*name).to_owned());
    let heads = keys.iter().map(|key| field(key));
    let heads = ["run".to_owned()].into_iter().chain(heads).chain(["seed".to_owned()]);
    let heads = heads.chain(names).chain(["refused_commands", "digest"].map(str::to_owned));
    let mut out = heads.collect::<Vec<_>>().join(",") + "\n";
    for (cell, outcome) in cells.iter().zip(outcomes) {
        let value =
            |key: &&str| outcome.values.get(*key).map_or_else(String::new, |own| field(own));
        let values = keys.iter().map(value);
        let columns = [cell.number.to_string()].into_iter().chain(values);
        let columns = columns.chain([outcome.seed.to_string()]);
        let columns = columns.chain(outcome.means().map(number));
        let columns = columns.chain([outcome.refused.to_string(), outcome.digest.clone()]);
        let _ = writeln!(out, "{}", columns.collect::<Vec<_>>().join(","));
    }
    out
}

fn combinations(
    keys: &[&str],
    plan: &Plan,
    cells: &[Cell],
    outcomes: &[Outcome],
) -> Vec<Combination> {
    let seeds = plan.seeds as usize;
    let runs = cells.chunks(seeds).zip(outcomes.chunks(seeds));
    let of = |(cells, outcomes): (&[Cell], &[Outcome])| {
        let each: Vec<_> = outcomes.iter().map(Outcome::means).collect();
        let values = &outcomes[0].values;
        let value = |key: &&str| Some([(*key).to_owned(), values.get(*key)?.clone()]);
        let measures = MEASURES.iter().zip(means(&each));
        Combination {
            values: keys.iter().filter_map(value).collect(),
            runs: cells.len(),
            refused_commands: outcomes.iter().map(|outcome| outcome.refused).sum(),
            measures: measures.map(|((name, _), mean)| Measure { name, mean }).collect(),
        }
    };
    runs.map(of).collect()
}

fn summary(keys: &[&str], combinations: &[Combination]) -> String {
    let mut heads: Vec<String> = keys.iter().map(|key| field(key)).collect();
    let columns = ["measure", "runs", "mean", "deviation", "half_width_95_percent"];
    heads.extend(columns.map(str::to_owned));
    let mut out = heads.join(",") + "\n";
    for own in combinations {
        for measure in &own.measures {
            let mut columns: Vec<String> =
                own.values.iter().map(|[_, value]| field(value)).collect();
            let mean = measure.mean;
            columns.push(measure.name.to_owned());
            columns.push(mean.map_or(0, |mean| mean.runs).to_string());
            columns.push(number(mean.map(|mean| mean.mean)));
            columns.push(number(mean.and_then(|mean| mean.deviation)));
            columns.push(number(mean.and_then(|mean| mean.half_width)));
            let _ = writeln!(out, "{}", columns.join(","));
        }
    }
    out
}

/// Values of a combination, in the order of the keys.
fn label(own: &Combination) -> String {
    let values: Vec<_> = own.values.iter().map(|[_, value]| value.as_str()).collect();
    if values.is_empty() { "all".to_owned() } else { values.join(" · ") }
}

/// The shortest ends of keys that tell them apart: the field, with the item before it where two have one field.
fn short_names<'k>(keys: &[&'k str]) -> Vec<&'k str> {
    let end = |key: &'k str, parts: usize| {
        let begins = key.rmatch_indices('.').nth(parts - 1);
        begins.map_or(key, |(at, _)| &key[at + 1..])
    };
    let name = |(index, key): (usize, &&'k str)| {
        let is_own = |parts: &usize| {
            let mut others = keys.iter().enumerate().filter(|(other, _)| *other != index);
            others.all(|(_, other)| end(other, *parts) != end(key, *parts))
        };
        let parts = (1..=key.split('.').count()).find(is_own);
        parts.map_or(*key, |parts| end(key, parts))
    };
    keys.iter().enumerate().map(name).collect()
}

fn text(folder: &Path, combinations: &[Combination]) -> String {
    let keys = combinations.first().map_or(&[][..], |own| &own.values);
    let keys: Vec<&str> = keys.iter().map(|[key, _]| key.as_str()).collect();
    let keys = short_names(&keys);
    let mut heads: Vec<_> = keys.iter().map(|key| (*key, Align::Right)).collect();
    heads.extend(MEASURES.iter().map(|(name, _)| (*name, Align::Right)));
    let mut table = Table::new(&heads);
    for own in combinations {
        let cell = |measure: &Measure| match measure.mean {
            None => "–".to_owned(),
            Some(Mean { mean, half_width: None, .. }) => short(mean),
            Some(Mean { mean, half_width: Some(half), .. }) => {
                format!("{} ± {}", short(mean), short(half))
            }
        };
        let values = own.values.iter().map(|[_, value]| value.clone());
        table.row(values.chain(own.measures.iter().map(cell)));
    }
    let runs = combinations.first().map_or(0, |own| own.runs);
    let mut out = output::table(&table, None);
    let _ = writeln!(
        out,
        "means over ticks of {runs} runs each ± half of the 95 % interval; {} has runs.csv, summary.csv, summary.svg",
        folder.display()
    );
    out
}

/// A number of some three digits.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 => format!("{:.1}M", value / 1e6),
        size if size >= 1e4 => format!("{:.0}k", value / 1e3),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_one_field_have_different_names() {
        let keys = [
            "failure.0.at_s",
            "weather.0.at_s",
            "node.a.height_agl_m",
            "node.b.height_agl_m",
            "mesh.metric",
        ];
        let names =
            ["failure.0.at_s", "weather.0.at_s", "a.height_agl_m", "b.height_agl_m", "metric"];
        assert_eq!(short_names(&keys), names);
    }
}
