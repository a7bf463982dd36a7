//! Result of `run`: links, flows and digest.

use std::collections::BTreeMap;
use std::fmt::Write;

use groundwave_engine::Refusal;
use groundwave_gateway::Snapshot;
use groundwave_http::Failure;
use groundwave_model::radio::{Assumptions, Expectation};
use groundwave_model::terrain::TerrainSource;
use groundwave_scenario::Scenario;
use groundwave_simulation::flow::{Bottleneck, FlowView};
use groundwave_simulation::link::LinkView;
use groundwave_simulation::site::{NodeId, NodeView, with_names};
use groundwave_text::{Align, Table, bits_per_second, distance};
use serde::Serialize;

use super::output::{self, Output};

/// A finished run.
pub struct Report<'a> {
    pub scenario: &'a Scenario,
    pub terrain: TerrainSource,
    /// Ways out where ground is missing.
    pub remedy: &'a str,
    pub snapshot: &'a Snapshot,
    pub digest: String,
    pub commands: usize,
    pub refused: &'a [(u64, &'static str, Refusal)],
    pub stopped: bool,
    /// Lines about flows that were worse during the run than at its end.
    pub extremes: Vec<String>,
}

#[derive(Serialize)]
struct RefusedView<'a> {
    tick: u64,
    command: &'static str,
    reason: String,
    #[serde(flatten)]
    refusal: &'a Refusal,
}

#[derive(Serialize)]
struct Document<'a> {
    title: &'a str,
    seed: u64,
    step_ns: u64,
    terrain: &'a TerrainSource,
    /// Shares of time, locations and situations at the end of the run, effects left out, calibration.
    assumptions: Assumptions,
    digest: &'a str,
    commands: usize,
    stopped: bool,
    refused: Vec<RefusedView<'a>>,
    #[serde(flatten)]
    snapshot: &'a Snapshot,
}

/// Shows the run as text or JSON.
pub fn show(report: &Report<'_>, links_max: usize, output: Output) -> Result<(), Failure> {
    if !output.json {
        return output.text(&text(report, links_max));
    }
    let refused = report.refused.iter().map(|(tick, command, refusal)| {
        let reason = reason(report, refusal);
        RefusedView { tick: *tick, command, reason, refusal }
    });
    output.json(&Document {
        title: &report.scenario.title,
        seed: report.scenario.seed,
        step_ns: report.scenario.step_ns,
        terrain: &report.terrain,
        assumptions: report.snapshot.environment.assumptions(None),
        digest: &report.digest,
        commands: report.commands,
        stopped: report.stopped,
        refused: refused.collect(),
        snapshot: report.snapshot,
    })
}

/// Reason of a refusal, with the names of nodes, also of those that are gone, in place of their ids.
fn reason(report: &Report<'_>, refusal: &Refusal) -> String {
    let names = report.scenario.node_names.iter();
    let names: BTreeMap<NodeId, &str> =
        names.map(|name| (NodeId::named(name), name.as_str())).collect();
    let name = |id| {
        let node = report.snapshot.node(id);
        node.map(|node| node.name.as_str()).or_else(|| names.get(&id).copied())
    };
    with_names(&refusal.to_string(), name)
}

fn text(report: &Report<'_>, links_max: usize) -> String {
    let snapshot = report.snapshot;
    let mut out = format!("{}\n", output::heading(&report.scenario.title));
    let geoid = if report.terrain.has_geoid { "EGM96 geoid" } else { "no geoid" };
    let seconds = snapshot.now_ns as f64 / 1e9;
    let usable = snapshot.links.iter().filter(|link| snapshot.carries(link)).count();
    let _ = writeln!(
        out,
        "{} nodes, {} links usable of {} in range, {} flows after {seconds} s ({} ticks, {} commands)",
        snapshot.nodes.len(),
        usable,
        snapshot.links.len(),
        snapshot.flows.len(),
        snapshot.tick,
        report.commands,
    );
    let _ = writeln!(
        out,
        "{}",
        output::faint(&format!("terrain: {}, {geoid}", report.terrain.summary()))
    );
    let assumptions = snapshot.environment.assumptions(None);
    out += &output::assumed(&assumptions, output::profile_name(&assumptions));
    if report.stopped {
        let _ = writeln!(out, "{}", output::warning("stopped before its end by a signal"));
    }
    for (tick, name, refusal) in report.refused {
        let _ = writeln!(
            out,
            "{}",
            output::warning(&format!(
                "rejected in tick {tick}: {name}: {}",
                reason(report, refusal)
            ))
        );
    }
    links(&mut out, report, links_max);
    flows(&mut out, snapshot);
    if !report.extremes.is_empty() {
        let _ = writeln!(out, "\nDuring the run");
    }
    for line in &report.extremes {
        let _ = writeln!(out, "  {line}");
    }
    let _ = writeln!(out, "{}", output::faint(&format!("digest {}", report.digest)));
    out
}

fn links(out: &mut String, report: &Report<'_>, links_max: usize) {
    let snapshot = report.snapshot;
    let name = |id| snapshot.node(id).map_or("?", |node: &NodeView| node.name.as_str());
    let mut order: Vec<&LinkView> = snapshot.links.iter().collect();
    let margin = |link: &LinkView| {
        link.budget.forward.link_margin_db.min(link.budget.backward.link_margin_db)
    };
    order.sort_by(|a, b| {
        margin(b)
            .total_cmp(&margin(a))
            .then_with(|| (name(a.a), name(a.b)).cmp(&(name(b.a), name(b.b))))
    });
    let listed = &order[..order.len().min(links_max)];
    let rates_bps = listed
        .iter()
        .flat_map(|link| [link.budget.forward.data_rate_bps, link.budget.backward.data_rate_bps]);
    let (rate_head, unit_bps) = rate_unit(rates_bps);
    let mut table = Table::new(&[
        ("link", Align::Left),
        ("to", Align::Left),
        ("length", Align::Right),
        ("SNR dB → ←", Align::Right),
        (rate_head, Align::Right),
        ("ETX", Align::Right),
        ("verdict", Align::Left),
        ("works", Align::Right),
        ("90 % dBm", Align::Right),
    ]);
    let is_down = |id| snapshot.node(id).is_some_and(|node| !node.operating);
    for link in listed {
        let budget = &link.budget;
        let (there, back) = (&budget.forward, &budget.backward);
        let expectation = budget.expectation();
        let verdict = if link.severed {
            "cut"
        } else if is_down(link.a) || is_down(link.b) {
            "node down"
        } else {
            output::verdict_over(budget.ground, there.verdict.min(back.verdict))
        };
        table.row([
            name(link.a).to_owned(),
            name(link.b).to_owned(),
            distance(budget.distance_m),
            format!("{:.1} {:.1}", there.snr_db, back.snr_db),
            format!("{:.1} {:.1}", there.data_rate_bps / unit_bps, back.data_rate_bps / unit_bps),
            budget.etx().map_or("–".to_owned(), |etx| format!("{etx:.2}")),
            verdict.to_owned(),
            expectation.chance(),
            expectation.interval_dbm(),
        ]);
    }
    if table.is_empty() {
        return;
    }
    let _ = write!(out, "\n{}", output::table(&table, Some(6)));
    if order.len() > links_max {
        let rest =
            format!("… and {} weaker (--links N shows more, --json all)", order.len() - links_max);
        let _ = writeln!(out, "{}", output::faint(&rest));
    }
    let expectations = order.iter().map(|link| link.budget.expectation());
    if let Some(bases) = output::bases(expectations) {
        let line = format!(
            "90 % dBm: received power of {}, of the weaker direction;\n{bases}",
            Expectation::INTERVAL
        );
        let _ = writeln!(out, "{}", output::faint(&line));
    }
    if let Some(line) = output::gaps(snapshot, report.remedy) {
        let _ = writeln!(out, "{}", output::warning(&line));
    }
}

/// Head of the column of rates and its unit, bit/s, in which one decimal shows the lowest rate above 0.
fn rate_unit(rates_bps: impl Iterator<Item = f64>) -> (&'static str, f64) {
    let lowest_bps = rates_bps.filter(|bps| *bps > 0.0).fold(f64::INFINITY, f64::min);
    if lowest_bps < 1e5 { ("kbit/s → ←", 1e3) } else { ("Mbit/s → ←", 1e6) }
}

fn flows(out: &mut String, snapshot: &Snapshot) {
    let mut table = Table::new(&[
        ("flow", Align::Left),
        ("route", Align::Left),
        ("hops", Align::Right),
        ("slowest hop", Align::Right),
        ("offered", Align::Right),
        ("carried", Align::Right),
        ("lost", Align::Right),
        ("queues, est.", Align::Right),
        ("target", Align::Left),
        ("bottleneck", Align::Left),
    ]);
    for flow in snapshot.flows.iter() {
        table.row(flow_cells(snapshot, flow));
    }
    if !table.is_empty() {
        let _ = write!(out, "\n{}", output::table(&table, Some(8)));
    }
}

fn flow_cells(snapshot: &Snapshot, flow: &FlowView) -> Vec<String> {
    let name = |id| snapshot.node(id).map_or("?", |node: &NodeView| node.name.as_str());
    let Some(route) = &flow.route else {
        let endpoints = format!("{} … {}", name(flow.source), name(flow.target));
        let dash = || "–".to_owned();
        return vec![
            flow.name.clone(),
            endpoints,
            dash(),
            dash(),
            bits_per_second(flow.rate_bps),
            dash(),
            bits_per_second(flow.rate_bps),
            dash(),
            "none".to_owned(),
            "no route".to_owned(),
        ];
    };
    let mut route_nodes = name(flow.source).to_owned();
    for hop in &route.hops {
        let _ = write!(route_nodes, " → {}", name(hop.to));
    }
    let slowest_hop = route.bottleneck_rate_bps.map_or("–".to_owned(), bits_per_second);
    let (lost, target) = match flow.is_met() {
        true => ("–".to_owned(), "met"),
        false => (bits_per_second(flow.lost_bps()), "below target"),
    };
    let bottleneck = flow.share.bottleneck.map(|bottleneck| {
        let Bottleneck { from, to, links, flows } = bottleneck;
        let count = |count: usize, what: &str| {
            format!("{count} {what}{}", if count == 1 { "" } else { "s" })
        };
        format!("{} – {}: {}, {}", name(from), name(to), count(flows, "flow"), count(links, "link"))
    });
    vec![
        flow.name.clone(),
        route_nodes,
        route.hops.len().to_string(),
        slowest_hop,
        bits_per_second(flow.rate_bps),
        bits_per_second(flow.share.carried_bps),
        lost,
        match flow.share.queue_wait_s {
            Some(wait_s) => format!("{:.2} ms", wait_s * 1e3),
            None if flow.is_met() => "–".to_owned(),
            None => "grow".to_owned(),
        },
        target.to_owned(),
        bottleneck.unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_of_rates_shows_the_lowest() {
        assert_eq!(rate_unit([54e6, 1.76e3, 0.0].into_iter()).0, "kbit/s → ←");
        assert_eq!(rate_unit([54e6, 0.0, 130e3].into_iter()).0, "Mbit/s → ←");
        assert_eq!(rate_unit([0.0].into_iter()).0, "Mbit/s → ←");
    }
}
