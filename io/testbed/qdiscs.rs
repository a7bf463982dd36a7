//! All queueing disciplines of a namespace, asked at once.

use std::collections::BTreeMap;

use crate::kernel::batch::Batch;
use crate::kernel::netlink::read_qdisc;
use crate::kernel::nla::word;
use crate::kernel::{Handle, KernelError, Qdisc};

const RTM_NEWQDISC: u16 = 36;
const RTM_GETQDISC: u16 = 38;
/// Bytes of `struct tcmsg`.
const HEAD: usize = 20;

/// The disciplines of each interface by its number, without the kernel's own defaults.
///
/// # Errors
/// When the kernel cannot be asked or does not make sense.
pub fn all(batch: &mut Batch) -> Result<BTreeMap<u32, Vec<Qdisc>>, KernelError> {
    let mut found: BTreeMap<u32, Vec<Qdisc>> = BTreeMap::new();
    for message in batch.dump(RTM_GETQDISC, &[0; HEAD], RTM_NEWQDISC)? {
        let index = word("an answer about disciplines", &message, 1)?;
        let qdisc = read_qdisc(&message)?;
        if qdisc.handle != Handle::NONE {
            found.entry(index).or_default().push(qdisc);
        }
    }
    Ok(found)
}

/// Numbers of all interfaces.
///
/// # Errors
/// When the kernel cannot be asked.
pub fn links(batch: &mut Batch) -> Result<std::collections::BTreeSet<u32>, KernelError> {
    const RTM_NEWLINK: u16 = 16;
    const RTM_GETLINK: u16 = 18;
    let found = batch.dump(RTM_GETLINK, &[0; 16], RTM_NEWLINK)?;
    found
        .iter()
        .map(|message| word("struct ifinfomsg", message, 1))
        .collect()
}
