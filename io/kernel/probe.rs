//! Capabilities of the running kernel, queried without a change.
//!
//! Each kind is requested on the loopback interface with options that it must refuse: an unknown
//! kind is refused as unknown, a known one for its options, and neither is created.

use groundwave_impair::{Capabilities, Extensions, Missing};

use super::{Handle, Kernel, KernelError, Request, Verb};

/// The kinds of the stack, with options that each refuses.
const KINDS: [(&str, Option<&[u8]>); 4] =
    [("netem", None), ("tbf", None), ("pfifo", Some(&[0])), ("bfifo", Some(&[0]))];

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
    let [netem, tbf, pfifo, bfifo] = known;
    let (backend_name, backend_version) = kernel.backend();
    Ok(Capabilities {
        netem,
        tbf,
        pfifo,
        bfifo,
        extensions: if netem { extensions } else { Extensions::default() },
        missing,
        backend_name,
        backend_version,
    })
}
