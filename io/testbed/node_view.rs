//! The machine as a program in a node sees it: interfaces under /sys, host name and hosts file of the node.

use std::fs;
use std::io;
use std::path::Path;

use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};

/// Host name of the namespace for host names of the calling thread (proc_sys_kernel(5)).
const HOSTNAME: &str = "/proc/sys/kernel/hostname";

const NO_TEXT: Option<&str> = None;

/// Gives the calling process mounts and a host name of its own, once it is in the network namespace of `node`: `/sys`
/// lists the interfaces of the node, and `/etc/hosts` is the file `hosts`, if both exist. As with
/// `ip netns exec`, what was mounted below `/sys` is not there.
///
/// # Errors
/// When the kernel refuses; it needs CAP_SYS_ADMIN.
pub fn enter(node: &str, hosts: &Path) -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWUTS)?;
    // Mounts of this process stay its own, those of the machine still arrive.
    mount(NO_TEXT, "/", NO_TEXT, MsFlags::MS_REC | MsFlags::MS_SLAVE, NO_TEXT)?;
    match umount2("/sys", MntFlags::MNT_DETACH) {
        // Nothing was mounted there.
        Ok(()) | Err(Errno::EINVAL) => {}
        Err(errno) => return Err(errno.into()),
    }
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("groundwave"), "/sys", Some("sysfs"), flags, NO_TEXT)?;
    if hosts.exists() && Path::new("/etc/hosts").exists() {
        mount(Some(hosts), "/etc/hosts", NO_TEXT, MsFlags::MS_BIND, NO_TEXT)?;
    }
    fs::write(HOSTNAME, node)
}

/// Text of a hosts file (hosts(5)) with the machine itself and the nodes, by address and name. A name that
/// resolvers take for an address (`3` is 0.0.0.3) has another one beside it, `node-3`.
#[must_use]
pub fn hosts_file<'a>(nodes: impl Iterator<Item = (std::net::Ipv4Addr, &'a str)>) -> String {
    let own = "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n".to_owned();
    let line = |(address, name): (std::net::Ipv4Addr, &str)| match is_number(name) {
        true => format!("{address}\t{name} node-{name}\n"),
        false => format!("{address}\t{name}\n"),
    };
    own + &nodes.map(line).collect::<String>()
}

/// `true` for one to four numbers with dots between them, as inet_aton(3) takes them.
fn is_number(name: &str) -> bool {
    let is_part = |part: &str| {
        let hex = part.strip_prefix("0x").or_else(|| part.strip_prefix("0X"));
        match hex {
            Some(hex) => hex.chars().all(|c| c.is_ascii_hexdigit()),
            None => !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()),
        }
    };
    name.split('.').count() <= 4 && name.split('.').all(is_part)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn hosts_file_has_a_line_for_each_node() {
        let nodes = [(Ipv4Addr::new(10, 77, 0, 1), "west"), (Ipv4Addr::new(10, 77, 0, 2), "east")];
        let text = hosts_file(nodes.into_iter());
        assert!(text.starts_with("127.0.0.1\tlocalhost\n"), "{text}");
        assert!(text.ends_with("10.77.0.1\twest\n10.77.0.2\teast\n"), "{text}");
        let numbered = ["3", "10.5", "0xa", "3a"].map(|name| (Ipv4Addr::new(10, 77, 0, 1), name));
        let text = hosts_file(numbered.into_iter());
        for line in ["\t3 node-3\n", "\t10.5 node-10.5\n", "\t0xa node-0xa\n", "\t3a\n"] {
            assert!(text.contains(line), "{line:?}: {text}");
        }
    }
}
