//! Deployments as documents, in and out.

use std::path::PathBuf;

use axum::extract::State;
use axum::http::{HeaderName, StatusCode, header};
use groundwave_http::document::Bytes;
use groundwave_http::{Json, Path, Problem, Query, Raw, attachment, id};
use groundwave_model::radio::Model;
use groundwave_model::terrain::{SWAPPED, Terrain as _, is_swapped};
use groundwave_scenario::formats::{
    Format, PlanFile, PlanNode, ReadOptions, Report, Source, identify, without_options,
};
use groundwave_simulation::deployment::{DeploymentId, ImportDeployment, ImportedNode, Plan};
use groundwave_simulation::site::NodeId;
use uuid::Uuid;

use super::Planner;
use super::problems::format_problem;
use super::wire::deployment::Deployment;
use super::wire::exchange::{
    AnyObject, ExchangeFormat, FormatQuery, ImportNote, ImportQuery, Imported,
};
use super::wire::radio::default_station;

/// Maximum length of the name of a file, bytes: that of common file systems.
const FILE_NAME_BYTES_MAX: usize = 255;

/// Longest document taken, bytes: a hundred thousand nodes with all their fields.
pub const IMPORT_BYTES_MAX: usize = 128 << 20;

/// Export a deployment
#[utoipa::path(get, path = "/api/v1/deployments/{id}/export", tag = "exchange",
    params(("id" = Uuid, Path, description = "Deployment id"),
        ("format" = ExchangeFormat, Query, description = "Format")),
    responses(
        (status = 200, description = "Document; its import restores every value exactly",
            content((inline(AnyObject) = "application/geo+json"), (String = "application/vnd.google-earth.kml+xml"),
                (inline(Bytes) = "application/vnd.google-earth.kmz"), (String = "text/csv; charset=utf-8"),
                (String = "application/toml"))),
        (status = 404, description = "No such deployment")))]
pub async fn export(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
    Query(asked): Query<FormatQuery>,
) -> Result<([(HeaderName, String); 2], Vec<u8>), Problem> {
    let deployment = planner.deployment(id)?;
    let view = planner.world.view();
    let format = asked.format.format();
    let name = deployment.outline.name.clone();
    let written = planner.transfer(move || {
        let nodes = view.plan.nodes_of(deployment.id).map(|node| PlanNode {
            id: Some(node.id),
            name: node.name.clone(),
            role: node.role,
            position: node.position,
            height_msl_m: None,
            station: node.station.clone(),
        });
        let (outline, nodes) = (deployment.outline.clone(), nodes.collect());
        let plan = PlanFile { outline, names_model: true, nodes };
        let mut out = Vec::new();
        let written = format.write_plan.map(|write| write(&plan, &mut out));
        written
            .transpose()
            .map_err(|err| Problem::internal(format!("write the document: {err}")))?;
        Ok(out)
    });
    let file = attachment(&name, format.extension());
    let headers = [
        (header::CONTENT_TYPE, format.media_type.unwrap_or_default().to_owned()),
        (header::CONTENT_DISPOSITION, file),
    ];
    Ok((headers, written.await?))
}

/// Import a deployment
///
/// All of it or nothing. What was dropped or filled in is noted in the answer. Nodes keep the ids
/// the document states unless they are taken. Without a format the content decides, and the ending
/// of the file name where several formats have it: maps of positions too, such as meshviewer and the
/// way points of GPX, whose nodes have the default station. A document without a name of its own
/// gives the deployment that of the file. Up to 128 MiB.
#[utoipa::path(post, path = "/api/v1/deployments/import", tag = "exchange",
    params(("format" = Option<ExchangeFormat>, Query, description = "Format; by the content if missing"),
        ("file_name" = Option<String>, Query, description = "Name of the file, up to 255 bytes")),
    request_body(description = "The document", content_type = "application/octet-stream", content = inline(Bytes)),
    responses(
        (status = 201, description = "Created"),
        (status = 409, description = "Too many deployments or nodes")))]
pub async fn import(
    State(planner): State<Planner>,
    Query(query): Query<ImportQuery>,
    Raw(document): Raw,
) -> Result<(StatusCode, Json<Imported>), Problem> {
    let name = query.file_name.unwrap_or_default();
    if name.len() > FILE_NAME_BYTES_MAX {
        return Err(Problem::bad_request(format!(
            "invalid file_name: found {} bytes, allowed up to {FILE_NAME_BYTES_MAX}",
            name.len()
        )));
    }
    let read = planner.transfer(move || {
        let source = Source { path: PathBuf::from(name), ..Source::of(document.into()) };
        let format = query.format.map(ExchangeFormat::format);
        read_plan(format, &source)
    });
    let (mut plan, mut report, has_recording) = read.await?;
    if plan.nodes.iter().any(|node| node.height_msl_m.is_some()) {
        let settled = planner.analyse(move |terrain| {
            plan.settle_heights(&mut report, |at| terrain.elevation_msl_m(at));
            Ok((plan, report))
        });
        (plan, report) = settled.await?;
    }
    if !plan.names_model {
        plan.outline.environment.model = Model::where_unnamed(planner.terrain.has_cover());
    }
    let positions: Vec<_> = plan.nodes.iter().map(|node| node.position).collect();
    let is_of_swapped_axes =
        planner.analyse(move |terrain| Ok(is_swapped(terrain, &positions))).await?;
    let id = id::mint();
    let command = command(&planner.world.view().plan, plan, DeploymentId::new(id));
    let nodes = command.nodes.len();
    planner.submit(command).await?;
    let deployment = Deployment::from(&*planner.deployment(id)?);
    let mut notes = import_notes(report);
    if is_of_swapped_axes {
        notes.push(ImportNote { what: SWAPPED.to_owned(), count: nodes, first: String::new() });
    }
    let imported = Imported { deployment, nodes, notes, has_recording };
    Ok((StatusCode::CREATED, Json(imported)))
}

/// The plan of a document, of the format of its content unless one is given, and whether it has movements or
/// measurements too.
///
/// # Errors
/// 400 for an invalid document, and for one that has neither a node nor a deployment.
fn read_plan(
    format: Option<&'static Format>,
    source: &Source,
) -> Result<(PlanFile, Report, bool), Problem> {
    let format = format.map_or_else(|| identify(source), Ok).map_err(format_problem)?;
    let station = default_station();
    let read = format.read(source, &ReadOptions::new(station.clone()));
    let mut dataset = read.map_err(format_problem)?;
    dataset.name_after(&source.stem());
    // A single snapshot is a map.
    let times_s =
        [dataset.events.first(), dataset.events.last()].map(|event| event.map(|(s, _)| *s));
    let has_recording = times_s[0] < times_s[1];
    let (plan, mut report) = dataset.into_plan(format, &station).map_err(format_problem)?;
    // An exported deployment without nodes states its environment.
    if plan.nodes.is_empty() && !plan.names_model {
        report.notes.retain(|note| !note.what.ends_with(" taken"));
        let notes = report.summary();
        let what = format!("{format}: found no node with a position{notes}, allowed at least one");
        return Err(Problem::bad_request(without_options(&what)));
    }
    Ok((plan, report, has_recording))
}

fn command(plan: &Plan, file: PlanFile, deployment: DeploymentId) -> ImportDeployment {
    let free = |id: &NodeId| !plan.nodes.contains_key(id);
    let node = |node: PlanNode| ImportedNode {
        node: node.id.filter(free).unwrap_or_else(|| NodeId::new(id::mint())),
        name: node.name,
        role: node.role,
        position: node.position,
        station: node.station,
    };
    ImportDeployment {
        deployment,
        outline: file.outline,
        nodes: file.nodes.into_iter().map(node).collect(),
    }
}

/// Notes of a report, as answers have them.
pub(crate) fn import_notes(report: Report) -> Vec<ImportNote> {
    let mut notes: Vec<_> = report
        .notes
        .into_iter()
        .map(|note| ImportNote {
            what: without_options(&note.what),
            count: note.count,
            first: note.first.to_string(),
        })
        .collect();
    if report.more > 0 {
        notes.push(ImportNote {
            what: "more, of other kinds".to_owned(),
            count: report.more,
            first: String::new(),
        });
    }
    notes
}
