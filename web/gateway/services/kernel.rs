//! Kernel tables: batman-adv, radios, network.

use std::path::Path;

use groundwave_files::ReadingError;
use groundwave_gateway::Snapshot;
use groundwave_host::readings::RouteSocket;
use groundwave_host::readings::wireless;
use groundwave_host::readings::wireless::Radios;
use groundwave_http::Problem;
use groundwave_http::option_value::interface_name;
use groundwave_http::problem::{FieldCode, ProblemKind};
use groundwave_netlink::batadv::Batman;
use groundwave_protocol::HardwareAddress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::world::blocking;
use crate::settings::Settings;

/// Network namespace of this process.
pub const HERE: Option<&Path> = None;

/// Row with the node of its MAC address.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Known{T}")]
pub struct Known<T> {
    /// Row.
    #[serde(flatten)]
    pub row: T,
    /// Node id, for MAC addresses of the fleet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<Uuid>,
}

/// Rows with the nodes of their MAC addresses.
pub fn with_nodes<T>(
    view: &Snapshot,
    rows: Vec<T>,
    whose: fn(&T) -> Option<HardwareAddress>,
) -> Vec<Known<T>> {
    let named = |row: T| {
        let mac = whose(&row).map(|mac| groundwave_protocol::Mac(mac.0));
        let node = mac.and_then(|mac| view.fleet.with_mac(mac));
        let node_id = node.map(|node| node.uuid());
        Known { row, node_id }
    };
    rows.into_iter().map(named).collect()
}

/// Row without a node.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Row<T>(pub T);

impl<T: JsonSchema> JsonSchema for Row<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }
    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }
    fn json_schema(schemas: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(schemas)
    }
}

/// Rows without an associated node.
pub fn rows<T>(all: Vec<T>) -> Vec<Row<T>> {
    all.into_iter().map(Row).collect()
}

/// Filter by interface.
#[derive(Debug, Default, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct InterfaceQuery {
    /// Interface name
    #[param(pattern = "^[!-.0-9;-~]{1,15}$")]
    pub ifname: Option<String>,
}

/// Checks an interface name.
///
/// # Errors
/// 422 for an invalid name.
pub fn check_ifname(ifname: &str) -> Result<(), Problem> {
    interface_name(ifname).map(drop).map_err(|what| {
        Problem::field("/ifname", FieldCode::NotAllowed, format!("invalid interface name: {what}"))
    })
}

impl InterfaceQuery {
    /// Requested interface, if any.
    ///
    /// # Errors
    /// 422 for an invalid name.
    pub fn checked(self) -> Result<Option<String>, Problem> {
        if let Some(ifname) = &self.ifname {
            check_ifname(ifname)?;
        }
        Ok(self.ifname)
    }

    /// Requested mesh interface; default that of the settings.
    ///
    /// # Errors
    /// As [`Self::checked`].
    pub fn mesh(self, settings: &Settings) -> Result<String, Problem> {
        Ok(self.checked()?.unwrap_or_else(|| settings.mesh_ifname.clone()))
    }
}

/// Problem with status 503: absent on this host.
#[must_use]
pub fn absent(detail: impl Into<String>) -> Problem {
    Problem::unavailable(detail).of_kind(ProblemKind::BackendAbsent)
}

const EINVAL: i32 = 22;

/// Problem of a failed query.
#[must_use]
pub fn unread(err: ReadingError) -> Problem {
    let detail = err.to_string();
    match &err {
        ReadingError::Absent { .. } | ReadingError::Permission { .. } => absent(detail),
        ReadingError::Io { .. } | ReadingError::Decode { .. } => Problem::internal(detail),
    }
}

/// As [`unread`] for a named interface: EINVAL means another kind of interface.
pub fn unread_of(ifname: &str, err: ReadingError) -> Problem {
    match &err {
        ReadingError::Io { source, .. } if source.raw_os_error() == Some(EINVAL) => {
            let message = format!("invalid kind of interface {ifname}: {err}");
            Problem::field("/ifname", FieldCode::NotAllowed, message)
        }
        _ => unread(err),
    }
}

/// Queries batman-adv about a mesh interface.
pub async fn of_batman<T: Send + 'static>(
    settings: &Settings,
    query: InterfaceQuery,
    ask: fn(&mut Batman, &str) -> Result<T, ReadingError>,
) -> Result<T, Problem> {
    let ifname = query.mesh(settings)?;
    let work = move || {
        let mut batman = Batman::open(HERE).map_err(unread)?;
        ask(&mut batman, &ifname).map_err(|err| unread_of(&ifname, err))
    };
    blocking(work).await
}

/// Queries a table of the network over rtnetlink.
///
/// # Errors
/// 500 or 503.
pub async fn of_network<T: Send + 'static>(
    ask: fn(&mut RouteSocket) -> Result<T, ReadingError>,
) -> Result<T, Problem> {
    let work =
        move || RouteSocket::open(HERE).and_then(|mut socket| ask(&mut socket)).map_err(unread);
    blocking(work).await
}

/// Queries all radios over nl80211.
///
/// # Errors
/// 500 or 503.
pub async fn radios() -> Result<Radios, Problem> {
    blocking(|| wireless::read(HERE).map_err(unread)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_no_interface_has_are_refused() {
        for good in ["bat0", "wlan0.1", "a", "123456789012345", "mesh-0_x@if3"] {
            assert!(check_ifname(good).is_ok(), "{good}");
        }
        for bad in ["", "1234567890123456", "a/b", "a b", "a\n", "../..", "a:1", "bät0", "a\0"] {
            assert_eq!(check_ifname(bad).unwrap_err().status, 422, "{bad:?}");
        }
    }

    #[test]
    fn absent_backend_gives_503_and_failure_500() {
        let what = || "generic netlink family batadv".to_owned();
        let problem = unread(ReadingError::Absent { what: what() });
        assert_eq!(problem.status, 503);
        assert!(problem.kind.ends_with(":backend-absent") && problem.detail.contains("batadv"));
        let refused = |errno| ReadingError::Io {
            what: what(),
            source: std::io::Error::from_raw_os_error(errno),
            said: None,
        };
        assert_eq!(unread_of("lo", refused(EINVAL)).status, 422);
        assert_eq!(unread_of("lo", refused(12)).status, 500);
    }
}
