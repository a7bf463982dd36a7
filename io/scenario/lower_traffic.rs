//! Flows, and failures of nodes and links.

use groundwave_toml_document::key::KeyPath;
use serde_json::{Value as Json, json};

use super::check::{self, Names};
use super::file::FailureFile;
use super::limits::FLOWS_MAX;
use super::lowering::Lowering;

/// `flow.start` and `flow.stop`.
pub(super) fn flows(lowering: &mut Lowering<'_>) {
    let file = lowering.file;
    let mut names = Names::default();
    if file.flow.len() > FLOWS_MAX {
        let actual = format!("{} flows", file.flow.len());
        lowering.report.at(&KeyPath::section("flow"), actual, format!("at most {FLOWS_MAX}"));
        return;
    }
    for (index, flow) in file.flow.iter().enumerate() {
        let path = KeyPath::item("flow", index);
        let report = &mut lowering.report;
        if check::name(&flow.name, &path.key("name"), report) {
            names.add(&flow.name, 0, &path.key("name"), report);
        }
        let label = flow.label.as_deref().unwrap_or(&flow.name);
        check::label(label, &path.key("label"), report);
        check::ranges(flow, &path, report);
        if flow.source == flow.target {
            report.at(&path.key("target"), "the source itself", "another node");
        }
        let Some(at_ns) = lowering.at(flow.at_s, &path.key("at_s")) else {
            continue;
        };
        lowering.present(&flow.source, at_ns, &path.key("source"));
        lowering.present(&flow.target, at_ns, &path.key("target"));
        let body = json!({
            "flow": flow.name,
            "name": label,
            "source": flow.source,
            "target": flow.target,
            "rate_bps": flow.rate_bps,
        });
        lowering.record(at_ns, "flow.start", body, &path);
        if let Some(until_ns) = lowering.until(at_ns, flow.until_s, &path.key("until_s")) {
            lowering.record(until_ns, "flow.stop", json!({ "flow": flow.name }), &path);
        }
    }
}

/// `node.fail`, `link.fail` and their restoration.
pub(super) fn failures(lowering: &mut Lowering<'_>) {
    let file = lowering.file;
    for (index, failure) in file.failure.iter().enumerate() {
        let path = KeyPath::item("failure", index);
        let Some(at_ns) = lowering.at(failure.at_s, &path.key("at_s")) else {
            continue;
        };
        let Some((kind, body)) = victim(lowering, failure, at_ns, &path) else {
            continue;
        };
        lowering.record(at_ns, &format!("{kind}.fail"), body.clone(), &path);
        if let Some(until_ns) = lowering.until(at_ns, failure.until_s, &path.key("until_s")) {
            lowering.record(until_ns, &format!("{kind}.restore"), body, &path);
        }
    }
}

/// Failing item: the first part of the command's name, and its body.
fn victim(
    lowering: &mut Lowering<'_>,
    failure: &FailureFile,
    at_ns: u64,
    path: &KeyPath,
) -> Option<(&'static str, Json)> {
    match (&failure.node, &failure.link) {
        (Some(node), None) => {
            let good = lowering.present(node, at_ns, &path.key("node"));
            good.then(|| ("node", json!({ "node": node })))
        }
        (None, Some([a, b])) => {
            let at = path.key("link");
            if a == b {
                lowering.report.at(&at, "both ends are one node", "two nodes");
            }
            let first = lowering.present(a, at_ns, &at.index(0));
            let second = lowering.present(b, at_ns, &at.index(1));
            (first && second).then(|| ("link", json!({ "a": a, "b": b })))
        }
        _ => {
            lowering.report.at(
                path,
                "does not say what fails",
                "either node = \"a\" or link = [\"a\", \"b\"]",
            );
            None
        }
    }
}
