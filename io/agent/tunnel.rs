//! The node's end of the tunnel, configured by the answer of the gateway.

use std::net::{IpAddr, SocketAddr};

use groundwave_credentials::{PrivateKey, PublicKey};
use groundwave_files::ReadingError;
use groundwave_host::readings::RouteSocket;
use groundwave_netlink::wireguard::{AllowedIp, DeviceConfig, PeerConfig, WireGuard};
use groundwave_protocol::WgRegisterResult;

/// Most ranges that the gateway may send into the tunnel.
const RANGES_MAX: usize = 16;

/// Desired configuration of the tunnel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    peer: PeerConfig,
    own: IpAddr,
    prefix_len: u8,
    mtu_bytes: u32,
}

impl Plan {
    /// The plan of an answer.
    ///
    /// # Errors
    /// [`ReadingError::Decode`] naming the field that is missing or makes no sense.
    pub fn of(answer: &WgRegisterResult) -> Result<Self, ReadingError> {
        let missing = |field: &str| ReadingError::decode(format!("the gateway's answer: {field}"));
        let gateway = answer.gateway.as_ref().ok_or_else(|| missing("gateway"))?;
        let own = answer.overlay_ip.ok_or_else(|| missing("overlay_ip"))?;
        let endpoint: SocketAddr =
            gateway.endpoint.parse().map_err(|_| missing("gateway.endpoint"))?;
        let ranges = answer.allowed_ips.iter().take(RANGES_MAX).map(|text| range(text));
        let ranges: Option<Vec<AllowedIp>> = ranges.collect();
        let ranges = ranges.filter(|ranges| !ranges.is_empty());
        if !(8..=30).contains(&answer.overlay_prefix_len) {
            return Err(missing("overlay_prefix_len"));
        }
        if !(1280..=9000).contains(&answer.mtu) {
            return Err(missing("mtu"));
        }
        Ok(Self {
            peer: PeerConfig::Present {
                public_key: PublicKey(*gateway.public_key.bytes()),
                allowed_ips: ranges.ok_or_else(|| missing("allowed_ips"))?,
                endpoint: Some(endpoint),
                keepalive_s: Some(answer.persistent_keepalive),
            },
            own: own.into(),
            prefix_len: answer.overlay_prefix_len,
            mtu_bytes: answer.mtu.into(),
        })
    }

    /// Makes it so: the interface `ifname` with its key, its one peer, its address. Doing it again
    /// changes nothing, and does not break what flows.
    ///
    /// # Errors
    /// What the kernel refused with; the same again may finish what was begun.
    pub fn apply(
        &self,
        ifname: &str,
        key: &PrivateKey,
        listen_port: Option<u16>,
    ) -> Result<(), ReadingError> {
        let mut route = RouteSocket::open(None)?;
        route.ensure_device(ifname, "wireguard")?;
        let wish = DeviceConfig {
            private_key: Some(key.clone()),
            listen_port,
            replace_peers: true,
            peers: vec![self.peer.clone()],
        };
        WireGuard::open(None)?.set(ifname, &wish)?;
        let links = route.links()?;
        let own = links.iter().find(|one| one.name == ifname);
        for old in own.iter().flat_map(|one| &one.ips) {
            if old.scope == "global" && (old.address, old.prefix_len) != (self.own, self.prefix_len)
            {
                route.remove_address(ifname, old.address, old.prefix_len)?;
            }
        }
        route.add_address(ifname, self.own, self.prefix_len)?;
        route.bring_up(ifname, Some(self.mtu_bytes))
    }
}

fn range(text: &str) -> Option<AllowedIp> {
    let (address, bits) = text.split_once('/')?;
    let (address, prefix_len): (IpAddr, u8) = (address.parse().ok()?, bits.parse().ok()?);
    let most = if address.is_ipv4() { 32 } else { 128 };
    (prefix_len <= most).then_some(AllowedIp { address, prefix_len })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> serde_json::Value {
        serde_json::json!({
            "registration_id": "0190163d-8694-739b-aea5-966c26f8ad91", "state": "approved",
            "overlay_ip": "10.42.0.57", "overlay_prefix_len": 24, "allowed_ips": ["10.42.0.0/24"],
            "gateway": {
                "public_key": "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=",
                "endpoint": "10.41.0.1:51820", "overlay_ip": "10.42.0.1",
            },
            "persistent_keepalive": 25, "mtu": 1420,
        })
    }

    #[test]
    fn an_answer_is_a_plan_or_names_what_is_wrong() {
        let plan = Plan::of(&serde_json::from_value(answer()).unwrap()).unwrap();
        assert_eq!((plan.own, plan.prefix_len, plan.mtu_bytes), ([10, 42, 0, 57].into(), 24, 1420));
        let wrong = [
            ("mtu", serde_json::json!(20)),
            ("overlay_prefix_len", serde_json::json!(0)),
            ("allowed_ips", serde_json::json!(["10.42.0.0/33"])),
            ("allowed_ips", serde_json::json!([])),
            ("overlay_ip", serde_json::Value::Null),
        ];
        for (field, value) in wrong {
            let mut answer = answer();
            answer[field] = value;
            let err = Plan::of(&serde_json::from_value(answer).unwrap()).unwrap_err();
            assert!(err.to_string().contains(field), "{err}");
        }
    }
}
