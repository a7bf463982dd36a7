//! Access rules: who may call an operation, by the first parameter of its handler.
//!
//! A handler without a rule cannot be registered ([`rule_of`]); [`guard`] enforces the rules of all
//! registered operations before a handler runs, and the parameter hands the caller over.

mod caller;
pub mod guard;
pub mod idempotency;
mod note;
mod scope;

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use groundwave_gateway::account::AccountRole;
use groundwave_http::Problem;
use groundwave_http::endpoints::Describe;
use groundwave_http::problem::{FieldCode, ProblemKind};
use groundwave_simulation::site::NodeId;
use uuid::Uuid;

pub use caller::{Caller, ClientAddress, Credential};
pub use note::LoginNote;
pub use scope::{Scope, Scopes};

/// Use of an operation with API tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiTokens {
    /// With the scope of the operation.
    Scoped,
    /// With any scope.
    Any,
    /// Not at all: only with the token of a login.
    Refused,
}

/// Access rule of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Minimum role of a user; `None` for operations without authentication.
    pub role: Option<AccountRole>,
    /// Nodes may call it, about themselves.
    pub nodes: bool,
    /// Users may call it before they changed their first password.
    pub before_password_change: bool,
    /// Calls with other methods than GET are recorded in the audit log.
    pub audited: bool,
    /// Use with API tokens.
    pub api_tokens: ApiTokens,
}

impl Access {
    /// Rule of users with at least this role.
    const fn role(role: AccountRole) -> Self {
        Self {
            role: Some(role),
            nodes: false,
            before_password_change: false,
            audited: true,
            api_tokens: ApiTokens::Scoped,
        }
    }

    /// Checks that `caller` may call the operation, but for scopes of API tokens.
    ///
    /// # Errors
    /// 403 with the reason.
    pub fn permit(&self, caller: &Caller) -> Result<(), Problem> {
        if caller.must_change_password && !self.before_password_change {
            return Err(forbidden("change the password first: POST /api/auth/password"));
        }
        if self.api_tokens == ApiTokens::Refused && caller.api_token().is_some() {
            return Err(forbidden("operation not permitted to API tokens: log in"));
        }
        if caller.node.is_some() {
            return match self.nodes {
                true => Ok(()),
                false => Err(forbidden("operation not permitted to nodes")),
            };
        }
        match self.role {
            Some(role) if caller.role < role => Err(forbidden(format!(
                "insufficient role: found {}, required {}",
                caller.role.word(),
                role.word()
            ))),
            _ => Ok(()),
        }
    }
}

/// Problem with status 403.
fn forbidden(detail: impl Into<String>) -> Problem {
    Problem::new(axum::http::StatusCode::FORBIDDEN, detail).of_kind(ProblemKind::Forbidden)
}

/// First parameter of a handler: its access rule.
pub trait AccessRule {
    /// The rule.
    const ACCESS: Access;
}

/// Handler with an access rule.
pub trait Guarded<Parameters> {
    /// The rule of its first parameter.
    const RULE: Access;
}

macro_rules! guarded {
    ($($part:ident)*) => {
        impl<H, Reply, A: AccessRule, $($part),*> Guarded<(A, $($part,)*)> for H
        where
            H: Fn(A, $($part),*) -> Reply,
        {
            const RULE: Access = A::ACCESS;
        }
    };
}

guarded!();
guarded!(B);
guarded!(B C);
guarded!(B C D);
guarded!(B C D E);
guarded!(B C D E F);
guarded!(B C D E F G);
guarded!(B C D E F G I);
guarded!(B C D E F G I J);

/// Access rule of a handler.
pub fn rule_of<H: Guarded<P>, P>(_: &H) -> Access {
    H::RULE
}

/// Any caller; tokens are not looked at.
#[derive(Debug, Clone, Copy)]
pub struct Anonymous;

impl AccessRule for Anonymous {
    const ACCESS: Access = Access {
        role: None,
        nodes: true,
        before_password_change: true,
        audited: true,
        api_tokens: ApiTokens::Any,
    };
}

impl Describe for Anonymous {}

impl<S: Send + Sync> FromRequestParts<S> for Anonymous {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(_: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self)
    }
}

macro_rules! rules {
    ($($(#[$meta:meta])* $name:ident = $access:expr;)+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone)]
        pub struct $name(pub Arc<Caller>);

        impl AccessRule for $name {
            const ACCESS: Access = $access;
        }

        impl Describe for $name {}

        impl<S: Send + Sync> FromRequestParts<S> for $name {
            type Rejection = Problem;

            async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
                let caller = parts.extensions.get::<Arc<Caller>>().cloned().ok_or_else(caller::unauthenticated)?;
                Self::ACCESS.permit(&caller)?;
                Ok(Self(caller))
            }
        }
    )+};
}

rules! {
    /// Users and nodes with a valid token of any kind and scope, also before the first change of the
    /// password.
    Session = Access {
        nodes: true,
        api_tokens: ApiTokens::Any,
        ..UserSession::ACCESS
    };
    /// Users that logged in, also before the first change of the password.
    UserSession = Access {
        before_password_change: true,
        ..LoggedIn::ACCESS
    };
    /// Users with any role that logged in; API tokens do not suffice.
    LoggedIn = Access {
        api_tokens: ApiTokens::Refused,
        ..Access::role(AccountRole::Viewer)
    };
    /// Users with any role.
    Viewer = Access::role(AccountRole::Viewer);
    /// Users with the role operator or admin.
    Operator = Access::role(AccountRole::Operator);
    /// Users with the role admin.
    Admin = Access::role(AccountRole::Admin);
    /// Users with any role; nodes about themselves. Not recorded in the audit log.
    NodeOrViewer = Access {
        nodes: true,
        audited: false,
        ..Access::role(AccountRole::Viewer)
    };
    /// Users with the role operator or admin; nodes about themselves. Not recorded in the audit
    /// log: nodes call it all the time.
    NodeOrOperator = Access {
        nodes: true,
        audited: false,
        ..Access::role(AccountRole::Operator)
    };
}

impl NodeOrOperator {
    /// Node that a request is about: the caller's own, unless a user names one.
    ///
    /// # Errors
    /// 404 for a node that names another one, 422 for a user that names none.
    pub fn node(&self, named: Option<Uuid>) -> Result<NodeId, Problem> {
        match (self.0.node, named.map(NodeId::new)) {
            (Some(own), None) => Ok(own),
            (Some(own), Some(named)) if own == named => Ok(own),
            (None, Some(named)) => Ok(named),
            (Some(_), Some(named)) => {
                Err(Problem::not_found("node", named.uuid()).of_kind(ProblemKind::NotFound))
            }
            (None, None) => Err(Problem::field(
                "/node_id",
                FieldCode::Missing,
                "missing node_id: only tokens of nodes imply one",
            )),
        }
    }
}
