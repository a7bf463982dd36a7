//! Messages of a kernel's tunnel, and configurations decoded from their own encoding.

use proptest::prelude::*;

use super::*;
use crate::fixture::{messages, text};

#[test]
fn a_tunnel_matches_wg_without_its_private_key() {
    let messages = messages("wireguard/device");
    let bodies: Vec<&[u8]> = messages.iter().map(|one| payload(one).unwrap()).collect();
    let device = read::device(&bodies).unwrap();
    let expected = text("wireguard/device.txt");
    let mut expected = expected.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let head = expected.next().unwrap();
    assert_eq!(device.ifname, "wg0");
    assert_eq!(device.public_key.unwrap().to_string(), head[1]);
    assert_eq!(device.listen_port.to_string(), head[2]);
    for (peer, expected) in device.peers.iter().zip(expected.by_ref()) {
        assert_eq!(peer.public_key.to_string(), expected[0]);
        assert_eq!(peer.endpoint.unwrap().to_string(), expected[2]);
        assert_eq!(peer.allowed_ips.join(","), expected[3]);
        assert_eq!(peer.latest_handshake.unwrap_or(0).to_string(), expected[4]);
        assert_eq!(
            (peer.rx_bytes.to_string(), peer.tx_bytes.to_string()),
            (expected[5].to_owned(), expected[6].to_owned())
        );
        assert_eq!(peer.persistent_keepalive, 0);
    }
    assert_eq!(device.peers.len(), 2);
    // The pattern that stands where the private key was.
    let shown = format!("{device:?} {}", serde_json::to_string(&device).unwrap());
    assert!(!shown.contains(&PublicKey([0xaa; 32]).to_string()) && !shown.contains("170, 170"));
}

proptest! {
    #[test]
    fn a_configuration_is_encoded_in_messages_of_limited_size(peers in 0usize..300, ips in 0usize..40, port in any::<u16>()) {
        let peer = |at: usize| PeerConfig::Present {
            public_key: PublicKey(std::array::from_fn(|byte| (at >> (byte % 4 * 8)) as u8)),
            allowed_ips: (0..ips).map(|ip| AllowedIp { address: [10, 42, at as u8, ip as u8].into(), prefix_len: 32 }).collect(),
            endpoint: Some(([10, 41, 0, 9], 51820).into()),
            keepalive_s: Some(25),
        };
        let config = DeviceConfig { listen_port: Some(port), peers: (0..peers).map(peer).collect(), ..DeviceConfig::default() };
        let bodies = write::bodies("wg0", &config).unwrap();
        let slices: Vec<&[u8]> = bodies.iter().map(Vec::as_slice).collect();
        let read = read::device(&slices).unwrap();
        prop_assert_eq!(read.listen_port, port);
        prop_assert_eq!(read.peers.len(), peers);
        for (at, found) in read.peers.iter().enumerate() {
            prop_assert_eq!(found.allowed_ips.len(), ips);
            prop_assert_eq!(found.persistent_keepalive, 25);
            let PeerConfig::Present { public_key, .. } = peer(at) else { unreachable!() };
            prop_assert_eq!(found.public_key, public_key);
        }
    }
}

#[test]
fn a_peer_with_too_many_addresses_is_refused() {
    let allowed_ips =
        vec![AllowedIp { address: [10, 0, 0, 1].into(), prefix_len: 32 }; ALLOWED_IPS_MAX + 1];
    let peer = PeerConfig::Present {
        public_key: PublicKey([1; 32]),
        allowed_ips,
        endpoint: None,
        keepalive_s: None,
    };
    let config = DeviceConfig { peers: vec![peer], ..DeviceConfig::default() };
    assert!(matches!(write::bodies("wg0", &config), Err(ReadingError::Decode { .. })));
}
