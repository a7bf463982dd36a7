//! Audit log endpoint.

use std::sync::Arc;

use axum::extract::State;
use groundwave_http::page::{Page, Paging, invalid_cursor};
use groundwave_http::time;
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Problem, Query};
use groundwave_io_gateway::{Audit, AuditQuery, AuditRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::Admin;
use crate::services::world::blocking;

/// Filter of audit log entries.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AuditFilter {
    /// Account name, also of logins
    pub actor: Option<String>,
    /// Operation id
    pub action: Option<String>,
    /// Earliest time, RFC 3339
    pub from: Option<String>,
    /// Latest time, RFC 3339
    pub to: Option<String>,
}

/// Audit log entry.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AuditEntryView {
    /// Sequence number, from 1.
    pub number: u64,
    /// Time, RFC 3339.
    pub ts: String,
    /// Account name, or `anonymous`.
    pub actor: String,
    /// `user`, `node` or `none`.
    pub kind: String,
    /// Operation id.
    pub action: String,
    /// Request path.
    pub target: String,
    /// HTTP status; 0 where the outcome is unknown, because the gateway was stopped or the client went
    /// away meanwhile.
    pub outcome: u16,
    /// IP address of the client.
    pub source_ip: String,
    /// Request id.
    pub request_id: String,
    /// Further requests like this one that have no entry of their own.
    pub repeated: u64,
    /// SHA-256 of the previous line; in the first line of a segment, of the damage before it.
    pub follows: String,
    /// Username of a login, also of one that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Name of the API token of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

impl From<AuditRecord> for AuditEntryView {
    fn from(record: AuditRecord) -> Self {
        let entry = record.entry;
        Self {
            number: record.number,
            ts: rfc3339(entry.at_ns),
            actor: entry.actor,
            kind: entry.kind,
            action: entry.action,
            target: entry.target,
            outcome: entry.outcome,
            source_ip: entry.source_ip,
            request_id: entry.request_id,
            repeated: entry.repeated,
            follows: record.follows,
            name: entry.name,
            token: entry.token,
        }
    }
}

/// List audit log entries
#[utoipa::path(get, path = "/v1/admin/audit", tag = "admin", params(AuditFilter, Paging),
    responses((status = 200, description = "Latest first")))]
pub async fn audit(
    _: Admin,
    State(audit): State<Arc<Audit>>,
    Query(filter): Query<AuditFilter>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<AuditEntryView>>, Problem> {
    let time = |key: &str, text: Option<&String>, absent: u64| -> Result<u64, Problem> {
        let Some(text) = text else { return Ok(absent) };
        let time = time::read(key, text)?;
        Ok(u64::try_from(time.as_nanosecond()).unwrap_or(0))
    };
    let cursor = paging.cursor.as_deref();
    let number = |text: &str| text.parse::<u64>().map_err(|_| invalid_cursor(text));
    let cursor = cursor.map(number).transpose()?;
    let size = paging.size()?;
    let query = AuditQuery {
        actor: filter.actor,
        action: filter.action,
        from_ns: time("/from", filter.from.as_ref(), 0)?,
        to_ns: time("/to", filter.to.as_ref(), u64::MAX)?,
        before: cursor.unwrap_or(u64::MAX),
        limit: size + 1,
    };
    time::check_range(query.from_ns, query.to_ns)?;
    let log = Arc::clone(&audit);
    let (mut records, total) = blocking(move || {
        log.find_counted(&query).map_err(|err| Problem::internal(err.to_string()))
    })
    .await?;
    let more = records.len() > size;
    records.truncate(size);
    let last = records.last().map(|record| record.number.to_string());
    Ok(Json(Page {
        items: records.into_iter().map(AuditEntryView::from).collect(),
        next_cursor: last.filter(|_| more),
        total,
    }))
}
