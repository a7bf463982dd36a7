//! `testbed status`: nodes and links of a testbed.

use clap::Args;
use groundwave_http::Failure;
use groundwave_impair::{QueueLimit, QueueUnit};
use groundwave_simulation::testbed::{Means, Protocol, Reading, Wiring};
use groundwave_testbed::State;
use groundwave_text::{Align, Table, bits_per_second};
use groundwave_web_testbed::wire::{Difference, Link, Node, ReadBack, Testbed};
use serde_json::json;

use super::Selection;
use super::client::{is_running, show};
use crate::cli::output::{self, Output, word};

/// Most next hops shown that are not as predicted.
const DIFFERENCES_SHOWN: usize = 12;

const EXAMPLES: &str = "\
Examples:
  groundwave testbed status
  groundwave testbed status --json | jq '.links[] | select(.predicted.up)'
  groundwave testbed status --json | jq '.links[] | {from, to, reading, failed_since}'

`desired` is what the model or a hand wants of a direction, `as read` what the kernel has, or the daemon of
a bound port, at the time of the reading; both are one class of packets for a bound port. `routes` are
those that the routing program has installed, or those of the kernel for static routing.";

/// Show nodes and links, desired and as read from the kernel
#[derive(Args)]
#[command(
    after_help = EXAMPLES
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
        output::table(&nodes(&testbed.nodes, testbed.read_at.is_some()), None),
        differences(&testbed.nodes),
        output::table(&links(&testbed.links), None) + &failures(&testbed.links)
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
    if let Some(read_at) = &testbed.read_at {
        lines.push_str(&format!("links and routes read at {read_at}\n"));
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

fn nodes(nodes: &[Node], is_read: bool) -> Table {
    let mut table = Table::new(&[
        ("node", Align::Left),
        ("address", Align::Left),
        ("routing", Align::Left),
        ("in the model", Align::Left),
        ("routes", Align::Right),
        ("as predicted", Align::Right),
        ("routing program", Align::Left),
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
            routes(node, is_read),
            agreement(node),
            program(node),
        ]);
    }
    table
}

/// Number of routes as read; none of a node without routing, and before the first reading.
fn routes(node: &Node, is_read: bool) -> String {
    match is_read && node.routing != Protocol::None {
        true => node.heard.len().to_string(),
        false => "-".to_owned(),
    }
}

/// State of the routing program as read.
fn program(node: &Node) -> String {
    let Some(program) = &node.program else {
        return "-".to_owned();
    };
    let mut text = match &program.failure {
        None => "running".to_owned(),
        Some(failure) => since(failure, program.failed_since.as_deref()),
    };
    if program.restarts_total > 0 {
        text.push_str(&format!(", started again {} x", program.restarts_total));
    }
    text
}

/// A failure with the time from which it is there.
fn since(failure: &str, since: Option<&str>) -> String {
    match since {
        Some(since) => format!("{failure}, since {since}"),
        None => failure.to_owned(),
    }
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
        ("values", Align::Left),
        ("SNR", Align::Right),
        ("rate", Align::Right),
        ("delay", Align::Right),
        ("loss", Align::Right),
        ("broadcast", Align::Right),
        ("queue", Align::Right),
        ("in force", Align::Left),
    ]);
    for link in links {
        let shape = &link.predicted;
        let cell = |text: String| if shape.up { text } else { "-".to_owned() };
        let in_force = match &link.failure {
            Some(_) => "no",
            None if link.is_reported() => "yes",
            None => "not yet",
        };
        let state = if shape.up { "up" } else { "down" };
        table.row([
            format!("{} > {}", link.from, link.to),
            match link.manual {
                None => format!("desired: {state}"),
                Some(_) => format!("by hand: {state}"),
            },
            link.snr_db.map_or("-".to_owned(), |snr| format!("{snr:.1} dB")),
            cell(bits_per_second(shape.rate_bps as f64)),
            cell(mean_delay(shape.delay_ns, shape.jitter_ns)),
            cell(percent(shape.loss_prob)),
            cell(percent(shape.broadcast_loss_prob)),
            String::new(),
            in_force.to_owned(),
        ]);
        if let Some(reading) = &link.reading {
            table.row(as_read(reading));
        }
    }
    table
}

/// Directions that are not in force, with the cause, the time from which it is there, and the disciplines as read.
fn failures(links: &[Link]) -> String {
    let of_link = |link: &Link| {
        let failure = since(link.failure.as_deref()?, link.failed_since.as_deref());
        let values = link.reading.as_ref().and_then(|reading| reading.values.as_ref());
        let disciplines = values.map(|values| values.disciplines.join(", ")).unwrap_or_default();
        let disciplines = match disciplines.is_empty() {
            true => String::new(),
            false => format!("; as read: {disciplines}"),
        };
        Some(format!("{} > {}: {failure}{disciplines}\n", link.from, link.to))
    };
    let lines: String = links.iter().filter_map(of_link).collect();
    if lines.is_empty() { lines } else { format!("\nnot in force:\n{lines}") }
}

/// The row of the values of a direction as read.
fn as_read(reading: &ReadBack) -> [String; 9] {
    let none = || "none".to_owned();
    let nothing = Reading::default();
    let values = reading.values.as_ref().unwrap_or(&nothing);
    let loss = match (values.loss_prob, values.loss_state_probs) {
        (Some(prob), _) => percent(prob),
        (None, Some([p, r])) => format!("p {}, r {}", percent(p), percent(r)),
        (None, None) => none(),
    };
    // Of the date and the milliseconds, the document has more.
    let time = reading.read_at.get(11..19).unwrap_or(&reading.read_at);
    let read = match &reading.values {
        Some(_) => format!("at {time}"),
        None => "unknown".to_owned(),
    };
    [
        String::new(),
        "as read".to_owned(),
        String::new(),
        values.rate_bps.map_or_else(none, |bps| bits_per_second(bps as f64)),
        values.delay_ns.map_or_else(none, |ns| mean_delay(ns, values.jitter_ns.unwrap_or(0))),
        loss,
        values.broadcast_loss_prob.map_or_else(none, percent),
        values.queue.map_or_else(none, queue),
        read,
    ]
}

/// Size of a queue.
fn queue(limit: QueueLimit) -> String {
    match limit.unit {
        QueueUnit::Bytes => format!("{} B", limit.value),
        QueueUnit::Packets => format!("{} packets", limit.value),
    }
}

/// Mean delay, with its jitter if there is any.
fn mean_delay(delay_ns: u64, jitter_ns: u64) -> String {
    let ms = |ns: u64| ns as f64 / 1e6;
    match jitter_ns {
        0 => format!("{:.2} ms", ms(delay_ns)),
        jitter_ns => format!("{:.2} ± {:.2} ms", ms(delay_ns), ms(jitter_ns)),
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
    fn values_as_read_stand_below_the_desired_ones_with_their_time() {
        let mut testbed = testbed("known");
        let before = text(&testbed);
        assert!(before.contains("desired") && !before.contains("as read"), "{before}");
        let reading = json!({
            "read_at": "2026-11-29T22:00:00.000Z",
            "values": {
                "rate_bps": 2_000_000, "loss_prob": 0.25, "queue": { "unit": "bytes", "value": 7_000 },
                "disciplines": ["fq 7:"],
            },
        });
        testbed.links[0].reading = Some(serde_json::from_value(reading).unwrap());
        testbed.links[0].failure = Some("not in force: netem 12: is missing".to_owned());
        testbed.links[0].failed_since = Some("2026-11-29T21:59:00.000Z".to_owned());
        let after = text(&testbed);
        let line =
            |words: &str| after.lines().find(|line| line.contains(words)).unwrap().to_owned();
        let row = line("  as read ");
        for words in ["2.00 Mbit/s", "25.00 %", "none", "7000 B", "at 22:00:00"] {
            assert!(row.contains(words), "{words}: {row}");
        }
        let desired = line("desired: up");
        assert!(desired.contains("1.00 Mbit/s") && desired.trim_end().ends_with("no"), "{desired}");
        let failure = "a > b: not in force: netem 12: is missing, since 2026-11-29T21:59:00.000Z; as read: fq 7:";
        assert_eq!(line("is missing"), failure);
        // What cannot be read is shown as that, and no value of the model stands for it.
        testbed.links[0].reading.as_mut().unwrap().values = None;
        let after = text(&testbed);
        let row = after.lines().find(|line| line.contains("  as read ")).unwrap();
        assert!(row.contains("unknown") && !row.contains("Mbit/s"), "{row}");
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
