//! Caller of a request: token, account, address.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::extract::connect_info::ConnectInfo;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, StatusCode, header};
use groundwave_gateway::Snapshot;
use groundwave_gateway::account::{
    AccountId, AccountRole, Accounts, ApiToken, ApiTokenId, RevokedTokenId,
};
use groundwave_gateway::config::Versioned;
use groundwave_http::Problem;
use groundwave_http::endpoints::Describe;
use groundwave_http::problem::ProblemKind;
use groundwave_simulation::site::NodeId;

use crate::services::api_tokens::{find, is_api_token};
use crate::services::tokens::{BadToken, Claims, TokenKeys};

/// Authenticated caller.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Account id.
    pub account: AccountId,
    /// Account name.
    pub username: String,
    /// Role of the token, at most that of the account.
    pub role: AccountRole,
    /// Node of the account; `None` for users.
    pub node: Option<NodeId>,
    /// The first password is still to be changed.
    pub must_change_password: bool,
    /// Credential that the request came with.
    pub credential: Credential,
}

/// Credential of a request.
#[derive(Debug, Clone)]
pub enum Credential {
    /// Token of a login.
    Login(Claims),
    ApiToken(ApiTokenId, Arc<Versioned<ApiToken>>),
}

impl Credential {
    /// Expiry, ns since the Unix epoch; `None` for tokens that do not expire.
    #[must_use]
    pub fn expires_ns(&self) -> Option<u64> {
        match self {
            Self::Login(claims) => Some(claims.exp.saturating_mul(SECOND_NS)),
            Self::ApiToken(_, token) => token.object.expires_ns,
        }
    }
}

/// Maximum interval between two checks of the token of a stream, s.
const LOOK_S_MAX: u64 = 86_400;
const SECOND_NS: u64 = 1_000_000_000;

impl Caller {
    /// Caller by the bearer token of the request.
    ///
    /// # Errors
    /// 401 with the reason.
    pub fn identify(
        keys: &TokenKeys,
        view: &Snapshot,
        headers: &HeaderMap,
        now_s: u64,
    ) -> Result<Self, Problem> {
        let token = bearer(headers).ok_or_else(unauthenticated)?;
        if is_api_token(token) {
            return Self::of_api_token(view, token, now_s);
        }
        let claims = keys.verify(token, now_s).map_err(|bad| match bad {
            BadToken::Forged => unauthenticated(),
            BadToken::Expired => expired(),
        })?;
        let id = AccountId::new(claims.sub);
        let account = view.accounts.by_id.get(&id).ok_or_else(revoked)?;
        if is_revoked(&view.accounts, &claims) {
            return Err(revoked());
        }
        Ok(Self {
            account: id,
            username: account.username.clone(),
            role: claims.role.min(account.role),
            node: account.node,
            must_change_password: account.must_change_password,
            credential: Credential::Login(claims),
        })
    }

    fn of_api_token(view: &Snapshot, text: &str, now_s: u64) -> Result<Self, Problem> {
        let (id, versioned) = find(view, text).ok_or_else(unauthenticated)?;
        let token = &versioned.object;
        let account = view.accounts.by_id.get(&token.account);
        let account = account.filter(|account| token.is_of(account)).ok_or_else(revoked)?;
        if token.has_expired(now_s.saturating_mul(SECOND_NS)) {
            return Err(expired());
        }
        Ok(Self {
            account: token.account,
            username: account.username.clone(),
            role: token.role.min(account.role),
            node: None,
            must_change_password: account.must_change_password,
            credential: Credential::ApiToken(id, Arc::clone(versioned)),
        })
    }

    /// Time for which the token stays valid, s, at most a day; `None` once it has expired or was
    /// revoked.
    #[must_use]
    pub fn remaining_s(&self, view: &Snapshot, now_s: u64) -> Option<u64> {
        let is_valid = match &self.credential {
            Credential::Login(claims) => !is_revoked(&view.accounts, claims),
            Credential::ApiToken(id, token) => {
                let account = view.accounts.by_id.get(&token.object.account);
                view.config.api_tokens.get(*id).is_some()
                    && account.is_some_and(|account| token.object.is_of(account))
            }
        };
        let end_ns = self.credential.expires_ns();
        let left_s =
            end_ns.map_or(Some(LOOK_S_MAX), |end_ns| (end_ns / SECOND_NS).checked_sub(now_s))?;
        (left_s > 0 && is_valid).then_some(left_s.min(LOOK_S_MAX))
    }

    /// `true` for the token of a login, and for an API token with this scope.
    #[must_use]
    pub fn reaches(&self, scope: &str) -> bool {
        match &self.credential {
            Credential::Login(_) => true,
            Credential::ApiToken(_, token) => {
                token.object.scopes.iter().any(|owned| owned == scope)
            }
        }
    }

    /// Name of the API token; `None` for tokens of logins.
    #[must_use]
    pub fn api_token(&self) -> Option<&str> {
        match &self.credential {
            Credential::Login(_) => None,
            Credential::ApiToken(_, token) => Some(&token.object.name),
        }
    }

    /// Kind of the caller in the audit log.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.node {
            Some(_) => "node",
            None => "user",
        }
    }
}

/// `true` if an account that is gone, disabled or changed, or a logout, revoked the token.
fn is_revoked(accounts: &Accounts, claims: &Claims) -> bool {
    let Some(account) = accounts.by_id.get(&AccountId::new(claims.sub)) else {
        return true;
    };
    account.disabled
        || account.version != claims.ver
        || account.node.map(|node| node.uuid()) != claims.node_id
        || accounts.denies(RevokedTokenId::new(claims.jti))
}

fn expired() -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "expired token").of_kind(ProblemKind::TokenExpired)
}

fn revoked() -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "revoked token").of_kind(ProblemKind::TokenRevoked)
}

/// Problem with status 401.
pub fn unauthenticated() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "missing or invalid token: log in and send `Authorization: Bearer TOKEN`",
    )
    .of_kind(ProblemKind::Unauthenticated)
}

/// The one bearer token of a request; several count as none.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return None;
    }
    let (scheme, token) = value.split_once(' ')?;
    // One space or more (RFC 9110, 11.4).
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim_start_matches(' '))
}

/// IP address of the client.
#[derive(Debug, Clone, Copy)]
pub struct ClientAddress(pub IpAddr);

impl ClientAddress {
    /// Address of the connection; requests without one, as tests make them, are local.
    #[must_use]
    pub fn of(extensions: &Extensions) -> Self {
        let peer = extensions.get::<ConnectInfo<SocketAddr>>();
        let ip = peer.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| peer.0.ip());
        Self(ip.to_canonical())
    }
}

impl Describe for ClientAddress {}

impl<S: Send + Sync> FromRequestParts<S> for ClientAddress {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self::of(&parts.extensions))
    }
}
