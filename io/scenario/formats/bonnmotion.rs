//! Native motion of BonnMotion: a line of `time x y` (or `time x y z`) for each node, s and m; or a row of `node time x y`
//! for each position, as Cooja has them.

use std::cmp::Ordering;

use super::dataset::{Dataset, Event};
use super::error::{Fault, FormatError, Location};
use super::plane::Plane;
use super::text::text;
use super::{Content, Format, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "bonnmotion",
    label: "BonnMotion",
    description: "BonnMotion (.movements), Cooja: nodes that move on a plane (--origin)",
    extensions: &["movements"],
    contents: &[Content::Tracks],
    sniff: |sample| {
        sample.lines().next().is_some_and(is_waypoints)
            || are_rows(sample.lines().take(ROWS_SNIFFED))
    },
    read: Some(read),
    ..Format::NONE
};

/// Numbers of a waypoint: time, x and y; with z.
const SIZES: [usize; 2] = [3, 4];

/// Numbers of a line.
fn numbers(line: &str) -> Option<Vec<f64>> {
    let numbers: Option<Vec<f64>> =
        line.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
    numbers.filter(|numbers| numbers.iter().all(|number| number.is_finite()))
}

/// Times of the waypoints of a line, `size` numbers each, if they begin with 0 and rise.
fn times(numbers: &[f64], size: usize) -> Option<Vec<f64>> {
    let times: Vec<f64> = numbers.iter().step_by(size).copied().collect();
    let is_whole = !numbers.is_empty() && numbers.len().is_multiple_of(size);
    let rises = times.first() == Some(&0.0) && times.windows(2).all(|pair| pair[0] <= pair[1]);
    (is_whole && rises).then_some(times)
}

/// True for a line of waypoints of either size.
fn is_waypoints(line: &str) -> bool {
    let is_of = |numbers: &Vec<f64>| SIZES.iter().any(|size| times(numbers, *size).is_some());
    numbers(line).is_some_and(|numbers| is_of(&numbers))
}

/// Rows looked at to recognise a document.
const ROWS_SNIFFED: usize = 1_000;

/// A row of `node time x y`, as Cooja and the CSVFile of BonnMotion have them.
fn row(line: &str) -> Option<(u32, [f64; 3])> {
    let numbers = numbers(line)?;
    let &[node, at_s, x_m, y_m] = &numbers[..] else { return None };
    let is_number = node >= 0.0 && node.fract() == 0.0 && node < f64::from(u32::MAX) && at_s >= 0.0;
    is_number.then_some((node as u32, [at_s, x_m, y_m]))
}

/// True if most lines are rows of which some are of another node than 0: lines of waypoints begin with second 0.
fn are_rows<'l>(lines: impl Iterator<Item = &'l str>) -> bool {
    let (mut all, mut rows, mut others) = (0_usize, 0_usize, 0_usize);
    for line in lines {
        let row = row(line);
        all += 1;
        rows += usize::from(row.is_some());
        others += usize::from(row.is_some_and(|(node, _)| node > 0));
    }
    rows > 1 && others > 0 && rows * 2 > all
}

/// Lines of nodes, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// Numbers of each waypoint of a document: three, or four with a height. The size is that of which more lines
/// are; then that with which the times of more lines rise without two equal ones.
fn size(text: &str) -> Result<usize, FormatError> {
    // Lines of waypoints, and those of them with times that differ, by size.
    let mut counts = SIZES.map(|_| (0_usize, 0_usize));
    let mut first = None;
    for (line, raw) in lines(text) {
        let Some(numbers) = numbers(raw) else { continue };
        first = first.or(Some(line));
        for (count, size) in counts.iter_mut().zip(SIZES) {
            let Some(times) = times(&numbers, size) else { continue };
            count.0 += 1;
            count.1 += usize::from(times.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
    match counts[0].cmp(&counts[1]) {
        Ordering::Greater => Ok(SIZES[0]),
        Ordering::Less => Ok(SIZES[1]),
        Ordering::Equal if counts[0].0 == 0 => Ok(SIZES[0]),
        Ordering::Equal => {
            let actual = "lines that are waypoints of time, x, y and of time, x, y, z alike";
            let allowed =
                "waypoints of one kind; one more of them, a stay at the end of a line, shows which";
            Err(Fault::new("", actual, allowed).at(&FORMAT, Location::line(first.unwrap_or(0))))
        }
    }
}

fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let text = text(&FORMAT, source.bytes())?;
    let mut dataset = Dataset::default();
    let plane = Plane::of(options, &mut dataset);
    if are_rows(lines(text).map(|(_, line)| line)) {
        for (line, raw) in lines(text) {
            let Some((number, [at_s, x_m, y_m])) = row(raw) else {
                dataset.drop("a line that is not of node, time, x and y", line);
                continue;
            };
            let Some(node) = dataset.node(&format!("node-{number}"), line) else { continue };
            match plane.position(x_m, y_m) {
                Some(position) => dataset.event(at_s, Event::Fix(node, position), line),
                None => dataset.drop("a position beyond the Earth", line),
            }
        }
        return Ok(dataset);
    }
    let size = size(text)?;
    let mut heights = Vec::new();
    // A line is a node, readable or not: numbers stay those of the document.
    for (number, (line, raw)) in lines(text).enumerate() {
        let numbers = numbers(raw).filter(|numbers| times(numbers, size).is_some());
        let Some(numbers) = numbers else {
            dataset.drop("a line that is not of time, x and y with rising times from 0", line);
            continue;
        };
        let Some(node) = dataset.node(&format!("node-{number}"), line) else { continue };
        for waypoint in numbers.chunks_exact(size) {
            match plane.position(waypoint[1], waypoint[2]) {
                Some(position) => dataset.event(waypoint[0], Event::Fix(node, position), line),
                None => dataset.drop("a position beyond the Earth", line),
            }
            heights.extend(waypoint.get(3).map(|z_m| (waypoint[0], node, *z_m, line)));
        }
    }
    dataset.heights_above_plane(heights);
    Ok(dataset)
}
