//! I2C device endpoints.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_gateway::Snapshot;
use groundwave_gateway::fleet::EnqueueCommand;
use groundwave_gateway::peripheral::RecordScan;
use groundwave_http::json_body::StrictJson;
use groundwave_http::page::{Page, Paging};
use groundwave_http::problem::FieldCode;
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Problem, Query, id};
use groundwave_sensor::IdentifiedBy;
use groundwave_simulation::site::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::{Operator, Viewer};
use crate::services::peripherals::PeripheralHost;
use crate::services::world::{World, blocking};

/// Maximum bus number.
const BUS_MAX: u32 = 1_023;
/// Lifetime of the node command of a scan, s.
const SCAN_EXPIRES_S: u32 = 300;

/// Filter of I2C devices.
#[derive(Debug, Default, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DeviceQuery {
    /// Node id
    pub node_id: Option<Uuid>,
    /// Bus number
    #[param(minimum = 0, maximum = 1023)]
    pub bus: Option<u32>,
}

/// I2C device.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SensorDevice {
    /// Node; `null` for the gateway's own machine.
    pub node_id: Option<Uuid>,
    /// Bus number.
    pub bus: u32,
    /// Address, 0x03 to 0x77.
    pub address: u16,
    /// It answered the last scan of the bus.
    pub present: bool,
    /// A driver of the kernel uses it.
    pub in_use: bool,
    /// Template that is assigned, or fits.
    pub template_id: Option<String>,
    /// Reason for the template.
    pub identified_by: Option<IdentifiedBy>,
    /// Time of the scan, RFC 3339.
    pub last_seen: Option<String>,
}

/// Checks a bus number.
fn check_bus(bus: u32) -> Result<(), Problem> {
    if bus <= BUS_MAX {
        return Ok(());
    }
    let message = format!("invalid bus: found {bus}, allowed 0 to {BUS_MAX}");
    Err(Problem::field("/bus", FieldCode::NotAllowed, message))
}

/// Scanned and assigned devices by machine, bus and address.
fn devices(view: &Snapshot) -> BTreeMap<(Option<NodeId>, u32, u16), SensorDevice> {
    let mut devices = BTreeMap::new();
    for scan in &view.peripherals.scans {
        let scan = &scan.0;
        for device in &scan.devices {
            let entry = SensorDevice {
                node_id: scan.node.map(|node| node.uuid()),
                bus: device.bus,
                address: device.address,
                present: true,
                in_use: device.in_use,
                template_id: device.template_id.clone(),
                identified_by: device.identified_by,
                last_seen: Some(rfc3339(scan.at_ns)),
            };
            devices.insert((scan.node, device.bus, device.address), entry);
        }
    }
    for (_, assignment) in view.config.sensor_assignments.iter() {
        let one = &assignment.object;
        let device =
            devices.entry((one.node_id, one.bus, one.address)).or_insert_with(|| SensorDevice {
                node_id: one.node_id.map(|node| node.uuid()),
                bus: one.bus,
                address: one.address,
                present: false,
                in_use: false,
                template_id: None,
                identified_by: None,
                last_seen: None,
            });
        device.template_id = Some(one.template_id.clone());
        device.identified_by = Some(IdentifiedBy::Manual);
    }
    devices
}

/// List I2C devices
#[utoipa::path(get, path = "/v1/sensors/i2c/devices", tag = "sensors", params(DeviceQuery, Paging),
    responses((status = 200, description = "Those that answered the last scan of their bus, and assigned ones")))]
pub async fn sensor_devices(
    _: Viewer,
    State(world): State<World>,
    Query(query): Query<DeviceQuery>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<SensorDevice>>, Problem> {
    query.bus.map_or(Ok(()), check_bus)?;
    let fitting = devices(&world.view()).into_iter().filter(|(_, device)| {
        query.node_id.is_none_or(|node| device.node_id == Some(node))
            && query.bus.is_none_or(|bus| device.bus == bus)
    });
    let keyed = fitting.map(|((node, bus, address), device)| {
        let node = node.map(|node| node.to_string()).unwrap_or_default();
        (format!("{node}-{bus:04}-{address:03}"), device)
    });
    Ok(Json(paging.of(keyed, |device| device)?))
}

/// Request for a scan.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScanRequest {
    /// Node; absent for the gateway's own machine.
    #[serde(default)]
    pub node_id: Option<Uuid>,
    /// Bus number.
    #[schemars(range(max = 1023))]
    pub bus: u32,
    /// Includes the reserved addresses 0x03 to 0x07.
    #[serde(default)]
    pub reserved: bool,
}

/// Scan: its devices, or the node command that reports them.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ScanReply {
    /// Node command, where a node scans.
    pub job_id: Option<Uuid>,
    /// Devices that answered, where the gateway's own machine scans.
    pub devices: Vec<SensorDevice>,
}

/// Scan an I2C bus: reads only
///
/// A byte is read from each address, then the identity register of the templates with that address.
/// A node scans with its next heartbeat; its devices are listed when it has reported them.
#[utoipa::path(post, path = "/v1/sensors/i2c/scan", tag = "sensors",
    responses((status = 200, description = "Devices of the gateway's own machine"),
        (status = 202, description = "Node command enqueued"),
        (status = 404, description = "No such approved node"),
        (status = 503, description = "Bus absent, busy or not accessible")))]
pub async fn sensor_scan(
    Operator(caller): Operator,
    State(world): State<World>,
    State(host): State<Arc<PeripheralHost>>,
    StrictJson(request): StrictJson<ScanRequest>,
) -> Result<(StatusCode, Json<ScanReply>), Problem> {
    let ScanRequest { node_id, bus, reserved } = request;
    check_bus(bus)?;
    if let Some(node_id) = node_id {
        let job_id = id::mint();
        let command = EnqueueCommand {
            node: world.node(node_id)?.id,
            id: job_id,
            kind: "i2c_scan".to_owned(),
            args: [
                ("bus".to_owned(), bus.to_string()),
                ("reserved".to_owned(), reserved.to_string()),
            ]
            .into(),
            expires_s: SCAN_EXPIRES_S,
            by: caller.username.clone(),
        };
        world.submit(command).await?;
        let reply = ScanReply { job_id: Some(job_id), devices: Vec::new() };
        return Ok((StatusCode::ACCEPTED, Json(reply)));
    }
    let view = world.view();
    let scanned = blocking(move || host.scan(&view, bus, reserved)).await?;
    let command = RecordScan { node: None, bus, devices: scanned };
    world.submit(command).await?;
    let devices = devices(&world.view()).into_iter();
    let own =
        devices.filter(|((node, on, _), device)| node.is_none() && *on == bus && device.present);
    let reply = ScanReply { job_id: None, devices: own.map(|(_, device)| device).collect() };
    Ok((StatusCode::OK, Json(reply)))
}
