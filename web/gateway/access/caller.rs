//! Caller of a request: token, account, address.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::FromRequestParts;
use axum::extract::connect_info::ConnectInfo;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, StatusCode, header};
use groundwave_systems::account::{AccountId, AccountRole, Accounts, RevokedTokenId};
use groundwave_systems::site::NodeId;

use crate::gateway::services::tokens::{BadToken, Claims, TokenKeys};
use crate::http::Problem;
use crate::http::endpoints::Describe;
use crate::http::problem::ProblemKind;

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
    /// Claims of the token.
    pub claims: Claims,
}

impl Caller {
    /// Caller by the bearer token of the request.
    ///
    /// # Errors
    /// 401 with the reason.
    pub fn identify(
        keys: &TokenKeys,
        accounts: &Accounts,
        headers: &HeaderMap,
        now_s: u64,
    ) -> Result<Self, Problem> {
        let token = bearer(headers).ok_or_else(unauthenticated)?;
        let claims = keys.verify(token, now_s).map_err(|bad| match bad {
            BadToken::Forged => unauthenticated(),
            BadToken::Expired => Problem::new(StatusCode::UNAUTHORIZED, "expired token")
                .of_kind(ProblemKind::TokenExpired),
        })?;
        let revoked = || {
            Problem::new(StatusCode::UNAUTHORIZED, "revoked token")
                .of_kind(ProblemKind::TokenRevoked)
        };
        let id = AccountId::new(claims.sub);
        let account = accounts.by_id.get(&id).ok_or_else(revoked)?;
        if is_revoked(accounts, &claims) {
            return Err(revoked());
        }
        Ok(Self {
            account: id,
            username: account.username.clone(),
            role: claims.role.min(account.role),
            node: account.node,
            must_change_password: account.must_change_password,
            claims,
        })
    }

    /// Time for which the token stays valid, s; `None` once it has expired or was revoked.
    #[must_use]
    pub fn remaining_s(&self, accounts: &Accounts, now_s: u64) -> Option<u64> {
        let remaining_s = self.claims.exp.checked_sub(now_s)?;
        (remaining_s > 0 && !is_revoked(accounts, &self.claims)).then_some(remaining_s)
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
    let mut held = headers.get_all(header::AUTHORIZATION).iter();
    let value = held.next()?.to_str().ok()?;
    if held.next().is_some() {
        return None;
    }
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token)
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
