//! Passwords of users: argon2id.

use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use groundwave_systems::account::Secret;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use crate::gateway::settings::Effort;
use crate::http::Problem;
use crate::http::problem::FieldCode;

/// Shortest and longest password, characters.
pub const CHARS: std::ops::RangeInclusive<usize> = 12..=1024;

/// Most queued hashes; one takes tens of milliseconds of a core.
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

/// Password hashing, with at most one fewer threads than cores.
pub struct Passwords {
    effort: Effort,
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
    pub fn new(effort: Effort) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let turns = cores.saturating_sub(1).max(1);
        let decoy = hash(effort, "no password is this").expect("a sound effort");
        Self {
            effort,
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
        let done = tokio::task::spawn_blocking(move || {
            let outcome = work();
            drop(turn);
            outcome
        });
        done.await
            .map_err(|err| Problem::internal(format!("hash a password: {err}")))
    }

    /// Hash of a password.
    ///
    /// # Errors
    /// 503 when the queue is full.
    pub async fn hash(&self, password: String) -> Result<Secret, Problem> {
        let effort = self.effort;
        let hashed = self.work(move || hash(effort, &password)).await?;
        let hashed = hashed.map_err(Problem::internal)?;
        Ok(Secret::Argon2id(hashed))
    }

    /// `true` if `password` matches `secret`; `false` after the same time without a secret.
    ///
    /// # Errors
    /// 503 when the queue is full.
    pub async fn check(&self, secret: Option<&Secret>, password: String) -> Result<bool, Problem> {
        let (hashed, known) = match secret {
            // A node's secret is as long as its hash; comparing hashes tells nobody anything.
            Some(Secret::Sha256(held)) => {
                let found: [u8; 32] = Sha256::digest(password.as_bytes()).into();
                return Ok(found == *held);
            }
            Some(Secret::Argon2id(hashed)) => (hashed.clone(), true),
            None => (self.decoy.clone(), false),
        };
        let fits = self.work(move || {
            let parsed = PasswordHash::new(&hashed);
            parsed.is_ok_and(|parsed| {
                let verified = Argon2::default().verify_password(password.as_bytes(), &parsed);
                verified.is_ok()
            })
        });
        Ok(fits.await? && known)
    }
}

fn hash(effort: Effort, password: &str) -> Result<String, String> {
    let params = Params::new(effort.memory_kib, effort.passes, 1, None);
    let params = params.map_err(|err| err.to_string())?;
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
        Some(format!(
            "invalid length: allowed {} to {} characters",
            CHARS.start(),
            CHARS.end()
        ))
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
