//! Outcome of a node command.

use uuid::Uuid;

/// Further action that a node command needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowUp {
    /// Nothing.
    Nothing,
    /// A new token.
    RenewToken,
    /// A restart of the machine, once the gateway has the result.
    Reboot,
}

/// A node command that was carried out, or failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Identifier of the command.
    pub command_id: Uuid,
    /// `true` if it succeeded.
    pub done: bool,
    /// Output or reason of failure.
    pub output: String,
    /// Further action needed.
    pub follow_up: FollowUp,
}
