//! An MCP2221 in user space: a USB bridge to I2C and GPIO whose HID reports are answered over
//! /dev/uhid, so that the kernel's driver `hid-mcp2221` makes an adapter and a chip of it.
//!
//! Reports: MCP2221A datasheet, section 3. Line 0 is wired to line 1.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::thread;

use super::sensors::Sensors;

/// Events of /dev/uhid (linux/uhid.h).
const OUTPUT: u32 = 6;
const CREATE2: u32 = 11;
const INPUT2: u32 = 12;
/// Longest report, bytes, and length of an event.
const DATA_MAX: usize = 4_096;
const EVENT_BYTES: usize = 4 + 128 + 64 + 64 + 20 + DATA_MAX;
/// Length of a report of this device, bytes.
const REPORT_BYTES: usize = 64;
/// Vendor-defined reports of 64 bytes, in and out.
const DESCRIPTOR: [u8; 25] = [
    0x06, 0x00, 0xFF, 0x09, 0x01, 0xA1, 0x01, 0x09, 0x02, 0x15, 0x00, 0x26, 0xFF, 0x00, 0x75, 0x08,
    0x95, 0x40, 0x81, 0x02, 0x09, 0x03, 0x91, 0x02, 0xC0,
];

/// Engine state of an address that did not answer.
const ADDRESS_NACK: u8 = 0x25;
/// Engine state of a finished read.
const READ_COMPLETE: u8 = 0x55;

/// State of the bridge.
struct Bridge {
    sensors: Sensors,
    /// The last address did not answer.
    nack: bool,
    /// Bytes of the last read; `None` if nothing answered.
    read: Option<Vec<u8>>,
    /// Value and direction of each line; 1 is input.
    lines: [(u8, u8); 4],
}

/// Plugs the bridge in; it works until the process ends.
pub fn plug_in() {
    let mut device = OpenOptions::new().read(true).write(true).open("/dev/uhid").unwrap();
    device.write_all(&create()).unwrap();
    thread::spawn(move || serve(device));
}

fn create() -> Vec<u8> {
    let mut event = CREATE2.to_le_bytes().to_vec();
    let mut name = [0; 128 + 64 + 64];
    name[..7].copy_from_slice(b"MCP2221");
    event.extend(name);
    event.extend((DESCRIPTOR.len() as u16).to_le_bytes());
    // BUS_USB, Microchip's vendor and product numbers, version, country.
    event.extend(3_u16.to_le_bytes());
    for number in [0x04D8_u32, 0x00DD, 0, 0] {
        event.extend(number.to_le_bytes());
    }
    event.extend(DESCRIPTOR);
    event.resize(EVENT_BYTES, 0);
    event
}

fn serve(mut device: File) {
    let mut bridge =
        Bridge { sensors: Sensors::default(), nack: false, read: None, lines: [(0, 1); 4] };
    let mut event = vec![0; EVENT_BYTES];
    loop {
        let read = device.read(&mut event).unwrap();
        let kind = u32::from_le_bytes(event[..4].try_into().unwrap());
        if kind != OUTPUT || read < 5 {
            continue;
        }
        let mut report = [0; REPORT_BYTES];
        report.copy_from_slice(&event[4..4 + REPORT_BYTES]);
        let reply = bridge.answer(&report);
        let mut input = INPUT2.to_le_bytes().to_vec();
        input.extend((REPORT_BYTES as u16).to_le_bytes());
        input.extend(reply);
        device.write_all(&input).unwrap();
    }
}

impl Bridge {
    fn answer(&mut self, report: &[u8; REPORT_BYTES]) -> [u8; REPORT_BYTES] {
        let mut reply = [0; REPORT_BYTES];
        reply[0] = report[0];
        let (len, address) = (usize::from(report[1]), report[3] >> 1);
        match report[0] {
            // Status, speed, cancel.
            0x10 => {
                if report[3] == 0x20 || report[2] == 0x10 {
                    self.nack = false;
                    reply[2] = report[2];
                    reply[3] = report[3];
                }
                if self.nack {
                    reply[20] = 0x40;
                }
            }
            // Write, with and without a stop.
            0x90 | 0x94 => self.nack = !self.sensors.write(address, &report[4..4 + len.min(60)]),
            // Read, with a start and a repeated one.
            0x91 | 0x93 => self.read = self.sensors.read(address, len),
            // Data of the last read.
            0x40 => match &self.read {
                Some(bytes) => {
                    reply[2] = READ_COMPLETE;
                    reply[3] = bytes.len() as u8;
                    reply[4..4 + bytes.len()].copy_from_slice(bytes);
                }
                None => reply[2] = ADDRESS_NACK,
            },
            0x50 => {
                reply = *report;
                reply[1] = 0;
                for (line, change) in self.lines.iter_mut().zip(report[2..18].chunks(4)) {
                    if change[0] != 0 {
                        line.0 = change[1];
                    }
                    if change[2] != 0 {
                        line.1 = change[3];
                    }
                }
            }
            0x51 => {
                let driven = self.lines[0].0;
                for (at, (value, direction)) in self.lines.iter().enumerate() {
                    let level = if at == 1 && *direction == 1 { driven } else { *value };
                    reply[2 + 2 * at] = level;
                    // The driver of Linux 6.1 reads the value of an input from the byte of its
                    // direction.
                    reply[3 + 2 * at] = if at == 1 && *direction == 1 { level } else { *direction };
                }
            }
            _ => reply[1] = 1,
        }
        reply
    }
}
