//! Orders of `setdest` by their dialect, and the time at which a trace ends.
//!
//! A speed of 0 means a stop in ns-2 and a jump to the destination in CORE. The lines of CMU's
//! `setdest` stop a node at the destination it has reached, which is the same in both.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ns2::{Move, Trace};

/// Distance between the position of a node and the destination of a stop, m, up to which stop and
/// jump are the same: the lines are written with few decimals.
const SAME_PLACE_M: f64 = 0.5;

/// Meaning of a `setdest` with a speed of 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// The node stops where it is.
    Ns2,
    /// The node jumps to the destination.
    Core,
}

impl Dialect {
    /// The dialect of this name: `ns2` or `core`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "ns2" => Some(Self::Ns2),
            "core" => Some(Self::Core),
            _ => None,
        }
    }
}

/// Meaning of an order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Action {
    /// Head for the destination at the speed of the order.
    Head,
    /// Stop.
    Stop,
    /// Be at the destination.
    Jump,
}

/// The orders of a trace by time, those of one time in file order.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Orders {
    /// Orders and their meanings.
    pub(crate) orders: Vec<(Move, Action)>,
    /// Offsets of orders with a speed of 0 and another destination, read as stops without a dialect
    /// being set.
    pub(crate) doubtful: Vec<usize>,
    /// End of the last motion, or the stop of the simulation, s.
    pub(crate) end_s: f64,
}

/// The course of a node in the plane of the trace.
#[derive(Debug, Clone, Copy, Default)]
struct Course {
    from_m: [f64; 2],
    to_m: [f64; 2],
    since_s: f64,
    speed_m_s: f64,
}

impl Course {
    fn length_m(&self) -> f64 {
        (self.to_m[0] - self.from_m[0]).hypot(self.to_m[1] - self.from_m[1])
    }

    /// Time of arrival, s.
    fn arrival_s(&self) -> f64 {
        match self.speed_m_s > 0.0 {
            true => self.since_s + self.length_m() / self.speed_m_s,
            false => self.since_s,
        }
    }

    fn at_m(&self, at_s: f64) -> [f64; 2] {
        let (length_m, walked_m) = (self.length_m(), (at_s - self.since_s) * self.speed_m_s);
        if walked_m >= length_m {
            return match self.speed_m_s > 0.0 {
                true => self.to_m,
                false => self.from_m,
            };
        }
        let share = walked_m.max(0.0) / length_m;
        [0, 1].map(|axis| self.from_m[axis] + share * (self.to_m[axis] - self.from_m[axis]))
    }
}

/// The orders of `trace` in a dialect. Without one, a node that no order gives a speed jumps, as
/// it would never move in ns-2; other orders without a speed are stops.
pub(crate) fn orders(trace: &Trace, dialect: Option<Dialect>) -> Orders {
    let mut moving: BTreeMap<u32, bool> = BTreeMap::new();
    for order in &trace.moves {
        *moving.entry(order.node).or_default() |= order.speed_m_s > 0.0;
    }
    let mut sorted = trace.moves.clone();
    sorted.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    let mut courses: BTreeMap<u32, Course> = BTreeMap::new();
    let mut out = Orders::default();
    for mut order in sorted {
        let course = courses.entry(order.node).or_insert_with(|| {
            let start = trace.start.get(&order.node).copied().unwrap_or_default();
            let from_m = [start.x_m.unwrap_or(0.0), start.y_m.unwrap_or(0.0)];
            Course { from_m, to_m: from_m, ..Course::default() }
        });
        let here_m = course.at_m(order.at_s);
        match order.axis {
            Some(0) => order.y_m = here_m[1],
            Some(_) => order.x_m = here_m[0],
            None => {}
        }
        let destination_m = [order.x_m, order.y_m];
        let apart_m = (here_m[0] - order.x_m).hypot(here_m[1] - order.y_m);
        let action = match (order.speed_m_s == 0.0, dialect) {
            _ if order.axis.is_some() => Action::Jump,
            (false, _) => Action::Head,
            (true, Some(Dialect::Core)) => Action::Jump,
            (true, Some(Dialect::Ns2)) => Action::Stop,
            (true, None) if !moving[&order.node] => Action::Jump,
            (true, None) => {
                if apart_m > SAME_PLACE_M {
                    out.doubtful.push(order.offset);
                }
                Action::Stop
            }
        };
        let (from_m, to_m) = match action {
            Action::Head => (here_m, destination_m),
            Action::Stop => (here_m, here_m),
            Action::Jump => (destination_m, destination_m),
        };
        *course = Course { from_m, to_m, since_s: order.at_s, speed_m_s: order.speed_m_s };
        out.orders.push((order, action));
    }
    let placed = courses.iter().filter(|(node, _)| trace.start.contains_key(node));
    let arrivals = placed.map(|(_, course)| course.arrival_s());
    out.end_s = trace.stop_s.unwrap_or_else(|| arrivals.fold(0.0, f64::max));
    out
}

#[cfg(test)]
mod tests {
    use super::super::ns2;
    use super::*;

    fn read(lines: &str, dialect: Option<Dialect>) -> Orders {
        let text = format!("$node_(0) set X_ 0\n$node_(0) set Y_ 0\n{lines}");
        let trace = ns2::read(&text, |bad| panic!("{}: {text}", bad.what));
        orders(&trace, dialect)
    }

    fn actions(orders: &Orders) -> Vec<Action> {
        orders.orders.iter().map(|(_, action)| *action).collect()
    }

    #[test]
    fn a_speed_of_zero_is_a_jump_in_the_traces_of_core() {
        let core =
            "$ns_ at 1 \"$node_(0) setdest 50 0 0\"\n$ns_ at 2 \"$node_(0) setdest 90 0 0\"\n";
        let trace = read(core, None);
        assert_eq!(actions(&trace), [Action::Jump, Action::Jump]);
        assert_eq!((trace.doubtful.len(), trace.end_s), (0, 2.0));
        let trace = read(core, Some(Dialect::Ns2));
        assert_eq!(actions(&trace), [Action::Stop, Action::Stop]);
        // CMU's setdest stops at the destination; elsewhere it is undetermined.
        for (stop_at_m, doubtful) in [(10.0, 0), (70.0, 1)] {
            let mixed = format!(
                "$ns_ at 0 \"$node_(0) setdest 10 0 5\"\n\
                 $ns_ at 9 \"$node_(0) setdest {stop_at_m} 0 0\"\n"
            );
            let trace = read(&mixed, None);
            assert_eq!(actions(&trace), [Action::Head, Action::Stop]);
            assert_eq!(trace.doubtful.len(), doubtful, "{stop_at_m}");
            let trace = read(&mixed, Some(Dialect::Core));
            assert_eq!(actions(&trace), [Action::Head, Action::Jump]);
        }
    }

    #[test]
    fn trace_ends_with_its_motion_or_at_its_stop() {
        let walk = "$ns_ at 10 \"$node_(0) setdest 100 0 2\"\n";
        assert_eq!(read(walk, None).end_s, 60.0);
        let redirected = "$ns_ at 20 \"$node_(0) setdest 20 60 2\"\n";
        assert_eq!(read(&format!("{walk}{redirected}"), None).end_s, 50.0);
        for stop in [
            "$ns at 80 stop",
            "$ns_ at 80.0 \"finish\"",
            "$ns_ at 80 \"puts \\\"done\\\" ; $ns_ halt\"",
        ] {
            assert_eq!(read(&format!("{walk}{stop}\n"), None).end_s, 80.0, "{stop}");
        }
    }
}
