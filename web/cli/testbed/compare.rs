//! `testbed compare`: next hops of the routing programs of a recorded testbed beside the predicted ones, over time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::Args;
use groundwave_engine::{Engine, Next};
use groundwave_gateway::{Snapshot, world};
use groundwave_http::Failure;
use groundwave_http::option_value::require_file;
use groundwave_setup::terrain::{TerrainOptions, replay_failure};
use groundwave_simulation::evaluation;
use groundwave_simulation::testbed::Protocol;
use groundwave_store::journal_file;
use groundwave_text::{Align, Table, percent};
use groundwave_web_testbed::wire::{Node, Testbed};
use serde::Serialize;

use crate::cli::output::{self, Output, word};
use crate::cli::quantity::{LINE_STEP_S, step_s};
use crate::cli::run_tables::field;

const EXAMPLES: &str = "\
Examples:
  sudo groundwave testbed up walk.gwlog --routing babel --record played.gwlog
  groundwave testbed compare played.gwlog
  groundwave testbed compare played.gwlog --output routes.csv

A next hop of equal cost counts as predicted. The table has a row for each node and destination at each time when
the predicted next hop or that of the program changes.";

/// Compare the routes of the programs in a recorded testbed with the predicted ones
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Compare {
    /// Log of a testbed: of `testbed up --record`
    log: PathBuf,

    #[command(flatten)]
    ground: TerrainOptions,

    /// Simulated time between comparisons, s
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    step: f64,

    /// Write a table (CSV) of next hops over time
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write over an existing table
    #[arg(long)]
    force: bool,
}

/// Comparisons of a node, or of all.
#[derive(Debug, Default, Serialize)]
struct Row {
    node: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    routing: Option<Protocol>,
    /// Destinations compared, over all times.
    compared: usize,
    /// Those with the predicted next hop, or one of equal cost.
    same: usize,
    /// Share of them, [0, 1]; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    same_share: Option<f64>,
}

#[derive(Serialize)]
struct Document {
    name: String,
    times: usize,
    nodes: Vec<Row>,
    total: Row,
}

/// Next hops by node and destination: predicted, and that of the program.
type Hops = BTreeMap<(String, String), (Option<String>, Option<String>)>;

/// Comparisons so far.
#[derive(Default)]
struct Comparison {
    times: usize,
    name: Option<String>,
    rows: BTreeMap<u32, Row>,
    hops: Hops,
    /// Lines of the table.
    lines: String,
}

impl Compare {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        step_s("--step", self.step, LINE_STEP_S)?;
        if let Some(path) = &self.output {
            output.refuse_stdout("--output", path)?;
            output::refuse_existing(path, self.force)?;
        }
        let comparison = self.compare()?;
        if let Some(path) = &self.output {
            let head = "time_s,node,destination,predicted,installed,is_same\n";
            output::write_whole(path, format!("{head}{}", comparison.lines).as_bytes())?;
            if output::is_stdio(path) {
                return Ok(());
            }
        }
        comparison.show(&self.log, output)
    }

    fn compare(&self) -> Result<Comparison, Failure> {
        require_file("log", &self.log, "a log of `testbed up --record`")?;
        let mut log = journal_file::open(&self.log).map_err(Failure::input)?;
        evaluation::compare(&mut log);
        let header = log.header().clone();
        let ground = self.ground.for_log(&header.inputs)?;
        let mut engine: Engine<Snapshot> = world(ground.terrain.clone())
            .build(header.seed, header.step_ns)
            .map_err(Failure::input)?;
        let mut comparison = Comparison::default();
        let mut next_s = 0.0;
        let replayed = groundwave_engine::replay(&mut engine, &mut log, |engine| {
            let view = engine.view();
            let at_s = view.now_ns as f64 / 1e9;
            // Half a step of rounding.
            if at_s + header.step_ns as f64 * 0.5e-9 >= next_s {
                comparison.note(at_s, &Testbed::of(&view));
                next_s = (at_s / self.step).floor() * self.step + self.step;
            }
            Next::Go
        });
        replayed.map_err(replay_failure)?;
        ground.check_tiles()?;
        Ok(comparison)
    }
}

impl Comparison {
    fn note(&mut self, at_s: f64, testbed: &Testbed) {
        if testbed.nodes.is_empty() {
            return;
        }
        self.name = Some(testbed.name.clone());
        self.times += 1;
        for node in &testbed.nodes {
            let row = self.rows.entry(node.number).or_default();
            row.node.clone_from(&node.name);
            row.routing = Some(node.routing);
            let Some(agreement) = &node.agreement else { continue };
            row.compared += agreement.compared;
            row.same += agreement.same;
            self.table(at_s, node);
        }
    }

    /// Adds the next hops of a node that changed.
    fn table(&mut self, at_s: f64, node: &Node) {
        let Some(agreement) = &node.agreement else { return };
        let destinations = node.next_hops.keys().chain(node.heard.keys());
        let destinations: BTreeSet<&String> = destinations.collect();
        for to in destinations {
            let predicted = node.next_hops.get(to).cloned();
            let installed = node.heard.get(to).map(|route| route.next_hop.clone());
            let key = (node.name.clone(), to.clone());
            let hops = (predicted, installed);
            if self.hops.get(&key) == Some(&hops) {
                continue;
            }
            let is_same = agreement.differences.iter().all(|one| one.to != *to);
            let cell = |hop: &Option<String>| hop.as_deref().map_or(String::new(), field);
            let (name, to) = (field(&node.name), field(to));
            let (predicted, installed) = (cell(&hops.0), cell(&hops.1));
            self.lines += &format!("{at_s},{name},{to},{predicted},{installed},{is_same}\n");
            self.hops.insert(key, hops);
        }
    }

    fn show(self, log: &std::path::Path, output: Output) -> Result<(), Failure> {
        let Some(name) = self.name else {
            let file = log.display();
            let what = format!("{file}: found no testbed, allowed a log of `testbed up --record`");
            return Err(Failure::Input(what));
        };
        let share = |row: &Row| (row.compared > 0).then(|| row.same as f64 / row.compared as f64);
        let mut nodes: Vec<Row> = self.rows.into_values().collect();
        let mut total = Row { node: "all".to_owned(), ..Row::default() };
        for row in &mut nodes {
            row.same_share = share(row);
            total.compared += row.compared;
            total.same += row.same;
        }
        total.same_share = share(&total);
        let document = Document { name, times: self.times, nodes, total };
        if output.json {
            return output.json(&document);
        }
        let mut table = Table::new(&[
            ("node", Align::Left),
            ("routing", Align::Left),
            ("compared", Align::Right),
            ("as predicted", Align::Right),
            ("share", Align::Right),
        ]);
        for row in document.nodes.iter().chain([&document.total]) {
            table.row([
                row.node.clone(),
                row.routing.map_or(String::new(), |routing| word(&routing)),
                row.compared.to_string(),
                row.same.to_string(),
                row.same_share.map_or("–".to_owned(), percent),
            ]);
        }
        output.text(&format!(
            "{}\n{}",
            output::heading(&format!("testbed {}: {} times", document.name, document.times)),
            output::table(&table, None)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use groundwave_simulation::testbed::Wiring;
    use groundwave_web_testbed::wire::{Agreement, Difference, HeardRoute};

    fn node(installed: &str, is_same: bool) -> Node {
        let route = HeardRoute { next_hop: installed.to_owned(), metric: 256.0 };
        let difference = Difference {
            to: "c".to_owned(),
            predicted: Some("b".to_owned()),
            found: Some(installed.to_owned()),
            reason: String::new(),
        };
        Node {
            name: "a".to_owned(),
            number: 1,
            address: String::new(),
            routing: Protocol::Babel,
            lat_deg: None,
            lon_deg: None,
            operating: true,
            next_hops: [("c".to_owned(), "b".to_owned())].into(),
            heard: [("c".to_owned(), route)].into(),
            program: None,
            agreement: Some(Agreement {
                same: usize::from(is_same),
                compared: 1,
                differences: if is_same { Vec::new() } else { vec![difference] },
            }),
        }
    }

    #[test]
    fn rows_of_the_table_are_changes_and_counts_are_all_times() {
        let mut comparison = Comparison::default();
        for (at_s, node) in
            [(0.0, node("d", false)), (1.0, node("d", false)), (2.0, node("b", true))]
        {
            let testbed = Testbed {
                name: "bed".to_owned(),
                tick: 1,
                now_s: at_s,
                speed: 1.0,
                wiring: Wiring::default(),
                kernel: None,
                taken_over_s: None,
                read_at: None,
                nodes: vec![node],
                links: Vec::new(),
            };
            comparison.note(at_s, &testbed);
        }
        assert_eq!(comparison.lines, "0,a,c,b,d,false\n2,a,c,b,b,true\n");
        let row = &comparison.rows[&1];
        assert_eq!((comparison.times, row.compared, row.same), (3, 3, 1));
    }
}
