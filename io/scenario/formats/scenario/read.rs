//! Reader of plans.

use std::path::Path;

use groundwave_model::radio::Station;
use groundwave_simulation::site::{AddNode, NodeId, SetEnvironment};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::super::error::{Fault, FormatError, Location};
use super::super::plan::collect::{Collector, Deployment};
use super::super::plan::{PlanFile, PlanNode};
use super::super::report::Report;
use super::super::text::text;
use super::FORMAT;
use crate::limits::LABEL_CHARS_MAX;
use crate::{Scenario, Scheduled, Terrain};

/// Reads a plan; files that it names are in `folder`, and none are read without one. `defaults` are not used: the
/// stations of a scenario are complete.
pub(super) fn read(
    bytes: &[u8],
    folder: Option<&Path>,
    defaults: &Station,
) -> Result<(PlanFile, Report), FormatError> {
    let text = text(&FORMAT, bytes)?;
    let scenario = match folder {
        Some(folder) => crate::parse(text, "scenario", folder)?,
        None => crate::parse_alone(text, "scenario")?,
    };
    let mut collector = Collector::new(&FORMAT, defaults);
    for (record, line) in scenario.records.iter().zip(&scenario.lines) {
        take(&mut collector, record, u64::from(*line))?;
    }
    let names_model = scenario.names_model || scenario.land_cover.is_some();
    rest(&mut collector, scenario);
    let (mut plan, report) = collector.finish()?;
    plan.names_model = names_model;
    Ok((plan, report))
}

/// Takes a record.
fn take(collector: &mut Collector<'_>, record: &Scheduled, line: u64) -> Result<(), FormatError> {
    let here = || Location::new(line, "");
    let later = record.at_ns > 0;
    match record.name.as_str() {
        "node.add" => {
            let add: AddNode = body(record, line)?;
            // A name becomes an id when the scenario runs; a plan gets ids of its own.
            let named = record.body.get("node").and_then(|node| node.as_str());
            let id = named.and_then(|name| Uuid::try_parse(name).ok());
            if later {
                let what = "a node that joins later is taken as there from the start";
                collector.report.add(what, here);
            }
            collector.push(PlanNode {
                id: id.map(NodeId::new),
                name: add.name,
                role: add.role,
                position: add.position,
                height_msl_m: None,
                station: add.station,
            });
        }
        // The height of a node above sea level comes after the node.
        "node.update" if collector.take_height_msl(&record.body) => {}
        "environment.set" if !later => {
            let set: SetEnvironment = body(record, line)?;
            collector.deployment.environment = Some(set.environment);
        }
        other => {
            let what = format!("{other} is not part of a plan: dropped");
            collector.report.add(&what, here);
        }
    }
    Ok(())
}

/// The body of a record as its command.
fn body<T: DeserializeOwned>(record: &Scheduled, line: u64) -> Result<T, FormatError> {
    serde_json::from_value(record.body.clone()).map_err(|error| {
        let allowed = format!("the body of {}", record.name);
        let fault = Fault::new("", error.to_string(), allowed);
        fault.at(&FORMAT, Location::new(line, record.name.as_str()))
    })
}

/// Takes the parts besides records.
fn rest(collector: &mut Collector<'_>, scenario: Scenario) {
    let section = |name: &'static str| move || Location::path(name);
    let drop = [
        (!scenario.description.is_empty(), "scenario.description"),
        (scenario.terrain != Terrain::Flat { elevation_msl_m: 0.0 }, "terrain"),
        (scenario.coverage.is_some(), "coverage"),
        (scenario.output.directory.is_some(), "output"),
    ];
    for (_, name) in drop.into_iter().filter(|(there, _)| *there) {
        let what = format!("{name} is not part of a plan: dropped");
        collector.report.add(&what, section(name));
    }
    let deployment = scenario.deployment.unwrap_or_default();
    let name = deployment.name.unwrap_or_else(|| {
        let title = scenario.title;
        let end = title.char_indices().nth(LABEL_CHARS_MAX);
        let end = end.map_or(title.len(), |(end, _)| end);
        if end < title.len() {
            let what = format!("title is cut to {LABEL_CHARS_MAX} characters");
            collector.report.add(&what, section("scenario.title"));
        }
        title[..end].to_owned()
    });
    collector.deployment = Deployment {
        name: Some(name),
        center: deployment.center,
        region: deployment.region,
        environment: collector.deployment.environment.take(),
    };
}
