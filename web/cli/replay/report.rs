//! A replay as one page: pictures and tables, nothing from elsewhere.

use std::fmt::Write;

use groundwave::plot::{HistoryPicture, MapPicture, escape, history_svg, map_svg};
use groundwave::text::{Align, Table, bits_per_second, percent};
use groundwave_systems::Snapshot;
use groundwave_systems::history::LinkHistory;
use groundwave_systems::site::NodeId;

use super::fork::{Fork, up_share};
use super::measured::{self as levels, Summary};
use super::{Run, failures};

/// Most links in the table: the worst are what one looks for.
const LINKS_MAX: usize = 50;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;color:#1b2430;max-width:60rem;\
margin:2rem auto;padding:0 1rem}h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}\
table{border-collapse:collapse;font-size:.9rem}td,th{padding:.2rem .7rem;border-bottom:1px solid \
#d5dce3;text-align:left}td.r,th.r{text-align:right;font-variant-numeric:tabular-nums}\
.soft{color:#5a6675}svg{max-width:100%;height:auto}";

/// The page of a replay, and of the changed one beside it.
pub fn page(run: &Run, fork: Option<&Run>) -> String {
    let title = escape(run.title());
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\
         <style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n"
    );
    let replayed = &run.replayed;
    let _ = writeln!(
        out,
        "<p>{} s simulated in {} ticks, {} commands; {} digests compared, all equal. \
         <span class=\"soft\">Digest {}.</span></p>",
        run.history.span_s(),
        replayed.ticks,
        replayed.commands,
        replayed.marks,
        replayed.digest
    );
    if let Some(calibration) = &run.engine.view().environment.calibration {
        let name = escape(&calibration.name);
        let _ = writeln!(out, "<p>Calibrated with the profile <b>{name}</b>.</p>");
    }
    if let Some(fork) = fork {
        changed(&mut out, run, fork);
    }
    let view = run.engine.view();
    section(&mut out, "The mesh in the end");
    out += &map_svg(&MapPicture { now: &view });
    section(&mut out, "Over time");
    out += &history_svg(&HistoryPicture {
        recorded: &run.history.samples,
        changed: fork.map(|fork| &fork.history.samples[..]),
    });
    let shown = fork.unwrap_or(run);
    if !shown.history.flows.is_empty() {
        section(&mut out, "Flows");
        out += &html(&flows(shown));
        section(&mut out, "Outages");
        let table = outages(shown);
        out += &if table.is_empty() {
            "<p>None.</p>\n".to_owned()
        } else {
            html(&table)
        };
    }
    if !shown.history.flows.is_empty() {
        let table = failures::ways(&shown.history, &view);
        section(&mut out, "Ways of flows");
        out += &html(&table);
    }
    let table = failures::disturbances(&shown.history);
    if !table.is_empty() {
        section(&mut out, "Failures and what followed");
        out += &html(&table);
    }
    measured(&mut out, run, &view);
    section(&mut out, "Links that were down for longest");
    out += &html(&links(shown, &view));
    out += "</body></html>\n";
    out
}

fn section(out: &mut String, title: &str) {
    let _ = writeln!(out, "<h2>{title}</h2>");
}

fn changed(out: &mut String, run: &Run, fork: &Run) {
    let compared = Fork::of(run, fork);
    section(out, "What was changed");
    out.push_str("<ul>");
    for change in &fork.changed {
        let _ = write!(out, "<li><code>{}</code></li>", escape(change));
    }
    out.push_str("</ul>\n");
    out.push_str(&html(&compared.totals()));
    let table = compared.table();
    if !table.is_empty() {
        out.push_str(&html(&table));
    }
}

fn measured(out: &mut String, run: &Run, view: &Snapshot) {
    let past = &run.history.levels;
    let Some(summary) = Summary::of(past, run.begin_unix_s()) else {
        return;
    };
    section(out, "What was measured");
    let _ = writeln!(out, "<p>{}</p>", escape(&summary.words()));
    if let Some(picture) = levels::picture(past) {
        out.push_str(&picture);
    }
    out.push_str(&html(&levels::table(past, view)));
}

fn flows(run: &Run) -> Table {
    let mut table = Table::new(&[
        ("flow", Align::Left),
        ("with a route", Align::Right),
        ("carried, mean", Align::Right),
        ("reroutes", Align::Right),
        ("outages", Align::Right),
    ]);
    for flow in run.history.flows.values() {
        table.row([
            flow.name.clone(),
            percent(up_share(flow)),
            bits_per_second(flow.carried_mean_bps),
            flow.route_changes.to_string(),
            flow.outages.len().to_string(),
        ]);
    }
    table
}

fn outages(run: &Run) -> Table {
    let mut table = Table::new(&[
        ("flow", Align::Left),
        ("from s", Align::Right),
        ("to s", Align::Right),
        ("why", Align::Left),
    ]);
    for flow in run.history.flows.values() {
        for outage in &flow.outages {
            let to = outage
                .to_s
                .map_or("the end".to_owned(), |s| format!("{s:.1}"));
            table.row([
                flow.name.clone(),
                format!("{:.1}", outage.from_s),
                to,
                outage.cause.to_string(),
            ]);
        }
    }
    table
}

fn links(run: &Run, view: &Snapshot) -> Table {
    let mut table = Table::new(&[
        ("link", Align::Left),
        ("to", Align::Left),
        ("up", Align::Right),
        ("changes", Align::Right),
        ("least margin dB", Align::Right),
    ]);
    let name = |id: NodeId| {
        view.node(id)
            .map_or_else(|| id.to_string(), |node| node.name.clone())
    };
    let down_s = |link: &LinkHistory| link.known_s - link.up_s;
    // Pairs that never were a link were not down: they are too far apart.
    let came = |(_, link): &(&_, &LinkHistory)| link.up_s > 0.0;
    let mut all: Vec<_> = run.history.links.iter().filter(came).collect();
    all.sort_by(|(_, a), (_, b)| down_s(b).total_cmp(&down_s(a)));
    for ((a, b), link) in all.into_iter().take(LINKS_MAX) {
        let share = if link.known_s > 0.0 {
            link.up_s / link.known_s
        } else {
            0.0
        };
        table.row([
            name(*a),
            name(*b),
            percent(share),
            link.changes.to_string(),
            format!("{:.1}", link.margin_min_db),
        ]);
    }
    table
}

fn html(table: &Table) -> String {
    let mut out = String::from("<table><tr>");
    let class = |align: Align| match align {
        Align::Left => "",
        Align::Right => " class=\"r\"",
    };
    for (head, align) in table.heads() {
        let _ = write!(out, "<th{}>{}</th>", class(align), escape(head));
    }
    out += "</tr>\n";
    for row in table.rows() {
        out += "<tr>";
        for ((_, align), cell) in table.heads().zip(row) {
            let _ = write!(out, "<td{}>{}</td>", class(align), escape(cell));
        }
        out += "</tr>\n";
    }
    out + "</table>\n"
}
