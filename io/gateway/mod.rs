//! Files of a gateway beside its world: keys, the first password, the audit log.

pub mod archive;
mod audit;
mod audit_chain;
mod audit_entry;
pub mod firmware;
pub mod possession;
pub mod seal;
mod secret;

pub use audit::{Audit, AuditError, AuditQuery};
pub use audit_chain::{AuditDamage, AuditReport};
pub use audit_entry::{AuditEntry, AuditRecord};
pub(crate) use secret::write_private;
pub use secret::{SecretError, check_private, keep_once, load_or_make, random, read_words};
