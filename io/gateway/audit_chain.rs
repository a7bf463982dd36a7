//! Chain of digests of the audit log, as it is checked.
//!
//! A line is JSON whose last member `mac` is the HMAC-SHA256 of the line without that member, under the
//! key of the gateway. `follows` is the SHA-256 of the line before. Lines without `mac`, of earlier
//! versions, stand before those with it.

use groundwave_files::hex::hex;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use super::audit_entry::{AuditEntry, AuditRecord};

/// Operation id of the first line of a segment.
pub const SEGMENT: &str = "audit_segment";

/// Text before the keyed digest, and behind its 64 hexadecimal digits.
const MAC: &str = ",\"mac\":\"";
const MAC_END: &str = "\"}";

/// SHA-256 of a line, hexadecimal.
pub fn digest(line: &[u8]) -> String {
    hex(&Sha256::digest(line))
}

fn mac_of(key: &[u8; 32], line: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(line);
    mac
}

/// A line with its keyed digest.
pub fn with_mac(key: &[u8; 32], line: &str) -> String {
    let mac = hex(&mac_of(key, line.as_bytes()).finalize().into_bytes());
    let open = line.strip_suffix('}').unwrap_or(line);
    format!("{open}{MAC}{mac}{MAC_END}")
}

/// `true` if the keyed digest of a line is right; `None` without one.
fn mac_fits(key: &[u8; 32], line: &str) -> Option<bool> {
    let (open, mac) = line.strip_suffix(MAC_END)?.rsplit_once(MAC)?;
    let bytes: Option<Vec<u8>> = mac
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    let whole = format!("{open}}}");
    let fits = |bytes: Vec<u8>| mac_of(key, whole.as_bytes()).verify_slice(&bytes).is_ok();
    Some(bytes.is_some_and(fits))
}

/// Lines that do not follow from those before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditDamage {
    /// First line, from 1 in the oldest file.
    pub first_line: usize,
    /// Last line before the next segment, or of the log.
    pub last_line: usize,
}

/// Result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditReport {
    /// Complete lines.
    pub lines: usize,
    /// Lines with a keyed digest that is right.
    pub keyed_lines: usize,
    /// Length of an incomplete last line, bytes.
    pub torn_bytes: usize,
    /// Damaged lines.
    pub damage: Vec<AuditDamage>,
    /// The last damaged lines have no segment after them.
    pub ends_damaged: bool,
}

impl AuditReport {
    /// `true` if a segment follows all damage.
    #[must_use]
    pub const fn is_intact(&self) -> bool {
        !self.ends_damaged
    }
}

/// A chain as far as it was read.
pub struct Chain {
    key: [u8; 32],
    /// Lines before the first one may be gone.
    is_cut: bool,
    /// Digest of the last line before damage and of the damaged lines.
    run: Sha256,
    number: u64,
    before: String,
    report: AuditReport,
}

impl Chain {
    /// The chain before its first line; `is_cut` where that may follow from lines that are gone.
    pub fn new(key: &[u8; 32], is_cut: bool) -> Self {
        Self {
            key: *key,
            is_cut,
            run: Sha256::new(),
            number: 0,
            before: digest(b""),
            report: AuditReport::default(),
        }
    }

    fn digest_of_damage(&self) -> String {
        hex(&self.run.clone().finalize())
    }

    /// `true` if the first line is damaged and lines before it may be damaged as well.
    fn begins_in_damage(&self) -> bool {
        let first = self.report.damage.last();
        self.is_cut && first.is_some_and(|damage| damage.first_line == 1)
    }

    /// Takes the next line, without its end.
    pub fn line(&mut self, line: &[u8]) {
        self.report.lines += 1;
        let text = std::str::from_utf8(line).ok();
        let record = text.and_then(|text| serde_json::from_str::<AuditRecord>(text).ok());
        let keyed = text.and_then(|text| mac_fits(&self.key, text));
        let fits = record.as_ref().is_some_and(|record| {
            let begins = record.entry.action == SEGMENT
                && keyed == Some(true)
                && self.report.ends_damaged
                && (record.follows == self.digest_of_damage() || self.begins_in_damage());
            let is_anchor = self.is_cut && self.report.lines == 1;
            let in_order = record.follows == self.before && record.number == self.number + 1;
            let follows = !self.report.ends_damaged
                && (is_anchor || in_order)
                && keyed.unwrap_or(self.report.keyed_lines == 0);
            begins || follows
        });
        // The number in a damaged line means nothing.
        self.number = match record.filter(|_| fits) {
            Some(record) => record.number,
            None => self.number + 1,
        };
        if fits {
            self.report.keyed_lines += usize::from(keyed == Some(true));
            self.report.ends_damaged = false;
        } else {
            self.damaged();
            self.run.update(line);
            self.run.update(b"\n");
        }
        self.before = digest(line);
    }

    fn damaged(&mut self) {
        let line = self.report.lines;
        match self.report.damage.last_mut() {
            Some(last) if self.report.ends_damaged => last.last_line = line,
            _ => {
                self.run = Sha256::new_with_prefix(self.before.as_bytes());
                self.report.damage.push(AuditDamage { first_line: line, last_line: line });
            }
        }
        self.report.ends_damaged = true;
    }

    /// Takes an incomplete last line.
    pub fn torn(&mut self, bytes: usize) {
        self.report.torn_bytes = bytes;
    }

    /// First entry of a segment and the digest it follows from, where damage calls for one.
    pub fn segment(&self, at_ns: u64) -> Option<(AuditEntry, String)> {
        let damage = self.report.damage.last()?;
        if !self.report.ends_damaged {
            return None;
        }
        let entry = AuditEntry {
            at_ns,
            actor: "gateway".to_owned(),
            kind: "none".to_owned(),
            action: SEGMENT.to_owned(),
            target: format!("lines {} to {}", damage.first_line, damage.last_line),
            outcome: 0,
            source_ip: String::new(),
            request_id: String::new(),
            repeated: 0,
            name: None,
            token: None,
        };
        Some((entry, self.digest_of_damage()))
    }

    /// Number and digest of the last line, and the report.
    pub fn end(self) -> (u64, String, AuditReport) {
        (self.number, self.before, self.report)
    }
}
