//! Refusals: the only error type of commands.

use serde::Serialize;
use thiserror::Error;

use crate::bounds::BadValue;

/// Causes for refusing a command. A refused command changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize)]
#[serde(tag = "refusal", rename_all = "snake_case")]
pub enum Refusal {
    /// Nothing of that kind has that id.
    #[error("no {kind} has the id {id}")]
    NotFound {
        /// The kind of the object, for example `node`.
        kind: &'static str,
        /// The id as the submitter wrote it.
        id: String,
    },
    /// The command contradicts what exists.
    #[error("{what}")]
    Conflict {
        /// Description of the contradiction.
        what: String,
    },
    /// The command names a revision that is no longer the present one.
    #[error("{what}")]
    Stale {
        /// Description of the change.
        what: String,
    },
    /// The command is older than what was recorded, by its sequence number.
    #[error("{what}")]
    Outdated {
        /// Name of the record that is newer.
        what: String,
    },
    /// A pool has nothing left.
    #[error("{what}")]
    Exhausted {
        /// The pool.
        what: String,
    },
    /// A value is not allowed.
    #[error("{key}: {found} is not allowed; allowed: {allowed}")]
    Invalid {
        /// Path of the invalid key.
        key: String,
        /// Value found.
        found: String,
        /// Values allowed.
        allowed: String,
    },
    /// The world does not support the command.
    #[error("not supported: {what}")]
    Unsupported {
        /// The missing capability.
        what: String,
    },
    /// The submitter lacks a right.
    #[error("denied: {what}")]
    Denied {
        /// The missing right.
        what: String,
    },
    /// The inbox is full; the same command may succeed later.
    #[error("the world is busy: its inbox is full")]
    Busy,
    /// The disk has no space or is read-only; the same command may succeed later.
    #[error("not stored: {what}")]
    Full {
        /// Cause.
        what: String,
    },
    /// The world has stopped.
    #[error("the world has stopped")]
    Stopped,
    /// The world broke while the command was in flight. It may be in the log, but it was not
    /// committed to the store.
    #[error("the world broke: {what}")]
    Broken {
        /// Cause.
        what: String,
    },
}

impl Refusal {
    /// Refusal of a value: `found` at `key`, where `allowed` is valid.
    pub fn invalid(
        key: impl Into<String>,
        found: impl ToString,
        allowed: impl Into<String>,
    ) -> Self {
        Self::Invalid { key: key.into(), found: found.to_string(), allowed: allowed.into() }
    }

    /// A refusal of a command about an earlier revision.
    pub fn stale(what: impl Into<String>) -> Self {
        Self::Stale { what: what.into() }
    }

    /// A refusal of a command with an earlier sequence number.
    pub fn outdated(what: impl Into<String>) -> Self {
        Self::Outdated { what: what.into() }
    }

    /// A refusal because a pool is empty.
    pub fn exhausted(what: impl Into<String>) -> Self {
        Self::Exhausted { what: what.into() }
    }

    /// A refusal because of what exists.
    pub fn conflict(what: impl Into<String>) -> Self {
        Self::Conflict { what: what.into() }
    }
}

impl From<BadValue> for Refusal {
    fn from(bad: BadValue) -> Self {
        Self::invalid(bad.key, bad.found, bad.allowed)
    }
}
