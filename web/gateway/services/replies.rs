//! Replies to requests with an `Idempotency-Key`, by caller, URI and key.
//!
//! They are held for ten minutes, sealed on disk as well: a request that was begun is not carried out
//! again after a crash or a restart. Each caller has a share of its own.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundwave_engine::FaultKind;
use groundwave_gateway::account::AccountId;
use groundwave_http::Problem;
use groundwave_io_gateway::reply_log::{ReplyLog, ReplyRecord, ReplyState};
use serde::{Deserialize, Serialize};

use super::vault::Vault;

/// Lifetime of a reply, ns.
const LIFETIME_NS: u64 = 600 * 1_000_000_000;

/// Bounds of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Maximum number of keys in the lifetime of a reply.
    keys_max: usize,
    /// Maximum length of all replies, bytes.
    bytes_max: usize,
}

impl Share {
    /// Share of a user.
    pub const USER: Self = Self { keys_max: 1_024, bytes_max: 8 << 20 };
    /// Share of a node, of which there are many.
    pub const NODE: Self = Self { keys_max: 64, bytes_max: 64 << 10 };
}

/// Caller, URI and key of a request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestName {
    /// Account.
    pub account: AccountId,
    /// Path and query.
    pub uri: String,
    /// Key.
    pub key: String,
}

/// A reply.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// Problem of the body, which the guard completes.
    pub problem: Option<Problem>,
}

/// Form of a reply on disk, before it is sealed.
#[derive(Serialize, Deserialize)]
struct StoredReply {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
    problem: Option<Problem>,
}

impl Reply {
    fn to_bytes(&self) -> Option<Vec<u8>> {
        let header = |(name, value): (&HeaderName, &HeaderValue)| {
            Some((name.to_string(), value.to_str().ok()?.to_owned()))
        };
        let stored = StoredReply {
            status: self.status.as_u16(),
            headers: self.headers.iter().filter_map(header).collect(),
            body: STANDARD.encode(&self.body),
            problem: self.problem.clone(),
        };
        serde_json::to_vec(&stored).ok()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let stored: StoredReply = serde_json::from_slice(bytes).ok()?;
        let header = |(name, value): (String, String)| {
            Some((name.parse::<HeaderName>().ok()?, HeaderValue::from_str(&value).ok()?))
        };
        Some(Self {
            status: StatusCode::from_u16(stored.status).ok()?,
            headers: stored.headers.into_iter().filter_map(header).collect(),
            body: STANDARD.decode(stored.body).ok()?.into(),
            problem: stored.problem,
        })
    }

    /// The response that it was.
    #[must_use]
    pub fn into_response(self) -> Response {
        let mut response = (self.status, self.headers, Body::from(self.body)).into_response();
        if let Some(problem) = self.problem {
            response.extensions_mut().insert(problem);
        }
        response
    }
}

#[derive(Debug, Clone)]
enum State {
    Pending,
    /// Begun before the gateway started; the outcome is unknown.
    Unknown,
    /// Carried out; `None` where the reply is too long.
    Done(Option<Box<Reply>>),
}

#[derive(Debug, Clone)]
struct Entry {
    /// Time of the begin by the clock since boot, ns.
    at_ns: u64,
    /// As `at_ns`, ns since the Unix epoch.
    wall_ns: u64,
    body_sha256: [u8; 32],
    state: State,
}

/// State of a request before it is carried out.
#[derive(Debug)]
pub enum Lookup {
    /// It was not begun.
    New,
    Pending,
    /// The key was used for another body.
    Mismatch,
    /// It was begun before the gateway started.
    Unknown,
    /// It was carried out; `None` without its reply.
    Done(Option<Box<Reply>>),
    /// The caller has too many keys; one is free after this time, s.
    TooMany(u32),
}

/// Times of a moment, by the clock since boot and since the Unix epoch, ns.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    pub monotonic_ns: u64,
    pub wall_ns: u64,
}

/// Replies by request.
pub struct Replies {
    entries: Mutex<BTreeMap<RequestName, Entry>>,
    log: Option<Arc<ReplyLog>>,
    vault: Vault,
}

impl Replies {
    /// Replies with those of the log that are not over.
    #[must_use]
    pub fn new(log: Option<Arc<ReplyLog>>, vault: Vault, now: Moment) -> Self {
        let mut entries = BTreeMap::new();
        let records = log.as_ref().map(|log| log.take_records()).unwrap_or_default();
        for record in records {
            let name = RequestName {
                account: AccountId::new(record.account),
                uri: record.uri,
                key: record.key,
            };
            let age_ns = now.wall_ns.saturating_sub(record.at_ns);
            let digest = STANDARD.decode(&record.body_sha256).ok();
            let digest = digest.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
            let is_over = age_ns >= LIFETIME_NS || record.state == ReplyState::Free;
            let Some(body_sha256) = digest.filter(|_| !is_over) else {
                entries.remove(&name);
                continue;
            };
            let state = match record.state {
                ReplyState::Begun | ReplyState::Free => State::Unknown,
                ReplyState::Done { reply } => {
                    let bytes = reply.and_then(|sealed| vault.unseal(&sealed).ok());
                    State::Done(bytes.and_then(|bytes| Reply::from_bytes(&bytes)).map(Box::new))
                }
            };
            let at_ns = now.monotonic_ns.saturating_sub(age_ns);
            entries.insert(name, Entry { at_ns, wall_ns: record.at_ns, body_sha256, state });
        }
        let replies = Self { entries: Mutex::new(entries), log, vault };
        replies.rewrite(&replies.locked());
        replies
    }

    fn locked(&self) -> MutexGuard<'_, BTreeMap<RequestName, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a request, or looks an earlier one up. What is new is on disk when this returns. Blocks.
    ///
    /// # Errors
    /// 507 without space for the record, 503 when the disk fails otherwise.
    pub fn begin(
        &self,
        name: &RequestName,
        share: Share,
        body_sha256: [u8; 32],
        now: Moment,
    ) -> Result<Lookup, Problem> {
        let mut entries = self.locked();
        let is_current = |entry: &Entry| now.monotonic_ns.saturating_sub(entry.at_ns) < LIFETIME_NS;
        entries.retain(|_, entry| is_current(entry) || matches!(entry.state, State::Pending));
        match entries.get(name) {
            Some(entry) if entry.body_sha256 != body_sha256 => return Ok(Lookup::Mismatch),
            Some(entry) => {
                return Ok(match &entry.state {
                    State::Pending => Lookup::Pending,
                    State::Unknown => Lookup::Unknown,
                    State::Done(reply) => Lookup::Done(reply.clone()),
                });
            }
            None => {}
        }
        let own = entries.iter().filter(|(other, _)| other.account == name.account);
        let own: Vec<u64> = own.map(|(_, entry)| entry.at_ns).collect();
        if let Some(oldest_ns) = own.iter().min().filter(|_| own.len() >= share.keys_max) {
            let wait_ns = (oldest_ns + LIFETIME_NS).saturating_sub(now.monotonic_ns);
            return Ok(Lookup::TooMany(
                u32::try_from(wait_ns.div_ceil(1_000_000_000)).unwrap_or(600),
            ));
        }
        let entry = Entry {
            at_ns: now.monotonic_ns,
            wall_ns: now.wall_ns,
            body_sha256,
            state: State::Pending,
        };
        if let Some(log) = &self.log {
            if log.has_grown() {
                self.rewrite(&entries);
            }
            log.append(&record(name, &entry, ReplyState::Begun)).map_err(|err| unwritten(&err))?;
        }
        entries.insert(name.clone(), entry);
        Ok(Lookup::New)
    }

    /// Ends a request with its reply; without one it may be begun again.
    pub fn end(&self, name: &RequestName, share: Share, reply: Option<Reply>) {
        let mut entries = self.locked();
        let own = entries.iter().filter(|(other, _)| other.account == name.account);
        let bytes: usize = own.map(|(_, entry)| entry.state.bytes()).sum();
        let Some(entry) = entries.get_mut(name) else { return };
        let state = match reply {
            Some(reply) => {
                let fits = bytes + reply.body.len() <= share.bytes_max;
                entry.state = State::Done(fits.then(|| Box::new(reply)));
                self.stored(&entry.state)
            }
            None => ReplyState::Free,
        };
        let line = record(name, entry, state);
        if line.state == ReplyState::Free {
            entries.remove(name);
        }
        if let Some(log) = &self.log
            && let Err(err) = log.append(&line)
        {
            tracing::error!(%err, "reply of an Idempotency-Key not stored");
        }
    }

    fn stored(&self, state: &State) -> ReplyState {
        match state {
            State::Pending | State::Unknown => ReplyState::Begun,
            State::Done(reply) => {
                let bytes = reply.as_ref().and_then(|reply| reply.to_bytes());
                ReplyState::Done { reply: bytes.and_then(|bytes| self.vault.seal(&bytes).ok()) }
            }
        }
    }

    /// Writes the log without what is over.
    fn rewrite(&self, entries: &BTreeMap<RequestName, Entry>) {
        let Some(log) = &self.log else { return };
        let records: Vec<_> = entries
            .iter()
            .map(|(name, entry)| record(name, entry, self.stored(&entry.state)))
            .collect();
        if let Err(err) = log.rewrite(&records) {
            tracing::error!(%err, "log of replies not written anew");
        }
    }
}

impl State {
    fn bytes(&self) -> usize {
        match self {
            Self::Done(Some(reply)) => reply.body.len(),
            _ => 0,
        }
    }
}

fn record(name: &RequestName, entry: &Entry, state: ReplyState) -> ReplyRecord {
    ReplyRecord {
        account: name.account.uuid(),
        uri: name.uri.clone(),
        key: name.key.clone(),
        body_sha256: STANDARD.encode(entry.body_sha256),
        at_ns: entry.wall_ns,
        state,
    }
}

fn unwritten(err: &io::Error) -> Problem {
    let detail = format!("record of the Idempotency-Key: {err}");
    match FaultKind::of(err).may_pass() {
        true => Problem::storage_full(detail),
        false => Problem::unavailable(detail),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: [u8; 32] = [1; 32];

    fn name(account: u128, key: &str) -> RequestName {
        let account = AccountId::from_u128(account);
        RequestName { account, uri: "/v1/admin/users".to_owned(), key: key.to_owned() }
    }

    fn at(second: u64) -> Moment {
        let ns = second * 1_000_000_000;
        Moment { monotonic_ns: 3_600_000_000_000 + ns, wall_ns: 1_800_000_000_000_000_000 + ns }
    }

    fn created() -> Reply {
        let mut headers = HeaderMap::new();
        headers.insert("etag", HeaderValue::from_static("\"1\""));
        let body = Bytes::from_static(b"{\"password\":\"once\"}");
        Reply { status: StatusCode::CREATED, headers, body, problem: None }
    }

    fn open(path: &std::path::Path, second: u64) -> Replies {
        let log = Arc::new(ReplyLog::open(path).unwrap());
        Replies::new(Some(log), Vault::new(&[5; 32]), at(second))
    }

    #[test]
    fn a_request_is_not_carried_out_again_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replies.jsonl");
        let begin = |replies: &Replies, key: &str, body, second| {
            replies.begin(&name(1, key), Share::USER, body, at(second)).unwrap()
        };
        let replies = open(&path, 0);
        for key in ["done", "killed", "failed"] {
            assert!(matches!(begin(&replies, key, BODY, 1), Lookup::New));
        }
        replies.end(&name(1, "done"), Share::USER, Some(created()));
        replies.end(&name(1, "failed"), Share::USER, None);
        drop(replies);
        // Neither on disk in clear.
        assert!(!String::from_utf8(std::fs::read(&path).unwrap()).unwrap().contains("once"));
        for second in [10, 20] {
            let replies = open(&path, second);
            let Lookup::Done(Some(reply)) = begin(&replies, "done", BODY, second) else {
                panic!("it was carried out");
            };
            assert_eq!((reply.status, &reply.body), (StatusCode::CREATED, &created().body));
            assert_eq!(reply.headers["etag"], "\"1\"");
            assert!(matches!(begin(&replies, "killed", BODY, second), Lookup::Unknown));
            assert!(matches!(begin(&replies, "done", [2; 32], second), Lookup::Mismatch));
        }
        let replies = open(&path, 30);
        assert!(matches!(begin(&replies, "failed", BODY, 30), Lookup::New));
        let replies = open(&path, 700);
        assert!(matches!(begin(&replies, "done", BODY, 700), Lookup::New));
    }

    #[test]
    fn keys_of_a_node_displace_no_others() {
        let replies = Replies::new(None, Vault::new(&[5; 32]), at(0));
        assert!(matches!(replies.begin(&name(1, "a"), Share::USER, BODY, at(0)), Ok(Lookup::New)));
        replies.end(&name(1, "a"), Share::USER, Some(created()));
        let mut refused = 0;
        for number in 0..2_000 {
            let request = name(2, &number.to_string());
            match replies.begin(&request, Share::NODE, BODY, at(1)).unwrap() {
                Lookup::New => replies.end(&request, Share::NODE, Some(created())),
                Lookup::TooMany(wait_s) => {
                    assert!((1..=600).contains(&wait_s));
                    refused += 1;
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(refused, 2_000 - Share::NODE.keys_max);
        let again = replies.begin(&name(1, "a"), Share::USER, BODY, at(2));
        assert!(matches!(again, Ok(Lookup::Done(Some(_)))));
        // A share is free again once its replies are over.
        let later = replies.begin(&name(2, "later"), Share::NODE, BODY, at(602));
        assert!(matches!(later, Ok(Lookup::New)));
    }

    #[test]
    fn replies_beyond_the_share_of_a_caller_are_marked_as_done() {
        let replies = Replies::new(None, Vault::new(&[5; 32]), at(0));
        let long = || Reply { body: vec![b'x'; Share::USER.bytes_max / 2 + 1].into(), ..created() };
        for key in ["a", "b"] {
            assert!(matches!(
                replies.begin(&name(1, key), Share::USER, BODY, at(0)),
                Ok(Lookup::New)
            ));
            replies.end(&name(1, key), Share::USER, Some(long()));
        }
        let begin = |key| replies.begin(&name(1, key), Share::USER, BODY, at(1)).unwrap();
        assert!(matches!(begin("a"), Lookup::Done(Some(_))));
        assert!(matches!(begin("b"), Lookup::Done(None)));
    }
}
