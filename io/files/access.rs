//! Access to a Unix socket.

/// Access to a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// Permission bits, such as `0o660`.
    pub mode: u32,
    /// Name or number of the group; `None` keeps that of the process.
    pub group: Option<String>,
}
