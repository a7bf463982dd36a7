//! What a testbed is now, in words.

use clap::Args;
use groundwave::testbed::wire::{HeardRoute, Link, Node, Testbed};
use groundwave::text::{Align, Table};
use groundwave_io::testbed::State;
use groundwave_systems::testbed::{Means, Wiring};
use serde_json::json;

use super::Which;
use super::client::{answers, show};
use crate::cli::failure::Failure;
use crate::cli::output::{self, Output, word};

/// Show nodes and links: what was predicted, what is in force
#[derive(Args)]
#[command(
    after_help = "Examples:\n  groundwave testbed status\n  groundwave testbed status --json | jq '.links[] | select(.predicted.up)'"
)]
pub struct Status {
    #[command(flatten)]
    which: Which,
}

impl Status {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let all = State::all().map_err(Failure::machine)?;
        if self.which.name.is_none() && all.is_empty() {
            return match output.json {
                true => output.json(&json!({ "testbeds": [] })),
                false => output.text("no testbed is up\n"),
            };
        }
        let state = self.which.state()?;
        if !answers(&state) {
            return orphaned(&state, output);
        }
        let testbed = show(&state)?;
        if output.json {
            return output.json(&testbed);
        }
        output.text(&text(&testbed))
    }
}

/// A testbed whose controller is gone.
fn orphaned(state: &State, output: Output) -> Result<(), Failure> {
    let (name, nodes) = (&state.testbed, state.nodes().map_err(Failure::machine)?);
    if output.json {
        return output.json(&json!({ "name": name, "controller": false, "nodes": nodes }));
    }
    if nodes.is_empty() {
        return output.text(&format!("testbed {name} is not up\n"));
    }
    output.text(&format!(
        "testbed {name}: {} nodes and no controller; the network stays as it is\n\
         `groundwave testbed attach` goes on, `groundwave testbed down` takes it away\n",
        nodes.len()
    ))
}

/// One line after a change, or the whole document.
pub fn told(testbed: &Testbed, output: Output) -> Result<(), Failure> {
    if output.json {
        return output.json(testbed);
    }
    output.text(&format!("{}\n", headline(testbed)))
}

/// The testbed in one line.
pub fn headline(testbed: &Testbed) -> String {
    let up = testbed
        .links
        .iter()
        .filter(|link| link.predicted.up)
        .count();
    let pace = match testbed.speed {
        0.0 => "paused".to_owned(),
        1.0 => "real time".to_owned(),
        speed => format!("{speed} x"),
    };
    format!(
        "testbed {}: {} nodes, {} of {} directions up, at {:.1} s, {pace}",
        testbed.name,
        testbed.nodes.len(),
        up,
        testbed.links.len(),
        testbed.now_s
    )
}

/// Everything.
pub fn text(testbed: &Testbed) -> String {
    format!(
        "{}\n{}\n{}\n{}",
        output::heading(&headline(testbed)),
        remarks(testbed),
        output::table(&nodes(&testbed.nodes), None),
        output::table(&links(&testbed.links), None)
    )
}

/// What there is to know beside, a line each.
fn remarks(testbed: &Testbed) -> String {
    let mut lines = String::new();
    if testbed.wiring == Wiring::Segment {
        lines.push_str("one segment: each node has one interface, radio0\n");
    }
    if let Some(from_s) = testbed.taken_over_s {
        let line =
            format!("taken over: the world went on from {from_s:.1} s, the last in its log\n");
        lines.push_str(&line);
    }
    if testbed.kernel == Some(Means::Rate) {
        lines.push_str(
            "this kernel shapes rates alone, it has no netem: what is up loses and delays nothing\n",
        );
    }
    lines
}

fn nodes(nodes: &[Node]) -> Table {
    let mut table = Table::new(&[
        ("node", Align::Left),
        ("address", Align::Left),
        ("routing", Align::Left),
        ("state", Align::Left),
        ("reaches", Align::Right),
        ("as predicted", Align::Right),
    ]);
    for node in nodes {
        let state = match (node.lat_deg, node.operating) {
            (None, _) => "gone",
            (_, true) => "runs",
            (_, false) => "failed",
        };
        table.row([
            node.name.clone(),
            node.address.clone(),
            word(&node.routing),
            state.to_owned(),
            node.next_hops.len().to_string(),
            agreement(node),
        ]);
    }
    table
}

/// Next hops of the routing program that are the world's, of those it found.
fn agreement(node: &Node) -> String {
    if node.heard.is_empty() {
        return "-".to_owned();
    }
    let same =
        |(to, heard): &(&String, &HeardRoute)| node.next_hops.get(*to) == Some(&heard.next_hop);
    let same = node.heard.iter().filter(same).count();
    format!("{same} of {}", node.heard.len())
}

fn links(links: &[Link]) -> Table {
    let mut table = Table::new(&[
        ("link", Align::Left),
        ("state", Align::Left),
        ("SNR", Align::Right),
        ("rate", Align::Right),
        ("delay", Align::Right),
        ("loss", Align::Right),
        ("broadcast", Align::Right),
        ("in force", Align::Left),
    ]);
    for link in links {
        let shape = &link.predicted;
        let shown = |text: String| if shape.up { text } else { "-".to_owned() };
        let force = match &link.failure {
            Some(failure) => failure.clone(),
            None if link.observed_generation == link.generation => "yes".to_owned(),
            None => "not yet".to_owned(),
        };
        table.row([
            format!("{} > {}", link.from, link.to),
            if shape.up { "up" } else { "down" }.to_owned(),
            link.snr_db
                .map_or("-".to_owned(), |snr| format!("{snr:.1} dB")),
            shown(rate(shape.rate_bps as f64)),
            shown(format!("{:.2} ms", shape.delay_ns as f64 / 1e6)),
            shown(percent(shape.loss_prob)),
            shown(percent(shape.broadcast_loss_prob)),
            force,
        ]);
    }
    table
}

/// A rate.
pub fn rate(bps: f64) -> String {
    match bps {
        _ if bps >= 1e6 => format!("{:.1} Mbit/s", bps / 1e6),
        _ if bps >= 1e3 => format!("{:.1} kbit/s", bps / 1e3),
        _ => format!("{bps:.0} bit/s"),
    }
}

/// A probability.
pub fn percent(prob: f64) -> String {
    match prob * 100.0 {
        0.0 => "0 %".to_owned(),
        small if small < 0.01 => "< 0.01 %".to_owned(),
        percent => format!("{percent:.2} %"),
    }
}
