//! Errors of nftables.

use std::io;

use thiserror::Error;

/// Failure of a request to nftables.
#[derive(Debug, Error)]
pub enum NftError {
    /// The program is not installed.
    #[error("nft is absent (Debian: nftables)")]
    Absent,
    /// The program could not be run.
    #[error("nft could not be run: {0}")]
    Run(io::Error),
    /// The kernel or the program refused the request; nothing changed.
    #[error("nft: {0}")]
    Refused(String),
    /// The process lacks CAP_NET_ADMIN.
    #[error("nft: {0}")]
    Permission(String),
    /// The program did not end in time.
    #[error("nft did not end within {0} s")]
    Timeout(u64),
    /// The answer cannot be decoded.
    #[error("invalid listing of nft: {0}")]
    Decode(#[from] serde_json::Error),
}
