//! Comparison of a replay with a changed replay.

use groundwave_engine::{REFUSED_MAX, RefusedCommand};
use groundwave_http::Failure;
use groundwave_simulation::flow::FlowId;
use groundwave_simulation::history::{FlowHistory, History};
use groundwave_text::{Align, Table, bits_per_second, percent};
use serde::Serialize;
use std::collections::BTreeSet;

use super::Run;
use crate::cli::output::{self, Output};

/// Two replays compared: recorded, changed.
#[derive(Serialize)]
pub struct Fork {
    changes: Vec<String>,
    reachable_share: [f64; 2],
    carried_mean_bps: [f64; 2],
    outage_s: [f64; 2],
    flows: Vec<FlowPair>,
    /// Links that were up for another time, those of added nodes included.
    links_changed: usize,
    /// Links that were up and that the recorded run did not have.
    links_new: usize,
    /// Commands of the log that the changed world refuses and the recorded one did not.
    refused: Vec<Refused>,
    /// True if there are more of them than the replay keeps.
    refused_incomplete: bool,
}

/// A command of the log that the changed world refuses.
#[derive(Serialize)]
struct Refused {
    at_s: f64,
    command: String,
    reason: String,
}

/// Refused commands that are shown as text.
const REFUSED_SHOWN: usize = 10;

#[derive(Serialize)]
struct FlowPair {
    name: String,
    up_share: [f64; 2],
    carried_mean_bps: [f64; 2],
    route_changes: [u32; 2],
    outages: [usize; 2],
    /// Cause of the first outage in the changed replay.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
}

impl Fork {
    pub fn of(run: &Run, fork: &Run) -> Self {
        let both = |what: &dyn Fn(&History) -> f64| [what(&run.history), what(&fork.history)];
        let reachable = |history: &History| {
            let shares = history.samples.iter().map(|sample| sample.reachable_share);
            total(shares) / history.samples.len().max(1) as f64
        };
        let carried = |history: &History| {
            let rates = history.samples.iter().map(|sample| sample.carried_bps);
            total(rates) / history.samples.len().max(1) as f64
        };
        let (recorded, changed_run) = (&run.history, &fork.history);
        let none = FlowHistory::default();
        // A flow that a change ended is one without a route for the rest of its recorded time.
        let known_s = |id: &FlowId| {
            let both = [recorded, changed_run].map(|history| history.flows.get(id));
            both.into_iter().flatten().map(|flow| flow.known_s).fold(0.0, f64::max)
        };
        let outage = |history: &History| {
            let of_run =
                history.flows.iter().map(|(id, flow)| match recorded.flows.contains_key(id) {
                    true if std::ptr::eq(history, changed_run) => known_s(id) - flow.up_s,
                    _ => flow.known_s - flow.up_s,
                });
            let missing = recorded.flows.iter().filter(|(id, _)| !history.flows.contains_key(id));
            // Times end in different bits: no outage is shorter than none.
            (total(of_run) + total(missing.map(|(_, flow)| flow.known_s))).max(0.0)
        };
        let step_s = run.header.step_ns as f64 * 1e-9;
        let flows = recorded.flows.iter().map(|(id, flow)| {
            let other = changed_run.flows.get(id).unwrap_or(&none);
            let all_s = known_s(id);
            let share = if all_s > 0.0 { other.known_s / all_s } else { 1.0 };
            let is_ended = all_s - other.known_s > 0.5 * step_s;
            let ended = is_ended.then(|| "ended by a change".to_owned());
            FlowPair {
                name: flow.name.clone(),
                up_share: [up_share(flow), up_share(other) * share],
                carried_mean_bps: [flow.carried_mean_bps, other.carried_mean_bps * share],
                route_changes: [flow, other].map(|flow| flow.route_changes),
                outages: [flow.outages.len(), other.outages.len() + usize::from(is_ended)],
                cause: other.outages.first().map(|outage| outage.cause.to_string()).or(ended),
            }
        });
        let links = recorded.links.iter();
        let changed = links.filter(|(ends, link)| {
            changed_run.links.get(ends).is_none_or(|other| other.up_s != link.up_s)
        });
        let links_new = changed_run
            .links
            .iter()
            .filter(|(ends, link)| link.up_s > 0.0 && !recorded.links.contains_key(ends))
            .count();
        let before: BTreeSet<&RefusedCommand> = run.replayed.refused.iter().collect();
        // The recorded run may begin at a later checkpoint.
        let compared = fork.replayed.refused.iter().filter(|one| one.tick > run.replayed.from);
        let refused = compared.filter(|one| !before.contains(one)).map(|one| Refused {
            at_s: (one.tick.saturating_sub(1)) as f64 * step_s,
            command: one.command.clone(),
            reason: fork.history.with_names(&one.reason),
        });
        Self {
            refused: refused.collect(),
            refused_incomplete: fork.replayed.refused_count > REFUSED_MAX as u64,
            changes: fork.changed.clone(),
            reachable_share: both(&reachable),
            carried_mean_bps: both(&carried),
            outage_s: both(&outage),
            flows: flows.collect(),
            links_changed: changed.count() + links_new,
            links_new,
        }
    }

    pub fn show(&self, output: Output) -> Result<(), Failure> {
        if output.json {
            return output.json(self);
        }
        let mut out = format!("{}\n", output::heading("Recorded and changed"));
        for change in &self.changes {
            out += &format!("{}\n", output::faint(change));
        }
        out += &format!("\n{}", output::table(&self.totals(), None));
        let table = self.flow_table();
        if !table.is_empty() {
            out += &format!("\n{}", output::table(&table, None));
        }
        let (links, new) = (self.links_changed, self.links_new);
        out += &format!("{links} links were up for a different time than recorded");
        out += &if new > 0 {
            format!(", {new} of them not in the recorded run\n")
        } else {
            "\n".to_owned()
        };
        for line in self.refused_lines() {
            out += &format!("{}\n", output::warning(&line));
        }
        output.text(&out)
    }

    /// Commands of the log that the changed world refuses, a line each, the first [`REFUSED_SHOWN`].
    pub fn refused_lines(&self) -> Vec<String> {
        let line = |one: &Refused| {
            let Refused { at_s, command, reason } = one;
            format!("{at_s} s: the changed world refuses {command} of the log: {reason}")
        };
        let mut lines: Vec<String> = self.refused.iter().take(REFUSED_SHOWN).map(line).collect();
        let more = self.refused.len().saturating_sub(REFUSED_SHOWN);
        if more > 0 || self.refused_incomplete {
            let minimum = if self.refused_incomplete { "at least " } else { "" };
            lines.push(format!("{minimum}{more} more commands of the log are refused"));
        }
        lines
    }

    /// Totals of the mesh, recorded and changed.
    pub fn totals(&self) -> Table {
        let mut table = pairs("mesh");
        let mut row = |what: &str, pair: [f64; 2], show: &dyn Fn(f64) -> String| {
            table.row([what.to_owned(), show(pair[0]), show(pair[1]), signed(pair, show)]);
        };
        row("reachable pairs, mean", self.reachable_share, &percent);
        row("carried, mean of the sum", self.carried_mean_bps, &bits_per_second);
        row("outage of flows", self.outage_s, &|s| format!("{s:.1} s"));
        table
    }

    /// Flows, recorded and changed.
    pub fn flow_table(&self) -> Table {
        let mut table = Table::new(&[
            ("flow", Align::Left),
            ("up", Align::Right),
            ("changed", Align::Right),
            ("carried", Align::Right),
            ("changed", Align::Right),
            ("reroutes", Align::Right),
            ("changed", Align::Right),
            ("first outage", Align::Left),
        ]);
        for flow in &self.flows {
            let [up, up_then] = flow.up_share.map(percent);
            let [rate, rate_then] = flow.carried_mean_bps.map(bits_per_second);
            let [changes, changes_then] = flow.route_changes.map(|count| count.to_string());
            let cause = flow.cause.clone().unwrap_or_else(|| "–".to_owned());
            table.row([
                flow.name.clone(),
                up,
                up_then,
                rate,
                rate_then,
                changes,
                changes_then,
                cause,
            ]);
        }
        table
    }
}

fn pairs(what: &'static str) -> Table {
    Table::new(&[
        (what, Align::Left),
        ("recorded", Align::Right),
        ("changed", Align::Right),
        ("difference", Align::Right),
    ])
}

/// Sum of numbers; 0 of none, which has a minus in floats.
fn total(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.sum::<f64>() + 0.0
}

/// Difference with its sign; a dash where both look the same.
fn signed([before, after]: [f64; 2], show: &dyn Fn(f64) -> String) -> String {
    let sign = if after < before { "−" } else { "+" };
    match show(after + 0.0) == show(before + 0.0) {
        true => "–".to_owned(),
        false => format!("{sign}{}", show((after - before).abs())),
    }
}

/// Fraction of time with a route, [0, 1].
pub fn up_share(flow: &FlowHistory) -> f64 {
    if flow.known_s > 0.0 { flow.up_s / flow.known_s } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_and_differences_of_nothing_have_no_sign() {
        let seconds = |s: f64| format!("{s:.1} s");
        assert_eq!(seconds(total(std::iter::empty())), "0.0 s");
        assert_eq!(total([1.5, 2.0].into_iter()), 3.5);
        for (pair, expected) in [
            ([0.0, -0.0], "–"),
            ([10.0, 10.0 - 1e-12], "–"),
            ([10.0, 12.5], "+2.5 s"),
            ([12.5, 10.0], "−2.5 s"),
        ] {
            assert_eq!(signed(pair, &seconds), expected);
        }
    }
}
