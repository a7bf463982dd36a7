//! Values of options that name hosts, interfaces, folders and files: read at the start, used later.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv6Addr};
use std::path::{Path, PathBuf};

use crate::Failure;

/// Maximum length of the name of an interface, bytes: IFNAMSIZ less its NUL.
const INTERFACE_BYTES_MAX: usize = 15;
/// Maximum length of a host name, bytes (RFC 1035, 2.3.4).
const HOST_BYTES_MAX: usize = 253;
/// Maximum length of a label of it, bytes.
const LABEL_BYTES_MAX: usize = 63;

/// `true` for a name that an interface can have and that paths and rulesets can hold.
#[must_use]
pub fn is_interface_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_graphic() && !b"/:".contains(&byte);
    (1..=INTERFACE_BYTES_MAX).contains(&name.len())
        && ![".", ".."].contains(&name)
        && name.bytes().all(is_allowed)
}

/// Reads the name of an interface.
///
/// # Errors
/// With the value found and those allowed.
pub fn interface_name(text: &str) -> Result<String, String> {
    match is_interface_name(text) {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "found {text:?}, allowed 1 to {INTERFACE_BYTES_MAX} printable ASCII characters without `/` and `:`"
        )),
    }
}

fn is_host_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let is_label =
        |label: &str| (1..=LABEL_BYTES_MAX).contains(&label.len()) && label.bytes().all(is_allowed);
    name.len() <= HOST_BYTES_MAX && name.split('.').all(is_label)
}

/// Reads a host name or an address, without a port.
///
/// # Errors
/// With the value found and those allowed.
pub fn host_name(text: &str) -> Result<String, String> {
    match is_host_name(text) || text.parse::<IpAddr>().is_ok() {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "found {text:?}, allowed a host name or an address without a port, such as mesh.example"
        )),
    }
}

/// Reads `HOST:PORT`; a host that is a name needs no address yet.
///
/// # Errors
/// With the value found and those allowed.
pub fn host_and_port(text: &str) -> Result<String, String> {
    let (host, port) = text.rsplit_once(':').unwrap_or((text, ""));
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_host = match address {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => is_host_name(host),
    };
    let is_port = port.parse::<u16>().is_ok_and(|port| port > 0);
    match is_host && is_port {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "found {text:?}, allowed HOST:PORT with a port from 1 to 65535, such as 127.0.0.1:8787"
        )),
    }
}

/// Refuses standard input and output as a folder: one of the name `-` would be made. `./-` is a folder.
///
/// # Errors
/// With the value found and those allowed.
pub fn folder_path(path: PathBuf) -> Result<PathBuf, String> {
    named_path(path, "folder")
}

/// Refuses standard input and output as a file that is read again while it is written, such as a store or a log.
///
/// # Errors
/// With the value found and those allowed.
pub fn file_path(path: PathBuf) -> Result<PathBuf, String> {
    named_path(path, "file")
}

/// Refuses a path at which nothing is; `name` is the option or argument that has it. What else is wrong with it, such as
/// permissions, is left to those who open it.
///
/// # Errors
/// With the path and what is allowed there.
pub fn require_existing(name: &str, path: &Path, allowed: &str) -> Result<(), Failure> {
    match std::fs::metadata(path).map_err(|error| error.kind()) {
        Err(ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            let path = path.display();
            Err(Failure::Input(format!(
                "invalid {name}: found nothing at {path}, allowed {allowed}"
            )))
        }
        _ => Ok(()),
    }
}

/// As [`require_existing`], of an option that may be left out.
///
/// # Errors
/// As [`require_existing`].
pub fn require_existing_if_some(
    name: &str,
    path: Option<&Path>,
    allowed: &str,
) -> Result<(), Failure> {
    path.map_or(Ok(()), |path| require_existing(name, path, allowed))
}

/// Refuses a folder where a file is to be; `name` is the option or argument that has it.
///
/// # Errors
/// With the path and what is allowed there.
pub fn refuse_folder(name: &str, path: &Path, allowed: &str) -> Result<(), Failure> {
    match path.is_dir() {
        true => {
            let path = path.display();
            Err(Failure::Input(format!(
                "invalid {name}: found a folder at {path}, allowed {allowed}"
            )))
        }
        false => Ok(()),
    }
}

/// As [`require_existing`] and [`refuse_folder`].
///
/// # Errors
/// With the path and what is allowed there.
pub fn require_file(name: &str, path: &Path, allowed: &str) -> Result<(), Failure> {
    require_existing(name, path, allowed)?;
    refuse_folder(name, path, allowed)
}

/// As [`require_file`], of an option that may be left out.
///
/// # Errors
/// As [`require_file`].
pub fn require_file_if_some(name: &str, path: Option<&Path>, allowed: &str) -> Result<(), Failure> {
    path.map_or(Ok(()), |path| require_file(name, path, allowed))
}

/// Refuses the path of a folder to write that is a file or lies below one.
///
/// # Errors
/// With the file and what is allowed there.
pub fn refuse_file(name: &str, folder: &Path) -> Result<(), Failure> {
    let there = folder.ancestors().find(|path| path.exists());
    match there.filter(|path| !path.is_dir()) {
        Some(file) => {
            let file = file.display();
            Err(Failure::Input(format!("invalid {name}: found a file at {file}, allowed a folder")))
        }
        None => Ok(()),
    }
}

fn named_path(path: PathBuf, kind: &str) -> Result<PathBuf, String> {
    match path == Path::new("-") {
        true => Err(format!(
            "found -, allowed the path of a {kind}, which standard input and output are not"
        )),
        false => Ok(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_interfaces_have_15_bytes_without_separators() {
        for name in ["bat0", "wg0", "eth0.100", "a", "abcdefghijklmno"] {
            assert_eq!(interface_name(name).as_deref(), Ok(name));
        }
        for name in ["", "abcdefghijklmnop", "a/b", "a:b", "a b", ".", "..", "lån0"] {
            assert!(interface_name(name).unwrap_err().contains("1 to 15"), "{name}");
        }
    }

    #[test]
    fn hosts_have_no_port_and_addresses_of_servers_have_one() {
        for host in ["mesh.example", "localhost", "10.0.0.1", "fd00::1", "my_host", "a-b"] {
            assert_eq!(host_name(host).as_deref(), Ok(host));
        }
        for host in ["", "bad host", "mesh..example", "mesh.example:80", "http://mesh", "[::1]"] {
            assert!(host_name(host).unwrap_err().contains("allowed"), "{host}");
        }
        for address in ["127.0.0.1:8787", "planner.example:80", "[::1]:8787"] {
            assert_eq!(host_and_port(address).as_deref(), Ok(address));
        }
        for address in ["", "planner", "planner:", ":80", "a:0", "a:65536", "::1:80", "http://a:1"]
        {
            assert!(host_and_port(address).unwrap_err().contains("HOST:PORT"), "{address}");
        }
    }

    #[test]
    fn path_with_nothing_there_gives_an_error_with_the_option() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        assert!(require_existing("--geoid", &file, "a grid").is_ok());
        assert!(require_existing_if_some("--geoid", None, "a grid").is_ok());
        // Below a file there is nothing either.
        for path in [file.with_file_name("none"), file.join("none")] {
            let error = require_existing("--geoid", &path, "a grid").unwrap_err();
            let text =
                format!("invalid --geoid: found nothing at {}, allowed a grid", path.display());
            assert_eq!(error.message(), text);
        }
    }

    #[test]
    fn files_and_folders_in_place_of_each_other_give_errors_with_the_option() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let file = folder.join("Cargo.toml");
        assert!(require_file("--geoid", &file, "a grid").is_ok());
        assert!(require_file_if_some("--geoid", None, "a grid").is_ok());
        let error = require_file("--geoid", folder, "a grid").unwrap_err();
        let text =
            format!("invalid --geoid: found a folder at {}, allowed a grid", folder.display());
        assert_eq!(error.message(), text);
        assert!(refuse_file("--out", folder).is_ok());
        assert!(refuse_file("--out", &folder.join("none/out")).is_ok());
        for path in [file.clone(), file.join("out")] {
            let error = refuse_file("--out", &path).unwrap_err();
            let text =
                format!("invalid --out: found a file at {}, allowed a folder", file.display());
            assert_eq!(error.message(), text);
        }
    }

    #[test]
    fn standard_output_is_neither_a_folder_nor_a_store() {
        for path in ["out", "./-", "-/out", "--", "/dev/null"] {
            assert_eq!(folder_path(path.into()), Ok(path.into()));
            assert_eq!(file_path(path.into()), Ok(path.into()));
        }
        let (folder, file) = (folder_path("-".into()), file_path("-".into()));
        assert!(folder.unwrap_err().starts_with("found -, allowed the path of a folder"));
        assert!(file.unwrap_err().starts_with("found -, allowed the path of a file"));
    }
}
