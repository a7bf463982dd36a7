//! Five sensors behind their registers, with the values of the datasheets' examples.

use std::collections::BTreeMap;

/// BMP280 datasheet, section 3.12: calibration from 0x88, then pressure and temperature from 0xF7.
const BOSCH_CALIBRATION: [u8; 24] = [
    0x70, 0x6B, 0x43, 0x67, 0x18, 0xFC, 0x7D, 0x8E, 0x43, 0xD6, 0xD0, 0x0B, 0x27, 0x0B, 0x8C, 0x00,
    0xF9, 0xFF, 0x8C, 0x3C, 0xF8, 0xC6, 0x70, 0x17,
];
const BOSCH_DATA: [u8; 8] = [0x65, 0x5A, 0xC0, 0x7E, 0xED, 0x00, 0x6D, 0x38];

/// Registers of a device, and the one that it reads next.
struct Device {
    /// Bytes of each register: one, or two where the registers are words.
    registers: BTreeMap<u8, Vec<u8>>,
    pointer: u8,
    /// Registers are single bytes, one after the other.
    bytewise: bool,
}

/// Devices by address.
pub struct Sensors(BTreeMap<u8, Device>);

fn words(registers: &[(u8, [u8; 2])]) -> Device {
    let registers = registers.iter();
    Device {
        registers: registers.map(|(reg, word)| (*reg, word.to_vec())).collect(),
        pointer: 0,
        bytewise: false,
    }
}

fn bytes(blocks: &[(u8, &[u8])]) -> Device {
    let mut registers = BTreeMap::new();
    for (first, block) in blocks {
        for (more, byte) in block.iter().enumerate() {
            registers.insert(first + more as u8, vec![*byte]);
        }
    }
    Device { registers, pointer: 0, bytewise: true }
}

impl Default for Sensors {
    fn default() -> Self {
        let bme280 = bytes(&[
            (0x88, &BOSCH_CALIBRATION),
            (0xA1, &[0x4B]),
            (0xD0, &[0x60]),
            (0xE1, &[0x6A, 0x01, 0x00, 0x14, 0x28, 0x03, 0x1E]),
            (0xF2, &[0, 0, 0, 0, 0]),
            (0xF7, &BOSCH_DATA),
        ]);
        let ds3231 = bytes(&[(0x0F, &[0x88, 0x00, 0x19, 0x40])]);
        let ina219 = words(&[(0x00, [0x39, 0x9F]), (0x01, [0x07, 0xD0]), (0x02, [0x5D, 0x98])]);
        let ads1115 = words(&[(0x00, [0x00, 0x00]), (0x01, [0x85, 0x83])]);
        // A sensor of frames: its one answer is that of a measurement, 0x6666 and 0xBEEF.
        let sht3x = Device {
            registers: [(0, vec![0xBE, 0xEF, 0x92, 0xBE, 0xEF, 0x92])].into(),
            pointer: 0,
            bytewise: false,
        };
        Self(BTreeMap::from([
            (0x40, ina219),
            (0x44, sht3x),
            (0x48, ads1115),
            (0x68, ds3231),
            (0x76, bme280),
        ]))
    }
}

impl Sensors {
    /// Writes to a device; `false` if there is none.
    pub fn write(&mut self, address: u8, bytes: &[u8]) -> bool {
        let Some(device) = self.0.get_mut(&address) else {
            return false;
        };
        let Some((reg, content)) = bytes.split_first() else {
            return true;
        };
        // The frames of an SHT3x have no registers: its bytes are a command.
        if address == 0x44 {
            return true;
        }
        device.pointer = *reg;
        if device.bytewise {
            for (more, byte) in content.iter().enumerate() {
                device.registers.insert(reg + more as u8, vec![*byte]);
            }
        } else if !content.is_empty() {
            device.registers.insert(*reg, content.to_vec());
        }
        if (address, *reg) == (0x48, 0x01) && content.len() == 2 {
            device.convert(content[0]);
        }
        true
    }

    /// Reads from a device; `None` if there is none.
    pub fn read(&self, address: u8, len: usize) -> Option<Vec<u8>> {
        let device = self.0.get(&address)?;
        let mut values = Vec::new();
        let mut reg = device.pointer;
        while values.len() < len {
            let content = device.registers.get(&reg);
            values.extend(content.map_or(&[0_u8][..], Vec::as_slice));
            reg = reg.wrapping_add(1);
        }
        values.truncate(len);
        Some(values)
    }
}

impl Device {
    /// Conversion of an ADS1115: full scale, half of it, one step and nothing, by input.
    fn convert(&mut self, config: u8) {
        let code: [u8; 2] = match (config >> 4) & 7 {
            4 => [0x7F, 0xFF],
            5 => [0x40, 0x00],
            6 => [0x00, 0x01],
            _ => [0x00, 0x00],
        };
        self.registers.insert(0, code.to_vec());
    }
}
