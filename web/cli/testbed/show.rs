//! `testbed status`: nodes and links of a testbed.

use clap::Args;
use groundwave_http::Failure;
use groundwave_simulation::testbed::{Means, Shape, Wiring};
use groundwave_testbed::State;
use groundwave_text::{Align, Table, bits_per_second};
use groundwave_web_testbed::wire::{Difference, Link, Node, Testbed};
use serde_json::json;

use super::Selection;
use super::client::{is_running, show};
use crate::cli::output::{self, Output, word};

/// Most next hops shown that are not as predicted.
const DIFFERENCES_SHOWN: usize = 12;

/// Show nodes and links, predicted and in force
#[derive(Args)]
#[command(
    after_help = "Examples:\n  groundwave testbed status\n  groundwave testbed status --json | jq '.links[] | select(.predicted.up)'"
)]
pub struct Status {
    #[command(flatten)]
    selection: Selection,
}

impl Status {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let all = State::all().map_err(Failure::machine)?;
        if self.selection.name.is_none() && all.is_empty() {
            return match output.json {
                true => output.json(&json!({ "testbeds": [] })),
                false => output.text("no testbed is up\n"),
            };
        }
        let state = self.selection.state()?;
        if !is_running(&state) {
            return orphaned(&state, output);
        }
        let testbed = show(&state)?;
        if output.json {
            return output.json(&testbed);
        }
        output.text(&text(&testbed))
    }
}

/// A testbed without a controller.
fn orphaned(state: &State, output: Output) -> Result<(), Failure> {
    let (name, nodes) = (&state.testbed, state.nodes().map_err(Failure::machine)?);
    if output.json {
        return output.json(&json!({ "name": name, "controller": false, "nodes": nodes }));
    }
    if nodes.is_empty() {
        return output.text(&format!("testbed {name} is not up\n"));
    }
    output.text(&format!(
        "testbed {name}: {} nodes, no controller; the network is unchanged\n\
         `groundwave testbed attach` resumes it, `groundwave testbed down` removes it\n",
        nodes.len()
    ))
}

/// Shows one line after a change, or the whole document.
pub fn show_change(testbed: &Testbed, output: Output) -> Result<(), Failure> {
    if output.json {
        return output.json(testbed);
    }
    output.text(&format!("{}\n", headline(testbed)))
}

/// Summary on one line.
pub fn headline(testbed: &Testbed) -> String {
    let up = testbed.links.iter().filter(|link| link.predicted.up).count();
    let speed = match testbed.speed {
        0.0 => "paused".to_owned(),
        1.0 => "real time".to_owned(),
        speed => format!("{speed} x"),
    };
    format!(
        "testbed {}: {} nodes, {} of {} directions up, at {:.1} s, {speed}",
        testbed.name,
        testbed.nodes.len(),
        up,
        testbed.links.len(),
        testbed.now_s
    )
}

/// Summary, remarks, nodes and links.
pub fn text(testbed: &Testbed) -> String {
    format!(
        "{}\n{}\n{}{}\n{}",
        output::heading(&headline(testbed)),
        remarks(testbed),
        output::table(&nodes(&testbed.nodes), None),
        differences(&testbed.nodes),
        output::table(&links(&testbed.links), None)
    )
}

/// Warning about directions without terrain data; empty when there are none.
pub fn missing_terrain(testbed: &Testbed) -> String {
    let links = testbed.links.iter().filter(|link| !link.back);
    let missing = links.clone().filter(|link| !link.ground.is_enough()).count();
    match missing {
        0 => String::new(),
        _ => {
            let line = output::missing_links(missing, links.count());
            format!("{}\n", output::warning(&line))
        }
    }
}

/// Remarks, one a line.
fn remarks(testbed: &Testbed) -> String {
    let mut lines = missing_terrain(testbed);
    if testbed.wiring == Wiring::Segment {
        lines.push_str("segment wiring: each node has one interface, radio0\n");
    }
    if let Some(from_s) = testbed.taken_over_s {
        let line = format!("taken over at {from_s:.1} s, the last time in its log\n");
        lines.push_str(&line);
    }
    if testbed.kernel == Some(Means::Rate) {
        lines
            .push_str("kernel without netem: rates are limited, loss and delay are not emulated\n");
    }
    for link in &testbed.links {
        if let Some(repaired) = &link.repaired {
            let line = format!(
                "{} > {}: repaired {} x, the last time because {}\n",
                link.from, link.to, repaired.repairs_total, repaired.last_change
            );
            lines.push_str(&line);
        }
    }
    lines
}

fn nodes(nodes: &[Node]) -> Table {
    let mut table = Table::new(&[
        ("node", Align::Left),
        ("address", Align::Left),
        ("routing", Align::Left),
        ("state", Align::Left),
        ("routes", Align::Right),
        ("as predicted", Align::Right),
    ]);
    for node in nodes {
        let state = match (node.lat_deg, node.operating) {
            (None, _) => "removed",
            (_, true) => "up",
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

/// Next hops of the routing program as predicted or of equal cost, of all that can be compared.
fn agreement(node: &Node) -> String {
    match &node.agreement {
        None => "-".to_owned(),
        Some(agreement) => format!("{} of {}", agreement.same, agreement.compared),
    }
}

/// Next hops that are not as predicted, one a line.
fn differences(nodes: &[Node]) -> String {
    let all = nodes.iter().flat_map(|node| {
        let lines = node.agreement.iter().flat_map(|agreement| &agreement.differences);
        lines.map(move |difference| (node, difference))
    });
    let word = |hop: &Option<String>| hop.clone().unwrap_or_else(|| "none".to_owned());
    let line = |(node, difference): (&Node, &Difference)| {
        format!(
            "{} to {}: predicted {}, found {}: {}\n",
            node.name,
            difference.to,
            word(&difference.predicted),
            word(&difference.found),
            difference.reason
        )
    };
    let all: Vec<String> = all.map(line).collect();
    let mut text: String = all.iter().take(DIFFERENCES_SHOWN).map(String::as_str).collect();
    if all.len() > DIFFERENCES_SHOWN {
        let more = all.len() - DIFFERENCES_SHOWN;
        text.push_str(&format!("and {more} more, see --json\n"));
    }
    text
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
        let cell = |text: String| if shape.up { text } else { "-".to_owned() };
        let in_force = match &link.failure {
            Some(failure) => failure.clone(),
            None if link.is_reported() => "yes".to_owned(),
            None => "not yet".to_owned(),
        };
        table.row([
            format!("{} > {}", link.from, link.to),
            match (shape.up, link.manual) {
                (false, None) => "down".to_owned(),
                (false, Some(_)) => "down, set by hand".to_owned(),
                (true, None) => "up".to_owned(),
                (true, Some(_)) => "up, set by hand".to_owned(),
            },
            link.snr_db.map_or("-".to_owned(), |snr| format!("{snr:.1} dB")),
            cell(bits_per_second(shape.rate_bps as f64)),
            cell(delay(shape)),
            cell(percent(shape.loss_prob)),
            cell(percent(shape.broadcast_loss_prob)),
            in_force,
        ]);
    }
    table
}

/// Mean delay, with its jitter if there is any.
fn delay(shape: &Shape) -> String {
    let ms = |ns: u64| ns as f64 / 1e6;
    match shape.jitter_ns {
        0 => format!("{:.2} ms", ms(shape.delay_ns)),
        jitter_ns => format!("{:.2} ± {:.2} ms", ms(shape.delay_ns), ms(jitter_ns)),
    }
}

/// A probability as percent.
fn percent(prob: f64) -> String {
    match prob * 100.0 {
        0.0 => "0 %".to_owned(),
        small if small < 0.01 => "< 0.01 %".to_owned(),
        percent => format!("{percent:.2} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// A testbed of one link over `ground`.
    fn testbed(ground: &str) -> Testbed {
        let shape = json!({
            "up": true, "loss_prob": 0.0, "broadcast_loss_prob": 0.0, "rate_bps": 1_000_000,
            "delay_ns": 0, "jitter_ns": 0,
        });
        let side = |from: &str, to: &str, back: bool| {
            json!({
                "from": from, "to": to, "wire": 1, "back": back, "snr_db": 9.0, "predicted": shape,
                "generation": 1, "observed_generation": 1, "ground": ground,
            })
        };
        let links = Value::from(vec![side("a", "b", false), side("b", "a", true)]);
        let testbed = json!({
            "name": "t", "tick": 1, "now_s": 1.0, "speed": 1.0, "nodes": [], "links": links,
        });
        serde_json::from_value(testbed).unwrap()
    }

    #[test]
    fn status_and_report_warn_of_missing_terrain() {
        assert_eq!(missing_terrain(&testbed("known")), "");
        let warned = missing_terrain(&testbed("unknown"));
        assert!(warned.contains("no terrain data under 1 of 1 links"), "{warned}");
        assert!(text(&testbed("unknown")).contains("no terrain data"));
        assert!(!text(&testbed("partial")).contains("terrain"));
    }
}
