//! Where a testbed keeps its files, and how all of it goes.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::TestbedError;
use super::names::{NETNS, Names, SEGMENT};
use super::namespace::{named, remove, terminate_processes};

/// Folder of all testbeds.
const FOLDER: &str = "/run/groundwave";

/// The files of one testbed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Its name.
    pub testbed: String,
    folder: PathBuf,
}

impl State {
    /// The files of the testbed called so, whether or not there are any.
    #[must_use]
    pub fn of(testbed: &str) -> Self {
        Self {
            testbed: testbed.to_owned(),
            folder: Path::new(FOLDER).join(testbed),
        }
    }

    /// Names of the testbeds that have files or namespaces, in order.
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
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The socket its controller listens on.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.folder.join("control.sock")
    }

    /// Everything that happened.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.folder.join("world.gwlog")
    }

    /// What a controller without a terminal says.
    #[must_use]
    pub fn messages(&self) -> PathBuf {
        self.folder.join("controller.log")
    }

    /// Makes the folder.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn create(&self) -> Result<(), TestbedError> {
        fs::create_dir_all(&self.folder).map_err(TestbedError::file("create", &self.folder))
    }

    /// Whether anything of it is there.
    ///
    /// # Errors
    /// When the folder of namespaces cannot be read.
    pub fn is_there(&self) -> Result<bool, TestbedError> {
        Ok(self.log().exists() || !named(&Names::mark(&self.testbed))?.is_empty())
    }

    /// Names of its nodes that are there, in order.
    ///
    /// # Errors
    /// When the folder of namespaces cannot be read.
    pub fn nodes(&self) -> Result<Vec<String>, TestbedError> {
        let mark = Names::mark(&self.testbed);
        let found = named(&mark)?.into_iter();
        let found = found.map(|name| name[mark.len()..].to_owned());
        Ok(found.filter(|name| name != SEGMENT).collect())
    }

    /// The namespace of a node that is there.
    ///
    /// # Errors
    /// [`TestbedError::NoNode`] with those there are.
    pub fn node(&self, name: &str) -> Result<PathBuf, TestbedError> {
        let nodes = self.nodes()?;
        if !nodes.iter().any(|node| node == name) {
            return Err(TestbedError::NoNode {
                name: name.to_owned(),
                testbed: self.testbed.clone(),
                have: if nodes.is_empty() {
                    "none".to_owned()
                } else {
                    nodes.join(", ")
                },
            });
        }
        Ok(Path::new(NETNS).join(Names::mark(&self.testbed) + name))
    }
}

/// Takes away everything that carries the testbed's name: processes in its namespaces, the
/// namespaces with all their interfaces, its files but for the log, which goes where `keep_log`
/// says. Answers how many nodes there were. Nothing there is no error.
///
/// # Errors
/// When something cannot be removed.
pub fn tear_down(state: &State, keep_log: Option<&Path>) -> Result<usize, TestbedError> {
    let mark = Names::mark(&state.testbed);
    let spaces = named(&mark)?;
    let paths: Vec<PathBuf> = spaces
        .iter()
        .map(|name| Path::new(NETNS).join(name))
        .collect();
    // All at once: each may take a while to end.
    std::thread::scope(|scope| {
        for path in &paths {
            scope.spawn(|| terminate_processes(path));
        }
    });
    for path in &paths {
        remove(path)?;
    }
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
