//! The desired state is in force: over the model, the kernel of the virtual machine, and this
//! machine's own.

mod capability;
mod extensions;
mod fields;
mod foreign;
mod permission;
mod printed;
mod random;
mod rollback;
mod update;
