//! Admission policy: approved, pending or denied, by the evidence of a request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Policy for join requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Only nodes registered ahead are admitted.
    Closed,
    /// Every request waits for an admin.
    #[default]
    Approval,
    /// A valid proof from a trusted hardware address that the kernel confirms is admitted; only one of
    /// proof and address waits; others are denied.
    Trusted,
    /// Every request is admitted. For laboratories.
    Open,
}

/// Evidence of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evidence {
    /// A node was registered ahead with this key or this code.
    pub expected: bool,
    /// The request carries a valid proof of the trust secret.
    pub proof: bool,
    /// The hardware address is trusted.
    pub mac_listed: bool,
    /// The kernel has learnt the hardware address for the source of the request.
    pub mac_verified: bool,
}

/// Outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Admitted.
    Approved,
    /// Waits for an admin.
    Pending,
    Denied,
}

/// Outcome of `evidence` under `policy`.
#[must_use]
pub fn admission(policy: Policy, evidence: Evidence) -> Admission {
    let Evidence { expected, proof, mac_listed, mac_verified } = evidence;
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
        let claims = [all, (true, false, false), (false, true, false), (false, false, false)];
        for (policy, verdicts) in rows {
            for ((proof, mac_listed, mac_verified), verdict) in claims.into_iter().zip(verdicts) {
                let mut evidence = Evidence { expected: false, proof, mac_listed, mac_verified };
                assert_eq!(admission(policy, evidence), verdict, "{policy:?} {evidence:?}");
                evidence.expected = true;
                assert_eq!(admission(policy, evidence), Approved);
            }
        }
    }

    #[test]
    fn listed_address_absent_in_the_kernel_is_text() {
        let evidence =
            Evidence { expected: false, proof: true, mac_listed: true, mac_verified: false };
        assert_eq!(admission(Policy::Trusted, evidence), Pending);
    }
}
