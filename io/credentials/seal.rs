//! Authenticated encryption of files: without the key they can be neither read nor changed
//! unnoticed.
//!
//! A sealed file is eight bytes that name the format, 24 random bytes, and the bytes encrypted with
//! XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03), the name bound to them.

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{Key, KeyInit, XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use thiserror::Error;

use super::{SecretError, random};

/// First bytes of sealed data.
const NAME: &[u8; 8] = b"GWSEAL1\n";
const NONCE: usize = 24;

/// Reason why bytes are not sealed or not opened.
#[derive(Debug, Error)]
pub enum SealError {
    /// The system gave no random bytes.
    #[error(transparent)]
    Random(#[from] SecretError),
    /// They are too many to be sealed at once.
    #[error("these bytes are too many to be sealed at once")]
    TooLong,
    /// They do not begin as sealed bytes do.
    #[error("invalid sealed file: found another beginning, allowed that of a sealed file")]
    NotSealed,
    /// The key is another, or they were changed.
    #[error("the key does not fit, or the file was changed")]
    Closed,
}

/// The key of backups, which follows from a gateway's key of tokens: HMAC-SHA256 of
/// `groundwave-backup-v1` under it.
#[must_use]
pub fn backup_key(token_key: &[u8; 32]) -> [u8; 32] {
    // A key of any length is good for HMAC.
    let mut mac = Hmac::<Sha256>::new_from_slice(token_key).expect("HMAC takes keys of any length");
    mac.update(b"groundwave-backup-v1");
    mac.finalize().into_bytes().into()
}

fn cipher(key: &[u8; 32]) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&Key::from(*key))
}

/// Seals bytes.
///
/// # Errors
/// [`SealError::Random`], [`SealError::TooLong`].
pub fn seal(key: &[u8; 32], plain: &[u8]) -> Result<Vec<u8>, SealError> {
    let nonce: [u8; NONCE] = random()?;
    let payload = Payload { msg: plain, aad: NAME };
    let hidden =
        cipher(key).encrypt(&XNonce::from(nonce), payload).map_err(|_| SealError::TooLong)?;
    Ok([NAME.as_slice(), &nonce, &hidden].concat())
}

/// Opens sealed bytes.
///
/// # Errors
/// [`SealError::NotSealed`], [`SealError::Closed`].
pub fn unseal(key: &[u8; 32], sealed: &[u8]) -> Result<Vec<u8>, SealError> {
    let rest = sealed.strip_prefix(NAME).ok_or(SealError::NotSealed)?;
    let (nonce, hidden) = rest.split_first_chunk::<NONCE>().ok_or(SealError::NotSealed)?;
    let payload = Payload { msg: hidden, aad: NAME };
    let plain = cipher(key).decrypt(&XNonce::from(*nonce), payload);
    plain.map_err(|_| SealError::Closed)
}

/// `true` if the bytes begin as sealed data does.
#[must_use]
pub fn is_sealed(bytes: &[u8]) -> bool {
    bytes.starts_with(NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_key_opens_what_was_not_changed() {
        let key = backup_key(&[7; 32]);
        let sealed = seal(&key, b"accounts and secrets").unwrap();
        assert!(is_sealed(&sealed) && !is_sealed(b"redb"));
        assert_eq!(unseal(&key, &sealed).unwrap(), b"accounts and secrets");
        let hidden = |bytes: &[u8]| bytes.windows(8).any(|window| window == b"accounts");
        assert!(!hidden(&sealed));
        assert_ne!(seal(&key, b"accounts and secrets").unwrap(), sealed);
        let other = backup_key(&[8; 32]);
        assert!(matches!(unseal(&other, &sealed), Err(SealError::Closed)));
        for at in NAME.len()..sealed.len() {
            let mut bent = sealed.clone();
            bent[at] ^= 1;
            assert!(matches!(unseal(&key, &bent), Err(SealError::Closed)), "{at}");
        }
        for cut in 0..sealed.len() {
            assert!(unseal(&key, &sealed[..cut]).is_err());
        }
        assert!(matches!(unseal(&key, b"redb"), Err(SealError::NotSealed)));
    }

    #[test]
    fn the_cipher_is_that_of_the_draft() {
        // draft-irtf-cfrg-xchacha-03, appendix A.3.1: the first bytes of the ciphertext.
        let plain = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip \
                      for the future, sunscreen would be it.";
        let aad = [0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7];
        let key: [u8; 32] = std::array::from_fn(|at| 0x80 + at as u8);
        let nonce: [u8; NONCE] = std::array::from_fn(|at| 0x40 + at as u8);
        let payload = Payload { msg: plain, aad: &aad };
        let hidden = cipher(&key).encrypt(&XNonce::from(nonce), payload).unwrap();
        let first = [0xbd, 0x6d, 0x17, 0x9d, 0x3e, 0x83, 0xd4, 0x3b];
        let tag = [0xc0, 0x87, 0x59, 0x24, 0xc1, 0xc7, 0x98, 0x79];
        assert_eq!(hidden[..8], first);
        assert_eq!(hidden[plain.len()..][..8], tag);
    }
}
