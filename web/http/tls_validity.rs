//! Period of validity of a certificate, RFC 5280 4.1.2.5, from its DER.

use tokio_rustls::rustls::pki_types::CertificateDer;

const SEQUENCE: u8 = 0x30;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// Tag of the version, which certificates of version 1 lack.
const VERSION: u8 = 0xa0;

/// Period of validity, ns since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Validity {
    /// Begin.
    pub from_ns: u64,
    /// End.
    pub until_ns: u64,
}

/// Next element of `bytes`, removed from them: its tag and content.
fn element<'a>(bytes: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (first, mut rest) = rest.split_first()?;
    let length = match first {
        0..=0x7f => usize::from(*first),
        // Lengths of up to 4 bytes.
        0x81..=0x84 => {
            let (length, after) = rest.split_at_checked(usize::from(first - 0x80))?;
            rest = after;
            length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte))
        }
        _ => return None,
    };
    let (content, after) = rest.split_at_checked(length)?;
    *bytes = after;
    Some((*tag, content))
}

fn sequence<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    element(bytes).filter(|(tag, _)| *tag == SEQUENCE).map(|(_, content)| content)
}

/// Time, ns since the Unix epoch; 0 for earlier ones.
fn time(bytes: &mut &[u8]) -> Option<u64> {
    let (tag, content) = element(bytes)?;
    let text = std::str::from_utf8(content).ok()?.strip_suffix('Z')?;
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (year, rest) = match tag {
        UTC_TIME => {
            let (year, rest) = text.split_at_checked(2)?;
            let year: u32 = year.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = text.split_at_checked(4)?;
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    if rest.len() != 10 {
        return None;
    }
    let part = |at: usize| &rest[at..at + 2];
    let text = format!("{year:04}-{}-{}T{}:{}:{}Z", part(0), part(2), part(4), part(6), part(8));
    let at: jiff::Timestamp = text.parse().ok()?;
    Some(u64::try_from(at.as_nanosecond()).unwrap_or(if at.as_second() < 0 { 0 } else { u64::MAX }))
}

impl Validity {
    /// Period of a certificate; `None` for one that cannot be read.
    #[must_use]
    pub fn of(certificate: &CertificateDer<'_>) -> Option<Self> {
        let mut bytes: &[u8] = certificate.as_ref();
        let mut certificate = sequence(&mut bytes)?;
        let mut fields = sequence(&mut certificate)?;
        if fields.first() == Some(&VERSION) {
            element(&mut fields)?;
        }
        // Serial number, algorithm of the signature, issuer.
        for _ in 0..3 {
            element(&mut fields)?;
        }
        let mut validity = sequence(&mut fields)?;
        Some(Self { from_ns: time(&mut validity)?, until_ns: time(&mut validity)? })
    }
}

#[cfg(test)]
mod tests {
    use tokio_rustls::rustls::pki_types::pem::PemObject;

    use super::*;
    use crate::time::rfc3339;

    /// Made by OpenSSL 3.0: `openssl ca -startdate 20250102030405Z -enddate 20520203040506Z`.
    const PEM: &str = "-----BEGIN CERTIFICATE-----
MIIBFjCBvgIBATAKBggqhkjOPQQDAjAXMRUwEwYDVQQDDAxnYXRld2F5LnRlc3Qw
IBcNMjUwMTAyMDMwNDA1WhgPMjA1MjAyMDMwNDA1MDZaMBcxFTATBgNVBAMMDGdh
dGV3YXkudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABFK1/m88IgQ9VmWS
uztIAPV6rPcT6qTfM3fpu97h27/5gVE9vDI7KpTfpcTDnl2xIUwpZrm8TYCk3g1w
lEYVND4wCgYIKoZIzj0EAwIDRwAwRAIgD8+a6TGWGQw8jr3iUg4zp2uqyqCd26ZU
xJBJGe5WWXYCIC2gX+rQguseVNo14lhZwqzWyxTU55enlctDK1YlKcXX
-----END CERTIFICATE-----
";

    #[test]
    fn validity_is_that_of_openssl_in_both_forms_of_time() {
        let certificate = CertificateDer::from_pem_slice(PEM.as_bytes()).unwrap();
        let validity = Validity::of(&certificate).unwrap();
        assert_eq!(rfc3339(validity.from_ns), "2025-01-02T03:04:05.000Z");
        assert_eq!(rfc3339(validity.until_ns), "2052-02-03T04:05:06.000Z");
    }

    #[test]
    fn damaged_certificate_has_no_validity() {
        let certificate = CertificateDer::from_pem_slice(PEM.as_bytes()).unwrap();
        for length in 0..certificate.len() {
            let part = CertificateDer::from(certificate[..length].to_vec());
            assert_eq!(Validity::of(&part), None, "{length}");
        }
        for at in 0..80 {
            for byte in [0x00, 0x7f, 0x80, 0x84, 0xff] {
                let mut bytes = certificate.to_vec();
                bytes[at] = byte;
                let _ = Validity::of(&CertificateDer::from(bytes));
            }
        }
    }
}
