//! Presets of external systems: schemes, credentials and checks that fit a product.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{AuthKind, Check};

/// Kind of product.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Any HTTP server.
    Http,
    /// Host that answers ICMP echo requests.
    Ping,
    /// HTTP API with an OpenAPI document.
    Openapi,
    /// Prometheus server.
    Prometheus,
    /// Grafana.
    Grafana,
    /// Home Assistant.
    HomeAssistant,
    /// ChirpStack, its REST interface.
    Chirpstack,
    /// MQTT broker of a Meshtastic mesh.
    MeshtasticMqtt,
    /// OpenWISP controller.
    Openwisp,
    /// Proxmox VE.
    Proxmox,
    /// Synology DSM.
    Synology,
    /// UniFi Network.
    Unifi,
    /// Generic REST interface.
    Custom,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 13] = [
        Self::Http,
        Self::Ping,
        Self::Openapi,
        Self::Prometheus,
        Self::Grafana,
        Self::HomeAssistant,
        Self::Chirpstack,
        Self::MeshtasticMqtt,
        Self::Openwisp,
        Self::Proxmox,
        Self::Synology,
        Self::Unifi,
        Self::Custom,
    ];

    /// Name of the product.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Http => "HTTP server",
            Self::Ping => "Host by ICMP echo",
            Self::Openapi => "HTTP API with an OpenAPI document",
            Self::Prometheus => "Prometheus",
            Self::Grafana => "Grafana",
            Self::HomeAssistant => "Home Assistant",
            Self::Chirpstack => "ChirpStack REST API",
            Self::MeshtasticMqtt => "Meshtastic MQTT broker",
            Self::Openwisp => "OpenWISP controller",
            Self::Proxmox => "Proxmox VE",
            Self::Synology => "Synology DSM",
            Self::Unifi => "UniFi Network",
            Self::Custom => "Generic REST API",
        }
    }

    /// Schemes of the base URL.
    #[must_use]
    pub const fn schemes(self) -> &'static [&'static str] {
        match self {
            Self::Ping => &["icmp"],
            Self::MeshtasticMqtt => &["mqtt", "mqtts"],
            _ => &["http", "https"],
        }
    }

    /// Kinds of credentials.
    #[must_use]
    pub const fn auth_kinds(self) -> &'static [AuthKind] {
        match self {
            Self::Ping => &[AuthKind::None],
            Self::MeshtasticMqtt => &[AuthKind::None, AuthKind::Basic],
            Self::HomeAssistant | Self::Chirpstack => &[AuthKind::Bearer],
            Self::Proxmox => &[AuthKind::TokenId],
            Self::Unifi => &[AuthKind::ApiKey],
            _ => &[
                AuthKind::None,
                AuthKind::Basic,
                AuthKind::Bearer,
                AuthKind::ApiKey,
                AuthKind::TokenId,
            ],
        }
    }

    /// Header field of a bearer token.
    #[must_use]
    pub const fn bearer_header(self) -> &'static str {
        match self {
            Self::Chirpstack => "grpc-metadata-authorization",
            _ => "authorization",
        }
    }

    /// Checks of a system that names none.
    #[must_use]
    pub fn default_checks(self) -> Vec<Check> {
        let at = |path: &str| Check::path("responding", path);
        let value = |metric: &str, path: &str, pointer: &str| Check {
            json_pointer: Some(pointer.to_owned()),
            ..Check::path(metric, path)
        };
        match self {
            Self::Http | Self::Openapi | Self::Custom => vec![at("/")],
            Self::Ping | Self::MeshtasticMqtt => Vec::new(),
            Self::Prometheus => vec![
                at("/-/healthy"),
                value("head_series", "/api/v1/status/tsdb", "/data/headStats/numSeries"),
            ],
            Self::Grafana => vec![at("/api/health")],
            Self::HomeAssistant => vec![at("/api/")],
            Self::Chirpstack => vec![value("tenants", "/api/tenants?limit=1", "/totalCount")],
            Self::Openwisp => vec![value("devices", "/api/v1/controller/device/", "/count")],
            Self::Proxmox => vec![at("/api2/json/version")],
            Self::Synology => vec![value(
                "responding",
                "/webapi/query.cgi?api=SYNO.API.Info&version=1&method=query",
                "/success",
            )],
            Self::Unifi => {
                vec![value("sites", "/proxy/network/integration/v1/sites", "/totalCount")]
            }
        }
    }
}
