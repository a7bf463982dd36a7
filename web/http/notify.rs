//! State of a daemon for its supervisor: the protocol of systemd, sd_notify(3).

use std::ffi::OsStr;
use std::io;
#[cfg(unix)]
use std::os::unix::ffi::OsStrExt;
#[cfg(unix)]
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Variable with the socket of the supervisor; without it there is none to notify.
const SOCKET: &str = "NOTIFY_SOCKET";

/// Reports that the daemon serves.
///
/// # Errors
/// When the socket of the supervisor cannot be reached.
pub fn ready() -> io::Result<()> {
    notify("READY=1")
}

/// Reports that the daemon ends.
///
/// # Errors
/// When the socket of the supervisor cannot be reached.
pub fn stopping() -> io::Result<()> {
    notify("STOPPING=1")
}

fn notify(state: &str) -> io::Result<()> {
    match std::env::var_os(SOCKET).filter(|name| !name.is_empty()) {
        Some(name) => send(&name, state),
        None => Ok(()),
    }
}

/// Sends nothing: systems other than Unix have no such supervisor.
#[cfg(not(unix))]
fn send(_: &OsStr, _: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Sends `state` to a path, or to a name of the abstract namespace that begins with `@`.
#[cfg(unix)]
fn send(name: &OsStr, state: &str) -> io::Result<()> {
    let address = match name.as_bytes() {
        #[cfg(target_os = "linux")]
        [b'@', rest @ ..] => {
            use std::os::linux::net::SocketAddrExt;
            SocketAddr::from_abstract_name(rest)?
        }
        _ => SocketAddr::from_pathname(name)?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address).map(drop)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn receive(socket: &UnixDatagram) -> String {
        let mut buffer = [0; 64];
        let length = socket.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    }

    #[test]
    fn state_reaches_sockets_with_paths_and_abstract_names() {
        let folder = std::env::temp_dir().join(format!("notify-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("socket");
        let socket = UnixDatagram::bind(&path).unwrap();
        send(path.as_os_str(), "READY=1").unwrap();
        assert_eq!(receive(&socket), "READY=1");
        std::fs::remove_dir_all(&folder).unwrap();
        let error = send(path.as_os_str(), "READY=1").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        #[cfg(target_os = "linux")]
        {
            use std::os::linux::net::SocketAddrExt;
            let name = format!("groundwave-test-{}", std::process::id());
            let address = SocketAddr::from_abstract_name(&name).unwrap();
            let socket = UnixDatagram::bind_addr(&address).unwrap();
            send(OsStr::new(&format!("@{name}")), "STOPPING=1").unwrap();
            assert_eq!(receive(&socket), "STOPPING=1");
        }
    }

    #[test]
    fn daemons_without_a_supervisor_notify_nobody() {
        assert!(std::env::var_os(SOCKET).is_none(), "tests run without a supervisor");
        ready().unwrap();
        stopping().unwrap();
    }
}
