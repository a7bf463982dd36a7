//! All queueing disciplines of a namespace, asked at once.

use std::collections::BTreeMap;

use crate::kernel::batch::Batch;
use crate::kernel::nla::{attributes, long, word};
use crate::kernel::{Counters, Handle, KernelError, Qdisc};

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
        let qdisc = read(&message)?;
        if qdisc.handle != Handle::NONE {
            found.entry(index).or_default().push(qdisc);
        }
    }
    Ok(found)
}

fn read(message: &[u8]) -> Result<Qdisc, KernelError> {
    let head = |at| word("struct tcmsg", message, at);
    let mut qdisc = Qdisc {
        handle: Handle(head(2)?),
        parent: Handle(head(3)?),
        ..Qdisc::default()
    };
    for (kind, value) in attributes(message.get(HEAD..).unwrap_or_default())? {
        match kind {
            1 => {
                let name = value.split(|byte| *byte == 0).next().unwrap_or_default();
                qdisc.kind = String::from_utf8_lossy(name).into_owned();
            }
            2 => qdisc.options = value.to_vec(),
            7 => qdisc.counters = counters(value)?,
            _ => {}
        }
    }
    Ok(qdisc)
}

/// TCA_STATS2.
fn counters(nest: &[u8]) -> Result<Counters, KernelError> {
    let what = "counters of a discipline";
    let mut counters = Counters::default();
    let mut wide = None;
    for (kind, value) in attributes(nest)? {
        let at = |at| word(what, value, at);
        match kind {
            1 => (counters.bytes, counters.packets) = (long(what, value)?, at(2)?.into()),
            3 => {
                (counters.backlog_packets, counters.backlog_bytes) = (at(0)?, at(1)?);
                (counters.drops, counters.requeues) = (at(2)?, at(3)?);
                counters.overlimits = at(4)?;
            }
            8 => wide = Some(long(what, value)?),
            _ => {}
        }
    }
    counters.packets = wide.unwrap_or(counters.packets);
    Ok(counters)
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
