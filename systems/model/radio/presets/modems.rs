//! Modem presets of Meshtastic (Meshtastic documentation, Radio Settings).

use super::super::station::{Radio, Waveform};

/// Settings of a modem preset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Modem {
    /// Bandwidth, Hz.
    pub bandwidth_hz: f64,
    /// Bits per symbol.
    pub spreading_factor: u8,
    /// Denominator of the code rate 4/n.
    pub coding_rate: u8,
}

const fn modem(bandwidth_hz: f64, spreading_factor: u8, coding_rate: u8) -> Modem {
    Modem { bandwidth_hz, spreading_factor, coding_rate }
}

/// Modem presets by name.
pub const MODEMS: [(Modem, &str); 10] = [
    (modem(500e3, 7, 5), "ShortTurbo"),
    (modem(250e3, 7, 5), "ShortFast"),
    (modem(250e3, 8, 5), "ShortSlow"),
    (modem(250e3, 9, 5), "MediumFast"),
    (modem(250e3, 10, 5), "MediumSlow"),
    (modem(500e3, 11, 8), "LongTurbo"),
    (modem(250e3, 11, 5), "LongFast"),
    (modem(125e3, 11, 8), "LongModerate"),
    (modem(125e3, 12, 8), "LongSlow"),
    (modem(62.5e3, 12, 8), "VeryLongSlow"),
];

impl Modem {
    /// Sets bandwidth, spreading factor and coding rate of a LoRa radio; `false` for another radio, which stays as it
    /// is.
    #[must_use]
    pub fn apply(self, radio: &mut Radio) -> bool {
        let Waveform::Lora { spreading_factor, coding_rate } = &mut radio.waveform else {
            return false;
        };
        (*spreading_factor, *coding_rate) = (self.spreading_factor, self.coding_rate);
        radio.bandwidth_hz = self.bandwidth_hz;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::radio;
    use super::*;

    #[test]
    fn modem_presets_are_those_of_the_devices_and_need_lora() {
        let radio = |id| radio(id).unwrap().radio.clone();
        let (long_fast, _) = MODEMS.iter().find(|(_, name)| *name == "LongFast").unwrap();
        let mut european = radio("lora_868_eu");
        assert!(long_fast.apply(&mut european));
        let american = radio("lora_915_us");
        assert_eq!(european.waveform, american.waveform);
        assert_eq!(european.bandwidth_hz, american.bandwidth_hz);
        assert!(!long_fast.apply(&mut radio("wifi_5g_mesh")));
    }
}
