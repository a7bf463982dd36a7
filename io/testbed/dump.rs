//! Dumps of a network namespace: all queueing disciplines, all interfaces.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_kernel::batch::Batch;
use groundwave_kernel::linux_tc::{TC_HEADER_BYTES, read_qdisc};
use groundwave_kernel::{Handle, KernelError, Qdisc};
use groundwave_netlink::attr::words;
use nix::libc::{RTM_GETLINK, RTM_GETQDISC};

/// Bytes of `struct ifinfomsg`.
const LINK_HEADER_BYTES: usize = 16;

/// The disciplines of each interface by its index, without the kernel's defaults.
///
/// # Errors
/// When the dump fails or cannot be decoded.
pub fn qdiscs(batch: &mut Batch) -> Result<BTreeMap<u32, Vec<Qdisc>>, KernelError> {
    let mut found: BTreeMap<u32, Vec<Qdisc>> = BTreeMap::new();
    for message in batch.dump(RTM_GETQDISC, &[0; TC_HEADER_BYTES])? {
        let [_, index] = words("a queueing discipline", &message)?;
        let qdisc = read_qdisc(&message)?;
        if qdisc.handle != Handle::NONE {
            found.entry(index).or_default().push(qdisc);
        }
    }
    Ok(found)
}

/// Indices of all interfaces.
///
/// # Errors
/// As [`qdiscs`].
pub fn links(batch: &mut Batch) -> Result<BTreeSet<u32>, KernelError> {
    let messages = batch.dump(RTM_GETLINK, &[0; LINK_HEADER_BYTES])?;
    let index = |message: &Vec<u8>| Ok(words::<2>("an interface", message)?[1]);
    messages.iter().map(index).collect()
}
