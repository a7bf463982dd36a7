//! Capabilities of a daemon: `CAP_NET_ADMIN` only.
//!
//! A thread that enters network namespaces later keeps three of them.
//!
//! Capabilities belong to threads. These functions are for a process with one thread, whose later
//! threads inherit the rest.

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set,
    clear_ambient_capability_set, remove_capability_from_bounding_set, set_capabilities,
    set_no_new_privs,
};

/// Remaining capabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// Presence of `CAP_NET_ADMIN`, without which the kernel refuses every change.
    pub net_admin: bool,
    /// Reduction of the bounding set, which needs `CAP_SETPCAP`; without it, `no_new_privs` alone
    /// keeps started programs from gaining capabilities.
    pub bounded: bool,
}

impl std::fmt::Display for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let capabilities = if self.net_admin {
            "CAP_NET_ADMIN only"
        } else {
            "none: the kernel will refuse every change"
        };
        let bounded = if self.bounded { "" } else { " (bounding set not narrowed)" };
        write!(f, "{capabilities}{bounded}, no new privileges")
    }
}

/// Drops every capability but `CAP_NET_ADMIN` from the calling thread, in all five sets, for good.
///
/// # Errors
/// When the system refuses to drop capabilities.
pub fn keep_net_admin() -> std::io::Result<Kept> {
    keep_only(CapabilitySet::NET_ADMIN)
}

/// Drops every capability of the calling thread but those to enter the network namespaces of other processes and to
/// shape there, for good: `CAP_SYS_ADMIN`, `CAP_SYS_PTRACE` and `CAP_NET_ADMIN`.
///
/// # Errors
/// When the system refuses to drop capabilities.
pub fn keep_namespaces() -> std::io::Result<Kept> {
    keep_only(CapabilitySet::NET_ADMIN | CapabilitySet::SYS_ADMIN | CapabilitySet::SYS_PTRACE)
}

fn keep_only(keep: CapabilitySet) -> std::io::Result<Kept> {
    set_no_new_privs(true)?;
    clear_ambient_capability_set()?;
    let held = capabilities(None)?;
    // First: it needs a capability that is dropped next.
    let bounded = narrow_bounding_set(keep);
    set_capabilities(
        None,
        CapabilitySets {
            effective: held.permitted & keep,
            permitted: held.permitted & keep,
            inheritable: CapabilitySet::empty(),
        },
    )?;
    let left = capabilities(None)?;
    Ok(Kept { net_admin: left.effective.contains(CapabilitySet::NET_ADMIN), bounded })
}

/// Reduction of the bounding set to `keep`.
fn narrow_bounding_set(keep: CapabilitySet) -> bool {
    let mut narrow = true;
    for bit in 0..u64::BITS {
        let one = CapabilitySet::from_bits_retain(1 << bit);
        // The kernel refuses capabilities it does not know.
        if !keep.contains(one) && capability_is_in_bounding_set(one) == Ok(true) {
            narrow &= remove_capability_from_bounding_set(one).is_ok();
        }
    }
    narrow
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str) -> u64 {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        u64::from_str_radix(line.unwrap().trim(), 16).unwrap()
    }

    #[test]
    fn one_capability_at_most_is_left_and_none_comes_back() {
        // On a thread of its own: dropped capabilities do not come back.
        std::thread::spawn(|| {
            let net_admin = CapabilitySet::NET_ADMIN.bits();
            let before = set("CapPrm:");
            let kept = keep_net_admin().unwrap();
            assert_eq!(kept.net_admin, before & net_admin != 0);
            assert_eq!(set("CapPrm:"), before & net_admin);
            assert_eq!(set("CapEff:"), before & net_admin);
            assert_eq!((set("CapInh:"), set("CapAmb:")), (0, 0));
            assert_eq!(kept.bounded, set("CapBnd:") & !net_admin == 0);
            let all = CapabilitySets {
                effective: CapabilitySet::all(),
                permitted: CapabilitySet::all(),
                inheritable: CapabilitySet::empty(),
            };
            assert!(set_capabilities(None, all).is_err());
            // Inherited by later threads.
            let later = std::thread::spawn(|| set("CapPrm:")).join().unwrap();
            assert_eq!(later, before & net_admin);
            assert!(kept.to_string().contains("no new privileges"));
        })
        .join()
        .unwrap();
    }
}
