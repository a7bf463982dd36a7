//! Every shipped scenario, whole answers: what a change does to any of them shows as a diff.

use std::fmt::Write;

use groundwave_engine::Execution;
use groundwave_gateway::Snapshot;
use groundwave_needs::needs;

use crate::support;

/// Numbers at a stated resolution, so that the last bits of a math library stay out.
fn summary(view: &Snapshot) -> String {
    let name = |id| view.node(id).map_or("?", |node| node.name.as_str());
    let mut out = String::new();
    let usable = view.links.iter().filter(|link| link.budget.etx().is_some()).count();
    writeln!(out, "{} nodes, {} links, {usable} usable", view.nodes.len(), view.links.len())
        .unwrap();
    let mut links: Vec<String> = view
        .links
        .iter()
        .map(|link| {
            let (budget, there, back) = (&link.budget, &link.budget.forward, &link.budget.backward);
            let (mut ends, mut ways) = ([name(link.a), name(link.b)], [there, back]);
            if ends[0] > ends[1] {
                ends.reverse();
                ways.reverse();
            }
            format!(
                "{} - {}: {:.1} m, loss {:.2}/{:.2} dB, SNR {:.2}/{:.2} dB, {:?}/{:?}{}",
                ends[0],
                ends[1],
                budget.distance_m,
                ways[0].path_loss_db,
                ways[1].path_loss_db,
                ways[0].snr_db,
                ways[1].snr_db,
                ways[0].verdict,
                ways[1].verdict,
                if link.severed { ", cut" } else { "" },
            )
        })
        .collect();
    links.sort();
    const LINKS_MAX: usize = 60;
    for link in links.iter().take(LINKS_MAX) {
        writeln!(out, "{link}").unwrap();
    }
    if links.len() > LINKS_MAX {
        writeln!(out, "and {} more", links.len() - LINKS_MAX).unwrap();
    }
    for flow in view.flows.iter() {
        write!(out, "flow {}: {}", flow.name, name(flow.source)).unwrap();
        match &flow.route {
            None => writeln!(out, " has no route to {}", name(flow.target)).unwrap(),
            Some(route) => {
                for hop in &route.hops {
                    write!(out, " > {}", name(hop.to)).unwrap();
                }
                let rate = route.bottleneck_rate_bps.unwrap_or(0.0);
                writeln!(out, ", {rate:.0} bit/s, ETT {:.3} ms", route.ett_s * 1e3).unwrap();
            }
        }
    }
    out
}

/// Runs a scenario to its middle and to its end.
fn check(name: &str) {
    let scenario =
        groundwave_scenario::load(&support::scenario_path(&format!("{name}.toml"))).unwrap();
    let terrain = support::terrain(&scenario);
    let mut engine = support::engine(&scenario, terrain, Execution::Parallel);
    let ticks = scenario.ticks();
    let mut out = String::new();
    for tick in 1..=ticks {
        let ticked = engine.tick(None).unwrap();
        assert!(ticked.refused.is_empty(), "{name} in tick {tick}: {:?}", ticked.refused);
        if tick == ticks / 2 || tick == ticks {
            let at_s = engine.view().now_ns / 1_000_000_000;
            writeln!(out, "== after {at_s} s\n{}", summary(&engine.view())).unwrap();
        }
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "snapshots" }, {
        insta::assert_snapshot!(name, out);
    });
}

macro_rules! scenarios {
    ($($(#[$need:meta])? $name:ident),+) => {
        $($(#[$need])?
        #[test]
        fn $name() {
            check(stringify!($name));
        })+

        #[test]
        fn every_shipped_scenario_is_checked() {
            let folder = support::root().join("scenarios");
            let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
            let mut shipped: Vec<_> = files
                .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
                .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
                .collect();
            shipped.sort();
            assert_eq!(shipped, [$(stringify!($name)),+]);
        }
    };
}

scenarios!(
    #[needs(terrain)]
    convoy,
    #[needs(terrain)]
    coverage_gothenburg,
    #[needs(terrain)]
    coverage_grid,
    #[needs(terrain)]
    demo,
    failover,
    #[needs(terrain)]
    gothenburg,
    #[needs(terrain)]
    lora_valley,
    #[needs(terrain)]
    manet50,
    #[needs(terrain)]
    ns2_platoon,
    #[needs(terrain)]
    ridge,
    #[needs(terrain)]
    storm,
    #[needs(terrain)]
    thousand,
    two_nodes
);
