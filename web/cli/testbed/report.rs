//! `testbed report`: predicted and measured values of each link.

use std::path::{Path, PathBuf};

use axum::http::Method;
use clap::Args;
use groundwave_http::Failure;
use groundwave_model::radio::Expectation;
use groundwave_plot::testbed::{Mark, Picture, Side, testbed_svg};
use groundwave_simulation::testbed::{NamespaceAssignment, Probe, Wiring};
use groundwave_testbed::{FarEnd, State, ping, throughput};
use groundwave_text::{Align, Table};
use groundwave_web_testbed::wire::{Link, Measured, NewProbe, Testbed};
use serde::Serialize;

use super::Selection;
use super::client::{request, show};
use super::show::{headline, missing_terrain};
use crate::cli::output::{self, Output};

/// Width of the table where the output is not a terminal.
const ROWS_WIDTH: usize = 140;

/// Links measured in parallel.
const PARALLEL_MAX: usize = 16;

const EXAMPLES: &str = "\
Examples:
  groundwave testbed report
  groundwave testbed report --ping --plot testbed.svg
  groundwave testbed report west north --ping --count 200 --throughput --json

Each cell shows predicted / measured. Loss and rate are those of unicast packets; round trips are of
both directions together. Counters include all packets since the link was created. The interval is
that of the received power, and `works with` the probability, of links like this one.";

/// Show predicted and measured values of each link
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Report {
    /// Only links between these nodes [default: all]
    nodes: Vec<String>,

    /// Ping over each link that is up
    #[arg(long)]
    ping: bool,

    /// Pings per link, 1 to 100000
    #[arg(long, value_name = "N", default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: u32,

    /// Measure the throughput of each link that is up, one after the other (needs iperf3)
    #[arg(long)]
    throughput: bool,

    /// Duration of a throughput measurement, s, 1 to 3600
    #[arg(long, value_name = "S", default_value_t = 3,
        value_parser = clap::value_parser!(u32).range(1..=3_600))]
    seconds: u32,

    /// Write a picture: SVG, or PNG where the name ends with .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    #[command(flatten)]
    selection: Selection,
}

/// A direction of a link, predicted and measured.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    link: &'a Link,
    /// Round trip, ms.
    predicted_round_trip_ms: Option<f64>,
    /// Round-trip loss, [0, 1].
    predicted_round_trip_loss_prob: Option<f64>,
}

impl Report {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let state = self.selection.state()?;
        let mut testbed = show(&state)?;
        let is_node = |name: &&String| testbed.nodes.iter().any(|node| node.name == **name);
        if let Some(unknown) = self.nodes.iter().find(|name| !is_node(name)) {
            return Err(Failure::Input(format!("unknown node {unknown:?}")));
        }
        let mut problems = Vec::new();
        if self.ping || self.throughput {
            problems = self.measure(&state, &testbed)?;
            testbed = show(&state)?;
        }
        if let Some(path) = &self.plot {
            output::picture(path, &testbed_svg(&picture(&testbed)))?;
        }
        let rows: Vec<Row<'_>> = testbed
            .links
            .iter()
            .filter(|link| self.selects(link))
            .map(|link| row(&testbed, link))
            .collect();
        Self::print(&testbed, &rows, output)?;
        match problems.is_empty() {
            true => Ok(()),
            false => Err(Failure::Machine(format!("not measured: {}", problems.join("; ")))),
        }
    }

    fn print(testbed: &Testbed, rows: &[Row<'_>], output: Output) -> Result<(), Failure> {
        if output.json {
            return output.json(&serde_json::json!({
                "testbed": testbed.name, "now_s": testbed.now_s, "links": rows,
            }));
        }
        let head = output::heading(&headline(testbed));
        let missing = missing_terrain(testbed);
        let bases = output::bases(rows.iter().filter_map(|row| row.link.expected));
        let bases = bases.map_or_else(String::new, |line| format!("{}\n", output::faint(&line)));
        output.text(&format!(
            "{head}\n{missing}\n{}{bases}",
            output::table_within(&table(rows), None, ROWS_WIDTH)
        ))
    }

    /// True for selected links.
    fn selects(&self, link: &Link) -> bool {
        let named = |name: &String| self.nodes.is_empty() || self.nodes.contains(name);
        named(&link.from) && named(&link.to)
    }

    /// Measures each selected link that is up and reports the results to the controller. Returns the links that
    /// cannot be measured, with the cause: they keep no other from being measured.
    fn measure(&self, state: &State, testbed: &Testbed) -> Result<Vec<String>, Failure> {
        let up: Vec<&Link> =
            testbed.links.iter().filter(|link| link.predicted.up && self.selects(link)).collect();
        let nothing = Probe { sent: 0, received: 0, round_trip_ms: None, throughput_bps: None };
        let mut outcomes: Vec<(&Link, Result<Probe, Failure>)> = Vec::new();
        for links in up.chunks(PARALLEL_MAX).filter(|_| self.ping) {
            let of_chunk: Vec<_> = std::thread::scope(|scope| {
                let start = |link: &&'_ Link| {
                    let (state, count, link) = (state.clone(), self.count, (*link).clone());
                    scope.spawn(move || measure_ping(&state, testbed, &link, count))
                };
                let running: Vec<_> = links.iter().map(start).collect();
                running.into_iter().map(|run| run.join().expect("no panic")).collect()
            });
            outcomes.extend(links.iter().copied().zip(of_chunk));
        }
        if !self.ping {
            outcomes = up.iter().map(|link| (*link, Ok(nothing.clone()))).collect();
        }
        let mut problems = Vec::new();
        for (link, mut outcome) in outcomes {
            if let (Ok(probe), true) = (&mut outcome, self.throughput) {
                match measure_throughput(state, testbed, link, self.seconds) {
                    Ok(bps) => probe.throughput_bps = Some(bps),
                    Err(failure) if self.ping => problems.push(problem(link, &failure)),
                    Err(failure) => outcome = Err(failure),
                }
            }
            let probe = match outcome {
                Ok(probe) => probe,
                Err(failure) => {
                    problems.push(problem(link, &failure));
                    continue;
                }
            };
            let body = NewProbe {
                from: link.from.clone(),
                to: link.to.clone(),
                measured: Measured {
                    sent: probe.sent,
                    received: probe.received,
                    round_trip_ms: probe.round_trip_ms,
                    throughput_bps: probe.throughput_bps,
                },
            };
            request(state, Method::POST, "/v1/probes", Some(&body))?;
        }
        Ok(problems)
    }
}

/// A link that cannot be measured, with the cause.
fn problem(link: &Link, failure: &Failure) -> String {
    format!("{} > {}: {}", link.from, link.to, failure.message().trim())
}

fn assignment(testbed: &Testbed, name: &str) -> NamespaceAssignment {
    let number = testbed.nodes.iter().find(|node| node.name == name).map_or(0, |node| node.number);
    NamespaceAssignment { number, name: name.to_owned() }
}

/// Address of the far end of a link.
fn far(testbed: &Testbed, link: &Link, peer: &NamespaceAssignment) -> FarEnd {
    match testbed.wiring {
        Wiring::Link => FarEnd::of_wire(link.wire, link.back, peer),
        Wiring::Segment => FarEnd::on_segment(peer),
    }
}

fn measure_ping(
    state: &State,
    testbed: &Testbed,
    link: &Link,
    count: u32,
) -> Result<Probe, Failure> {
    let netns = state.node(&link.from).map_err(Failure::input)?;
    let peer = assignment(testbed, &link.to);
    // Pings of about 120 bytes must not queue on slow links.
    let interval_s = (120.0 * 8.0 * 4.0 / link.predicted.rate_bps as f64).clamp(0.02, 10.0);
    ping(&netns, &far(testbed, link, &peer), count, interval_s).map_err(Failure::machine)
}

fn measure_throughput(
    state: &State,
    testbed: &Testbed,
    link: &Link,
    seconds: u32,
) -> Result<f64, Failure> {
    let near = state.node(&link.from).map_err(Failure::input)?;
    let end = state.node(&link.to).map_err(Failure::input)?;
    let peer = assignment(testbed, &link.to);
    let ends: [&Path; 2] = [&near, &end];
    // 1.5 times the capacity after loss, so that the link limits the rate.
    let passes = (1.0 - link.predicted.loss_prob).max(0.1);
    let offered_bps = (link.predicted.rate_bps as f64 * 1.5 / passes) as u64;
    throughput(ends, &far(testbed, link, &peer), offered_bps, seconds).map_err(Failure::machine)
}

fn row<'a>(testbed: &Testbed, link: &'a Link) -> Row<'a> {
    let back =
        testbed.links.iter().find(|other| other.wire == link.wire && other.back != link.back);
    let both = back.filter(|back| back.predicted.up && link.predicted.up);
    let ms = |link: &Link| link.predicted.delay_ns as f64 / 1e6;
    let passes = |link: &Link| 1.0 - link.predicted.loss_prob;
    Row {
        link,
        predicted_round_trip_ms: both.map(|back| ms(link) + ms(back)),
        predicted_round_trip_loss_prob: both.map(|back| 1.0 - passes(link) * passes(back)),
    }
}

/// Predicted and measured values, a row a direction.
fn table(rows: &[Row<'_>]) -> Table {
    let right = Align::Right;
    let mut table = Table::new(&[
        ("link", Align::Left),
        ("state", Align::Left),
        ("round trip, ms", right),
        ("round-trip loss, %", right),
        ("rate, Mbit/s", right),
        ("broadcast loss, %", right),
        (Expectation::CHANCE, right),
        (Expectation::INTERVAL, right),
    ]);
    for row in rows {
        let (link, shape) = (row.link, &row.link.predicted);
        let measured = link.measured.as_ref();
        let pings = measured.filter(|measured| measured.sent > 0);
        let round = pings.and_then(|measured| measured.round_trip_ms);
        let lost = pings.map(|measured| 100.0 - 100.0 * fraction(measured.received, measured.sent));
        let counted = link.counted.and_then(|count| {
            let all = count.broadcast_passed_total + count.broadcast_lost_total;
            (all > 0).then(|| 100.0 * count.broadcast_lost_total as f64 / all as f64)
        });
        let rate = measured.and_then(|measured| measured.throughput_bps);
        let mbit = |bps: f64| bps / 1e6;
        let up = |value: f64| shape.up.then_some(value);
        let expected = |show: &dyn Fn(&Expectation) -> String| {
            link.expected.as_ref().map_or("-".to_owned(), show)
        };
        table.row([
            format!("{} > {}", link.from, link.to),
            match (shape.up, link.ground.is_enough()) {
                (false, _) => "down".to_owned(),
                (true, true) => "up".to_owned(),
                (true, false) => format!("up, {}", output::NO_TERRAIN),
            },
            beside(row.predicted_round_trip_ms, round.map(|[_, mean, _]| mean)),
            beside(row.predicted_round_trip_loss_prob.map(|loss| loss * 100.0), lost),
            beside(up(mbit(shape.rate_bps as f64)), rate.map(mbit)),
            beside(Some(shape.broadcast_loss_prob * 100.0), counted),
            expected(&Expectation::chance),
            expected(&Expectation::interval),
        ]);
    }
    table
}

fn fraction(part: u32, whole: u32) -> f64 {
    f64::from(part) / f64::from(whole)
}

/// `predicted / measured`, or the prediction alone.
fn beside(predicted: Option<f64>, measured: Option<f64>) -> String {
    let written = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
    match measured {
        None => written(predicted),
        some => format!("{} / {}", written(predicted), written(some)),
    }
}

/// Picture of the testbed.
fn picture(testbed: &Testbed) -> Picture {
    let marks = testbed.nodes.iter().filter_map(|node| {
        Some(Mark {
            name: node.name.clone(),
            lat_deg: node.lat_deg?,
            lon_deg: node.lon_deg?,
            runs: node.operating,
        })
    });
    let sides = testbed.links.iter().map(|link| {
        let row = row(testbed, link);
        let round = link.measured.as_ref().and_then(|measured| measured.round_trip_ms);
        let pings = link.measured.as_ref().filter(|measured| measured.sent > 0);
        Side {
            from: link.from.clone(),
            to: link.to.clone(),
            up: link.predicted.up,
            has_terrain: link.ground.is_enough(),
            rate_bps: link.predicted.rate_bps as f64,
            measured_bps: link.measured.as_ref().and_then(|measured| measured.throughput_bps),
            round_trip_ms: row.predicted_round_trip_ms,
            measured_ms: round.map(|[_, mean, _]| mean),
            loss_prob: row.predicted_round_trip_loss_prob,
            measured_loss_prob: pings
                .map(|measured| 1.0 - fraction(measured.received, measured.sent)),
        }
    });
    Picture { title: headline(testbed), marks: marks.collect(), sides: sides.collect() }
}
