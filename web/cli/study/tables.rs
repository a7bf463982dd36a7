//! Tables of a finished study: a line for each run, a line for each combination and measure, a picture.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use groundwave_http::Failure;
use groundwave_plot::{MeasurePanel, StudyPicture, study_svg};
use groundwave_scenario::Study as Plan;
use groundwave_scenario::formats::{Column, parquet_table};
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

/// A finished study.
pub struct Results<'s> {
    /// Keys and values.
    pub plan: &'s Plan,
    /// Runs.
    pub cells: &'s [Cell],
    /// Their outcomes.
    pub outcomes: &'s [Outcome],
    /// Number of runs that this process computed.
    pub computed: usize,
}

/// Writes `runs` and `summary`, each as CSV and Parquet, and `summary.svg`, and shows the means.
pub fn write(folder: &Path, results: &Results<'_>, output: Output) -> Result<(), Failure> {
    let Results { plan, cells, outcomes, computed } = *results;
    let keys: Vec<&str> =
        plan.vary.iter().filter_map(|own| own.first()).map(|own| own.key()).collect();
    write_whole(&folder.join("runs.csv"), runs(&keys, cells, outcomes).as_bytes())?;
    let typed = runs_typed(&keys, cells, outcomes).map_err(Failure::machine)?;
    write_whole(&folder.join("runs.parquet"), &typed)?;
    let combinations = combinations(&keys, plan, cells, outcomes);
    write_whole(&folder.join("summary.csv"), summary(&keys, &combinations).as_bytes())?;
    let typed = summary_typed(&keys, &combinations).map_err(Failure::machine)?;
    write_whole(&folder.join("summary.parquet"), &typed)?;
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
    let means = match plan.seeds {
        1 => "one run each, without intervals",
        _ => "means with 95 % intervals",
    };
    let title = match by.is_empty() {
        true => format!("{} runs: {means}", cells.len()),
        false => format!("{} runs: {means}, by {}", cells.len(), by.join(" · ")),
    };
    let picture = StudyPicture { title: &title, labels: &labels, panels: &panels };
    write_whole(&folder.join("summary.svg"), study_svg(&picture).as_bytes())?;
    let refused: usize = outcomes.iter().map(|outcome| outcome.refused).sum();
    if output.json {
        output.json(&serde_json::json!({
            "folder": folder, "runs": cells.len(), "computed": computed, "combinations": combinations,
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

/// The table of runs in Parquet: values of keys as texts.
fn runs_typed(keys: &[&str], cells: &[Cell], outcomes: &[Outcome]) -> io::Result<Vec<u8>> {
    let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let numbers = cells.iter().map(|cell| number(cell.number)).collect();
    let mut columns = vec![("run".to_owned(), Column::Whole(numbers))];
    for key in keys {
        let value = |own: &Outcome| own.values.get(*key).cloned().unwrap_or_default();
        columns.push(((*key).to_owned(), Column::Text(outcomes.iter().map(value).collect())));
    }
    // The bits of a seed: the table has no unsigned numbers.
    let seeds = outcomes.iter().map(|own| own.seed.cast_signed()).collect();
    columns.push(("seed".to_owned(), Column::Whole(seeds)));
    for (at, (name, _)) in MEASURES.iter().enumerate() {
        let means = outcomes.iter().map(|own| own.means()[at]).collect();
        columns.push(((*name).to_owned(), Column::Number(means)));
    }
    let refused = outcomes.iter().map(|own| number(own.refused)).collect();
    columns.push(("refused_commands".to_owned(), Column::Whole(refused)));
    let digests = outcomes.iter().map(|own| own.digest.clone()).collect();
    columns.push(("digest".to_owned(), Column::Text(digests)));
    parquet_table("runs", columns)
}

/// The table of means in Parquet.
fn summary_typed(keys: &[&str], combinations: &[Combination]) -> io::Result<Vec<u8>> {
    let rows: Vec<(&Combination, &Measure)> = combinations
        .iter()
        .flat_map(|own| own.measures.iter().map(move |measure| (own, measure)))
        .collect();
    let mut columns = Vec::new();
    for (at, key) in keys.iter().enumerate() {
        let values = rows.iter().map(|(own, _)| own.values[at][1].clone()).collect();
        columns.push(((*key).to_owned(), Column::Text(values)));
    }
    let names = rows.iter().map(|(_, measure)| measure.name.to_owned()).collect();
    columns.push(("measure".to_owned(), Column::Text(names)));
    let runs = |mean: Option<Mean>| mean.map_or(0, |mean| mean.runs as i64);
    let runs = rows.iter().map(|(_, measure)| runs(measure.mean)).collect();
    columns.push(("runs".to_owned(), Column::Whole(runs)));
    let numbers = |value: fn(Mean) -> Option<f64>| {
        Column::Number(rows.iter().map(|(_, measure)| measure.mean.and_then(value)).collect())
    };
    columns.push(("mean".to_owned(), numbers(|mean| Some(mean.mean))));
    columns.push(("deviation".to_owned(), numbers(|mean| mean.deviation)));
    columns.push(("half_width_95_percent".to_owned(), numbers(|mean| mean.half_width)));
    parquet_table("summary", columns)
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
            Some(Mean { mean, half_width: Some(half), .. }) if !is_alike(mean, half) => {
                format!("{} ± {}", short(mean), short_half(half))
            }
            Some(Mean { mean, .. }) => short(mean),
        };
        let values = own.values.iter().map(|[_, value]| value.clone());
        table.row(values.chain(own.measures.iter().map(cell)));
    }
    let mut out = output::table(&table, None);
    let _ = writeln!(
        out,
        "{}; {} has runs and summary as .csv and .parquet, and summary.svg",
        note(combinations),
        folder.display()
    );
    out
}

/// Meaning of the cells of the table.
fn note(combinations: &[Combination]) -> String {
    let runs = combinations.first().map_or(0, |own| own.runs);
    let means = combinations.iter().flat_map(|own| &own.measures).filter_map(|own| own.mean);
    let mut means = means.filter_map(|own| Some((own.mean, own.half_width?)));
    let has_spread = means.any(|(mean, half)| !is_alike(mean, half));
    match (runs, has_spread) {
        (1, _) => {
            "means over ticks of one run each, without an interval: --seeds N makes more runs"
                .to_owned()
        }
        (runs, true) => format!(
            "means over ticks of {runs} runs each ± half of the 95 % interval; without ± where all runs are alike"
        ),
        (runs, false) => format!(
            "means over ticks of {runs} runs each, which are alike: nothing in them depends on the seed"
        ),
    }
}

/// `true` for an interval that is none but for the rounding of its mean: all runs have one value.
fn is_alike(mean: f64, half: f64) -> bool {
    half <= mean.abs() * 1e-12
}

/// Half the width of an interval, which is never shown as 0.
fn short_half(half: f64) -> String {
    match half < 0.005 {
        true => "< 0.01".to_owned(),
        false => short(half),
    }
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
    fn intervals_of_one_run_or_of_runs_alike_are_left_out_with_a_note() {
        let of = |runs: usize, half_width: Option<f64>| {
            let mean = Mean { runs, mean: 12.0, deviation: half_width, half_width };
            let measures = MEASURES.map(|(name, _)| Measure { name, mean: Some(mean) }).into();
            let own = Combination { values: Vec::new(), runs, refused_commands: 0, measures };
            text(Path::new("out"), &[own])
        };
        let one = of(1, None);
        assert!(one.contains("of one run each, without an interval: --seeds N"), "{one}");
        let alike = of(3, Some(1e-15));
        assert!(alike.contains("3 runs each, which are alike") && !alike.contains('±'), "{alike}");
        let spread = of(3, Some(0.5));
        assert!(spread.contains("12.0 ± 0.50") && spread.contains("3 runs each ±"), "{spread}");
        assert!(of(3, Some(0.004)).contains("12.0 ± < 0.01"));
    }

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
