//! Passwords of admins: given in a file, or generated.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use groundwave_credentials::{SecretError, keep_once, random, read_words};
use groundwave_http::Failure;
use groundwave_http::option_value::require_file;

use crate::services::passwords::check_new;

/// File of a generated password in the folder of the state.
pub const BOOTSTRAP: &str = "bootstrap-admin";

/// Name of the first admin.
pub const ADMIN: &str = "admin";

/// Password in a file; refused by the rule of passwords if `checked`.
///
/// # Errors
/// When the file cannot be read or others may, or the password is refused.
pub fn read_password(option: &str, path: &Path, checked: bool) -> Result<String, Failure> {
    require_file(option, path, "a file with the password")?;
    let password = read_words(path).map_err(Failure::input)?;
    if checked {
        check_new("", &password, ADMIN).map_err(|problem| {
            let (file, detail) = (path.display(), problem.detail);
            Failure::Input(format!("invalid {option}: {file}: {detail}"))
        })?;
    }
    Ok(password)
}

/// A random password, written to `file`, which only its owner may read.
///
/// # Errors
/// [`SecretError`].
pub fn generate_password(file: &Path) -> Result<String, SecretError> {
    let bytes: [u8; 18] = random()?;
    let password = URL_SAFE_NO_PAD.encode(bytes);
    // Left by a start that failed before the account was created, or by an earlier reset.
    let _ = std::fs::remove_file(file);
    keep_once(file, format!("{password}\n").as_bytes())?;
    Ok(password)
}
