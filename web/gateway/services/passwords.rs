//! Passwords of users: argon2id.

use std::sync::{Arc, Mutex, PoisonError};

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use groundwave_gateway::account::Secret;
use groundwave_http::Problem;
use groundwave_http::problem::FieldCode;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use super::vault::Vault;
use crate::settings::Effort;

/// Shortest and longest password, characters.
pub const CHARS: std::ops::RangeInclusive<usize> = 12..=1024;

/// Maximum number of hashes at once: each has memory of its own, which is kept for the next one.
const AT_ONCE_MAX: usize = 2;
/// Length of a hash, bytes.
const HASH_BYTES: usize = 32;

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

/// Memory of hashes that are over, for those to come. Freed and allocated anew by any thread, it would
/// stay with the allocator, once for each thread.
#[derive(Default)]
struct HashMemory(Mutex<Vec<Vec<Block>>>);

impl HashMemory {
    /// Lends memory of `count` blocks of 1 KiB.
    fn with<T>(&self, count: usize, work: impl FnOnce(&mut [Block]) -> T) -> T {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut blocks = spare.unwrap_or_default();
        if blocks.len() < count {
            blocks = vec![Block::default(); count];
        }
        let outcome = work(&mut blocks[..count]);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(blocks);
        outcome
    }

    /// Fills `out` with a hash; returns whether the parameters allowed it.
    fn derive(&self, argon2: &Argon2<'_>, password: &str, salt: &Salt, out: &mut [u8]) -> bool {
        self.with(argon2.params().block_count(), |blocks| {
            argon2.hash_password_into_with_memory(password.as_bytes(), salt, out, blocks).is_ok()
        })
    }

    /// Hash of a password in the PHC format.
    fn hash(&self, effort: Effort, password: &str) -> Result<String, String> {
        let params = Params::new(effort.memory_kib, effort.passes, 1, Some(HASH_BYTES))
            .map_err(|err| err.to_string())?;
        let listed = ParamsString::try_from(&params).map_err(|err| err.to_string())?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let random: [u8; 16] = groundwave_credentials::random().map_err(|err| err.to_string())?;
        let salt = Salt::new(&random).map_err(|err| err.to_string())?;
        let mut out = [0; HASH_BYTES];
        if !self.derive(&argon2, password, &salt, &mut out) {
            return Err("argon2id failed".to_owned());
        }
        let hashed = PasswordHash {
            algorithm: Algorithm::Argon2id.ident(),
            version: Some(Version::V0x13.into()),
            params: listed,
            salt: Some(salt),
            hash: Some(Output::new(&out).map_err(|err| err.to_string())?),
        };
        Ok(hashed.to_string())
    }

    /// True when a password has this hash; the comparison takes the same time for any.
    fn fits(&self, hashed: &str, password: &str) -> bool {
        let Ok(parsed) = PasswordHash::new(hashed) else { return false };
        let algorithm = Algorithm::try_from(parsed.algorithm.as_str());
        let version = parsed.version.map_or(Ok(Version::default()), Version::try_from);
        let params = Params::try_from(&parsed);
        let (Ok(algorithm), Ok(version), Ok(params)) = (algorithm, version, params) else {
            return false;
        };
        let (Some(salt), Some(expected)) = (parsed.salt, parsed.hash) else { return false };
        let mut out = vec![0; expected.len()];
        self.derive(&Argon2::new(algorithm, version, params), password, &salt, &mut out)
            && Output::new(&out).is_ok_and(|output| output == expected)
    }
}

/// Password hashing and sealing of the hashes, with at most one fewer threads than cores, and two.
pub struct Passwords {
    effort: Effort,
    memory: Arc<HashMemory>,
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
        let turns = cores.saturating_sub(1).clamp(1, AT_ONCE_MAX);
        let memory = Arc::new(HashMemory::default());
        let decoy = memory.hash(effort, "no password is this").expect("a sound effort");
        Self {
            effort,
            memory,
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
        let (effort, memory) = (self.effort, Arc::clone(&self.memory));
        let hashed = self.work(move || memory.hash(effort, &password));
        let hashed = hashed.await?.map_err(Problem::internal)?;
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
        let memory = Arc::clone(&self.memory);
        let fits = self.work(move || memory.fits(&hashed, &password));
        Ok(fits.await? && is_stored)
    }
}

/// `true` for a text that repeats its first `chars`.
fn is_repetition(text: &str, chars: usize) -> bool {
    let letters: Vec<char> = text.chars().collect();
    chars > 0 && letters.iter().zip(letters.iter().skip(chars)).all(|(one, next)| one == next)
}

/// `true` for a password that has the username in it; a short one, which is in many words, throughout.
fn contains_name(password: &str, username: &str) -> bool {
    let chars = username.chars().count();
    match chars {
        0 => false,
        1..=3 => password.starts_with(username) && is_repetition(password, chars),
        _ => password.contains(username),
    }
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
    } else if password.trim().is_empty() || is_repetition(&lower, 1) {
        Some("common password: one character throughout".to_owned())
    } else if contains_name(&lower, &username.to_lowercase()) {
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
    fn password_is_neither_blank_nor_the_username_over_and_over() {
        let is_refused = |password: &str, name: &str| check_new("/p", password, name).is_err();
        for (password, name) in [
            ("v3v3v3v3v3v3", "v3"),
            ("V3v3v3v3v3v3v", "v3"),
            ("             ", "ada"),
            ("zzzzzzzzzzzzz", "ada"),
            ("my-Alice-pass-1", "alice"),
        ] {
            assert!(is_refused(password, name), "{password:?}");
        }
        assert!(!is_refused("v3 correct horse", "v3") && !is_refused("canada is wide", "ada"));
    }

    #[test]
    fn hashes_share_the_memory_of_those_before() {
        use argon2::PasswordVerifier as _;

        let memory = HashMemory::default();
        let effort = Effort { memory_kib: 64, passes: 2 };
        let hashed = memory.hash(effort, "a password").unwrap();
        for _ in 0..20 {
            assert!(memory.fits(&hashed, "a password") && !memory.fits(&hashed, "another"));
        }
        assert_eq!(memory.0.lock().unwrap().len(), 1);
        let verified = Argon2::default().verify_password(b"a password", hashed.as_str());
        assert!(verified.is_ok(), "{hashed}");
        let smaller = memory.hash(Effort { memory_kib: 8, passes: 1 }, "x").unwrap();
        assert!(memory.fits(&smaller, "x") && !memory.fits("$argon2id$", "x"));
    }

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
