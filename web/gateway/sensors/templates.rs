//! Sensor template endpoints.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use groundwave_engine::Id;
use groundwave_gateway::config::{Expected, Versioned};
use groundwave_host::i2c::load;
use groundwave_http::json_body::StrictJson;
use groundwave_http::page::{Page, Paging};
use groundwave_http::problem::{FieldCode, ProblemKind};
use groundwave_http::tag::{Tag, if_match_revision, tag};
use groundwave_http::{Json, Path, Problem, Query};
use groundwave_sensor::SensorTemplate;
use groundwave_sensor::dry_run::Recording;
use groundwave_toml_document::TomlErrors;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::definition::{Definable, Definition};
use crate::access::{Admin, Operator, Viewer};
use crate::services::config_objects;
use crate::services::config_objects::{Revision, Shown};
use crate::services::peripherals::PeripheralHost;
use crate::services::world::{World, missing};

impl Definable for SensorTemplate {
    const BYTES_MAX: usize = 32 << 10;

    fn of_toml(text: &str) -> Result<Self, TomlErrors> {
        load::template(text, "body")
    }
}

/// Sensor template, with its revision unless it is built in.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SensorTemplateView {
    /// Template.
    #[serde(flatten)]
    pub template: SensorTemplate,
    /// `true` for templates that come with the program and cannot be changed.
    pub built_in: bool,
    /// Revision.
    #[serde(flatten)]
    pub revision: Option<Revision>,
}

impl SensorTemplateView {
    fn built_in(template: &SensorTemplate) -> Self {
        Self { template: template.clone(), built_in: true, revision: None }
    }
}

impl Shown for SensorTemplateView {
    type Object = SensorTemplate;

    fn of(_: Uuid, versioned: &Versioned<SensorTemplate>) -> Self {
        Self {
            template: versioned.object.clone(),
            built_in: false,
            revision: Some(Revision::of(versioned)),
        }
    }
}

fn id_of(name: &str) -> Uuid {
    Id::<SensorTemplate>::named(name).uuid()
}

/// List sensor templates
#[utoipa::path(get, path = "/v1/sensors/templates", tag = "sensors", params(Paging),
    responses((status = 200, description = "Built-in and created ones, by name")))]
pub async fn sensor_templates(
    _: Viewer,
    State(world): State<World>,
    State(host): State<Arc<PeripheralHost>>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<SensorTemplateView>>, Problem> {
    let templates = config_objects::objects::<SensorTemplate>(&world);
    let mut all: BTreeMap<String, SensorTemplateView> = BTreeMap::new();
    for template in &host.templates {
        all.insert(template.template_id.clone(), SensorTemplateView::built_in(template));
    }
    for (id, versioned) in templates.iter() {
        let view = SensorTemplateView::of(id.uuid(), versioned);
        all.insert(versioned.object.template_id.clone(), view);
    }
    Ok(Json(paging.of(all.into_iter(), |view| view)?))
}

/// Create a sensor template
#[utoipa::path(post, path = "/v1/sensors/templates", tag = "sensors",
    responses((status = 201, description = "The template",
            headers(("etag" = String, description = "Revision"))),
        (status = 409, description = "Name exists"),
        (status = 413, description = "Longer than 32 KiB"),
        (status = 415, description = "Neither JSON nor TOML")))]
pub async fn sensor_template_create(
    _: Admin,
    State(world): State<World>,
    Definition(template): Definition<SensorTemplate>,
) -> Result<(StatusCode, Tag, Json<SensorTemplateView>), Problem> {
    let id = id_of(&template.template_id);
    let (tag, view) = config_objects::put(&world, id, template, Expected::Absent).await?;
    Ok((StatusCode::CREATED, tag, view))
}

fn find(
    world: &World,
    host: &PeripheralHost,
    name: &str,
) -> Result<(u64, SensorTemplateView), Problem> {
    if let Some(built_in) = host.templates.iter().find(|one| one.template_id == name) {
        return Ok((0, SensorTemplateView::built_in(built_in)));
    }
    let templates = config_objects::objects::<SensorTemplate>(world);
    let template =
        templates.get(Id::named(name)).ok_or_else(|| missing("sensor template", name))?;
    Ok((template.revision, SensorTemplateView::of(id_of(name), template)))
}

/// Get a sensor template
#[utoipa::path(get, path = "/v1/sensors/templates/{template_id}", tag = "sensors",
    params(("template_id" = String, Path, description = "Template name", pattern = "^[a-z0-9_]{1,32}$")),
    responses((status = 200, description = "The template",
            headers(("etag" = String, description = "Revision; 0 for built-in ones"))),
        (status = 404, description = "No such template")))]
pub async fn sensor_template_fetch(
    _: Viewer,
    State(world): State<World>,
    State(host): State<Arc<PeripheralHost>>,
    Path(name): Path<String>,
) -> Result<(Tag, Json<SensorTemplateView>), Problem> {
    let (revision, view) = find(&world, &host, &name)?;
    Ok((tag(revision), Json(view)))
}

fn built_in(host: &PeripheralHost, name: &str) -> Result<(), Problem> {
    match host.templates.iter().any(|one| one.template_id == name) {
        true => {
            let message = format!("conflict: the sensor template {name:?} is built in");
            Err(Problem::new(StatusCode::CONFLICT, message).of_kind(ProblemKind::Conflict))
        }
        false => Ok(()),
    }
}

/// Replace a sensor template
#[utoipa::path(put, path = "/v1/sensors/templates/{template_id}", tag = "sensors",
    params(("template_id" = String, Path, description = "Template name", pattern = "^[a-z0-9_]{1,32}$"),
        ("if-match" = Option<String>, Header, description = "Revision that the change applies to")),
    responses((status = 200, description = "The template",
            headers(("etag" = String, description = "New revision"))),
        (status = 404, description = "No such template"),
        (status = 409, description = "Built in"),
        (status = 412, description = "Changed since that revision"),
        (status = 413, description = "Longer than 32 KiB"),
        (status = 415, description = "Neither JSON nor TOML")))]
pub async fn sensor_template_replace(
    _: Admin,
    State(world): State<World>,
    State(host): State<Arc<PeripheralHost>>,
    Path(name): Path<String>,
    headers: HeaderMap,
    Definition(template): Definition<SensorTemplate>,
) -> Result<(Tag, Json<SensorTemplateView>), Problem> {
    built_in(&host, &name)?;
    let expected = Expected::revision(if_match_revision(&headers)?);
    config_objects::put(&world, id_of(&name), template, expected).await
}

/// Remove a sensor template
#[utoipa::path(delete, path = "/v1/sensors/templates/{template_id}", tag = "sensors",
    params(("template_id" = String, Path, description = "Template name", pattern = "^[a-z0-9_]{1,32}$"),
        ("if-match" = Option<String>, Header, description = "Revision to remove")),
    responses((status = 204, description = "Removed"),
        (status = 404, description = "No such template"),
        (status = 409, description = "Built in, or assigned"),
        (status = 412, description = "Changed since that revision")))]
pub async fn sensor_template_remove(
    _: Admin,
    State(world): State<World>,
    State(host): State<Arc<PeripheralHost>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    built_in(&host, &name)?;
    config_objects::remove::<SensorTemplate>(&world, id_of(&name), &headers).await
}

/// Recorded registers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SensorRecording {
    /// Bytes in hexadecimal digits by register, `0x88`, or by the name of a register or frame of the
    /// template. Bytes beyond a register are those of the registers after it.
    #[schemars(extend("maxProperties" = 128))]
    pub registers: BTreeMap<String, String>,
}

/// Value of a metric.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SensorMetricValue {
    /// Value.
    pub value: f64,
    /// Unit.
    pub unit: String,
}

/// Metrics of recorded registers.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SensorDryRun {
    /// Metrics with a value.
    pub metrics: BTreeMap<String, SensorMetricValue>,
    /// Reasons of values that are missing.
    pub faults: BTreeMap<String, String>,
}

/// Compute the metrics of recorded registers; no bus is accessed
#[utoipa::path(post, path = "/v1/sensors/templates/{template_id}/dry-run", tag = "sensors",
    params(("template_id" = String, Path, description = "Template name", pattern = "^[a-z0-9_]{1,32}$")),
    responses((status = 200, description = "Metrics"),
        (status = 404, description = "No such template")))]
pub async fn sensor_template_dry_run(
    _: Operator,
    State(world): State<World>,
    State(host): State<Arc<PeripheralHost>>,
    Path(name): Path<String>,
    StrictJson(recording): StrictJson<SensorRecording>,
) -> Result<Json<SensorDryRun>, Problem> {
    let (_, SensorTemplateView { template, .. }) = find(&world, &host, &name)?;
    let computed = Recording::parse(&recording.registers)
        .and_then(|recording| template.dry_run(&recording))
        .map_err(|bad| {
            let pointer = format!("/{}", bad.key.replacen('.', "/", 1));
            let message = format!("invalid value: found {}, allowed {}", bad.found, bad.allowed);
            Problem::field(&pointer, FieldCode::NotAllowed, message)
                .of_kind(ProblemKind::TemplateInvalid)
        })?;
    let metric = |(name, value): (&str, f64)| {
        let unit = template.unit_of(name).unwrap_or_default().to_owned();
        (name.to_owned(), SensorMetricValue { value, unit })
    };
    let faults = computed.faults.into_iter();
    Ok(Json(SensorDryRun {
        metrics: computed.metrics.into_iter().map(metric).collect(),
        faults: faults.map(|(name, why)| (name.to_owned(), why)).collect(),
    }))
}
