//! Scan of a bus: which addresses answer to a read.

use std::borrow::Borrow;

use groundwave_sensor::template::{ADDRESSES, Identify};
use groundwave_sensor::{BusAddress, IdentifiedBy, ScannedDevice, SensorTemplate};

use super::bus::{Adapters, Bus, BusError, Presence};

/// Reserved addresses that a scan may be asked to include.
const RESERVED: std::ops::RangeInclusive<u16> = 0x03..=0x07;

/// Devices of a bus, in the order of their addresses. Only reads: a byte from each address, then the
/// identity registers of the templates that have the address. Addresses 0x03 to 0x07 are included only
/// if `reserved`; the bus is locked meanwhile.
///
/// # Errors
/// When the bus is absent, busy or may not be opened.
pub fn scan<T: Borrow<SensorTemplate>>(
    adapters: &dyn Adapters,
    number: u32,
    templates: &[T],
    reserved: bool,
) -> Result<Vec<ScannedDevice>, BusError> {
    let mut bus = adapters.open(number);
    let _lock = adapters.lock(number)?;
    let mut found = Vec::new();
    let reserved = RESERVED.filter(|_| reserved);
    for address in reserved.chain(ADDRESSES) {
        let presence = match bus.probe(address) {
            Err(err) if err.is_bus_failure() || err == BusError::Unsupported => return Err(err),
            Err(_) | Ok(Presence::Absent) => continue,
            Ok(presence) => presence,
        };
        let mut device = ScannedDevice {
            bus: number,
            address,
            in_use: presence == Presence::InUse,
            template_id: None,
            identified_by: None,
        };
        let place = BusAddress { bus: number, address };
        let template = match device.in_use {
            true => None,
            false => template_of(bus.as_mut(), place, templates),
        };
        if let Some((template, reason)) = template {
            device.template_id = Some(template.template_id.clone());
            device.identified_by = Some(reason);
        }
        found.push(device);
    }
    Ok(found)
}

/// Template of a device, by its identity register or because no other template has the address.
fn template_of<'t, T: Borrow<SensorTemplate>>(
    bus: &mut dyn Bus,
    place: BusAddress,
    templates: &'t [T],
) -> Option<(&'t SensorTemplate, IdentifiedBy)> {
    let possible = templates
        .iter()
        .map(Borrow::borrow)
        .filter(|template: &&SensorTemplate| template.addresses.contains(&place.address));
    let mut unidentified = Vec::new();
    for template in possible {
        let Some(identify) = template.identify else {
            unidentified.push(template);
            continue;
        };
        // A device that does not have the register is another one.
        if identified(bus, place.address, identify).unwrap_or(false) {
            return Some((template, IdentifiedBy::IdRegister));
        }
    }
    match unidentified.as_slice() {
        [one] => Some((one, IdentifiedBy::Address)),
        _ => None,
    }
}

/// Match of the device at an address with its template.
pub(super) fn identified(
    bus: &mut dyn Bus,
    address: u16,
    identify: Identify,
) -> Result<bool, BusError> {
    let mut bytes = [0; 2];
    let bytes = &mut bytes[..usize::from(identify.len.clamp(1, 2))];
    bus.read(address, identify.reg, bytes)?;
    Ok(identify.fits(bytes))
}
