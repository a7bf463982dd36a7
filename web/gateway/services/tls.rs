//! Validity of the TLS certificate in use.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use groundwave_http::time::rfc3339;
use groundwave_http::tls::Validity;

/// Time before the end of a certificate from which it is reported, ns: two weeks.
const NOTICE_NS: u64 = 14 * 24 * 3600 * 1_000_000_000;

/// State of a certificate at some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertificateState {
    /// Valid for longer than the notice.
    Valid,
    /// Ends within the notice.
    EndsSoon,
    /// Not valid yet, or no longer.
    Invalid,
}

/// Validity of the certificate in use; without TLS there is none.
#[derive(Debug, Default)]
pub struct TlsCertificate(RwLock<Option<Validity>>);

impl TlsCertificate {
    /// Sets the validity of the certificate in use.
    pub fn set(&self, validity: Option<Validity>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = validity;
    }

    fn get(&self) -> Option<Validity> {
        *self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begin and end of the validity as attributes of an alert, RFC 3339.
    #[must_use]
    pub fn attributes(&self) -> BTreeMap<String, String> {
        let bounds = self.bounds_ns().into_iter().flatten();
        bounds.map(|(name, at_ns)| (name.to_owned(), rfc3339(at_ns))).collect()
    }

    /// Begin and end of the validity by name, ns since the Unix epoch; `None` without TLS.
    #[must_use]
    pub fn bounds_ns(&self) -> Option<[(&'static str, u64); 2]> {
        let Validity { from_ns, until_ns } = self.get()?;
        Some([("not_before", from_ns), ("not_after", until_ns)])
    }

    /// State at `now_ns`, ns since the Unix epoch; `None` without TLS.
    #[must_use]
    pub fn state(&self, now_ns: u64) -> Option<CertificateState> {
        self.get().map(|validity| match validity {
            Validity { from_ns, until_ns } if !(from_ns..=until_ns).contains(&now_ns) => {
                CertificateState::Invalid
            }
            Validity { until_ns, .. } if until_ns - now_ns < NOTICE_NS => {
                CertificateState::EndsSoon
            }
            _ => CertificateState::Valid,
        })
    }

    /// Text of a certificate that is not valid, or not for much longer.
    #[must_use]
    pub fn warning(&self, now_ns: u64) -> Option<String> {
        let Validity { from_ns, until_ns } = self.get()?;
        let period = format!("{} to {}", rfc3339(from_ns), rfc3339(until_ns));
        match self.state(now_ns)? {
            CertificateState::Valid => None,
            CertificateState::EndsSoon => {
                Some(format!("the TLS certificate ends soon: it is valid from {period}"))
            }
            CertificateState::Invalid => Some(format!(
                "invalid TLS certificate: found the time {}, allowed {period}",
                rfc3339(now_ns)
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificate_is_reported_from_two_weeks_before_its_end() {
        let day_ns = 24 * 3600 * 1_000_000_000;
        let certificate = TlsCertificate::default();
        assert_eq!(certificate.state(0), None);
        certificate.set(Some(Validity { from_ns: 100 * day_ns, until_ns: 200 * day_ns }));
        for (day, state) in [
            (99, CertificateState::Invalid),
            (100, CertificateState::Valid),
            (186, CertificateState::Valid),
            (187, CertificateState::EndsSoon),
            (200, CertificateState::EndsSoon),
            (201, CertificateState::Invalid),
        ] {
            assert_eq!(certificate.state(day * day_ns), Some(state), "day {day}");
            let is_reported = certificate.warning(day * day_ns).is_some();
            assert_eq!(is_reported, state != CertificateState::Valid);
        }
        assert_eq!(certificate.attributes()["not_after"], "1970-07-20T00:00:00.000Z");
        let text = certificate.warning(201 * day_ns).unwrap();
        assert!(text.contains("allowed 1970-04-11T00:00:00.000Z to 1970-07-20"), "{text}");
    }
}
