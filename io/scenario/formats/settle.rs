//! Fixes that are not believed, reported or left out at the end of a document.

use std::collections::BTreeMap;

use super::clock::DAY_S;
use super::dataset::{Dataset, Event};
use super::error::Location;
use super::limits::TICKS_MAX;
use super::plausible::{Doubt, Doubts};

/// Lines in a note.
const LINES_MAX: usize = 5;

impl Dataset {
    /// Reports fixes that are not believed, and leaves them out if `is_dropped`.
    pub(super) fn settle_suspects(&mut self, is_dropped: bool) {
        let span_s = TICKS_MAX as f64 * self.step_s.unwrap_or(1.0);
        let Doubts { fixes, jumps } = std::mem::take(&mut self.suspects).doubts(span_s);
        let fate = match is_dropped {
            true => "left out",
            false => "taken (--drop implausible leaves it out)",
        };
        let span = match (span_s / DAY_S).round() {
            days if days >= 2.0 => format!("{days} days"),
            _ => format!("{span_s} s"),
        };
        let apart = format!("a fix with a time more than {span} from the median of the times");
        for (doubt, what) in [
            (Doubt::Origin, "a fix at 0 N 0 E"),
            (Doubt::Far, "a fix that the node cannot have reached (above 1000 m/s)"),
            (Doubt::Early, "a fix with a time before that of the fix before"),
            (Doubt::Late, "a fix with a time after that of the fix behind it"),
            (Doubt::Apart, &apart),
        ] {
            let own = fixes.values().filter(|(own, _)| *own == doubt);
            let mut lines: Vec<usize> = own.map(|(_, line)| *line).collect();
            lines.sort_unstable();
            let Some(first) = lines.first().copied() else { continue };
            let listed = match lines.len() {
                2..=LINES_MAX if first > 0 => {
                    let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
                    format!(" (lines {})", lines.join(", "))
                }
                _ => String::new(),
            };
            let what = format!("{what}: {fate}{listed}");
            self.report.add_many(&what, lines.len(), || Location::line(first));
        }
        for line in jumps {
            let what = "a jump that the node cannot have made (above 1000 m/s): taken";
            self.report.add(what, || Location::line(line));
        }
        if is_dropped && !fixes.is_empty() {
            self.leave_out(&fixes);
        }
    }

    /// Leaves out fixes with their heights, and with what was measured at a time that is not believed. A recording that
    /// began with one of them begins with the first event that is left.
    fn leave_out(&mut self, fixes: &BTreeMap<(u32, usize), (Doubt, usize)>) {
        let first_s = |events: &[(f64, Event)]| {
            events.iter().map(|event| event.0).fold(f64::INFINITY, f64::min)
        };
        let begins_with_first = self.begin_unix_s == Some(first_s(&self.events));
        let mut numbers: BTreeMap<u32, usize> = BTreeMap::new();
        // Of each node the time of the last fix, if that is left out, and the reason.
        let mut last: BTreeMap<u32, (f64, Doubt)> = BTreeMap::new();
        self.events.retain(|(at_s, event)| {
            let is_of = |node: &u32| last.get(node).filter(|(left_s, _)| left_s == at_s);
            match event {
                Event::Fix(node, _) => {
                    let number = numbers.entry(*node).or_default();
                    let doubt = fixes.get(&(*node, *number));
                    *number += 1;
                    match doubt {
                        Some((doubt, _)) => drop(last.insert(*node, (*at_s, *doubt))),
                        None => drop(last.remove(node)),
                    }
                    doubt.is_none()
                }
                Event::Height(node, _) => is_of(node).is_none(),
                Event::Observe(from, to, _) => [from, to]
                    .into_iter()
                    .filter_map(is_of)
                    .all(|(_, doubt)| matches!(doubt, Doubt::Origin | Doubt::Far)),
                _ => true,
            }
        });
        if begins_with_first {
            self.begin_with_first();
        }
    }
}
