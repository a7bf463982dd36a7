//! Names, addresses and indices of a testbed. All of them follow from the numbers in the world, so
//! that none has to be stored.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use groundwave_simulation::testbed::NamespaceAssignment;

/// Folder of named network namespaces, that of iproute2.
pub const NETNS: &str = "/run/netns";

/// First interface index of links; the kernel assigns lower ones.
const INDEX_BASE: u32 = 1000;
/// Longest name of an interface, bytes.
const INTERFACE_BYTES_MAX: usize = 15;
/// First bytes of the hardware address of a veth end, locally administered.
const HARDWARE: [u8; 2] = [0x02, 0x77];
/// First bytes of the hardware address of a radio on a segment, locally administered.
const RADIO_HARDWARE: [u8; 2] = [0x02, 0x78];

/// Interface of a node on a segment.
pub const RADIO: &str = "radio0";
/// Index of that interface.
pub const RADIO_INDEX: u32 = INDEX_BASE;
/// Name of a segment's namespace in place of a node's name, which cannot contain `~`.
pub const SEGMENT: &str = "~air";

/// Naming scheme of one testbed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// Name of the testbed.
    pub testbed: String,
    /// First two bytes of the network.
    pub network: [u8; 2],
}

impl Names {
    /// Prefix of the namespaces of a testbed.
    #[must_use]
    pub fn mark(testbed: &str) -> String {
        format!("gw.{testbed}.")
    }

    /// Name of a node's namespace.
    #[must_use]
    pub fn namespace(&self, node: &str) -> String {
        Self::mark(&self.testbed) + node
    }

    /// Path of a node's namespace.
    #[must_use]
    pub fn path(&self, node: &str) -> PathBuf {
        PathBuf::from(NETNS).join(self.namespace(node))
    }

    /// Address of the `number`-th node.
    #[must_use]
    pub fn address(&self, number: u32) -> Ipv4Addr {
        let [a, b] = self.network;
        let [.., c, d] = number.to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    }

    /// Number of the node with `address`.
    #[must_use]
    pub fn number(&self, address: Ipv4Addr) -> Option<u32> {
        let [a, b, c, d] = address.octets();
        ([a, b] == self.network).then(|| u32::from_be_bytes([0, 0, c, d]))
    }
}

/// Interface of the link to `peer`: `to-` and its name, shortened and numbered where that is too
/// long.
#[must_use]
pub fn interface(peer: &NamespaceAssignment) -> String {
    let whole = format!("to-{}", peer.name);
    if whole.len() <= INTERFACE_BYTES_MAX {
        return whole;
    }
    let number = format!("~{}", peer.number);
    // Names are ASCII.
    format!("{}{number}", &whole[..INTERFACE_BYTES_MAX - number.len()])
}

/// Index of the interfaces of the `number`-th link, in both namespaces.
#[must_use]
pub fn index(number: u32) -> u32 {
    INDEX_BASE + number
}

/// Hardware address of a veth end; `back` is the end of the node with the higher id.
#[must_use]
pub fn hardware(number: u32, back: bool) -> [u8; 6] {
    let [_, a, b, c] = number.to_be_bytes();
    [HARDWARE[0], HARDWARE[1], a, b, c, u8::from(back)]
}

/// Link number and end of a hardware address, as `02:77:00:00:01:00`.
#[must_use]
pub fn of_hardware(text: &str) -> Option<(u32, bool)> {
    match bytes(text)?.as_slice() {
        [x, y, a, b, c, back] if [*x, *y] == HARDWARE => {
            Some((u32::from_be_bytes([0, *a, *b, *c]), *back == 1))
        }
        _ => None,
    }
}

/// Bytes of a hardware address.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let byte = |part| u8::from_str_radix(part, 16).ok();
    text.split(':').map(byte).collect()
}

/// Hardware address of the radio of the `number`-th node on a segment.
#[must_use]
pub fn radio_hardware(number: u32) -> [u8; 6] {
    let [a, b, c, d] = number.to_be_bytes();
    [RADIO_HARDWARE[0], RADIO_HARDWARE[1], a, b, c, d]
}

/// Number of the node with this radio address, as `02:78:00:00:00:01`.
#[must_use]
pub fn of_radio_hardware(text: &str) -> Option<u32> {
    match bytes(text)?.as_slice() {
        [x, y, a, b, c, d] if [*x, *y] == RADIO_HARDWARE => {
            Some(u32::from_be_bytes([*a, *b, *c, *d]))
        }
        _ => None,
    }
}

/// Number of the node whose radio has a link-local address.
#[must_use]
pub fn of_radio_address(address: Ipv6Addr) -> Option<u32> {
    let [.., a, b, c, _, _, d, e, f] = address.octets();
    let hardware = [a ^ 2, b, c, d, e, f];
    let number = u32::from_be_bytes([c, d, e, f]);
    (hardware == radio_hardware(number) && link_local(hardware) == address).then_some(number)
}

/// Link-local address of a hardware address (RFC 4291, appendix A).
#[must_use]
pub fn link_local(hardware: [u8; 6]) -> Ipv6Addr {
    let [a, b, c, d, e, f] = hardware.map(u16::from);
    let low = [(a ^ 2) << 8 | b, c << 8 | 0xff, 0xfe00 | d, e << 8 | f];
    Ipv6Addr::new(0xfe80, 0, 0, 0, low[0], low[1], low[2], low[3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_lead_back() {
        let names = Names { testbed: "ridge".to_owned(), network: [10, 77] };
        assert_eq!(names.path("a.b"), PathBuf::from("/run/netns/gw.ridge.a.b"));
        let far = names.address(259);
        assert_eq!((far, names.number(far)), (Ipv4Addr::new(10, 77, 1, 3), Some(259)));
        let assignment = |name: &str| NamespaceAssignment { number: 12, name: name.to_owned() };
        assert_eq!(interface(&assignment("marstrand")), "to-marstrand");
        assert_eq!(interface(&assignment("twelve-chars")), "to-twelve-chars");
        assert_eq!(interface(&assignment("thirteen-char")), "to-thirteen-~12");
        let address = hardware(70_000, true);
        assert_eq!(address, [0x02, 0x77, 1, 0x11, 0x70, 1]);
        assert_eq!(of_hardware("02:77:01:11:70:01"), Some((70_000, true)));
        assert_eq!(of_hardware("02:78:01:11:70:01"), None);
        let radio = radio_hardware(259);
        assert_eq!(radio, [0x02, 0x78, 0, 0, 1, 3]);
        assert_eq!(of_radio_hardware("02:78:00:00:01:03"), Some(259));
        assert_eq!(of_radio_hardware("02:77:00:00:01:03"), None);
        assert_eq!(of_radio_address(link_local(radio)), Some(259));
        assert_eq!(of_radio_address(link_local(address)), None);
        assert_eq!(of_radio_address(Ipv6Addr::LOCALHOST), None);
        assert_eq!(link_local(address).to_string(), "fe80::77:1ff:fe11:7001");
    }
}
