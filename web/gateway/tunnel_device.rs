//! WireGuard interface of the gateway's end of the tunnel.

use std::net::{IpAddr, SocketAddr};

use groundwave_credentials::PrivateKey;
use groundwave_files::ReadingError;
use groundwave_gateway::onboarding::AddressPool;
use groundwave_host::readings::RouteSocket;
use groundwave_netlink::wireguard::{Device, DeviceConfig, WireGuard};
use groundwave_protocol::{GatewayEnd, PublicKey};

/// WireGuard interface of the gateway's end of the tunnel.
#[derive(Debug)]
pub struct TunnelDevice {
    /// Name of the interface.
    pub ifname: String,
    /// Private key.
    pub key: PrivateKey,
    /// Public key of the private one.
    pub public_key: PublicKey,
    /// Endpoint announced to nodes; the interface listens on its port.
    pub endpoint: SocketAddr,
    /// MTU, bytes.
    pub mtu_bytes: u16,
}

impl TunnelDevice {
    /// End of the tunnel as nodes are told, with the gateway's address of a pool.
    #[must_use]
    pub fn end(&self, pool: AddressPool) -> GatewayEnd {
        GatewayEnd {
            public_key: self.public_key,
            endpoint: self.endpoint.to_string(),
            overlay_ip: pool.gateway(),
        }
    }

    /// Creates the interface unless it exists; sets its key, port and address.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn lay(&self, pool: AddressPool) -> Result<(), ReadingError> {
        let mut routes = RouteSocket::open(None)?;
        routes.ensure_device(&self.ifname, "wireguard")?;
        let wish = DeviceConfig {
            private_key: Some(self.key.clone()),
            listen_port: Some(self.endpoint.port()),
            ..DeviceConfig::default()
        };
        WireGuard::open(None)?.set(&self.ifname, &wish)?;
        routes.add_address(&self.ifname, IpAddr::V4(pool.gateway()), pool.prefix_len())?;
        routes.bring_up(&self.ifname, Some(u32::from(self.mtu_bytes)))
    }

    /// `true` if the interface has the key and the port of this end.
    fn is_configured(&self, device: &Device) -> bool {
        device.public_key == Some(self.key.public()) && device.listen_port == self.endpoint.port()
    }

    /// Lays the interface again where another program removed it, took it down or gave it another key or
    /// port; `true` if one did.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn restore(&self, pool: AddressPool) -> Result<bool, ReadingError> {
        let links = RouteSocket::open(None)?.links()?;
        let is_up = links.iter().any(|link| link.name == self.ifname && link.operstate != "down");
        if is_up && self.is_configured(&WireGuard::open(None)?.device(&self.ifname)?) {
            return Ok(false);
        }
        self.lay(pool)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use groundwave_credentials::PublicKey as KernelKey;

    use super::*;

    #[test]
    fn interface_with_another_key_or_port_is_not_as_configured() {
        let key = PrivateKey::from_bytes([7; 32]);
        let public_key = PublicKey::new(key.public().0).unwrap();
        let tunnel = TunnelDevice {
            ifname: "wg0".to_owned(),
            endpoint: "10.41.0.1:51820".parse().unwrap(),
            public_key,
            mtu_bytes: 1420,
            key,
        };
        let device = |public_key, listen_port| Device {
            ifname: "wg0".to_owned(),
            public_key,
            listen_port,
            peers: Vec::new(),
        };
        let own = Some(tunnel.key.public());
        assert!(tunnel.is_configured(&device(own, 51820)));
        for (key, port) in [(own, 51821), (None, 51820), (Some(KernelKey([9; 32])), 51820)] {
            assert!(!tunnel.is_configured(&device(key, port)));
        }
    }
}
