//! Scopes of API tokens: the category of an operation, and whether it reads or writes.

use std::collections::BTreeSet;
use std::fmt;

use groundwave_http::endpoints::Operation;

use super::{Access, ApiTokens};

/// Scope that an operation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scope<'o> {
    category: &'o str,
    writes: bool,
}

impl<'o> Scope<'o> {
    /// Scope of an operation; `None` for operations without scopes.
    #[must_use]
    pub fn of(operation: &'o Operation<Access>) -> Option<Self> {
        let has_one =
            operation.rule.role.is_some() && operation.rule.api_tokens == ApiTokens::Scoped;
        has_one.then_some(Self { category: &operation.category, writes: operation.method != "GET" })
    }

    /// `true` if one of these scopes of a token is this one.
    #[must_use]
    pub fn is_among(self, scopes: &[String]) -> bool {
        let own = (self.category, self.word());
        scopes.iter().any(|scope| scope.split_once(':') == Some(own))
    }

    const fn word(self) -> &'static str {
        match self.writes {
            true => "write",
            false => "read",
        }
    }
}

impl fmt::Display for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.category, self.word())
    }
}

/// Scopes of all operations, in order.
#[derive(Debug)]
pub struct Scopes(pub Vec<String>);

impl Scopes {
    /// Scopes of these operations.
    #[must_use]
    pub fn of(operations: &[Operation<Access>]) -> Self {
        let scopes: BTreeSet<_> = operations.iter().filter_map(Scope::of).collect();
        Self(scopes.iter().map(Scope::to_string).collect())
    }
}
