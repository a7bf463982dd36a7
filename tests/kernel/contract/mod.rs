//! What is asked, is there: over the model, the kernel of the guest, and this machine's own.

mod capability;
mod extensions;
mod fields;
mod foreign;
mod permission;
mod random;
mod rollback;
mod update;
