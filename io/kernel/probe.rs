//! Capabilities of the running kernel, queried without a change of traffic.
//!
//! Each kind is requested on the loopback interface with options that it must refuse: an unknown
//! kind is refused as unknown, a known one for its options, and neither is created.

use groundwave_impair::{Capabilities, Extensions, Missing};

use super::bands::PRIO;
use super::filter::FLOWER;
use super::{FilterRequest, Handle, Kernel, KernelError, Request, Verb};

/// The kinds of the stack, with options that each refuses.
const KINDS: [(&str, Option<&[u8]>); 5] =
    [("netem", None), ("tbf", None), ("pfifo", Some(&[0])), ("bfifo", Some(&[0])), (PRIO, None)];

/// Handle and parent of the hook of filters beside the disciplines, and its side of leaving packets.
const CLSACT: Handle = Handle::new(0xffff, 0);
const CLSACT_PARENT: Handle = Handle::new(0xffff, 0xfff1);
const CLSACT_EGRESS: Handle = Handle::new(0xffff, 0xfff3);

/// EINVAL: the kind is known, its options are refused.
const KNOWN: i32 = 22;
/// EEXIST: the root is occupied, which is checked before the kind.
const TAKEN: i32 = 17;

/// Capabilities of `kernel`.
///
/// # Errors
/// [`KernelError::Permission`] without CAP_NET_ADMIN; others when the socket fails.
pub async fn probe<K: Kernel>(
    kernel: &mut K,
    extensions: Extensions,
) -> Result<Capabilities, KernelError> {
    let index = kernel.link("lo").await?.index;
    let mut known = [true; KINDS.len()];
    let mut missing = Vec::new();
    for (at, (kind, options)) in KINDS.into_iter().enumerate() {
        let request = Request {
            verb: Verb::Create,
            index,
            handle: Handle::new(0x7fff, 0),
            parent: Handle::ROOT,
            kind,
            options: options.map(<[u8]>::to_vec),
        };
        match kernel.send(&request).await {
            Err(KernelError::Rejected { errno: KNOWN, .. }) => {}
            // Loopback is rarely shaped; an unknown kind is refused at the first use.
            Err(KernelError::Rejected { errno: TAKEN, .. }) => {
                tracing::warn!(
                    kind,
                    "loopback has a discipline: assuming the kernel has this kind"
                );
            }
            Err(KernelError::Unsupported { module, .. }) => {
                known[at] = false;
                missing.push(Missing { kind: kind.to_owned(), module: module.unwrap_or_default() });
            }
            Err(other) => return Err(other),
            // A kernel that accepts such options has the kind; loopback is restored.
            Ok(()) => {
                let verb = Verb::Delete;
                kernel.send(&Request { verb, options: None, ..request }).await?;
            }
        }
    }
    let has_flower = has_flower(kernel, index).await?;
    if !has_flower {
        let module = format!("cls_{FLOWER}");
        missing.push(Missing { kind: FLOWER.to_owned(), module });
    }
    let [netem, tbf, pfifo, bfifo, prio] = known;
    let (backend_name, backend_version) = kernel.backend();
    Ok(Capabilities {
        netem,
        tbf,
        pfifo,
        bfifo,
        rules: prio && has_flower,
        extensions: if netem { extensions } else { Extensions::default() },
        missing,
        backend_name,
        backend_version,
    })
}

/// Presence of filters of rules. They need a discipline, so a hook without effect on packets is made on
/// loopback for that one request; without the hook they are assumed, and refused at the first use.
async fn has_flower<K: Kernel>(kernel: &mut K, index: u32) -> Result<bool, KernelError> {
    let hook = Request {
        verb: Verb::Create,
        index,
        handle: CLSACT,
        parent: CLSACT_PARENT,
        kind: "clsact",
        options: None,
    };
    let is_own = match kernel.send(&hook).await {
        Ok(()) => true,
        // Another program has one there.
        Err(KernelError::Rejected { .. }) => false,
        Err(KernelError::Unsupported { .. }) => return Ok(true),
        Err(err) => return Err(err),
    };
    let invalid = FilterRequest {
        index,
        parent: CLSACT_EGRESS,
        preference: u16::MAX,
        handle: 1,
        protocol: 0,
        kind: FLOWER,
        // Of its type, the protocol of frames, a filter refuses one octet.
        options: Some(vec![5, 0, 8, 0, 0, 0, 0, 0]),
    };
    let outcome = kernel.send_filters(&[invalid.clone()]).await;
    if outcome.is_ok() {
        kernel.send_filters(&[FilterRequest { options: None, ..invalid }]).await?;
    }
    if is_own {
        kernel.send(&Request { verb: Verb::Delete, ..hook }).await?;
    }
    match outcome {
        Ok(()) | Err(KernelError::Rejected { .. }) => Ok(true),
        Err(KernelError::Unsupported { .. }) => Ok(false),
        Err(err) => Err(err),
    }
}
