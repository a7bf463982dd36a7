//! Bounds on a TOML document, each with its reason.

/// Largest scenario file and largest ns-2 file, bytes. A hundred thousand hand-written nodes
/// fit; the size is asked of the file system first, so a larger file is refused unread.
pub const FILE_BYTES_MAX: u64 = 16 << 20;

/// Tables and arrays inside each other. Deeper than any command, and shallow enough for every
/// decoder downstream (JSON readers stop at 128) and for the smallest thread stack.
pub const NESTING_MAX: usize = 64;

/// Errors reported at once: one screen. The rest is counted.
pub const ERRORS_MAX: usize = 20;

/// Syntax errors are collected, not just the first one kept, up to this file size, bytes. A
/// syntax error cascades, and each is kept in memory until it is shown.
pub const RECOVERY_BYTES_MAX: usize = 256 << 10;

/// Syntax errors looked at. Most are echoes of the first on their line.
pub const SYNTAX_ERRORS_MAX: usize = 200;
