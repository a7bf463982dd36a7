//! Motion in the Tcl lines of ns-2, as `setdest` and `BonnMotion` write them.
//!
//! The statements are those of ns-2 and of ns-3's `Ns2MobilityHelper`: `$node_(0) set X_ 100` (and
//! `Y_`; `Z_` is a height), the same at a time, `$ns_ at 1.0 "$node_(0) set X_ 100"`, which is
//! a jump, `$ns_ at 1.0 "$node_(0) setdest 200 300 5"` (x m, y m, speed m/s) and `$ns_ at 60.0 stop`. A
//! `#` begins a comment. `$god_` lines, hop counts of setdest for ns-2, are passed over.

use std::collections::BTreeMap;
use std::ops::Range;

use super::limits::NS2_LINE_BYTES_MAX;

/// Largest coordinate, m: a quarter of a meridian.
const COORDINATE_M_MAX: f64 = 1e7;

/// Largest node number: numbers become parts of names.
const NODE_MAX: u32 = 999_999;

/// Content of a trace.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Trace {
    /// Initial position of each node: metres east and north of the origin, and the byte that gave
    /// it.
    pub(crate) start: BTreeMap<u32, Start>,
    /// Moves, in file order.
    pub(crate) moves: Vec<Move>,
    /// Heights, in file order; those without a time at 0 s.
    pub(crate) heights: Vec<Height>,
    /// End of the simulation, s, where a line states it.
    pub(crate) stop_s: Option<f64>,
}

/// Start of a node, as far as given.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(crate) struct Start {
    pub(crate) x_m: Option<f64>,
    pub(crate) y_m: Option<f64>,
    /// Offset of the first line about the node.
    pub(crate) offset: usize,
}

/// Height of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Height {
    pub(crate) at_s: f64,
    pub(crate) node: u32,
    pub(crate) z_m: f64,
    /// Offset of the line.
    pub(crate) offset: usize,
}

/// Command to move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Move {
    pub(crate) at_s: f64,
    pub(crate) node: u32,
    pub(crate) x_m: f64,
    pub(crate) y_m: f64,
    /// Zero means a stop or a jump; see [`super::setdest`].
    pub(crate) speed_m_s: f64,
    /// The only coordinate of a jump, 0 for x and 1 for y; the other one stays as it is.
    pub(crate) axis: Option<usize>,
    /// Offset of the line.
    pub(crate) offset: usize,
}

/// A line that was not understood.
#[derive(Debug, PartialEq)]
pub(crate) struct BadLine {
    /// Bytes of the text at fault.
    pub(crate) span: Range<usize>,
    pub(crate) what: String,
    pub(crate) allowed: String,
    /// True if a number is written with a decimal comma.
    pub(crate) has_comma: bool,
}

/// True for a line with a decimal comma: a comma between two digits.
fn has_comma(line: &str) -> bool {
    let bytes = line.as_bytes();
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    bytes.windows(3).any(|three| three[1] == b',' && is_digit(&three[0]) && is_digit(&three[2]))
}

/// Reads a trace; bad lines are reported and ignored.
pub(crate) fn read(text: &str, mut bad: impl FnMut(BadLine)) -> Trace {
    let mut trace = Trace::default();
    let mut offset = 0;
    for raw in text.split_inclusive('\n') {
        if let Err((what, allowed)) = read_line(raw, offset, &mut trace) {
            let lead = raw.len() - raw.trim_start().len();
            let start = offset + lead;
            bad(BadLine {
                span: start..start + raw.trim().len(),
                what,
                allowed: allowed.to_owned(),
                has_comma: has_comma(raw),
            });
        }
        offset += raw.len();
    }
    trace
}

type Fault = (String, &'static str);

/// The forms a line can have.
const FORMS: &str = "\"$node_(0) set X_ 100\", \"$ns_ at 1.0 \\\"$node_(0) setdest 200 300 5\\\"\", \"$ns_ at 60.0 stop\", or a comment";

fn read_line(raw: &str, offset: usize, trace: &mut Trace) -> Result<(), Fault> {
    let line = raw.split('#').next().unwrap_or_default().trim();
    if line.is_empty() || line.starts_with("$god_") {
        return Ok(());
    }
    if line.len() > NS2_LINE_BYTES_MAX {
        return Err((format!("a line of {} bytes", line.len()), "lines of at most 1024 bytes"));
    }
    // Quotes only group words here, so they can go; Tcl lets a line end in a semicolon.
    let plain = line.trim_end_matches(';').replace('"', " ");
    let words: Vec<&str> = plain.split_ascii_whitespace().collect();
    match words.as_slice() {
        [node, "set", axis @ ("X_" | "Y_" | "Z_"), value] => {
            let value = coordinate(value)?;
            let number = node_number(node)?;
            let node = trace.start.entry(number).or_default();
            if node.offset == 0 {
                node.offset = offset;
            }
            match *axis {
                "X_" => node.x_m = Some(value),
                "Y_" => node.y_m = Some(value),
                _ => {
                    let height = Height { at_s: 0.0, node: number, z_m: value, offset };
                    trace.heights.push(height);
                }
            }
            Ok(())
        }
        ["$ns_" | "$ns", "at", _, "$god_", ..] => Ok(()),
        ["$ns_" | "$ns", "at", at_s, "stop" | "finish" | "halt"]
        | ["$ns_" | "$ns", "at", at_s, .., "$ns_" | "$ns", "halt"] => {
            trace.stop_s = Some(positive(at_s, "seconds since the start")?);
            Ok(())
        }
        ["$ns_" | "$ns", "at", at_s, node, "set", axis @ ("X_" | "Y_" | "Z_"), value] => {
            let at_s = positive(at_s, "seconds since the start")?;
            let (node, value) = (node_number(node)?, coordinate(value)?);
            let axis = ["X_", "Y_"].iter().position(|name| name == axis);
            let (x_m, y_m) = (value, value);
            match axis {
                None => trace.heights.push(Height { at_s, node, z_m: value, offset }),
                axis => {
                    trace.moves.push(Move { at_s, node, x_m, y_m, speed_m_s: 0.0, axis, offset });
                }
            }
            Ok(())
        }
        ["$ns_" | "$ns", "at", at_s, node, "setdest", x, y, speed] => {
            let order = Move {
                at_s: positive(at_s, "seconds since the start")?,
                node: node_number(node)?,
                x_m: coordinate(x)?,
                y_m: coordinate(y)?,
                speed_m_s: positive(speed, "metres per second")?,
                axis: None,
                offset,
            };
            trace.moves.push(order);
            Ok(())
        }
        _ => Err(("not understood".to_owned(), FORMS)),
    }
}

/// The number in `$node_(7)`.
fn node_number(word: &str) -> Result<u32, Fault> {
    word.strip_prefix("$node_(")
        .and_then(|rest| rest.strip_suffix(')'))
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|digits| digits.parse().ok())
        .filter(|node| *node <= NODE_MAX)
        .ok_or_else(|| (format!("invalid node {word:?}"), "$node_(0) to $node_(999999)"))
}

fn coordinate(word: &str) -> Result<f64, Fault> {
    let metres = number(word, "metres")?;
    if metres.abs() > COORDINATE_M_MAX {
        return Err((format!("{metres} m is out of range"), "[-10000000, 10000000]"));
    }
    Ok(metres)
}

/// A number of at least 0.
fn positive(word: &str, allowed: &'static str) -> Result<f64, Fault> {
    match number(word, allowed)? {
        number if number < 0.0 => Err((format!("{number} is negative"), allowed)),
        number => Ok(number),
    }
}

fn number(word: &str, allowed: &'static str) -> Result<f64, Fault> {
    match word.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err((format!("{word:?} is not a number"), allowed)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> (Trace, Vec<String>) {
        let mut bad = Vec::new();
        let trace = read(text, |line| bad.push(format!("{}: {}", &text[line.span], line.what)));
        (trace, bad)
    }

    #[test]
    fn lines_of_setdest_are_read() {
        let (trace, bad) = check(
            "# nodes: 1\n$node_(2) set X_ 144.0\n$node_(2) set Y_ 240.0\r\n$node_(2) set Z_ 0.00\n\
             $god_ set-dist 0 1 2\n$ns_ at 3.5 \"$god_ set-dist 0 1 2\"\n\
             $ns_ at 1.00 \"$node_(2) setdest 130.0 280.0 15.0\"\n",
        );
        assert_eq!(bad, [""; 0]);
        let start = trace.start[&2];
        assert_eq!((start.x_m, start.y_m), (Some(144.0), Some(240.0)));
        let order = trace.moves[0];
        assert_eq!(
            (order.at_s, order.node, order.x_m, order.y_m, order.speed_m_s),
            (1.0, 2, 130.0, 280.0, 15.0)
        );
    }

    #[test]
    fn bad_lines_give_errors_with_their_place() {
        let (trace, bad) = check(
            "$node_(x) set X_ 1\n  puts hello\n$node_(1) set X_ nan\n$ns_ at 1 \"$node_(1) setdest 1 2\"\n\
             $node_(4294967296) set X_ 1\n$node_(1) set Y_ 1e300",
        );
        assert_eq!(trace.moves, []);
        assert_eq!(bad.len(), 6, "{bad:?}");
        assert_eq!(bad[1], "puts hello: not understood");
    }
}
