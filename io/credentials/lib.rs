//! Credentials: secrets in files, sealed secrets, proofs of possession, keys of WireGuard.

pub mod possession;
pub mod seal;
mod secret;
mod wireguard_key;

pub use secret::{
    SecretError, check_private, keep_once, load_or_make, random, read_words, write_private,
};
pub use wireguard_key::{PrivateKey, PublicKey};
