//! Named network namespaces: create, open, enter, remove.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use groundwave_kernel::batch::Batch;
use groundwave_netlink::netns::within;
use groundwave_netlink::{Changes, ReadySockets, WatchSocket};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::{Signal, kill};
use nix::sys::statfs::{NSFS_MAGIC, statfs};
use nix::unistd::Pid;

use super::error::TestbedError;
use super::names::NETNS;
use super::{namespace_folder, node_view};

/// Kernel settings of a new namespace: forwarding, no address filters, no address delays.
const SETTINGS: [(&str, &str); 9] = [
    ("ipv4/ip_forward", "1"),
    ("ipv4/conf/all/rp_filter", "0"),
    ("ipv4/conf/default/rp_filter", "0"),
    ("ipv4/conf/all/send_redirects", "0"),
    ("ipv4/conf/default/send_redirects", "0"),
    ("ipv4/conf/all/accept_redirects", "0"),
    ("ipv6/conf/all/forwarding", "1"),
    ("ipv6/conf/default/accept_dad", "0"),
    ("ipv6/conf/default/router_solicitations", "0"),
];

/// A network namespace, and a socket in it.
#[derive(Debug)]
pub struct Namespace {
    file: File,
    /// The socket.
    pub batch: Batch,
    watch: WatchSocket,
}

impl Namespace {
    /// Creates a namespace at a free path.
    ///
    /// # Errors
    /// When the path exists or the system refuses.
    pub fn create(path: &Path) -> Result<Self, TestbedError> {
        namespace_folder::prepare().map_err(TestbedError::file("prepare", NETNS))?;
        let free = File::options().write(true).create_new(true).open(path);
        free.map_err(TestbedError::file("create the namespace", path))?;
        let made = std::thread::scope(|scope| {
            // A namespace belongs to a thread; this one ends with its work.
            let fresh = scope.spawn(|| -> io::Result<()> {
                unshare(CloneFlags::CLONE_NEWNET)?;
                for (key, value) in SETTINGS {
                    // A kernel without IPv6 lacks its settings.
                    let _ = fs::write(Path::new("/proc/sys/net").join(key), value);
                }
                let nothing = None::<&str>;
                let own = Some("/proc/thread-self/ns/net");
                mount(own, path, nothing, MsFlags::MS_BIND, nothing)?;
                Ok(())
            });
            fresh.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        if let Err(source) = made {
            let _ = fs::remove_file(path);
            return Err(TestbedError::file("create the namespace", path)(source));
        }
        Self::open(path)
    }

    /// Opens the namespace at a path, or creates it where there is none. A process that was killed
    /// while it created one leaves an empty file, which is replaced.
    ///
    /// # Errors
    /// As [`Namespace::create`] and [`Namespace::open`].
    pub fn open_or_create(path: &Path) -> Result<Self, TestbedError> {
        let Ok(facts) = fs::symlink_metadata(path) else {
            return Self::create(path);
        };
        let is_namespace = statfs(path).is_ok_and(|facts| facts.filesystem_type() == NSFS_MAGIC);
        if !is_namespace && facts.is_file() && facts.len() == 0 {
            fs::remove_file(path).map_err(TestbedError::file("remove the empty file", path))?;
            return Self::create(path);
        }
        Self::open(path)
    }

    /// Opens the namespace at a path.
    ///
    /// # Errors
    /// When it does not exist or cannot be entered.
    pub fn open(path: &Path) -> Result<Self, TestbedError> {
        let file = File::open(path).map_err(TestbedError::file("open the namespace", path))?;
        let batch = Batch::open(Some(path)).map_err(TestbedError::kernel("open a socket"))?;
        let watch = WatchSocket::open(Some(path))
            .map_err(TestbedError::file("watch the namespace", path))?;
        Ok(Self { file, batch, watch })
    }

    /// Changes of other programs since the last call.
    ///
    /// # Errors
    /// When the socket fails.
    pub(super) fn changes(&mut self) -> Result<Changes, TestbedError> {
        let changes = self.watch.changes(self.batch.port());
        changes.map_err(TestbedError::file("receive the notifications of", NETNS))
    }

    /// Adds its notifications to those waited for, under `key`.
    ///
    /// # Errors
    /// When the system refuses.
    pub(super) fn watch_with(
        &self,
        watched: &mut ReadySockets,
        key: u32,
    ) -> Result<(), TestbedError> {
        let added = watched.add(&self.watch, key.into());
        added.map_err(TestbedError::file("watch the namespaces in", NETNS))
    }

    /// Adds deleted routes to the changes.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(super) fn watch_routes(&mut self) -> Result<(), TestbedError> {
        self.watch.add_routes().map_err(TestbedError::file("watch the routes in", NETNS))
    }

    /// Mounts it at its path again if another program deleted its name; `true` if so.
    ///
    /// # Errors
    /// When the system refuses.
    pub(super) fn restore_name(&self, path: &Path) -> io::Result<bool> {
        let identity = |facts: fs::Metadata| (facts.dev(), facts.ino());
        let own = identity(self.file.metadata()?);
        if fs::metadata(path).is_ok_and(|facts| identity(facts) == own) {
            return Ok(false);
        }
        namespace_folder::prepare()?;
        namespace_folder::remove(path)?;
        File::options().write(true).create_new(true).open(path)?;
        let nothing = None::<&str>;
        let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        mount(Some(own.as_str()), path, nothing, MsFlags::MS_BIND, nothing)?;
        Ok(true)
    }

    /// Descriptor of its open file, for requests that name a namespace.
    #[must_use]
    pub fn descriptor(&self) -> i32 {
        self.file.as_raw_fd()
    }
}

/// Runs `work` in the namespace at a path.
///
/// # Errors
/// When the namespace cannot be entered.
pub fn inside<T: Send>(path: &Path, work: impl FnOnce() -> T + Send) -> Result<T, TestbedError> {
    within(Some(path), work).map_err(TestbedError::file("enter", path))
}

/// Executes `command` in the namespace of `node` at a path, with interfaces under /sys, host name and `hosts` file of
/// that node. Returns only on failure.
///
/// # Errors
/// The failure.
pub fn replace(path: &Path, node: &str, hosts: &Path, command: &mut Command) -> TestbedError {
    let entered = File::open(path)
        .and_then(|file| setns(&file, CloneFlags::CLONE_NEWNET).map_err(io::Error::from));
    if let Err(source) = entered {
        return TestbedError::file("enter", path)(source);
    }
    if let Err(source) = node_view::enter(node, hosts) {
        return TestbedError::file("give mounts and a host name of their own to programs in", path)(
            source,
        );
    }
    let source = command.exec();
    TestbedError::Program {
        program: command.get_program().to_string_lossy().into_owned(),
        hint: "it must be on the PATH",
        source,
    }
}

/// Names of the namespaces that begin with `mark`, in order.
///
/// # Errors
/// When the folder cannot be read.
pub fn named(mark: &str) -> Result<Vec<String>, TestbedError> {
    let entries = match fs::read_dir(NETNS) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(TestbedError::file("read", NETNS))?,
    };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.starts_with(mark)).collect();
    names.sort();
    Ok(names)
}

/// Ends every process in the namespace at a path: SIGTERM, and SIGKILL after 2 s.
pub fn terminate_processes(path: &Path) {
    let Ok(identity) = fs::metadata(path).map(|facts| (facts.dev(), facts.ino())) else {
        return;
    };
    let signal = |signal| {
        let living = processes_in(identity);
        for pid in &living {
            // It may have ended since.
            let _ = kill(Pid::from_raw(*pid), signal);
        }
        living.is_empty()
    };
    if signal(Signal::SIGTERM) {
        return;
    }
    for _ in 0..40 {
        std::thread::sleep(Duration::from_millis(50));
        if processes_in(identity).is_empty() {
            return;
        }
    }
    signal(Signal::SIGKILL);
}

/// Processes in this network namespace, except this process, which may have sockets there.
fn processes_in(identity: (u64, u64)) -> Vec<i32> {
    let own = std::process::id().cast_signed();
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let there = |pid: &i32| {
        let facts = fs::metadata(format!("/proc/{pid}/ns/net"));
        *pid != own && facts.is_ok_and(|facts| (facts.dev(), facts.ino()) == identity)
    };
    pids.filter(there).collect()
}

/// Removes the namespace at a path; its content goes with it once nothing uses it.
///
/// # Errors
/// When the system refuses.
pub fn remove(path: &Path) -> Result<(), TestbedError> {
    namespace_folder::remove(path).map_err(TestbedError::file("remove the namespace", path))
}
