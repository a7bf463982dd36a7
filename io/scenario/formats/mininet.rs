//! Positions that Mininet-WiFi replays: a file for each station, lines of `x y` or `time x y`.

use super::dataset::{Dataset, Event, Node};
use super::error::FormatError;
use super::plan::name_of;
use super::plane::Plane;
use super::text::text;
use super::{Content, Format, Location, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "mininet-wifi",
    label: "Mininet-WiFi",
    description: "Mininet-WiFi replaying mobility: a node for each file, on a plane (--origin)",
    extensions: &["dat"],
    contents: &[Content::Tracks],
    sniff: |sample| {
        let lines: Vec<_> = sample.lines().take(50).map(numbers).collect();
        // The end of the sample may cut a line.
        let lines = &lines[..lines.len().min(40)];
        let is_size =
            |size| lines.iter().all(|line| line.as_ref().is_some_and(|all| all.len() == size));
        let times = lines.iter().flatten().filter_map(|line| line.first());
        let rises =
            || times.clone().zip(times.clone().skip(1)).all(|(before, after)| before < after);
        lines.len() > 1 && (is_size(2) || is_size(3) && rises())
    },
    read: Some(read),
    ..Format::NONE
};

fn numbers(line: &str) -> Option<Vec<f64>> {
    let numbers = line.split_ascii_whitespace().map(|word| word.parse::<f64>().ok());
    let numbers: Option<Vec<f64>> = numbers.collect();
    numbers.filter(|numbers| numbers.iter().all(|number| number.is_finite()))
}

/// Positions without a time are `options.step_s` apart: scripts of Mininet-WiFi set the speed of each station.
fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let text = text(&FORMAT, source.bytes())?;
    let mut dataset = Dataset::default();
    let plane = Plane::of(options, &mut dataset);
    let name = name_of(&source.stem()).unwrap_or_else(|| "station".to_owned());
    let Some(node) = dataset.push(Node::named(&name)) else { return Ok(dataset) };
    let mut count = 0;
    for (index, raw) in text.lines().enumerate() {
        let line = index + 1;
        let raw = raw.trim();
        if raw.is_empty() || raw.starts_with('#') {
            continue;
        }
        let (at_s, x_m, y_m) = match numbers(raw).as_deref() {
            Some([x_m, y_m]) => {
                if count == 0 {
                    let what =
                        format!("positions without a time: {} s apart (--step)", options.step_s);
                    dataset.report.add(&what, Location::default);
                }
                (f64::from(count) * options.step_s, *x_m, *y_m)
            }
            Some([at_s, x_m, y_m]) => (*at_s, *x_m, *y_m),
            _ => {
                dataset.drop("a line that is not of x and y, or time, x and y", line);
                continue;
            }
        };
        count += 1;
        match plane.position(x_m, y_m) {
            Some(position) => dataset.event(at_s, Event::Fix(node, position), line),
            None => dataset.drop("a position beyond the Earth", line),
        }
    }
    Ok(dataset)
}
