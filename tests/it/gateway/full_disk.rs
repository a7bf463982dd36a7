//! The gateway as a process over a small disk that is full, and is not any more.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use groundwave_engine::Seed;
use groundwave_engine::log::{Entry, FORMAT, Header, Journal, Mark};
use groundwave_files::wall::wall_ns;
use groundwave_needs::needs;
use groundwave_store::journal_file;
use groundwave_store::journal_file::FileJournal;
use serde_json::{Value, json};

use super::beat;
use super::process::{Process, admin, mast, start};

const MINUTE_MS: u64 = 60_000;

/// A small disk in a mount namespace of its own.
pub struct SmallDisk {
    holder: Child,
    /// The disk, as every process sees it.
    pub path: PathBuf,
}

impl SmallDisk {
    pub fn new(at: &Path, size_kib: u64) -> Self {
        fs::create_dir_all(at).unwrap();
        let mount = format!(
            "mount -t tmpfs -o size={size_kib}k small . && cd \"$PWD\" && echo mounted && exec cat"
        );
        let mut holder = Command::new("unshare")
            .args(["-m", "sh", "-c", &mount])
            .current_dir(at)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut answer = [0; 8];
        let mut out = holder.stdout.take().unwrap();
        out.read_exact(&mut answer).unwrap();
        let root = Path::new("/proc").join(holder.id().to_string());
        let path = root.join("root").join(at.strip_prefix("/").unwrap());
        Self { holder, path }
    }

    /// Takes all space that is left.
    pub fn fill(&self) {
        let zeros = vec![0; 4096];
        let mut file = fs::File::create(self.path.join("fill")).unwrap();
        while std::io::Write::write_all(&mut file, &zeros).is_ok() {}
    }

    pub fn free(&self) {
        fs::remove_file(self.path.join("fill")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}

/// A folder whose `state` is on a small disk; the store of the world is on another.
fn with_small_state(folder: &Path) -> SmallDisk {
    let disk = SmallDisk::new(&folder.join("small"), 6 * 1024);
    fs::create_dir(disk.path.join("state")).unwrap();
    std::os::unix::fs::symlink(disk.path.join("state"), folder.join("state")).unwrap();
    disk
}

fn storage(server: &Process) -> Value {
    let (status, answer) = server.ask("", "GET", "/health", &Value::Null);
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["status"] == "ok", answer["checks"]["storage"] == "ok", "{answer}");
    answer["checks"]["storage"].clone()
}

/// Waits until the health has this storage.
fn wait_for_storage(server: &Process, state: &str) {
    for _ in 0..400 {
        if storage(server) == state {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("storage is {}, not {state}", storage(server));
}

fn sample(ts_ms: u64, metric: &str, value: f64) -> Value {
    let ts = jiff::Timestamp::from_millisecond(i64::try_from(ts_ms).unwrap()).unwrap();
    json!({ "ts": ts.to_string(), "metric": metric, "value": value })
}

/// A node that sends readings and notes which of them were acknowledged.
struct Sender {
    id: String,
    token: String,
    /// Times of acknowledged samples of `sys.load1`, ms.
    acknowledged: BTreeSet<u64>,
    statuses: Vec<u16>,
    sequence: u64,
}

impl Sender {
    fn new(server: &Process, admin: &str) -> Self {
        let (id, token) = mast(server, admin, 5);
        Self { id, token, acknowledged: BTreeSet::new(), statuses: Vec::new(), sequence: 0 }
    }

    /// Uploads samples of `sys.load1` of these times, whose values do not compress well.
    fn upload(&mut self, server: &Process, times_ms: &[u64]) -> u16 {
        let value = |ts_ms: u64| (ts_ms.wrapping_mul(2_654_435_761) % 100_003) as f64 / 7.0;
        let samples = times_ms.iter().map(|ts_ms| sample(*ts_ms, "sys.load1", value(*ts_ms)));
        let samples: Vec<_> = samples.collect();
        let path = format!("/v1/nodes/{}/telemetry", self.id);
        let (status, answer) = server.post(&self.token, &path, &json!({ "samples": samples }));
        match status {
            202 => {
                assert_eq!(answer["accepted"], samples.len(), "{answer}");
                self.acknowledged.extend(times_ms);
            }
            507 => assert_eq!(answer["status"], 507, "{answer}"),
            _ => panic!("{status}: {answer}"),
        }
        self.statuses.push(status);
        status
    }

    fn heartbeat(&mut self, server: &Process, with_readings: bool) -> u16 {
        self.sequence += 1;
        let mut beat = beat(5, self.sequence);
        if !with_readings {
            beat.as_object_mut().unwrap().remove("metrics");
            beat.as_object_mut().unwrap().remove("signal_dbm");
        }
        server.post(&self.token, "/v1/nodes/heartbeat", &beat).0
    }

    /// Acknowledged samples that the gateway does not have.
    fn lost(&self, server: &Process, admin: &str) -> Vec<u64> {
        let from = jiff::Timestamp::from_millisecond(*self.acknowledged.first().unwrap() as i64);
        let path =
            format!("/v1/nodes/{}/telemetry?metric=sys.load1&from={}", self.id, from.unwrap());
        let (status, answer) = server.ask(admin, "GET", &path, &Value::Null);
        assert_eq!(status, 200, "{answer}");
        let points = answer["series"][0]["points"].as_array().unwrap();
        let times: BTreeSet<_> = points.iter().map(|point| point[0].as_u64().unwrap()).collect();
        self.acknowledged.difference(&times).copied().collect()
    }

    /// Uploads samples of now, of the minute before and of ten minutes ago, in turn.
    fn upload_round(&mut self, server: &Process, round: u64) {
        let now_ms = wall_ns() / 1_000_000;
        self.upload(server, &[now_ms - MINUTE_MS, now_ms]);
        let old_ms = now_ms - 10 * MINUTE_MS - round * 1_000;
        let old: Vec<_> = (0..100).map(|at| old_ms + at).collect();
        self.upload(server, &old);
    }
}

/// A gateway whose history has a disk that becomes full; returns it once that shows.
fn on_a_full_disk(folder: &Path, disk: &SmallDisk) -> (Process, String, Sender) {
    let server = start(folder, "info", Stdio::piped());
    let admin = admin(&server);
    let mut sender = Sender::new(&server, &admin);
    sender.upload_round(&server, 0);
    assert_eq!(sender.heartbeat(&server, true), 200);
    assert_eq!(storage(&server), "ok");
    disk.fill();
    for round in 1..200 {
        sender.upload_round(&server, round);
        if storage(&server) == "full" {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(storage(&server), "full");
    assert!(sender.statuses.contains(&507), "{:?}", sender.statuses);
    (server, admin, sender)
}

#[needs(small_disk)]
#[test]
fn what_is_acknowledged_on_a_full_disk_is_in_the_history_once_there_is_space() {
    let folder = tempfile::tempdir().unwrap();
    let disk = with_small_state(folder.path());
    let (server, admin, mut sender) = on_a_full_disk(folder.path(), &disk);
    for round in 300..310 {
        sender.statuses.clear();
        sender.upload_round(&server, round);
        assert_eq!(sender.statuses, [507, 507]);
        // Without readings there is nothing to lose.
        assert_eq!(
            sender.heartbeat(&server, round % 2 == 0),
            [200, 507][usize::from(round % 2 == 0)]
        );
        std::thread::sleep(Duration::from_millis(600));
    }
    // What was stored is read.
    assert!(sender.lost(&server, &admin).len() < sender.acknowledged.len());
    disk.free();
    wait_for_storage(&server, "ok");
    sender.statuses.clear();
    sender.upload_round(&server, 400);
    assert_eq!(sender.statuses, [202, 202]);
    assert_eq!(sender.heartbeat(&server, true), 200);
    assert_eq!(sender.lost(&server, &admin), Vec::<u64>::new());
}

#[needs(small_disk)]
#[test]
fn a_kill_on_a_full_disk_loses_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let disk = with_small_state(folder.path());
    let (mut server, admin, sender) = on_a_full_disk(folder.path(), &disk);
    server.kill();
    let mut server = start(folder.path(), "info", Stdio::piped());
    std::thread::sleep(Duration::from_secs(3));
    server.kill();
    disk.free();
    let server = start(folder.path(), "info", Stdio::piped());
    wait_for_storage(&server, "ok");
    assert_eq!(sender.lost(&server, &admin), Vec::<u64>::new());
}

#[needs(small_disk)]
#[test]
fn a_recording_without_space_refuses_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SmallDisk::new(&folder.path().join("small"), 9 * 1024);
    let path = disk.path.join("today.gwlog");
    let header = Header { format: FORMAT, seed: 1, step_ns: 1_000, inputs: BTreeMap::default() };
    let mut journal = FileJournal::create(&path, &header).unwrap();
    journal.space().unwrap();
    disk.fill();
    let mut chance = Seed(1).stream("recording", 0, 0);
    let mut written = 0;
    let refused = loop {
        // Whenever there is space, a tick of 100 kB is written wholly.
        if let Err(refused) = journal.space() {
            break refused;
        }
        written += 1;
        let words = (0..6_000).map(|_| format!("{:016x}", chance.bits()));
        let mark = Mark {
            tick: written,
            digest: words.collect(),
            parts: Default::default(),
            files: BTreeMap::default(),
        };
        journal.append(&Entry::Mark(mark)).unwrap();
        journal.commit().unwrap();
    };
    assert_eq!(refused.kind(), std::io::ErrorKind::StorageFull);
    assert!(written > 10, "{written}");
    disk.free();
    journal.space().unwrap();
    drop(journal);
    let mut log = journal_file::open(&path).unwrap();
    let mut read = 0;
    while let Some(Entry::Mark(mark)) = log.next_entry().unwrap() {
        read = mark.tick;
    }
    assert_eq!(read, written);
}

#[needs(small_disk)]
#[test]
fn an_act_that_cannot_be_audited_is_not_carried_out() {
    let folder = tempfile::tempdir().unwrap();
    let disk = with_small_state(folder.path());
    let server = start(folder.path(), "info", Stdio::piped());
    let admin = admin(&server);
    disk.fill();
    let register = |number: u32| {
        let body = json!({ "name": format!("mast-{number}"),
            "mac": format!("02:00:00:00:{:02x}:{:02x}", number >> 8, number & 255) });
        server.post(&admin, "/v1/nodes/register", &body).0
    };
    let statuses: Vec<_> = (0..600).map(register).collect();
    let successes = statuses.iter().filter(|status| **status == 201).count();
    assert_eq!(statuses.last(), Some(&507));
    assert!(statuses.iter().all(|status| [201, 507].contains(status)), "{statuses:?}");
    // Who frees the disk can log in.
    let login = json!({ "username": "admin", "password": "a better password" });
    assert_eq!(server.post("", "/api/auth/login", &login).0, 200);
    wait_for_storage(&server, "full");
    disk.free();
    wait_for_storage(&server, "ok");
    // A refused one left nothing that would be in the way of another attempt.
    assert_eq!(register(599), 201);
    let state = folder.path().join("state/audit.jsonl");
    let text = fs::read_to_string(state).unwrap();
    let audited = text.lines().filter(|line| {
        let entry: Value = serde_json::from_str(line).unwrap();
        entry["action"] == "node_register" && entry["outcome"] == 201
    });
    assert_eq!(audited.count(), successes + 1);
}
