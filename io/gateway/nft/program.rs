//! The program `nft`.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use groundwave_netlink::NftWatch;
use groundwave_netlink::netns::within;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::NftError;
use super::listing::Listing;
use super::{FAMILY, TABLE, Transaction};

/// Time of one run at most: a transaction takes milliseconds.
const LIMIT: Duration = Duration::from_secs(10);
/// Interval of looks whether a run has ended.
const LOOK: Duration = Duration::from_millis(2);
/// Longest answer, bytes.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// A table of others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForeignTable {
    /// Family: `ip`, `ip6`, `inet`, `arp`, `bridge` or `netdev`.
    pub family: String,
    /// Name.
    pub name: String,
}

/// nftables of a network namespace.
#[derive(Debug, Clone, Default)]
pub struct Nft {
    netns: Option<PathBuf>,
}

fn piped(arguments: &[&str]) -> io::Result<Child> {
    Command::new("nft")
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

fn drain(from: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(from) = from {
            // What was read before an error is what there is.
            let _ = from.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes);
        }
        bytes
    })
}

/// Runs `nft` with an input; a run that does not end in time is killed.
fn run(arguments: &[&str], input: &[u8]) -> Result<Output, NftError> {
    let failed = |err: io::Error| match err.kind() {
        io::ErrorKind::NotFound => NftError::Absent,
        _ => NftError::Run(err),
    };
    let mut child = piped(arguments).map_err(failed)?;
    let (stdout, stderr) = (drain(child.stdout.take()), drain(child.stderr.take()));
    let stdin = child.stdin.take();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // The error output of a program that ended early has the reason.
        let _ = stdin.map(|mut stdin| stdin.write_all(&input));
    });
    let looks = LIMIT.as_millis() / LOOK.as_millis();
    let mut status = None;
    for _ in 0..looks {
        status = child.try_wait().map_err(failed)?;
        if status.is_some() {
            break;
        }
        std::thread::sleep(LOOK);
    }
    let Some(status) = status else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(NftError::Timeout(LIMIT.as_secs()));
    };
    let _ = writer.join();
    Ok(Output {
        status,
        stdout: stdout.join().unwrap_or_default(),
        stderr: stderr.join().unwrap_or_default(),
    })
}

fn refusal(output: &Output) -> NftError {
    let text = String::from_utf8_lossy(&output.stderr);
    let mut lines = text.lines().filter(|line| line.contains("Error"));
    let first = lines.next().unwrap_or(text.trim()).to_owned();
    match text.contains("Operation not permitted") || text.contains("you must be root") {
        true => NftError::Permission(first),
        false => NftError::Refused(first),
    }
}

impl Nft {
    /// nftables of the network namespace at `netns`; of the calling thread for `None`.
    #[must_use]
    pub fn new(netns: Option<PathBuf>) -> Self {
        Self { netns }
    }

    fn ask(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, NftError> {
        let ran = within(self.netns.as_deref(), || run(arguments, input));
        let output = ran.map_err(NftError::Run)??;
        match output.status.success() {
            true => Ok(output.stdout),
            false => Err(refusal(&output)),
        }
    }

    /// Subscribes to changes of the table by any program.
    ///
    /// # Errors
    /// When the kernel refuses, which takes CAP_NET_ADMIN.
    pub fn watch(&self) -> io::Result<NftWatch> {
        NftWatch::open(self.netns.as_deref(), TABLE)
    }

    /// Checks that the program is there and the kernel answers it.
    ///
    /// # Errors
    /// When either is not so.
    pub fn probe(&self) -> Result<(), NftError> {
        self.tables().map(|_| ())
    }

    /// Checks a transaction without carrying it out.
    ///
    /// # Errors
    /// [`NftError::Refused`] with the reason.
    pub fn check(&self, transaction: &str) -> Result<(), NftError> {
        let words = ["-j", "-c", "-f", "-"];
        self.ask(&words, transaction.as_bytes()).map(|_| ())
    }

    /// Carries a transaction out, all of it or nothing.
    ///
    /// # Errors
    /// [`NftError::Refused`] with the reason; then nothing changed.
    pub fn apply(&self, transaction: &str) -> Result<(), NftError> {
        let words = ["-j", "-f", "-"];
        self.ask(&words, transaction.as_bytes()).map(|_| ())
    }

    /// Deletes the table, if there is one.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn remove(&self) -> Result<(), NftError> {
        self.apply(&Transaction::removal().json())
    }

    /// The table as the kernel holds it; `None` without one.
    ///
    /// # Errors
    /// When it cannot be listed.
    pub fn list(&self) -> Result<Option<Listing>, NftError> {
        let own = |table: &ForeignTable| table.family == FAMILY && table.name == TABLE;
        if !self.all_tables()?.iter().any(own) {
            return Ok(None);
        }
        let words = ["-j", "list", "table", FAMILY, TABLE];
        let answer = self.ask(&words, &[])?;
        Listing::parse(&answer).map(Some)
    }

    /// Tables of others, which are never touched.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn tables(&self) -> Result<Vec<ForeignTable>, NftError> {
        let mut tables = self.all_tables()?;
        tables.retain(|table| table.family != FAMILY || table.name != TABLE);
        Ok(tables)
    }

    fn all_tables(&self) -> Result<Vec<ForeignTable>, NftError> {
        #[derive(Deserialize)]
        struct Answer {
            nftables: Vec<Object>,
        }
        #[derive(Deserialize)]
        struct Object {
            table: Option<ForeignTable>,
        }
        let answer: Answer = serde_json::from_slice(&self.ask(&["-j", "list", "tables"], &[])?)?;
        let tables = answer.nftables.into_iter();
        Ok(tables.filter_map(|object| object.table).collect())
    }
}
