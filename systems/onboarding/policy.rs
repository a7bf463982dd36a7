//! Who is let in at once, who waits, who is turned away.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How strangers are met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Only nodes that were registered before.
    Closed,
    /// Everybody waits for an admin.
    #[default]
    Approval,
    /// Who knows the secret, from an address on the list that the kernel confirms, comes in; who
    /// shows only one of these waits; the rest are turned away.
    Trusted,
    /// Everybody comes in. For laboratories.
    Open,
}

/// What a stranger can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evidence {
    /// A node was registered before with this key or this code.
    pub expected: bool,
    /// The request carries a valid proof of the trust secret.
    pub proof: bool,
    /// Its hardware address is on the list.
    pub mac_listed: bool,
    /// The kernel has learnt that hardware address for the request's source.
    pub mac_verified: bool,
}

/// What becomes of a stranger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Comes in.
    Approved,
    /// Waits for an admin.
    Pending,
    /// Is turned away.
    Denied,
}

/// What `policy` makes of `evidence`.
#[must_use]
pub fn admission(policy: Policy, evidence: Evidence) -> Admission {
    let Evidence {
        expected,
        proof,
        mac_listed,
        mac_verified,
    } = evidence;
    match policy {
        _ if expected => Admission::Approved,
        Policy::Closed => Admission::Denied,
        Policy::Approval => Admission::Pending,
        Policy::Trusted if proof && mac_listed && mac_verified => Admission::Approved,
        Policy::Trusted if proof || mac_listed => Admission::Pending,
        Policy::Trusted => Admission::Denied,
        Policy::Open => Admission::Approved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Admission::{Approved, Denied, Pending};

    #[test]
    fn the_table_of_policies_and_evidence() {
        let all = (true, true, true);
        let rows = [
            (Policy::Closed, [Denied, Denied, Denied, Denied]),
            (Policy::Approval, [Pending, Pending, Pending, Pending]),
            (Policy::Trusted, [Approved, Pending, Pending, Denied]),
            (Policy::Open, [Approved, Approved, Approved, Approved]),
        ];
        let claims = [
            all,
            (true, false, false),
            (false, true, false),
            (false, false, false),
        ];
        for (policy, verdicts) in rows {
            for ((proof, mac_listed, mac_verified), verdict) in claims.into_iter().zip(verdicts) {
                let mut evidence = Evidence {
                    expected: false,
                    proof,
                    mac_listed,
                    mac_verified,
                };
                assert_eq!(
                    admission(policy, evidence),
                    verdict,
                    "{policy:?} {evidence:?}"
                );
                evidence.expected = true;
                assert_eq!(admission(policy, evidence), Approved);
            }
        }
    }

    #[test]
    fn a_listed_address_the_kernel_does_not_know_is_only_text() {
        let evidence = Evidence {
            expected: false,
            proof: true,
            mac_listed: true,
            mac_verified: false,
        };
        assert_eq!(admission(Policy::Trusted, evidence), Pending);
    }
}
