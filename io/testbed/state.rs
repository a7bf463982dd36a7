//! Files of a testbed, and its removal.

use std::fs;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;

use groundwave_simulation::testbed::Settings;

use super::error::TestbedError;
use super::names::{NETNS, Names, SEGMENT};
use super::namespace::{named, remove, terminate_processes};

/// Folder of all testbeds.
const FOLDER: &str = "/run/groundwave";

/// Files of one testbed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Name of the testbed.
    pub testbed: String,
    folder: PathBuf,
}

impl State {
    /// The files of the testbed with this name, existing or not. Its folder, which [`tear_down`] removes, is
    /// one in the folder of all testbeds.
    ///
    /// # Errors
    /// [`TestbedError::Name`] for an invalid name.
    pub fn of(testbed: &str) -> Result<Self, TestbedError> {
        Settings::check_name(testbed).map_err(|_| TestbedError::Name(testbed.to_owned()))?;
        Ok(Self { testbed: testbed.to_owned(), folder: Path::new(FOLDER).join(testbed) })
    }

    /// Names of the testbeds with files or namespaces, in order. What has another name is not theirs.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn all() -> Result<Vec<String>, TestbedError> {
        let mut names = Vec::new();
        if let Ok(entries) = fs::read_dir(FOLDER) {
            let found = entries.flatten().filter(|entry| entry.path().is_dir());
            names.extend(found.filter_map(|entry| entry.file_name().into_string().ok()));
        }
        for namespace in named("gw.")? {
            names.extend(namespace.split('.').nth(1).map(str::to_owned));
        }
        names.retain(|name| Settings::check_name(name).is_ok());
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// Folder of the testbed.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Socket of the controller.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.folder.join("control.sock")
    }

    /// Event log.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.folder.join("world.gwlog")
    }

    /// Previous states of bound ports.
    #[must_use]
    pub fn ports(&self) -> PathBuf {
        self.folder.join("bound-ports.json")
    }

    /// Folder of tiles and geoid of the testbed, which its log names by digests alone.
    #[must_use]
    pub fn terrain(&self) -> PathBuf {
        self.folder.join("terrain.json")
    }

    /// Names and addresses of the nodes, in the format of hosts(5).
    #[must_use]
    pub fn hosts(&self) -> PathBuf {
        self.folder.join("hosts")
    }

    /// Messages of a controller without a terminal.
    #[must_use]
    pub fn messages(&self) -> PathBuf {
        self.folder.join("controller.log")
    }

    /// Locked by the controller as long as it runs, from before it has a socket.
    fn lock(&self) -> PathBuf {
        self.folder.join("controller.lock")
    }

    /// Takes the lock of the controller for this process; its folder must be there. It is free again when the
    /// process ends, however it ends, or drops the lock.
    ///
    /// # Errors
    /// [`TestbedError::Controlled`] while another process has it; when the system refuses.
    pub fn claim(&self) -> Result<ControllerLock, TestbedError> {
        let path = self.lock();
        let opened = fs::File::options().create(true).truncate(false).write(true).open(&path);
        let file = opened.map_err(TestbedError::file("open", &path))?;
        match fcntl(&file, FcntlArg::F_SETLK(&whole_file())) {
            Ok(_) => Ok(ControllerLock { _file: file }),
            Err(Errno::EAGAIN | Errno::EACCES) => Err(TestbedError::Controlled {
                testbed: self.testbed.clone(),
                pid: self.controller().unwrap_or_default(),
            }),
            Err(errno) => Err(TestbedError::file("lock", &path)(errno.into())),
        }
    }

    /// Process of the controller, also of one that is starting.
    #[must_use]
    pub fn controller(&self) -> Option<i32> {
        let file = fs::File::options().write(true).open(self.lock()).ok()?;
        let mut lock = whole_file();
        fcntl(&file, FcntlArg::F_GETLK(&mut lock)).ok()?;
        (i32::from(lock.l_type) != libc::F_UNLCK).then_some(lock.l_pid)
    }

    /// Creates the folder.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn create(&self) -> Result<(), TestbedError> {
        fs::create_dir_all(&self.folder).map_err(TestbedError::file("create", &self.folder))
    }

    /// Presence of files or namespaces.
    ///
    /// # Errors
    /// When the folder of namespaces cannot be read.
    pub fn is_there(&self) -> Result<bool, TestbedError> {
        Ok(self.log().exists() || !named(&Names::mark(&self.testbed))?.is_empty())
    }

    /// Names of the existing nodes, in order.
    ///
    /// # Errors
    /// When the folder of namespaces cannot be read.
    pub fn nodes(&self) -> Result<Vec<String>, TestbedError> {
        let mark = Names::mark(&self.testbed);
        let found = named(&mark)?.into_iter().map(|name| name[mark.len()..].to_owned());
        Ok(found.filter(|name| name != SEGMENT).collect())
    }

    /// The namespace of an existing node.
    ///
    /// # Errors
    /// [`TestbedError::NoNode`] with the existing ones.
    pub fn node(&self, name: &str) -> Result<PathBuf, TestbedError> {
        let nodes = self.nodes()?;
        if !nodes.iter().any(|node| node == name) {
            return Err(TestbedError::NoNode {
                name: name.to_owned(),
                testbed: self.testbed.clone(),
                have: if nodes.is_empty() { "none".to_owned() } else { nodes.join(", ") },
            });
        }
        Ok(Path::new(NETNS).join(Names::mark(&self.testbed) + name))
    }
}

/// Lock of the controller, as long as it is not dropped.
#[derive(Debug)]
pub struct ControllerLock {
    _file: fs::File,
}

/// A lock for writing on all of a file. It is that of a process, so that others read its id.
fn whole_file() -> libc::flock {
    libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}

/// Removes everything with the testbed's name: processes in its namespaces, the namespaces with
/// all their interfaces, its files except the log, which is copied to `keep_log`. Returns the
/// number of nodes; a testbed that does not exist has none.
///
/// # Errors
/// When something cannot be removed.
pub fn tear_down(state: &State, keep_log: Option<&Path>) -> Result<usize, TestbedError> {
    let mark = Names::mark(&state.testbed);
    let spaces = named(&mark)?;
    let paths: Vec<PathBuf> = spaces.iter().map(|name| Path::new(NETNS).join(name)).collect();
    // In parallel: processes take a while to end.
    std::thread::scope(|scope| {
        for path in &paths {
            scope.spawn(|| terminate_processes(path));
        }
    });
    // One that cannot be removed keeps no other.
    let removed: Vec<_> = paths.iter().map(|path| remove(path)).collect();
    removed.into_iter().collect::<Result<(), _>>()?;
    if let (Some(to), true) = (keep_log, state.log().exists()) {
        fs::copy(state.log(), to).map_err(TestbedError::file("keep the log as", to))?;
    }
    if state.folder().exists() {
        let folder = state.folder();
        fs::remove_dir_all(folder).map_err(TestbedError::file("remove", folder))?;
    }
    let air = mark + SEGMENT;
    Ok(spaces.iter().filter(|namespace| **namespace != air).count())
}
