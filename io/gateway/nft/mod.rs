//! nftables by its program: rulesets as JSON over standard input, read-back, dry run.
//!
//! A ruleset is one transaction on the table [`TABLE`]: the kernel takes all of it or nothing. Other
//! tables are listed and never touched.

mod compile;
mod error;
mod listing;
mod program;
mod statement;

pub use compile::{Transaction, compile};
pub use error::NftError;
pub use listing::{Counted, Listing};
pub use program::{ForeignTable, Nft};

/// Family of the table.
pub const FAMILY: &str = "inet";
/// Name of the table.
pub const TABLE: &str = "meshgw";
