//! Tables of failures and of the routes of flows.

use groundwave_simulation::history::History;
use groundwave_text::{Align, Table};

/// Most rows of a table.
const ROWS_MAX: usize = 60;
/// Most events named in a row.
const NAMED_MAX: usize = 3;

/// Failures with their effects on flows, by time.
pub fn disturbances(history: &History) -> Table {
    let mut table = Table::new(&[
        ("at s", Align::Right),
        ("failure", Align::Left),
        ("flows rerouted", Align::Right),
        ("without a route", Align::Right),
        ("restored after s", Align::Right),
        ("stale routes", Align::Right),
        ("converged after s", Align::Right),
    ]);
    let mut all: Vec<_> = history.convergence.disturbances.iter().collect();
    all.sort_by_key(|one| std::cmp::Reverse((one.lost, one.stale_routes, one.rerouted)));
    all.truncate(ROWS_MAX);
    all.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    let after = |s: Option<f64>| s.map_or("never".to_owned(), |s| format!("{s:.1}"));
    for one in all {
        let mut failures = one.what.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
        if one.what.len() > NAMED_MAX {
            failures += &format!(" and {} more", one.what.len() - NAMED_MAX);
        }
        table.row([
            format!("{:.1}", one.at_s),
            failures,
            one.rerouted.to_string(),
            one.lost.to_string(),
            after(one.restored_after_s),
            one.stale_routes.to_string(),
            after(one.converged_after_s),
        ]);
    }
    table
}

/// Routes of flows and the times they changed.
pub fn routes(history: &History) -> Table {
    let mut table = Table::new(&[
        ("flow", Align::Left),
        ("from s", Align::Right),
        ("hops", Align::Right),
        ("over", Align::Left),
    ]);
    for flow in history.flows.values() {
        for way in &flow.ways {
            if table.len() >= ROWS_MAX {
                return table;
            }
            let over: Vec<String> = way.nodes.iter().map(|id| history.name(*id)).collect();
            let over = match over.len() {
                0 => "no route".to_owned(),
                _ => over.join(" → "),
            };
            table.row([
                flow.name.clone(),
                format!("{:.1}", way.at_s),
                way.nodes.len().to_string(),
                over,
            ]);
        }
    }
    table
}
