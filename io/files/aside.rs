//! Files and folders that are moved aside for others in their place.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// First free path of `PATH.SUFFIX`, `PATH.SUFFIX.2`, `PATH.SUFFIX.3` and so on.
fn free_path(path: &Path, suffix: &str) -> PathBuf {
    let numbered = (1_u32..).map(|number| {
        let mut name = OsString::from(path);
        name.push(format!(".{suffix}"));
        if number > 1 {
            name.push(format!(".{number}"));
        }
        PathBuf::from(name)
    });
    let mut free = numbered.filter(|path| path.symlink_metadata().is_err());
    free.next().unwrap_or_else(|| path.to_owned())
}

/// Moves a file or folder to the first free path of `PATH.SUFFIX`, `PATH.SUFFIX.2` and so on; returns it.
///
/// # Errors
/// Of the file system.
pub fn move_aside(path: &Path, suffix: &str) -> io::Result<PathBuf> {
    let aside = free_path(path, suffix);
    std::fs::rename(path, &aside)?;
    Ok(aside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_folder_moved_aside_has_a_path_of_its_own() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("state.v1");
        let mut names = Vec::new();
        for content in ["a", "b", "c"] {
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("key"), content).unwrap();
            let aside = move_aside(&path, "replaced").unwrap();
            assert_eq!(std::fs::read_to_string(aside.join("key")).unwrap(), content);
            names.push(aside.file_name().unwrap().to_str().unwrap().to_owned());
        }
        assert_eq!(names, ["state.v1.replaced", "state.v1.replaced.2", "state.v1.replaced.3"]);
    }
}
