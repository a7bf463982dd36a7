//! Names of hosts.

use groundwave_values::Refusal;

/// Longest name of a machine of the mesh: that of one label.
const HOSTNAME_CHARS_MAX: usize = LABEL_CHARS_MAX;

/// Longest name of a host, and longest label of one, RFC 1123.
const NAME_CHARS_MAX: usize = 253;
const LABEL_CHARS_MAX: usize = 63;

/// `true` if a text is a host name: labels of letters, digits and hyphens, none at an end (RFC
/// 1123, section 2.1).
#[must_use]
pub fn is_hostname(text: &str) -> bool {
    let label = |label: &str| {
        (1..=LABEL_CHARS_MAX).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    text.len() <= NAME_CHARS_MAX && text.split('.').all(label)
}

/// Refuses names that no machine of the mesh may have.
pub fn check_hostname(hostname: &str) -> Result<(), Refusal> {
    if hostname.len() > HOSTNAME_CHARS_MAX || !is_hostname(hostname) {
        return Err(Refusal::invalid(
            "hostname",
            format!("{hostname:?}"),
            "1 to 63 letters, digits, hyphens and dots (RFC 1123)",
        ));
    }
    Ok(())
}
