//! Capabilities of the running kernel, queried without a change of traffic.
//!
//! Each kind is requested on the loopback interface with options that it must refuse: an unknown
//! kind is refused as unknown, a known one for its options, and neither is created.

use groundwave_impair::{Capabilities, Extensions, Missing};

use super::bands::PRIO;
use super::filter::FLOWER;
use super::incoming;
use super::incoming::{IFB, MATCHALL};
use super::{FilterRequest, Handle, Kernel, KernelError, Request, Verb};

/// The kinds of the stack, with options that each refuses.
const KINDS: [(&str, Option<&[u8]>); 5] =
    [("netem", None), ("tbf", None), ("pfifo", Some(&[0])), ("bfifo", Some(&[0])), (PRIO, None)];

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
    let filters = filters(kernel, index).await?;
    let has_ifb = kernel.has_ifb().await?;
    let others = [
        (FLOWER, &filters.flower),
        (IFB, &(!has_ifb).then(|| IFB.to_owned())),
        (MATCHALL, &filters.redirect),
    ];
    missing.extend(others.into_iter().filter_map(|(kind, module)| {
        Some(Missing { kind: kind.to_owned(), module: module.clone()? })
    }));
    let [netem, tbf, pfifo, bfifo, prio] = known;
    let (backend_name, backend_version) = kernel.backend();
    Ok(Capabilities {
        netem,
        tbf,
        pfifo,
        bfifo,
        rules: prio && filters.flower.is_none(),
        incoming: has_ifb && filters.redirect.is_none(),
        extensions: if netem { extensions } else { Extensions::default() },
        missing,
        backend_name,
        backend_version,
    })
}

/// Modules that filters lack, if any.
#[derive(Debug, Default)]
struct Filters {
    /// For those of rules.
    flower: Option<String>,
    /// For those that redirect incoming traffic.
    redirect: Option<String>,
}

/// Modules that filters lack. They need a discipline, so a hook without effect on packets is made on
/// loopback for the requests; without the hook those of rules are assumed, and refused at the first use.
async fn filters<K: Kernel>(kernel: &mut K, index: u32) -> Result<Filters, KernelError> {
    let hook = incoming::hook(index, Verb::Create);
    let is_own = match kernel.send(&hook).await {
        Ok(()) => true,
        // Another program has one there.
        Err(KernelError::Rejected { .. }) => false,
        Err(KernelError::Unsupported { .. }) => {
            return Ok(Filters { flower: None, redirect: Some("sch_ingress".to_owned()) });
        }
        Err(err) => return Err(err),
    };
    let flower = FilterRequest {
        index,
        parent: incoming::EGRESS,
        preference: u16::MAX,
        handle: 1,
        protocol: 0,
        kind: FLOWER,
        // Of its type, the protocol of frames, a filter refuses one octet.
        options: Some(vec![5, 0, 8, 0, 0, 0, 0, 0]),
    };
    let missing = Filters {
        flower: missing_module(kernel, &flower).await?,
        redirect: missing_module(kernel, &incoming::impossible_redirect(index)).await?,
    };
    if is_own {
        kernel.send(&Request { verb: Verb::Delete, ..hook }).await?;
    }
    Ok(missing)
}

/// Module that the kernel lacks for a request which it must refuse.
async fn missing_module<K: Kernel>(
    kernel: &mut K,
    request: &FilterRequest,
) -> Result<Option<String>, KernelError> {
    match kernel.send_filters(std::slice::from_ref(request)).await {
        Ok(()) => {
            let removal = FilterRequest { options: None, ..request.clone() };
            kernel.send_filters(&[removal]).await?;
            Ok(None)
        }
        Err(KernelError::Rejected { .. }) => Ok(None),
        Err(KernelError::Unsupported { module, .. }) => Ok(Some(module.unwrap_or_default())),
        Err(err) => Err(err),
    }
}
