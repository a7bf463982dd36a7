//! Passwords of users: argon2id.

use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use groundwave_gateway::account::Secret;
use groundwave_http::Problem;
use groundwave_http::problem::FieldCode;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use super::vault::Vault;
use crate::settings::Effort;

/// Shortest and longest password, characters.
pub const CHARS: std::ops::RangeInclusive<usize> = 12..=1024;

/// Maximum number of queued hashes; one takes tens of milliseconds of a core.
const QUEUE: usize = 32;

/// Common passwords of the allowed length.
const COMMON: [&str; 12] = [
    "123456789012",
    "1234567890123",
    "12345678901234",
    "password1234",
    "password12345",
    "passwordpassword",
    "qwertyuiop123",
    "qwertyuiopas",
    "adminadminadmin",
    "administrator",
    "letmeinletmein",
    "iloveyou1234",
];

/// Password hashing and sealing of the hashes, with at most one fewer threads than cores.
pub struct Passwords {
    effort: Effort,
    vault: Vault,
    turns: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    /// Hash checked for unknown usernames, so that the response time is the same.
    decoy: String,
}

impl Passwords {
    /// Hashing with this cost.
    ///
    /// # Panics
    /// For an invalid cost.
    #[must_use]
    pub fn new(effort: Effort, vault: Vault) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let turns = cores.saturating_sub(1).max(1);
        let decoy = hash(effort, "no password is this").expect("a sound effort");
        Self {
            effort,
            vault,
            turns: Arc::new(Semaphore::new(turns)),
            waiting: Arc::new(Semaphore::new(turns + QUEUE)),
            decoy,
        }
    }

    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let Ok(_place) = Arc::clone(&self.waiting).try_acquire_owned() else {
            return Err(Problem::unavailable("too many logins at once").retry_after(5));
        };
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        let result = tokio::task::spawn_blocking(move || {
            let outcome = work();
            drop(turn);
            outcome
        });
        result.await.map_err(|err| Problem::internal(format!("hash a password: {err}")))
    }

    /// Sealed hash of a password.
    ///
    /// # Errors
    /// 503 when the queue is full.
    pub async fn hash(&self, password: String) -> Result<Secret, Problem> {
        let effort = self.effort;
        let hashed =
            self.work(move || hash(effort, &password)).await?.map_err(Problem::internal)?;
        let sealed = self.vault.seal(hashed.as_bytes());
        sealed.map(Secret::Sealed).map_err(Problem::internal)
    }

    /// `true` if `password` matches `secret`. A refusal takes the time of an argon2id hash for every
    /// kind of secret and without one, so that its time does not distinguish accounts.
    ///
    /// # Errors
    /// 503 when the queue is full.
    pub async fn check(&self, secret: Option<&Secret>, password: String) -> Result<bool, Problem> {
        let (hashed, is_stored) = match secret {
            // A node's secret is as long as its hash; the time of a comparison of hashes reveals nothing.
            Some(Secret::Sha256(expected)) => {
                let digest: [u8; 32] = Sha256::digest(password.as_bytes()).into();
                if digest == *expected {
                    return Ok(true);
                }
                (self.decoy.clone(), false)
            }
            Some(Secret::Argon2id(hashed)) => (hashed.clone(), true),
            Some(Secret::Sealed(sealed)) => {
                let hashed = self.vault.unseal(sealed);
                let hashed = hashed.map(|hashed| String::from_utf8_lossy(&hashed).into_owned());
                if let Err(what) = &hashed {
                    tracing::error!("password sealed under another key: {what}; reset it");
                }
                hashed.map_or((self.decoy.clone(), false), |hashed| (hashed, true))
            }
            None => (self.decoy.clone(), false),
        };
        let fits = self.work(move || {
            let parsed = PasswordHash::new(&hashed);
            parsed.is_ok_and(|parsed| {
                let verified = Argon2::default().verify_password(password.as_bytes(), &parsed);
                verified.is_ok()
            })
        });
        Ok(fits.await? && is_stored)
    }
}

fn hash(effort: Effort, password: &str) -> Result<String, String> {
    let params =
        Params::new(effort.memory_kib, effort.passes, 1, None).map_err(|err| err.to_string())?;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let hashed = argon2.hash_password(password.as_bytes());
    Ok(hashed.map_err(|err| err.to_string())?.to_string())
}

/// Refuses passwords that are too short, too long or common.
///
/// # Errors
/// 422 at `pointer`.
pub fn check_new(pointer: &str, password: &str, username: &str) -> Result<(), Problem> {
    let lower = password.to_lowercase();
    let wrong = if !CHARS.contains(&password.chars().count()) {
        Some(format!("invalid length: allowed {} to {} characters", CHARS.start(), CHARS.end()))
    } else if COMMON.contains(&lower.as_str()) || lower.contains("groundwave") {
        Some("common password".to_owned())
    } else if lower.contains(&username.to_lowercase()) && username.len() > 3 {
        Some("password contains the username".to_owned())
    } else {
        None
    };
    match wrong {
        Some(why) => Err(Problem::field(pointer, FieldCode::Password, why)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_costs_a_hash_for_every_kind_of_account() {
        let effort = Effort { memory_kib: 8, passes: 1 };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let passwords = Passwords::new(effort, Vault::new(&[1; 32]));
        let foreign = Passwords::new(effort, Vault::new(&[2; 32]));
        let check = |secret: Option<&Secret>, password: &str| {
            runtime.block_on(passwords.check(secret, password.to_owned()))
        };
        let own = runtime.block_on(passwords.hash("a password".to_owned())).unwrap();
        assert_eq!(check(Some(&own), "a password"), Ok(true));
        assert_eq!(check(Some(&own), "another"), Ok(false));
        let other = runtime.block_on(foreign.hash("a password".to_owned())).unwrap();
        assert_eq!(check(Some(&other), "a password"), Ok(false));
        let node = Secret::Sha256(Sha256::digest("random").into());
        assert_eq!(check(Some(&node), "guess"), Ok(false));
        // With the queue full, only what needs no hash has an answer.
        let places = u32::try_from(passwords.waiting.available_permits()).unwrap();
        let queue = Arc::clone(&passwords.waiting).try_acquire_many_owned(places);
        let _queue = queue.unwrap();
        for secret in [None, Some(&own), Some(&other), Some(&node)] {
            assert!(check(secret, "guess").is_err());
        }
        assert_eq!(check(Some(&node), "random"), Ok(true));
    }
}
