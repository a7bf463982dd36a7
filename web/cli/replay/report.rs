//! HTML report of a replay: pictures and tables, without external resources.

use groundwave_gateway::Snapshot;
use groundwave_model::radio::Expectation;
use groundwave_plot::{HistoryPicture, MapPicture, history_svg, map_svg};
use groundwave_setup::terrain::REMEDY;
use groundwave_simulation::history::LinkHistory;
use groundwave_simulation::site::NodeId;
use groundwave_text::{Align, Table, bits_per_second, percent};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::fork::{Fork, up_share};
use super::measured as levels;
use super::{Run, failures};
use crate::cli::{output, placeholders};

/// Most links in the table.
const LINKS_MAX: usize = 50;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;color:#1b2430;max-width:60rem;\
margin:2rem auto;padding:0 1rem}h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}\
table{border-collapse:collapse;font-size:.9rem}td,th{padding:.2rem .7rem;border-bottom:1px solid \
#d5dce3;text-align:left}td.r,th.r{text-align:right;font-variant-numeric:tabular-nums}\
.soft{color:#5a6675}.missing{padding:.4rem .7rem;color:#7a1810;background:repeating-linear-gradient(\
45deg,#fbe3df 0 8px,#fff 8px 16px)}svg{max-width:100%;height:auto}";

/// The report of a replay and, if given, of the changed replay beside it.
pub fn page(run: &Run, fork: Option<&Run>) -> String {
    let view = run.engine.view();
    let subject = fork.unwrap_or(run);
    let history = HistoryPicture {
        recorded: &run.history.samples,
        changed: fork.map(|fork| &fork.history.samples[..]),
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { (run.title()) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (run.title()) }
                (summary(run, &view))
                @if let Some(fork) = fork { (changes(run, fork)) }
                h2 { "Mesh at the end" }
                (PreEscaped(map_svg(&MapPicture { now: &view })))
                h2 { "History" }
                (PreEscaped(history_svg(&history)))
                @if !subject.history.flows.is_empty() {
                    (section("Flows", &flows(subject)))
                    (section("Outages", &outages(subject)))
                    (section("Routes of flows", &failures::routes(&subject.history)))
                }
                @let failures = failures::disturbances(&subject.history);
                @if !failures.is_empty() { (section("Failures and their effects", &failures)) }
                @if let Some(what) = placeholders::nodes_without_position(&run.history.levels, &view) {
                    h2 { "Measurements" }
                    p { (what) ": they are not compared with the model." }
                }
                @if let Some(measured) = run.measured() {
                    h2 { "Measurements" }
                    p { (measured.text()) }
                    @if let Some(picture) = levels::picture(&run.history.levels) {
                        (PreEscaped(picture))
                    }
                    (table(&levels::table(&run.history)))
                }
                @let (was_up, never_up) = links(subject, &view);
                (section("Links with the longest time down", &was_up))
                @if !never_up.is_empty() {
                    (section("Links that were never up, the nearest to it first", &never_up))
                }
            }
        }
    };
    page.into_string() + "\n"
}

fn summary(run: &Run, view: &Snapshot) -> Markup {
    let replayed = &run.replayed;
    html! {
        p {
            (run.history.span_s()) " s simulated in " (replayed.ticks) " ticks, "
            (replayed.commands) " commands; " (replayed.marks) " digests compared, all equal. "
            span.soft { "Digest " (replayed.digest) "." }
        }
        @if let Some(gaps) = output::gaps(view, REMEDY) {
            p class="missing" { (gaps) }
        }
        p { "Assumed: " (view.environment.assumptions(None)) "." }
        @if let Some(calibration) = &view.environment.calibration {
            p { "Calibration profile: " b { (calibration.name) } }
        }
    }
}

fn changes(run: &Run, fork: &Run) -> Markup {
    let compared = Fork::of(run, fork);
    let flows = compared.flow_table();
    html! {
        h2 { "Changes" }
        ul { @for change in &fork.changed { li { code { (change) } } } }
        (table(&compared.totals()))
        @if !flows.is_empty() { (table(&flows)) }
        @for line in compared.refused_lines() { p { (line) } }
    }
}

fn section(title: &str, rows: &Table) -> Markup {
    html! {
        h2 { (title) }
        @if rows.is_empty() { p { "None." } } @else { (table(rows)) }
    }
}

fn table(table: &Table) -> Markup {
    let class = |align| (align == Align::Right).then_some("r");
    html! {
        table {
            tr { @for (head, align) in table.heads() { th class=[class(align)] { (head) } } }
            @for row in table.rows() {
                tr {
                    @for ((_, align), cell) in table.heads().zip(row) {
                        td class=[class(align)] { (cell) }
                    }
                }
            }
        }
    }
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
        ("cause", Align::Left),
    ]);
    for flow in run.history.flows.values() {
        for outage in &flow.outages {
            let to = outage.to_s.map_or("end".to_owned(), |s| format!("{s:.1}"));
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

/// Links that were up at times, by the time they were not, and links that never were.
fn links(run: &Run, view: &Snapshot) -> (Table, Table) {
    let down_s = |link: &LinkHistory| link.known_s - link.up_s;
    let all = run.history.links.iter();
    let (mut was_up, mut never_up): (Vec<_>, Vec<_>) = all.partition(|(_, link)| link.up_s > 0.0);
    was_up.sort_by(|(_, a), (_, b)| down_s(b).total_cmp(&down_s(a)));
    never_up.sort_by(|(_, a), (_, b)| b.margin_min_db.total_cmp(&a.margin_min_db));
    (link_table(was_up, run, view), link_table(never_up, run, view))
}

fn link_table(all: Vec<(&(NodeId, NodeId), &LinkHistory)>, run: &Run, view: &Snapshot) -> Table {
    let mut table = Table::new(&[
        ("link", Align::Left),
        ("to", Align::Left),
        ("up", Align::Right),
        ("changes", Align::Right),
        ("least margin dB", Align::Right),
        (Expectation::CHANCE, Align::Right),
        (Expectation::INTERVAL, Align::Right),
        (Expectation::BASIS, Align::Left),
    ]);
    let none = || "–".to_owned();
    for ((a, b), link) in all.into_iter().take(LINKS_MAX) {
        // A pair that went out of range has no prediction any more.
        let place = view.links.binary_search_by_key(&(*a, *b), |link| (link.a, link.b));
        let at_the_end = place.ok().map(|place| view.links[place].budget.expectation());
        let share = if link.known_s > 0.0 { link.up_s / link.known_s } else { 0.0 };
        table.row([
            run.history.name(*a),
            run.history.name(*b),
            percent(share),
            link.changes.to_string(),
            match link.margin_min_db.is_finite() {
                true => format!("{:.1}", link.margin_min_db),
                false => "–".to_owned(),
            },
            at_the_end.map_or(none(), |one| one.chance()),
            at_the_end.map_or(none(), |one| one.interval()),
            at_the_end.map_or(none(), |one| one.basis.short().to_owned()),
        ]);
    }
    table
}
