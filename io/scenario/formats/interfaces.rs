//! Interfaces of mesh nodes by their names: cables and tunnels are not radio links.

/// Note on a link over a cable or a tunnel.
pub(super) const NOT_RADIO: &str = "a tunnel or cable, not a radio link";

/// First letters of the names of cables, bridges, tunnels and meshes of another layer on Linux and OpenWrt, and kinds of
/// links of meshviewer.
const WIRED: [&str; 29] = [
    "bat",
    "bond",
    "br-",
    "dtdlink",
    "enp",
    "eno",
    "ens",
    "enx",
    "eth",
    "fastd",
    "gre",
    "ip6tnl",
    "ipip",
    "l2tp",
    "lan",
    "other",
    "ppp",
    "sit",
    "tailscale",
    "tap",
    "tinc",
    "tun",
    "uplink",
    "usb",
    "veth",
    "vxlan",
    "wan",
    "wg",
    "wireguard",
];

/// First letters that Gluon puts before the kind of an interface, as in `vx_mesh_lan`.
const GLUON: [&str; 4] = ["vx_", "mesh_", "vx-", "mesh-"];

/// True for the name of an interface of a cable or a tunnel, such as `eth0.2`, `br-lan`, `mesh-vpn` or `wg0`.
pub(super) fn is_wired(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    let kind = GLUON.iter().fold(name.as_str(), |rest, own| rest.strip_prefix(own).unwrap_or(rest));
    name.contains("vpn") || WIRED.iter().any(|own| kind.starts_with(own))
}

#[cfg(test)]
mod tests {
    use super::is_wired;

    #[test]
    fn names_of_cables_and_tunnels_differ_from_those_of_radios() {
        for name in [
            "eth0",
            "eth0.2",
            "eth1_17",
            "enp3s0",
            "lan1",
            "wan",
            "br-lan",
            "mesh-vpn",
            "ffvpn",
            "tun50",
            "tap0",
            "wgc0",
            "bat0",
            "l2tp12",
            "vx_mesh_lan",
            "mesh_uplink",
            "ETH0",
            " gre4-a ",
        ] {
            assert!(is_wired(name), "{name}");
        }
        for name in [
            "wlan0",
            "wlan1-mesh_17",
            "wlan0-adhoc",
            "mesh0",
            "ibss0",
            "radio0",
            "ath0",
            "wlp3s0",
            "phy0-mesh0",
            "lora0",
            "e12",
            "primary0",
            "",
        ] {
            assert!(!is_wired(name), "{name}");
        }
    }
}
