//! The door of the gateway: who calls, and whether they may.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::connect_info::ConnectInfo;
use axum::extract::{FromRequestParts, MatchedPath, RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use groundwave_io::gateway::AuditEntry;
use groundwave_io::wall::{monotonic_ns, wall_ns};
use groundwave_systems::account::{AccountId, AccountRole, RevokedTokenId};
use groundwave_systems::site::NodeId;
use uuid::Uuid;

use crate::gateway::access::{Needs, Rule, Table};
use crate::gateway::services::tokens::{BadToken, Claims};
use crate::gateway::state::Gateway;
use crate::http::gate::Peer;
use crate::http::problem::KINDS;
use crate::http::{Problem, id};

/// Who calls.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The account.
    pub account: AccountId,
    /// Its name.
    pub username: String,
    /// What the token may do.
    pub role: AccountRole,
    /// The node, if it is one.
    pub node: Option<NodeId>,
    /// Whether the password must be changed first.
    pub must_change_password: bool,
    /// What the token says.
    pub claims: Claims,
}

/// Who calls, for handlers of operations that are not open to everybody.
#[derive(Debug, Clone)]
pub struct Who(pub Arc<Caller>);

impl<S: Send + Sync> FromRequestParts<S> for Who {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Arc<Caller>>();
        caller.cloned().map(Who).ok_or_else(unauthenticated)
    }
}

impl Who {
    /// The node that a request about `wanted` is about: its own, for a node.
    ///
    /// # Errors
    /// 404 for a node that asks about another one.
    pub fn about(&self, wanted: Option<Uuid>) -> Result<NodeId, Problem> {
        match (self.0.node, wanted.map(NodeId::new)) {
            (Some(own), None) => Ok(own),
            (Some(own), Some(wanted)) if own == wanted => Ok(own),
            (None, Some(wanted)) => Ok(wanted),
            (Some(_), Some(wanted)) => Err(crate::gateway::state::missing("node", wanted)),
            (None, None) => Err(Problem::field(
                "/node_id",
                "missing",
                "say which node: only a node's own credential says it by itself",
            )),
        }
    }
}

/// Where a request came from.
#[derive(Debug, Clone, Copy)]
pub struct Source(pub IpAddr);

impl<S: Send + Sync> FromRequestParts<S> for Source {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self(source(&parts.extensions)))
    }
}

/// A request without a connection, as tests make them, comes from this machine.
fn source(extensions: &axum::http::Extensions) -> IpAddr {
    let gated = extensions.get::<ConnectInfo<Peer>>().map(|peer| peer.0.0);
    let plain = extensions
        .get::<ConnectInfo<SocketAddr>>()
        .map(|peer| peer.0);
    let peer = gated.or(plain);
    let ip = peer.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| peer.ip());
    ip.to_canonical()
}

fn unauthenticated() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "log in, and send `Authorization: Bearer TOKEN`",
    )
    .of_kind("unauthenticated")
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut held = headers.get_all(header::AUTHORIZATION).iter();
    let value = held.next()?.to_str().ok()?;
    // Two tokens are none: nobody should have to guess which one counts.
    if held.next().is_some() {
        return None;
    }
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token)
}

/// Who holds this token, if it is good.
///
/// # Errors
/// 401, and why.
pub fn identify(gateway: &Gateway, headers: &HeaderMap) -> Result<Caller, Problem> {
    let token = bearer(headers).ok_or_else(unauthenticated)?;
    let claims = gateway.keys.verify(token, gateway.now_s());
    let claims = claims.map_err(|bad| match bad {
        BadToken::Forged => unauthenticated(),
        BadToken::Expired => {
            Problem::new(StatusCode::UNAUTHORIZED, "the token has expired").of_kind("token-expired")
        }
    })?;
    let revoked =
        || Problem::new(StatusCode::UNAUTHORIZED, "the token was revoked").of_kind("token-revoked");
    let view = gateway.world.view();
    let id = AccountId::new(claims.sub);
    let account = view.accounts.by_id.get(&id).ok_or_else(revoked)?;
    let dead = account.disabled
        || account.version != claims.ver
        || account.node.map(|node| node.uuid()) != claims.node_id
        || view.accounts.denies(RevokedTokenId::new(claims.jti));
    if dead {
        return Err(revoked());
    }
    Ok(Caller {
        account: id,
        username: account.username.clone(),
        role: claims.role.min(account.role),
        node: account.node,
        must_change_password: account.must_change_password,
        claims,
    })
}

fn forbidden(detail: impl Into<String>) -> Problem {
    Problem::new(StatusCode::FORBIDDEN, detail).of_kind("forbidden")
}

/// Whether a caller may do what a rule is about.
fn permit(rule: &Rule, caller: &Caller) -> Result<(), Problem> {
    if caller.must_change_password && !rule.early {
        return Err(forbidden(
            "change the password first: POST /api/auth/password",
        ));
    }
    if caller.node.is_some() {
        return match rule.node {
            true => Ok(()),
            false => Err(forbidden("this is not for nodes")),
        };
    }
    match rule.needs {
        Needs::Role(role) if caller.role < role => Err(forbidden(format!(
            "this needs the role {}; the token has {}",
            role.word(),
            caller.role.word()
        ))),
        _ => Ok(()),
    }
}

/// A node asks about itself, and nobody else is there for it.
fn self_only(caller: &Caller, params: &RawPathParams) -> Result<(), Problem> {
    let Some(own) = caller.node else {
        return Ok(());
    };
    let wanted = params.iter().find(|(name, _)| *name == "node_id");
    match wanted {
        Some((_, wanted)) if wanted.parse() != Ok(own.uuid()) => {
            Err(crate::gateway::state::missing("node", wanted))
        }
        _ => Ok(()),
    }
}

/// What the guard needs: the gateway, and its table.
pub type Guarded = (Gateway, Arc<Table>);

/// Lets nobody through but by the table.
pub async fn guard(
    State((gateway, table)): State<Guarded>,
    params: RawPathParams,
    mut request: Request,
    next: Next,
) -> Response {
    let began_ns = monotonic_ns();
    let request_id = id::mint().simple().to_string();
    let method = match request.method() {
        &Method::HEAD => "GET",
        method => method.as_str(),
    };
    let path = request.uri().path().to_owned();
    let matched = request.extensions().get::<MatchedPath>();
    let key = matched.map(|matched| (method.to_owned(), matched.as_str().to_owned()));
    let rule = key.and_then(|key| table.get(&key).copied());
    let source = source(request.extensions());
    let host = request.headers().get(header::HOST).cloned();
    let host = host.as_ref().and_then(|host| host.to_str().ok());

    let mut who = None;
    let checked = (|| {
        if host.is_some_and(|host| !gateway.settings.answers_to(host)) {
            return Err(forbidden("this gateway is not called by that name"));
        }
        // A method nobody takes here is answered by the router; a path without a rule by nobody.
        let Some(rule) = rule else { return Ok(()) };
        if rule.needs == Needs::Nothing {
            return Ok(());
        }
        let caller = Arc::new(identify(&gateway, request.headers())?);
        who = Some(Arc::clone(&caller));
        permit(rule, &caller)?;
        self_only(&caller, &params)?;
        request.extensions_mut().insert(caller);
        Ok(())
    })();
    let answer = match checked {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    let answer = finish(answer, &path, &request_id);
    let status = answer.status().as_u16();
    let took_ns = monotonic_ns().saturating_sub(began_ns);
    let operation = rule.map_or("none", |rule| rule.operation);
    gateway.meter.answered(operation, status, took_ns);
    if rule.is_some_and(|rule| rule.audited) && status != 429 {
        let kind = match &who {
            Some(caller) if caller.node.is_some() => "node",
            Some(_) => "user",
            None => "none",
        };
        let entry = AuditEntry {
            at_ns: wall_ns(),
            actor: who.map_or("anonymous".to_owned(), |caller| caller.username.clone()),
            kind: kind.to_owned(),
            action: operation.to_owned(),
            target: path,
            outcome: status,
            source_ip: source.to_string(),
            request_id,
        };
        if let Err(err) = gateway.audit.add(entry) {
            tracing::error!(%err, "who did what could not be written down");
        }
    }
    answer
}

/// The kind of a problem that did not say one.
fn usual_kind(status: u16) -> Option<&'static str> {
    Some(match status {
        400 | 422 => "invalid-body",
        401 => "unauthenticated",
        403 => "forbidden",
        404 => "not-found",
        409 => "conflict",
        412 => "precondition-failed",
        413 => "payload-too-large",
        429 => "rate-limited",
        _ => return None,
    })
}

/// Says in an answer which request it was, and wraps problems up.
fn finish(mut answer: Response, path: &str, request_id: &str) -> Response {
    if let Some(mut problem) = answer.extensions_mut().remove::<Problem>() {
        if let Some(kind) = usual_kind(problem.status)
            && !problem.kind.starts_with(KINDS)
        {
            problem = problem.of_kind(kind);
        }
        problem.instance = Some(path.to_owned());
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
            answer
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, scheme);
        }
    }
    let headers = answer.headers_mut();
    if let Ok(value) = HeaderValue::from_str(request_id) {
        headers.insert("x-request-id", value);
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    answer
}
