//! Time lines as tables: `at`, `direction`, `preset`, and a column for each word.

use super::quantity;
use super::timeline::{BadTimeline, Reading, STEPS_MAX, Step, Timeline, bounded, meaning, sides};
use super::words::Words;

/// Reads a CSV time line. Lines that begin with `#` are passed over; an empty cell says nothing.
pub(super) fn read(text: &str, name: &str, reading: &Reading) -> Result<Timeline, BadTimeline> {
    let wrong = |line: u64, what: String| BadTimeline::Row {
        file: name.to_owned(),
        line,
        what,
    };
    let mut table = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let heads = table
        .headers()
        .map_err(|err| wrong(1, err.to_string()))?
        .clone();
    check_heads(&heads).map_err(|what| wrong(1, what))?;
    let mut steps = Vec::new();
    for row in table.records() {
        let row = row.map_err(|err| {
            let line = err.position().map_or(1, csv::Position::line);
            wrong(line, err.to_string())
        })?;
        let line = row.position().map_or(1, csv::Position::line);
        let made = step(&heads, &row, reading).map_err(|what| wrong(line, what))?;
        steps.extend(made);
        if steps.len() > STEPS_MAX {
            return Err(wrong(line, format!("too many steps; allowed: {STEPS_MAX}")));
        }
    }
    if steps.is_empty() {
        let what = "nothing to play; allowed: rows below the names of the columns";
        return Err(wrong(1, what.to_owned()));
    }
    Timeline::of(String::new(), steps, None).map_err(|what| wrong(1, what))
}

fn check_heads(heads: &csv::StringRecord) -> Result<(), String> {
    let known = || ["at", "direction", "preset"].into_iter().chain(Words::KEYS);
    for (index, head) in heads.iter().enumerate() {
        if !known().any(|name| name == head) {
            let allowed = crate::toml_document::suggest::one_of(head, known());
            return Err(format!("unknown column {head:?}; allowed: {allowed}"));
        }
        if heads.iter().take(index).any(|other| other == head) {
            return Err(format!("the column {head:?} is there twice"));
        }
    }
    if !heads.iter().any(|head| head == "at") {
        return Err("there is no column \"at\"; allowed: at, and what changes then".to_owned());
    }
    Ok(())
}

fn step(
    heads: &csv::StringRecord,
    row: &csv::StringRecord,
    reading: &Reading,
) -> Result<Vec<Step>, String> {
    let (mut at, mut direction, mut preset) = (None, None, None);
    let mut words = Words::default();
    for (head, cell) in heads.iter().zip(row).filter(|(_, cell)| !cell.is_empty()) {
        match head {
            "at" => at = Some(cell),
            "direction" => direction = Some(cell),
            "preset" => preset = Some(cell),
            word => {
                if let Some(field) = words.field(word) {
                    *field = Some(cell.to_owned());
                }
            }
        }
    }
    let at = at.ok_or("at: missing; allowed: a time such as 1.5s")?;
    let at_ns = quantity::duration_ns(at).and_then(bounded);
    let at_ns = at_ns.map_err(|what| format!("at: {what}"))?;
    let sides = sides(direction, reading).map_err(|what| format!("direction: {what}"))?;
    let step = |direction| {
        let impairment = meaning(preset, &words, direction);
        let named = |(key, what): (String, String)| {
            format!("{}: {what}", key.strip_prefix("set.").unwrap_or(&key))
        };
        Ok(Step {
            at_ns,
            direction,
            impairment: impairment.map_err(named)?,
        })
    };
    sides.into_iter().map(step).collect()
}
