//! Addresses of files at servers, beside paths of files on this machine.

/// True for the address of a file at a server of HTTP.
///
/// ```
/// assert!(groundwave_files::address::is_address("https://example.org/a.tif"));
/// assert!(!groundwave_files::address::is_address("covers/https"));
/// ```
#[must_use]
pub fn is_address(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|scheme| ["http", "https"].contains(&scheme.as_str()))
}
