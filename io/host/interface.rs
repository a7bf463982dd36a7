//! Bus addresses and MTUs of network interfaces.

use std::path::{Path, PathBuf};

/// Bus address of an interface without a bus.
pub const VIRTUAL: &str = "virtual";

/// Bus address of an interface, such as `0000:03:00.0` for PCI and `1-1.2:1.0` for USB: the name
/// of its device. An interface without a device, such as a veth, has [`VIRTUAL`]; an unknown one,
/// or one outside the network namespace of sysfs, has an empty address.
#[must_use]
pub fn bus_address(interface: &str) -> String {
    bus_address_in(Path::new("/sys/class/net"), interface)
}

/// MTU of an interface, bytes; `None` for an unknown one, or one outside the network namespace of sysfs.
#[must_use]
pub fn mtu_bytes(interface: &str) -> Option<u32> {
    let folder = folder(Path::new("/sys/class/net"), interface)?;
    std::fs::read_to_string(folder.join("mtu")).ok()?.trim().parse().ok()
}

/// Folder of an interface in sysfs.
fn folder(class: &Path, interface: &str) -> Option<PathBuf> {
    // A name is one path component.
    let is_name = !interface.is_empty() && !interface.contains('/') && !interface.starts_with('.');
    let folder = class.join(interface);
    (is_name && folder.exists()).then_some(folder)
}

fn bus_address_in(class: &Path, interface: &str) -> String {
    let Some(folder) = folder(class, interface) else { return String::new() };
    let device = std::fs::canonicalize(folder.join("device")).ok();
    let name = device.and_then(|device| Some(device.file_name()?.to_str()?.to_owned()));
    name.unwrap_or_else(|| VIRTUAL.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_device_behind_an_interface_names_its_bus_address() {
        let folder = tempfile::tempdir().unwrap();
        let device = folder.path().join("devices/pci0000:00/0000:03:00.0");
        let card = device.join("net/enp3s0");
        let veth = folder.path().join("devices/virtual/net/veth0");
        let class = folder.path().join("class");
        for made in [&card, &veth, &class] {
            std::fs::create_dir_all(made).unwrap();
        }
        std::os::unix::fs::symlink(&device, card.join("device")).unwrap();
        std::os::unix::fs::symlink(&card, class.join("enp3s0")).unwrap();
        std::os::unix::fs::symlink(&veth, class.join("veth0")).unwrap();
        let ask = |name| bus_address_in(&class, name);
        assert_eq!(ask("enp3s0"), "0000:03:00.0");
        assert_eq!(ask("veth0"), VIRTUAL);
        assert_eq!((ask("gone"), ask("../class/veth0"), ask("")), Default::default());
    }
}
