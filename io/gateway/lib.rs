//! Files of a gateway beside its world: keys, the first password, the audit log.

pub mod archive;
mod audit;
mod audit_chain;
mod audit_entry;
mod audit_slots;
#[cfg(test)]
mod audit_tests;
pub mod camera;
pub mod firmware;
pub mod nft;
pub mod notice;
pub mod nut;
pub mod openapi;
pub mod reply_log;
pub mod unconfirmed;

pub use audit::{Audit, AuditError, AuditIntent, AuditQuery};
pub use audit_chain::{AuditDamage, AuditReport};
pub use audit_entry::{AuditEntry, AuditRecord};
