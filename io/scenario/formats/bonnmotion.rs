//! Native motion of BonnMotion: a line of `time x y` (or `time x y z`) for each node, s and m.

use super::dataset::{Dataset, Event};
use super::error::FormatError;
use super::plane::Plane;
use super::text::text;
use super::{Content, Format, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "bonnmotion",
    label: "BonnMotion",
    description: "BonnMotion (.movements): nodes that move; --origin says where",
    extensions: &["movements"],
    contents: &[Content::Tracks],
    sniff: |sample| sample.lines().next().is_some_and(|line| waypoints(line).is_some()),
    read: Some(read),
    ..Format::NONE
};

/// Numbers of the waypoints of a line, and how many there are for each: three, or four with a height.
/// Times begin with 0 and rise.
fn waypoints(line: &str) -> Option<(Vec<f64>, usize)> {
    let numbers: Option<Vec<f64>> =
        line.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
    let numbers = numbers.filter(|numbers| numbers.iter().all(|number| number.is_finite()))?;
    let rises = |size: usize| {
        let times: Vec<f64> = numbers.iter().step_by(size).copied().collect();
        numbers.len().is_multiple_of(size)
            && times.first() == Some(&0.0)
            && times.windows(2).all(|pair| pair[0] <= pair[1])
    };
    let size = [3, 4].into_iter().find(|size| numbers.len() >= *size && rises(*size))?;
    Some((numbers, size))
}

fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let text = text(&FORMAT, source.bytes())?;
    let mut dataset = Dataset::default();
    let plane = Plane::of(options, &mut dataset);
    let mut count = 0;
    for (index, raw) in text.lines().enumerate() {
        let line = index + 1;
        let raw = raw.trim();
        if raw.is_empty() || raw.starts_with('#') {
            continue;
        }
        // A line is a node, readable or not: numbers stay those of the document.
        count += 1;
        let Some((numbers, size)) = waypoints(raw) else {
            dataset.drop("a line that is not of time, x and y with rising times from 0", line);
            continue;
        };
        let Some(node) = dataset.node(&format!("node-{}", count - 1), line) else { continue };
        for waypoint in numbers.chunks_exact(size) {
            match plane.position(waypoint[1], waypoint[2]) {
                Some(position) => dataset.event(waypoint[0], Event::Fix(node, position), line),
                None => dataset.drop("a position beyond the Earth", line),
            }
            if size == 4 && waypoint[3] != 0.0 {
                dataset.height(waypoint[0], node, waypoint[3], line);
            }
        }
    }
    Ok(dataset)
}
