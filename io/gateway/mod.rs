//! Files of a gateway beside its world: keys, the first password, the audit log.
//! what.

mod audit;
pub mod seal;
mod secret;

pub use audit::{Audit, AuditEntry, AuditError, AuditQuery, AuditRecord};
pub(crate) use secret::write_private;
pub use secret::{SecretError, keep_once, load_or_make, random, read_words};
