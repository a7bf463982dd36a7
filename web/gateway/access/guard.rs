//! Guard in front of all handlers: host, token, access rule, audit log, request metrics.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{MatchedPath, RawPathParams, Request, State};
use axum::http::{HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use groundwave_engine::FaultKind;
use groundwave_files::wall::{monotonic_ns, wall_ns};
use groundwave_gateway::account::NoteTokenUse;
use groundwave_http::endpoints::Operation;
use groundwave_http::mount::MountedAt;
use groundwave_http::problem::ProblemKind;
use groundwave_http::{Problem, id};
use groundwave_io_gateway::{Audit, AuditEntry, AuditIntent};

use super::caller::{Caller, ClientAddress, Credential};
use super::{Access, LoginNote, Scope, forbidden};
use crate::services::api_tokens::TokenUses;
use crate::services::audit_sampling::AuditSampling;
use crate::services::metrics::Metrics;
use crate::services::tokens::TokenKeys;
use crate::services::world::World;
use crate::settings::Settings;

/// Registered operations by path template and method.
#[derive(Debug)]
pub struct AccessTable(BTreeMap<String, Vec<Operation<Access>>>);

impl AccessTable {
    /// Table of these operations.
    #[must_use]
    pub fn new(operations: Vec<Operation<Access>>) -> Self {
        let mut table = BTreeMap::<String, Vec<_>>::new();
        for operation in operations {
            let path = operation.path.clone();
            table.entry(path).or_default().push(operation);
        }
        Self(table)
    }

    fn operation(&self, request: &Request) -> Option<&Operation<Access>> {
        let path = request.extensions().get::<MatchedPath>()?;
        let method = match request.method() {
            &Method::HEAD => "GET",
            method => method.as_str(),
        };
        let operations = self.0.get(path.as_str())?;
        operations.iter().find(|operation| operation.method == method)
    }
}

/// Services of the guard.
pub struct Guard {
    /// Registered operations.
    pub table: AccessTable,
    /// Accounts and clocks.
    pub world: World,
    /// Host names of the gateway.
    pub settings: Arc<Settings>,
    /// Keys that tokens are signed with.
    pub tokens: Arc<TokenKeys>,
    /// Request counters.
    pub metrics: Arc<Metrics>,
    /// Audit log.
    pub audit: Arc<Audit>,
    /// Sampling of refused requests in the audit log.
    pub audit_sampling: Arc<AuditSampling>,
    /// Noted uses of API tokens.
    pub token_uses: TokenUses,
}

/// Nodes reach paths with their own `node_id` only; others do not exist for them.
fn own_node_only(caller: &Caller, params: &RawPathParams) -> Result<(), Problem> {
    let Some(own) = caller.node else {
        return Ok(());
    };
    let named = params.iter().find(|(name, _)| *name == "node_id");
    match named {
        Some((_, named)) if named.parse() != Ok(own.uuid()) => {
            Err(Problem::not_found("node", named).of_kind(ProblemKind::NotFound))
        }
        _ => Ok(()),
    }
}

/// API tokens reach the operations of their scopes only.
fn in_scope(caller: &Caller, operation: &Operation<Access>) -> Result<(), Problem> {
    let (Credential::ApiToken(_, token), Some(scope)) = (&caller.credential, Scope::of(operation))
    else {
        return Ok(());
    };
    match scope.is_among(&token.object.scopes) {
        true => Ok(()),
        false => Err(forbidden(format!("insufficient scope of the API token: required {scope}"))),
    }
}

/// Admits or refuses a caller: the host must be known, the token valid, role and scope sufficient. The
/// caller is left in `caller` as soon as it is known, and in the request once admitted.
fn admit(
    guard: &Guard,
    operation: Option<&Operation<Access>>,
    params: Result<RawPathParams, RawPathParamsRejection>,
    request: &mut Request,
    cached: &mut Option<Arc<Caller>>,
) -> Result<(), Problem> {
    let headers = request.headers();
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    if host.is_some_and(|host| !guard.settings.answers_to(host)) {
        return Err(forbidden("unknown host name in the header Host"));
    }
    let what = "invalid path: found bytes other than UTF-8, allowed UTF-8";
    let params = params.map_err(|_| Problem::bad_request(what));
    // Without an operation the router answers 404 or 405.
    let Some(operation) = operation.filter(|operation| operation.rule.role.is_some()) else {
        return params.map(drop);
    };
    let view = guard.world.view();
    let caller = Caller::identify(&guard.tokens, &view, headers, guard.world.now_s())?;
    let caller = Arc::new(caller);
    *cached = Some(Arc::clone(&caller));
    operation.rule.permit(&caller)?;
    in_scope(&caller, operation)?;
    own_node_only(&caller, &params?)?;
    request.extensions_mut().insert(caller);
    Ok(())
}

/// Puts an operation that changes something on record, before it is carried out. Logins go on without:
/// who frees the disk has to log in.
fn record(
    guard: &Guard,
    operation: Option<&Operation<Access>>,
    entry: impl FnOnce() -> AuditEntry,
) -> Result<Option<AuditIntent>, Problem> {
    let is_audited = operation.is_some_and(|operation| {
        operation.rule.audited && operation.rule.role.is_some() && operation.method != "GET"
    });
    if !is_audited {
        return Ok(None);
    }
    let intent = guard.audit.begin(entry());
    intent.map(Some).map_err(|err| {
        let detail = format!("audit log: {err}");
        match FaultKind::of(&err).may_pass() {
            true => Problem::storage_full(detail),
            false => Problem::unavailable(detail),
        }
    })
}

/// Notes the use of an API token in the world, at most once a minute; `true` if it did.
fn note_use(guard: &Guard, caller: Option<&Arc<Caller>>) -> bool {
    let Some(Credential::ApiToken(token, _)) = caller.map(|caller| &caller.credential) else {
        return false;
    };
    let token = *token;
    if !guard.token_uses.is_due(token, monotonic_ns()) {
        return false;
    }
    // The request does not wait for it; the token may be revoked meanwhile.
    if let Err(problem) = guard.world.send(NoteTokenUse { token }) {
        tracing::debug!("use of API token {token} not noted: {}", problem.detail);
    }
    true
}

/// Enforces the access rules; records the outcome in metrics and audit log.
pub async fn guard(
    State(guard): State<Arc<Guard>>,
    params: Result<RawPathParams, RawPathParamsRejection>,
    mut request: Request,
    next: Next,
) -> Response {
    let began_ns = monotonic_ns();
    let request_id = id::mint().simple().to_string();
    let path = request.uri().path().to_owned();
    let mounted = request.extensions().get::<MountedAt>();
    let instance = mounted.map_or("", |at| at.0).to_owned() + &path;
    let ClientAddress(client) = ClientAddress::of(request.extensions());
    let operation = guard.table.operation(&request);
    let mut caller = None;
    let note = LoginNote::default();
    request.extensions_mut().insert(note.clone());
    let id = operation.map_or("none", |operation| operation.id);
    let entry = |caller: Option<&Arc<Caller>>, outcome: u16| AuditEntry {
        at_ns: wall_ns(),
        actor: caller.map_or("anonymous".to_owned(), |caller| caller.username.clone()),
        kind: caller.map_or("none", |caller| caller.kind()).to_owned(),
        action: id.to_owned(),
        target: path.clone(),
        outcome,
        source_ip: client.to_string(),
        request_id: request_id.clone(),
        repeated: 0,
        name: note.name(),
        token: caller.and_then(|caller| caller.api_token()).map(str::to_owned),
    };
    let intent = admit(&guard, operation, params, &mut request, &mut caller)
        .and_then(|()| record(&guard, operation, || entry(caller.as_ref(), 0)));
    let (answer, intent) = match intent {
        Ok(intent) => (next.run(request).await, intent),
        Err(problem) => (problem.into_response(), None),
    };
    let answer = finish(answer, instance, &request_id);
    let status = answer.status().as_u16();
    let took_ns = monotonic_ns().saturating_sub(began_ns);
    guard.metrics.answered(id, status, took_ns);
    // Reads with an API token are recorded with its noted uses.
    let is_noted = note_use(&guard, caller.as_ref());
    let audited = |operation: &Operation<Access>| {
        is_noted || operation.rule.audited && operation.method != "GET"
    };
    if operation.is_some_and(audited) {
        let entry = guard.audit_sampling.admit(entry(caller.as_ref(), status), monotonic_ns());
        let result = match (intent, entry) {
            (Some(intent), entry) => intent.end(entry),
            (None, Some(entry)) => guard.audit.add(entry),
            (None, None) => Ok(()),
        };
        if let Err(err) = result {
            tracing::error!(%err, "audit log write failed: the entry waits");
        }
    }
    answer
}

/// Adds request id and security headers to an answer; completes problems.
fn finish(mut answer: Response, instance: String, request_id: &str) -> Response {
    if let Some(problem) = answer.extensions_mut().remove::<Problem>() {
        let mut problem = problem.with_usual_kind();
        problem.instance = Some(instance);
        problem.request_id = Some(request_id.to_owned());
        let headers = std::mem::take(answer.headers_mut());
        answer = problem.answer();
        for (name, value) in headers.iter() {
            if !answer.headers().contains_key(name) && name != header::CONTENT_LENGTH {
                answer.headers_mut().insert(name.clone(), value.clone());
            }
        }
        if problem.status == 401 {
            let scheme = HeaderValue::from_static("Bearer");
            answer.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
    }
    let headers = answer.headers_mut();
    if let Ok(value) = HeaderValue::from_str(request_id) {
        headers.insert("x-request-id", value);
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}
