//! Changes of course as ns-3 prints them: those of its ASCII mobility trace
//! (`now=+1s node=0 pos=1:2:0 vel=1:0:0`), and those of its examples
//! (`+1.0s, model=0x5580, POS: x=1, y=2, z=0; VEL:1, y=0, z=0`).

use std::collections::BTreeMap;

use super::dataset::{Dataset, Event};
use super::error::FormatError;
use super::plane::Plane;
use super::text::text;
use super::{Content, Format, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "ns3",
    label: "ns-3 course changes",
    description: "ns-3 course changes (ASCII mobility trace): nodes that move on a plane (--origin)",
    extensions: &["mob"],
    contents: &[Content::Tracks],
    sniff: |sample| sample.lines().take(20).any(|line| change(line).is_some()),
    read: Some(read),
    ..Format::NONE
};

/// Distance from the course up to which a node counts as on it, m: positions are printed with six digits.
const ON_COURSE_M: f64 = 1.0;
/// Time between the end of a course and a jump, s.
const JUMP_S: f64 = 1e-6;

/// A change of course: node, time, s, position, m, and velocity, m/s.
struct Change<'l> {
    node: &'l str,
    at_s: f64,
    position_m: [f64; 3],
    velocity_m_s: [f64; 3],
}

fn change(line: &str) -> Option<Change<'_>> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix("now=") {
        let field = |key: &str| rest.split_whitespace().find_map(|word| word.strip_prefix(key));
        return Some(Change {
            node: field("node=")?,
            at_s: time(rest.split_whitespace().next()?)?,
            position_m: triple(field("pos=")?, ':')?,
            velocity_m_s: triple(field("vel=")?, ':')?,
        });
    }
    let (head, rest) = line.split_once("POS:")?;
    let (position, velocity) = rest.split_once("VEL:")?;
    let mut head = head.split([',', ' ']).filter(|word| !word.is_empty());
    Some(Change {
        at_s: time(head.next()?)?,
        node: head.next().and_then(|word| word.strip_prefix("model=")).unwrap_or("0"),
        position_m: triple(position.trim().trim_end_matches(';'), ',')?,
        velocity_m_s: triple(velocity.trim(), ',')?,
    })
}

/// Three numbers, each perhaps after its name: `x=1, y=2, z=0`.
fn triple(text: &str, separator: char) -> Option<[f64; 3]> {
    let number = |part: &str| {
        let part = part.trim();
        let number = part.split_once('=').map_or(part, |(_, number)| number);
        number.parse::<f64>().ok().filter(|number| number.is_finite())
    };
    let numbers: Option<Vec<f64>> = text.split(separator).map(number).collect();
    numbers?.try_into().ok()
}

/// A time with its unit, `+1.5s` or `+2e+09ns`, s.
fn time(text: &str) -> Option<f64> {
    let end = text.rfind(|c: char| c.is_ascii_digit() || c == '.')? + 1;
    let (number, unit) = text.split_at(end);
    let factor = match unit {
        "s" | "" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        "ns" => 1e-9,
        "ps" => 1e-12,
        "fs" => 1e-15,
        "min" => 60.0,
        "h" => 3_600.0,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * factor)
}

/// A node goes straight with its velocity until its next change; one that is elsewhere then has jumped.
fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let text = text(&FORMAT, source.bytes())?;
    let mut dataset = Dataset::default();
    let plane = Plane::of(options, &mut dataset);
    let mut heights = Vec::new();
    let mut last: BTreeMap<u32, (f64, [f64; 3], [f64; 3])> = BTreeMap::new();
    for (index, raw) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line = index + 1;
        let Some(change) = change(raw) else {
            dataset.drop("a line that is not a change of course", line);
            continue;
        };
        let Some(node) = dataset.node(&format!("node-{}", change.node), line) else { continue };
        let Change { at_s, position_m, velocity_m_s, .. } = change;
        let [x_m, y_m, z_m] = position_m;
        let Some(position) = plane.position(x_m, y_m) else {
            dataset.drop("a position beyond the Earth", line);
            continue;
        };
        let course = last.insert(node, (at_s, position_m, velocity_m_s));
        let expected_m = course.map(|(since_s, from_m, velocity_m_s)| {
            [0, 1].map(|axis| from_m[axis] + velocity_m_s[axis] * (at_s - since_s))
        });
        match expected_m {
            Some([east_m, north_m]) if (east_m - x_m).hypot(north_m - y_m) > ON_COURSE_M => {
                if let Some(end) = plane.position(east_m, north_m) {
                    dataset.event(at_s - JUMP_S, Event::Fix(node, end), line);
                }
                dataset.event(at_s, Event::Move(node, position), line);
                // From there it goes straight to its next change.
                dataset.event(at_s, Event::Fix(node, position), line);
            }
            _ => dataset.event(at_s, Event::Fix(node, position), line),
        }
        heights.push((at_s, node, z_m, line));
    }
    dataset.heights_above_plane(heights);
    let moving = last.values().filter(|(_, _, velocity)| velocity.iter().any(|part| *part != 0.0));
    let moving = moving.count();
    if moving > 0 {
        let what = "a node that moves at its last change: it stops there, the trace has no end";
        dataset.report.add_many(what, moving, super::Location::default);
    }
    Ok(dataset)
}
