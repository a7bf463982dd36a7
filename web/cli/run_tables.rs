//! CSV tables of `[output]` of a scenario.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use groundwave_gateway::Snapshot;
use groundwave_http::Failure;
use groundwave_scenario::{OutputTable, Scenario};
use groundwave_simulation::site::NodeId;

use super::output;

/// Open output tables.
pub struct Tables {
    open: Vec<(OutputTable, BufWriter<File>)>,
    every_ns: Option<u64>,
    due_ns: u64,
    written_ns: Option<u64>,
}

impl Tables {
    /// Files that are written.
    pub fn files(scenario: &Scenario) -> impl Iterator<Item = PathBuf> {
        files(scenario).map(|(_, path)| path)
    }

    /// Fails where one of the files is there already, unless `force`.
    pub fn refuse_existing(scenario: &Scenario, force: bool) -> Result<(), Failure> {
        for (_, path) in files(scenario) {
            output::refuse_existing(&path, force)?;
        }
        Ok(())
    }

    /// Creates or replaces the files and writes their header lines.
    pub fn create(scenario: &Scenario) -> Result<Self, Failure> {
        let output = &scenario.output;
        let mut open = Vec::new();
        if let Some(folder) = &output.directory {
            let failed = |what: &str, err: std::io::Error| {
                Failure::Input(format!("{what} {}: {err}", folder.display()))
            };
            fs::create_dir_all(folder).map_err(|err| failed("create output folder", err))?;
            for (table, path) in files(scenario) {
                let file = File::create(&path).map_err(|err| failed("create a table in", err))?;
                let mut file = BufWriter::new(file);
                writeln!(file, "{}", head(table))?;
                open.push((table, file));
            }
        }
        Ok(Self { open, every_ns: output.every_ns, due_ns: 0, written_ns: None })
    }

    /// Appends the rows of `view` when they are due.
    pub fn row(&mut self, view: &Snapshot) -> Result<(), Failure> {
        let Some(every_ns) = self.every_ns.filter(|_| view.now_ns >= self.due_ns) else {
            return Ok(());
        };
        self.due_ns = view.now_ns.saturating_add(every_ns);
        self.write(view)
    }

    /// Appends the rows of the last tick, unless written already.
    pub fn finish(mut self, view: &Snapshot) -> Result<(), Failure> {
        if self.written_ns != Some(view.now_ns) {
            self.write(view)?;
        }
        for (_, file) in &mut self.open {
            file.flush()?;
        }
        Ok(())
    }

    fn write(&mut self, view: &Snapshot) -> Result<(), Failure> {
        self.written_ns = Some(view.now_ns);
        for (table, file) in &mut self.open {
            match table {
                OutputTable::Nodes => nodes(file, view)?,
                OutputTable::Links => links(file, view)?,
                OutputTable::Routes => routes(file, view)?,
                OutputTable::Flows => flows(file, view)?,
            }
        }
        Ok(())
    }
}

/// The links of a snapshot as a CSV table.
pub fn links_table(view: &Snapshot) -> Result<Vec<u8>, Failure> {
    let mut table = format!("{}\n", head(OutputTable::Links)).into_bytes();
    links(&mut table, view)?;
    Ok(table)
}

/// The files of the tables of a scenario.
fn files(scenario: &Scenario) -> impl Iterator<Item = (OutputTable, PathBuf)> {
    let Scenario { output, .. } = scenario;
    let folder = output.directory.iter();
    folder.flat_map(move |folder| {
        output
            .tables
            .iter()
            .map(move |table| (*table, folder.join(format!("{}.csv", stem(*table)))))
    })
}

fn stem(table: OutputTable) -> &'static str {
    match table {
        OutputTable::Nodes => "nodes",
        OutputTable::Links => "links",
        OutputTable::Routes => "routes",
        OutputTable::Flows => "flows",
    }
}

fn head(table: OutputTable) -> &'static str {
    match table {
        OutputTable::Nodes => "time_s,node,lat_deg,lon_deg,height_agl_m,operating",
        OutputTable::Links => {
            "time_s,tx,rx,distance_m,path_loss_db,rx_power_dbm,snr_db,link_margin_db,data_rate_bps,\
             per,etx,verdict,severed,void_samples,missing_samples,link_prob,ground,probe_delivery_prob"
        }
        OutputTable::Routes => {
            "time_s,flow,hop,from,to,distance_m,snr_db,data_rate_bps,per,etx,ett_s"
        }
        OutputTable::Flows => {
            "time_s,flow,source,target,rate_bps,hops,bottleneck_rate_bps,\
             single_radio_throughput_bps,multi_radio_throughput_bps,delivery_prob,meets_target,\
             carried_bps,lost_bps,bottleneck_from,bottleneck_to,bottleneck_links,bottleneck_flows,\
             queue_wait_estimate_s"
        }
    }
}

/// A text as a CSV field (RFC 4180).
pub(super) fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn name(view: &Snapshot, id: NodeId) -> String {
    view.node(id).map_or_else(|| id.to_string(), |node| field(&node.name))
}

fn seconds(view: &Snapshot) -> f64 {
    view.now_ns as f64 / 1e9
}

/// A number as a CSV field, empty without one.
pub(super) fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn nodes(out: &mut impl Write, view: &Snapshot) -> std::io::Result<()> {
    for node in view.nodes.iter() {
        let (at, up) = (node.position, node.operating);
        let height_m = node.station.height_agl_m;
        let (time, name) = (seconds(view), field(&node.name));
        writeln!(out, "{time},{name},{},{},{height_m},{up}", at.lat_deg(), at.lon_deg())?;
    }
    Ok(())
}

fn links(out: &mut impl Write, view: &Snapshot) -> std::io::Result<()> {
    for link in view.links.iter() {
        let budget = &link.budget;
        let probes = [
            link.probe.map(|probe| probe.forward_prob),
            link.probe.map(|probe| probe.backward_prob),
        ];
        for (tx, rx, direction, probe) in [
            (link.a, link.b, &budget.forward, probes[0]),
            (link.b, link.a, &budget.backward, probes[1]),
        ] {
            writeln!(
                out,
                "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                seconds(view),
                name(view, tx),
                name(view, rx),
                budget.distance_m,
                direction.path_loss_db,
                direction.rx_power_dbm,
                direction.snr_db,
                direction.link_margin_db,
                direction.data_rate_bps,
                direction.per,
                number(budget.etx()),
                output::verdict_over(budget.ground, direction.verdict),
                link.severed,
                budget.void_samples,
                budget.missing_samples,
                direction.link_prob,
                budget.ground.name(),
                number(probe),
            )?;
        }
    }
    Ok(())
}

fn routes(out: &mut impl Write, view: &Snapshot) -> std::io::Result<()> {
    for flow in view.flows.iter() {
        let hops = flow.route.iter().flat_map(|route| route.hops.iter()).enumerate();
        for (i, hop) in hops {
            writeln!(
                out,
                "{},{},{},{},{},{},{},{},{},{},{}",
                seconds(view),
                field(&flow.name),
                i + 1,
                name(view, hop.from),
                name(view, hop.to),
                hop.distance_m,
                hop.snr_db,
                hop.data_rate_bps,
                hop.per,
                hop.etx,
                hop.ett_s,
            )?;
        }
    }
    Ok(())
}

fn flows(out: &mut impl Write, view: &Snapshot) -> std::io::Result<()> {
    for flow in view.flows.iter() {
        let route = flow.route.as_ref();
        let bottleneck = flow.share.bottleneck.map_or_else(
            || ",,,".to_owned(),
            |at| format!("{},{},{},{}", name(view, at.from), name(view, at.to), at.links, at.flows),
        );
        writeln!(
            out,
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{bottleneck},{}",
            seconds(view),
            field(&flow.name),
            name(view, flow.source),
            name(view, flow.target),
            flow.rate_bps,
            route.map_or_else(String::new, |route| route.hops.len().to_string()),
            number(route.and_then(|route| route.bottleneck_rate_bps)),
            number(route.and_then(|route| route.single_radio_throughput_bps)),
            number(route.and_then(|route| route.multi_radio_throughput_bps)),
            number(route.map(|route| route.delivery_prob)),
            flow.is_met(),
            flow.share.carried_bps,
            flow.lost_bps(),
            number(flow.share.queue_wait_s),
        )?;
    }
    Ok(())
}
