//! Timelines as tables: `at`, `direction`, `preset`, and a column for each field of a spec.

use super::impairment_spec::ImpairmentSpec;
use super::quantity;
use super::timeline::{
    STEPS_MAX, Step, Timeline, TimelineError, TimelineOptions, bounded, directions_of, resolve,
};

/// Reads a CSV timeline. Lines that begin with `#` are comments; an empty cell is absent.
pub(super) fn read(
    text: &str,
    name: &str,
    options: &TimelineOptions,
) -> Result<Timeline, TimelineError> {
    let invalid =
        |line: u64, what: String| TimelineError::Row { file: name.to_owned(), line, what };
    let mut table = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let columns = table.headers().map_err(|err| invalid(1, err.to_string()))?.clone();
    check_columns(&columns).map_err(|what| invalid(1, what))?;
    let mut steps = Vec::new();
    for row in table.records() {
        let row = row.map_err(|err| {
            let line = err.position().map_or(1, csv::Position::line);
            invalid(line, err.to_string())
        })?;
        let line = row.position().map_or(1, csv::Position::line);
        let of_row = step(&columns, &row, options).map_err(|what| invalid(line, what))?;
        steps.extend(of_row);
        if steps.len() > STEPS_MAX {
            return Err(invalid(line, format!("found more steps, allowed {STEPS_MAX}")));
        }
    }
    if steps.is_empty() {
        let what = "found no step, allowed rows below the header";
        return Err(invalid(1, what.to_owned()));
    }
    Timeline::of(String::new(), steps, None).map_err(|what| invalid(1, what))
}

fn check_columns(columns: &csv::StringRecord) -> Result<(), String> {
    if !columns.iter().any(|column| column == "at") {
        let header = columns.iter().collect::<Vec<_>>().join(",");
        let header: String = header.chars().take(40).collect();
        return Err(format!(
            "missing column: found no \"at\" in {header:?}, allowed at and the fields that change then; \
             or rates in two columns: seconds and Mbit/s"
        ));
    }
    let allowed = || ["at", "direction", "preset"].into_iter().chain(ImpairmentSpec::KEYS);
    for (index, column) in columns.iter().enumerate() {
        if !allowed().any(|name| name == column) {
            let names = groundwave_toml_document::suggest::one_of(column, allowed());
            return Err(format!("unknown column: found {column:?}, allowed {names}"));
        }
        if columns.iter().take(index).any(|other| other == column) {
            return Err(format!("duplicate column: found {column:?} again, allowed once"));
        }
    }
    Ok(())
}

fn step(
    columns: &csv::StringRecord,
    row: &csv::StringRecord,
    options: &TimelineOptions,
) -> Result<Vec<Step>, String> {
    let (mut at, mut direction, mut preset) = (None, None, None);
    let mut spec = ImpairmentSpec::default();
    for (column, cell) in columns.iter().zip(row).filter(|(_, cell)| !cell.is_empty()) {
        match column {
            "at" => at = Some(cell),
            "direction" => direction = Some(cell),
            "preset" => preset = Some(cell),
            key => {
                if let Some(field) = spec.field(key) {
                    *field = Some(cell.to_owned());
                }
            }
        }
    }
    let at = at.ok_or("invalid at: found nothing, allowed a time such as 1.5s")?;
    let at_ns = quantity::duration_ns(at)
        .and_then(bounded)
        .map_err(|what| format!("invalid at: {what}"))?;
    let directions =
        directions_of(direction, options).map_err(|what| format!("invalid direction: {what}"))?;
    let step = |direction| {
        let impairment = resolve(preset, &spec, direction);
        let message = |(key, what): (String, String)| {
            format!("invalid {}: {what}", key.strip_prefix("set.").unwrap_or(&key))
        };
        Ok(Step { at_ns, direction, impairment: impairment.map_err(message)? })
    };
    directions.into_iter().map(step).collect()
}
