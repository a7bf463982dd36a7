//! Firewall rule endpoints: changes are staged until they are applied.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use groundwave_gateway::config::Versioned;
use groundwave_gateway::firewall::FirewallRule;
use groundwave_http::json_body::StrictJson;
use groundwave_http::page::{Page, Paging};
use groundwave_http::tag::Tag;
use groundwave_http::{Json, Path, Problem, Query};
use groundwave_io_gateway::nft::Listing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::{Admin, Viewer};
use crate::services::config_objects;
use crate::services::config_objects::{Revision, Shown};
use crate::services::firewall::FirewallService;
use crate::services::world::World;

/// Rule, with its revision and counts.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleView {
    /// Rule id.
    pub rule_id: Uuid,
    /// Rule.
    #[serde(flatten)]
    pub rule: FirewallRule,
    /// Packets it decided on since the ruleset was applied; absent where it is not in force.
    pub packets: Option<u64>,
    /// Bytes of those packets.
    pub bytes: Option<u64>,
    /// Revision.
    #[serde(flatten)]
    pub revision: Revision,
}

impl Shown for RuleView {
    type Object = FirewallRule;

    fn of(rule_id: Uuid, versioned: &Versioned<FirewallRule>) -> Self {
        Self {
            rule_id,
            rule: versioned.object.clone(),
            packets: None,
            bytes: None,
            revision: Revision::of(versioned),
        }
    }
}

impl RuleView {
    fn count(&mut self, listing: Option<&Listing>) {
        let counted = FirewallService::counted(listing, self.rule_id);
        self.packets = counted.map(|counted| counted.packets);
        self.bytes = counted.map(|counted| counted.bytes);
    }
}

/// Filter of rules.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RuleQuery {
    /// Zone id: rules from it or to it
    pub zone: Option<Uuid>,
}

/// List firewall rules
#[utoipa::path(get, path = "/v1/firewall/rules", tag = "firewall", params(RuleQuery, Paging),
    responses((status = 200, description = "Oldest first")))]
pub async fn rules(
    _: Viewer,
    State(world): State<World>,
    State(firewall): State<Arc<FirewallService>>,
    Query(query): Query<RuleQuery>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<RuleView>>, Problem> {
    let fits = |rule: &FirewallRule| {
        let mut zones = rule.src_zone.iter().chain(&rule.dest_zone);
        query.zone.is_none_or(|zone| zones.any(|zone_id| zone_id.uuid() == zone))
    };
    let Json(mut page) = config_objects::list::<RuleView>(&world, &paging, fits)?;
    let listing = firewall.listing(&world).await;
    for view in &mut page.items {
        view.count(listing.as_ref());
    }
    Ok(Json(page))
}

/// Create a firewall rule
#[utoipa::path(post, path = "/v1/firewall/rules", tag = "firewall",
    responses((status = 201, description = "The rule, staged",
            headers(("etag" = String, description = "Revision"))),
        (status = 409, description = "Too many rules")))]
pub async fn rule_create(
    _: Admin,
    State(world): State<World>,
    StrictJson(rule): StrictJson<FirewallRule>,
) -> Result<(StatusCode, Tag, Json<RuleView>), Problem> {
    config_objects::create(&world, rule).await
}

/// Get a firewall rule
#[utoipa::path(get, path = "/v1/firewall/rules/{rule_id}", tag = "firewall",
    params(("rule_id" = Uuid, Path, description = "Rule id")),
    responses((status = 200, description = "The rule",
            headers(("etag" = String, description = "Revision"))),
        (status = 404, description = "No such rule")))]
pub async fn rule_fetch(
    _: Viewer,
    State(world): State<World>,
    State(firewall): State<Arc<FirewallService>>,
    Path(id): Path<Uuid>,
) -> Result<(Tag, Json<RuleView>), Problem> {
    let (tag, Json(mut rule)) = config_objects::fetch::<RuleView>(&world, id)?;
    rule.count(firewall.listing(&world).await.as_ref());
    Ok((tag, Json(rule)))
}

/// Replace a firewall rule
#[utoipa::path(put, path = "/v1/firewall/rules/{rule_id}", tag = "firewall",
    params(("rule_id" = Uuid, Path, description = "Rule id"),
        ("if-match" = Option<String>, Header, description = "Revision that the change applies to")),
    responses((status = 200, description = "The rule, staged",
            headers(("etag" = String, description = "New revision"))),
        (status = 404, description = "No such rule"),
        (status = 412, description = "Changed since that revision")))]
pub async fn rule_replace(
    _: Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
    StrictJson(rule): StrictJson<FirewallRule>,
) -> Result<(Tag, Json<RuleView>), Problem> {
    config_objects::replace(&world, id, &headers, rule).await
}

/// Remove a firewall rule
#[utoipa::path(delete, path = "/v1/firewall/rules/{rule_id}", tag = "firewall",
    params(("rule_id" = Uuid, Path, description = "Rule id"),
        ("if-match" = Option<String>, Header, description = "Revision to remove")),
    responses((status = 204, description = "Removed, staged"),
        (status = 404, description = "No such rule"),
        (status = 412, description = "Changed since that revision")))]
pub async fn rule_remove(
    _: Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    config_objects::remove::<FirewallRule>(&world, id, &headers).await
}
