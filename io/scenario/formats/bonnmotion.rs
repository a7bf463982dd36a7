//! Native motion of BonnMotion: a line of `time x y` (or `time x y z`) for each node, s and m; or a row for each position:
//! `node time x y` as Cooja has them, `time node x y` of ONE, `node 10S (x, y, z)` of GloMoSim and QualNet.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::dataset::{Dataset, Event};
use super::error::{Fault, FormatError, Location};
use super::plane::Plane;
use super::text::text;
use super::{Content, Format, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "bonnmotion",
    label: "BonnMotion",
    description: "BonnMotion (.movements), Cooja, ONE: nodes that move on a plane (--origin)",
    extensions: &["movements", "one", "mobility"],
    contents: &[Content::Tracks],
    sniff: |sample| {
        sample.lines().next().is_some_and(is_waypoints)
            || order(sample.lines().take(ROWS_SNIFFED)).is_some()
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

/// Order of the first two numbers of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    NodeFirst,
    TimeFirst,
}

/// Units of times of GloMoSim, s.
const UNITS_S: [(&str, f64); 6] =
    [("NS", 1e-9), ("US", 1e-6), ("MS", 1e-3), ("S", 1.0), ("M", 60.0), ("H", 3_600.0)];

/// A row of GloMoSim, `0 10S (1.0, 2.0, 3.0)`, as numbers with a point of their own; others as they are.
fn plain(line: &str) -> Cow<'_, str> {
    let Some((head, place)) = line.split_once('(') else { return Cow::Borrowed(line) };
    let mut words: Vec<String> = head.split_ascii_whitespace().map(str::to_owned).collect();
    if let Some(time) = words.get_mut(1) {
        let seconds = UNITS_S.iter().find_map(|(unit, unit_s)| {
            Some(time.strip_suffix(*unit)?.parse::<f64>().ok()? * unit_s)
        });
        // Times have a point, numbers of nodes none.
        *time = seconds.map_or_else(|| time.clone(), |seconds| format!("{seconds:?}"));
    }
    let place = place.trim_end().trim_end_matches(')').replace(',', " ");
    Cow::Owned(format!("{} {place}", words.join(" ")))
}

/// Number of the node, time, x and y of a row, and its z where it has one.
fn row(line: &str, order: Order) -> Option<(u32, [f64; 3], Option<f64>)> {
    let numbers = numbers(&plain(line))?;
    let (one, two, x_m, y_m, z_m) = match numbers[..] {
        [one, two, x_m, y_m] => (one, two, x_m, y_m, None),
        [one, two, x_m, y_m, z_m] => (one, two, x_m, y_m, Some(z_m)),
        _ => return None,
    };
    let (node, at_s) = match order {
        Order::NodeFirst => (one, two),
        Order::TimeFirst => (two, one),
    };
    let is_number = node >= 0.0 && node.fract() == 0.0 && node < f64::from(u32::MAX) && at_s >= 0.0;
    is_number.then_some((node as u32, [at_s, x_m, y_m], z_m))
}

/// True if most lines are rows of which some are of another node than 0, or of another time with the time first: lines
/// of waypoints begin with second 0. Rows with the time first are in the order of their times.
fn are_rows<'l>(lines: impl Iterator<Item = &'l str>, order: Order) -> bool {
    let (mut all, mut rows, mut others) = (0_usize, 0_usize, 0_usize);
    let mut last_s = f64::NEG_INFINITY;
    for line in lines {
        all += 1;
        let Some((node, [at_s, ..], _)) = row(line, order) else { continue };
        rows += 1;
        let is_earlier = order == Order::TimeFirst && at_s < last_s;
        if is_earlier {
            return false;
        }
        last_s = at_s;
        others += usize::from(match order {
            Order::NodeFirst => node > 0,
            Order::TimeFirst => at_s > 0.0,
        });
    }
    rows > 1 && others > 0 && rows * 2 > all
}

/// The order of rows; `None` for other lines.
fn order<'l>(lines: impl Iterator<Item = &'l str> + Clone) -> Option<Order> {
    let is_of = |order| are_rows(lines.clone(), order);
    match (is_of(Order::NodeFirst), is_of(Order::TimeFirst)) {
        (true, true) if has_ranges(lines.clone().next()) || is_second_the_node(lines.clone()) => {
            Some(Order::TimeFirst)
        }
        (true, _) => Some(Order::NodeFirst),
        (false, true) => Some(Order::TimeFirst),
        (false, false) => None,
    }
}

/// True for the first line of ONE: minimum and maximum of time, x and y, and perhaps z.
fn has_ranges(line: Option<&str>) -> bool {
    let numbers = line.and_then(numbers).filter(|numbers| [6, 8].contains(&numbers.len()));
    numbers.is_some_and(|numbers| numbers.chunks_exact(2).all(|pair| pair[0] <= pair[1]))
}

/// True for rows whose second number is that of the node: only the first one has a point, or without points only the
/// second ones have no gaps.
fn is_second_the_node<'l>(lines: impl Iterator<Item = &'l str>) -> bool {
    let mut has_point = [false; 2];
    let mut numbers = [BTreeSet::new(), BTreeSet::new()];
    for line in lines.filter(|line| row(line, Order::NodeFirst).is_some()) {
        let line = plain(line);
        for (index, word) in line.split_ascii_whitespace().take(2).enumerate() {
            has_point[index] |= word.contains('.');
            numbers[index].extend(word.parse::<u64>());
        }
    }
    let has_gaps = |numbers: &BTreeSet<u64>| {
        let ends = numbers.first().zip(numbers.last());
        ends.is_none_or(|(first, last)| last - first >= numbers.len() as u64)
    };
    match has_point {
        [true, false] => true,
        [false, false] => has_gaps(&numbers[0]) && !has_gaps(&numbers[1]),
        _ => false,
    }
}

/// Lines of nodes, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> + Clone {
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
    let mut heights = Vec::new();
    if let Some(order) = order(lines(text).map(|(_, line)| line)) {
        for (index, (line, raw)) in lines(text).enumerate() {
            let Some((number, [at_s, x_m, y_m], z_m)) = row(raw, order) else {
                if index > 0 || !has_ranges(Some(raw)) {
                    dataset.drop("a line that is not of node, time, x and y", line);
                }
                continue;
            };
            let Some(node) = dataset.node(&format!("node-{number}"), line) else { continue };
            match plane.position(x_m, y_m) {
                Some(position) => dataset.event(at_s, Event::Fix(node, position), line),
                None => dataset.drop("a position beyond the Earth", line),
            }
            heights.extend(z_m.map(|z_m| (at_s, node, z_m, line)));
        }
        dataset.heights_above_plane(heights);
        return Ok(dataset);
    }
    let size = size(text)?;
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
