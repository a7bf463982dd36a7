//! Ruleset endpoints: apply, confirm, read back.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_http::json_body::{OptionalJson, StrictJson};
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Problem};
use groundwave_io_gateway::nft::ForeignTable;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::access::{Admin, Operator};
use crate::services::confirmation::{Confirmation, ConfirmationTime, Divergence};
use crate::services::firewall::{FirewallService, staged};
use crate::services::firewall_diff::RuleChange;
use crate::services::world::World;

/// Application of the staged ruleset.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplyRequest {
    /// Time until an unconfirmed ruleset is reverted, s; default 60.
    #[serde(default)]
    #[schemars(range(min = 10, max = 600))]
    pub confirm_within_s: Option<u32>,
    /// Check only; nothing changes.
    #[serde(default)]
    pub dry_run: bool,
}

/// Applied or checked ruleset.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AppliedRuleset {
    /// Transaction on the table `inet meshgw`, in the JSON of nftables.
    pub nft: String,
    /// Chains and rules that differ from the ruleset before.
    pub diff: Vec<RuleChange>,
    /// Only checked.
    pub dry_run: bool,
    /// Differences of the kernel from the transaction.
    pub divergence: Vec<Divergence>,
    /// Token for the confirmation; absent for a dry run.
    pub confirm_token: Option<String>,
    /// Deadline of the confirmation, RFC 3339; reverted then, or when the gateway stops.
    pub confirm_by: Option<String>,
}

/// Apply the staged zones and rules; reverted unless confirmed
#[utoipa::path(post, path = "/v1/firewall/apply", tag = "firewall",
    responses((status = 200, description = "Ruleset in force, or checked"),
        (status = 409, description = "Another ruleset awaits confirmation"),
        (status = 503, description = "nftables is absent")))]
pub async fn firewall_apply(
    Admin(caller): Admin,
    State(firewall): State<Arc<FirewallService>>,
    State(world): State<World>,
    State(stop): State<CancellationToken>,
    OptionalJson(request): OptionalJson<ApplyRequest>,
) -> Result<Json<AppliedRuleset>, Problem> {
    let within = ConfirmationTime::of(request.confirm_within_s)?;
    // A caller that goes away leaves no transaction without its end.
    let (service, own) = (Arc::clone(&firewall), world.clone());
    let work = tokio::spawn(async move {
        let by = &caller.username;
        let applied = service.apply(&own, by, within, request.dry_run).await?;
        if let Some(token) = applied.token.clone() {
            tokio::spawn(async move {
                within.over(&stop).await;
                service.revert(&own, &token).await;
            });
        }
        Ok(applied)
    });
    let outcome = work.await;
    let applied = outcome.unwrap_or_else(|err| Err(Problem::internal(err.to_string())))?;
    Ok(Json(AppliedRuleset {
        confirm_by: applied.token.is_some().then(|| within.deadline(world.now_s())),
        nft: applied.nft,
        diff: applied.diff,
        dry_run: request.dry_run,
        divergence: applied.divergence,
        confirm_token: applied.token,
    }))
}

/// Confirm the ruleset in force
#[utoipa::path(post, path = "/v1/firewall/confirm", tag = "firewall",
    responses((status = 204, description = "Confirmed"),
        (status = 404, description = "No ruleset awaits confirmation with that token"),
        (status = 410, description = "Ruleset already reverted")))]
pub async fn firewall_confirm(
    _: Admin,
    State(firewall): State<Arc<FirewallService>>,
    State(world): State<World>,
    StrictJson(confirmation): StrictJson<Confirmation>,
) -> Result<StatusCode, Problem> {
    firewall.confirm(&world, &confirmation.confirm_token).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// State of the desired ruleset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RulesetState {
    /// No ruleset was applied.
    None,
    /// Applied, awaits confirmation.
    Pending,
    /// Confirmed.
    Confirmed,
}

/// Ruleset as the kernel holds it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RulesetView {
    /// Table.
    pub table: String,
    /// State of the desired ruleset.
    pub state: RulesetState,
    /// Revision of the desired ruleset.
    pub revision: Option<String>,
    /// User who applied it.
    pub applied_by: Option<String>,
    /// Deadline of the confirmation, RFC 3339.
    pub confirm_by: Option<String>,
    /// Zones or rules changed since.
    pub staged: bool,
    /// Chains with their rules, in the JSON of nftables; absent without the table.
    pub ruleset: Option<Value>,
    /// Differences from the desired ruleset.
    pub divergence: Vec<Divergence>,
    /// Start of this state of the kernel, RFC 3339.
    pub observed_since: Option<String>,
    /// Tables of others; they are not touched.
    pub foreign_tables: Vec<ForeignTable>,
}

/// Read the ruleset back from the kernel
#[utoipa::path(get, path = "/v1/firewall/ruleset", tag = "firewall",
    responses((status = 200, description = "Ruleset in force, beside the desired one"),
        (status = 503, description = "nftables is absent")))]
pub async fn firewall_ruleset(
    _: Operator,
    State(service): State<Arc<FirewallService>>,
    State(world): State<World>,
) -> Result<Json<RulesetView>, Problem> {
    let kernel = service.read(&world).await?;
    let view = world.view();
    let firewall = &view.firewall;
    let desired = firewall.desired();
    let state = match (&firewall.pending, &firewall.confirmed) {
        (Some(_), _) => RulesetState::Pending,
        (None, Some(_)) => RulesetState::Confirmed,
        (None, None) => RulesetState::None,
    };
    let is_staged = match desired {
        Some(ruleset) => ruleset.nft != staged(&view),
        None => !view.config.firewall_zones.is_empty() || !view.config.firewall_rules.is_empty(),
    };
    let pending = firewall.pending.as_ref();
    Ok(Json(RulesetView {
        table: format!(
            "{} {}",
            groundwave_io_gateway::nft::FAMILY,
            groundwave_io_gateway::nft::TABLE
        ),
        state,
        revision: desired.map(|ruleset| ruleset.revision.clone()),
        applied_by: desired.map(|ruleset| ruleset.by.clone()),
        confirm_by: pending.map(|pending| rfc3339(pending.confirm_by_ns)),
        staged: is_staged,
        ruleset: kernel.listing.map(|listing| listing.json()),
        divergence: kernel.divergence,
        observed_since: firewall.observed.as_ref().map(|observed| rfc3339(observed.since_ns)),
        foreign_tables: kernel.foreign,
    }))
}
