//! Identity of the files of a command: none is written twice, none that is read is written.

use std::fs::Metadata;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use groundwave_http::Failure;

use crate::output::is_stdio;

/// A file of a command: its option or argument, and its path.
pub type NamedFile<'p> = (&'p str, &'p Path);

/// Files of an option that may be left out or repeated.
pub fn named<'p>(
    name: &'p str,
    paths: impl IntoIterator<Item = &'p PathBuf>,
) -> impl Iterator<Item = NamedFile<'p>> {
    paths.into_iter().map(move |path| (name, path.as_path()))
}

/// Identity of a file: paths that lead to one file have the same.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Identity {
    /// Device and inode of a file that exists, whose paths may be links.
    #[cfg(unix)]
    Existing(u64, u64),
    /// Path without links of a file that exists.
    #[cfg(not(unix))]
    Existing(PathBuf),
    /// Path of a file that is to be, in a folder without links.
    New(PathBuf),
}

/// Identity of a file that exists.
#[cfg(unix)]
fn existing(_: &Path, about: &Metadata) -> Option<Identity> {
    let (device, inode) = (MetadataExt::dev(about), MetadataExt::ino(about));
    Some(Identity::Existing(device, inode))
}

/// Identity of a file that exists.
#[cfg(not(unix))]
fn existing(path: &Path, _: &Metadata) -> Option<Identity> {
    path.canonicalize().ok().map(Identity::Existing)
}

/// Identity of a regular file or of one that is to be; `None` for standard output, devices and pipes, which
/// take the output of many, and for a path in a folder that is missing.
fn identity(path: &Path) -> Option<Identity> {
    if is_stdio(path) {
        return None;
    }
    if let Ok(about) = std::fs::metadata(path) {
        return about.is_file().then(|| existing(path, &about)).flatten();
    }
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let name = path.file_name()?;
    match folder.canonicalize() {
        Ok(folder) => Some(Identity::New(folder.join(name))),
        // A folder that the command creates.
        Err(_) => std::path::absolute(path).ok().map(Identity::New),
    }
}

/// Refuses a file that is written under two names, and one that is written and read.
///
/// # Errors
/// With both names, by whatever paths they lead to one file.
pub fn refuse_shared(written: &[NamedFile<'_>], read: &[NamedFile<'_>]) -> Result<(), Failure> {
    for (number, (name, path)) in written.iter().enumerate() {
        let Some(own) = identity(path) else { continue };
        let before = &written[..number];
        let is_same = |(_, other): &&NamedFile<'_>| identity(other).as_ref() == Some(&own);
        if let Some((other, _)) = before.iter().chain(read).find(is_same) {
            let path = path.display();
            return Err(Failure::Input(format!(
                "invalid {name}: found {path}, which is the file of {other}, allowed another file"
            )));
        }
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn refusal(written: &[NamedFile<'_>], read: &[NamedFile<'_>]) -> Option<String> {
        refuse_shared(written, read).err().map(|failure| failure.message().to_owned())
    }

    #[test]
    fn one_file_by_several_paths_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (plan, link) = (folder.path().join("plan.db"), folder.path().join("link"));
        let other = folder.path().join("sub/../plan.db");
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        // Before it exists and after.
        for _ in 0..2 {
            let error = refusal(&[("--db", &plan), ("--log-file", &other)], &[]).unwrap();
            assert!(error.starts_with("invalid --log-file") && error.contains("--db"), "{error}");
            std::fs::write(&plan, "content").unwrap();
        }
        std::os::unix::fs::symlink(&plan, &link).unwrap();
        let error = refusal(&[("--output", &link)], &[("the log", &plan)]).unwrap();
        assert!(error.contains("the file of the log"), "{error}");
        std::fs::remove_file(&link).unwrap();
        std::fs::hard_link(&plan, &link).unwrap();
        assert!(refusal(&[("--output", &link)], &[("the log", &plan)]).is_some());
    }

    #[test]
    fn other_files_devices_and_standard_output_are_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let (plan, log) = (folder.path().join("plan.db"), folder.path().join("log"));
        assert_eq!(refusal(&[("--db", &plan), ("--log-file", &log)], &[]), None);
        let (null, stdio) = (Path::new("/dev/null"), Path::new("-"));
        assert_eq!(refusal(&[("--output", null)], &[("FROM", null)]), None);
        assert_eq!(refusal(&[("TO", stdio)], &[("FROM", stdio)]), None);
        // Two inputs may be one file.
        assert_eq!(refusal(&[], &[("--a", &plan), ("--b", &plan)]), None);
    }
}
