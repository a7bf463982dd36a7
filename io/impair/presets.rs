//! Impairments of real links, each with the source of its numbers.
//!
//! Delays are one way: half of a round trip where a source gives that. A link has two directions,
//! `down` towards the user and `up` away from it. Fields a source does not give are left out
//! rather than guessed; what is assumed says so.

use serde::Serialize;

use super::impairment_spec::ImpairmentSpec;

/// A link with published impairments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Preset {
    /// Name on the command line and in timelines.
    pub id: &'static str,
    /// Title.
    pub title: &'static str,
    /// Towards the user.
    pub down: DirectionPreset,
    /// Away from the user.
    pub up: DirectionPreset,
    /// Source of the numbers.
    pub source: &'static str,
}

/// One direction of a preset; empty texts are absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct DirectionPreset {
    /// One-way delay.
    pub delay: &'static str,
    /// Deviation from it.
    pub jitter: &'static str,
    /// Distribution of the deviation.
    pub distribution: &'static str,
    /// Share of packets dropped.
    pub loss: &'static str,
    /// Ceiling of the rate.
    pub rate: &'static str,
    /// Bound of the queue.
    pub queue: &'static str,
}

impl DirectionPreset {
    const NONE: Self =
        Self { delay: "", jitter: "", distribution: "", loss: "", rate: "", queue: "" };

    const fn of(delay: &'static str, rate: &'static str) -> Self {
        Self { delay, rate, ..Self::NONE }
    }

    const fn jitter(self, jitter: &'static str) -> Self {
        Self { jitter, distribution: "normal", ..self }
    }

    const fn loss(self, loss: &'static str) -> Self {
        Self { loss, ..self }
    }

    /// The same as a spec.
    #[must_use]
    pub fn spec(&self) -> ImpairmentSpec {
        let word = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        ImpairmentSpec {
            delay: word(self.delay),
            jitter: word(self.jitter),
            distribution: word(self.distribution),
            loss: word(self.loss),
            rate: word(self.rate),
            queue: word(self.queue),
            ..ImpairmentSpec::default()
        }
    }
}

const PROFILES: &str = "WebPageTest, connectivity.ini.sample: rates, and round-trip time halved";

/// All presets, by how far the link reaches.
pub const PRESETS: [Preset; 14] = [
    Preset {
        id: "fibre",
        title: "Fibre to the home",
        down: DirectionPreset::of("2ms", "20mbit"),
        up: DirectionPreset::of("2ms", "5mbit"),
        source: "WebPageTest, connectivity.ini.sample, FIOS: 20/5 Mbit/s, 4 ms round trip",
    },
    Preset {
        id: "cable",
        title: "Cable modem",
        down: DirectionPreset::of("14ms", "5mbit"),
        up: DirectionPreset::of("14ms", "1mbit"),
        source: PROFILES,
    },
    Preset {
        id: "dsl",
        title: "DSL over a long loop",
        down: DirectionPreset::of("25ms", "1.5mbit"),
        up: DirectionPreset::of("25ms", "384kbit"),
        source: PROFILES,
    },
    Preset {
        id: "dial-up",
        title: "Telephone modem",
        down: DirectionPreset::of("60ms", "49kbit"),
        up: DirectionPreset::of("60ms", "30kbit"),
        source: PROFILES,
    },
    Preset {
        id: "5g",
        title: "5G, as its requirements promise every user",
        down: DirectionPreset::of("4ms", "100mbit"),
        up: DirectionPreset::of("4ms", "50mbit"),
        source: "ITU-R M.2410-0: 4.3 user experienced rate 100/50 Mbit/s, 4.7.1 user-plane latency \
                 4 ms (eMBB); the network behind the base station is not in it",
    },
    Preset {
        id: "lte",
        title: "LTE",
        down: DirectionPreset::of("35ms", "12mbit"),
        up: DirectionPreset::of("35ms", "12mbit"),
        source: PROFILES,
    },
    Preset {
        id: "3g",
        title: "3G",
        down: DirectionPreset::of("150ms", "1.6mbit"),
        up: DirectionPreset::of("150ms", "768kbit"),
        source: PROFILES,
    },
    Preset {
        id: "edge",
        title: "EDGE",
        down: DirectionPreset::of("420ms", "240kbit"),
        up: DirectionPreset::of("420ms", "200kbit"),
        source: PROFILES,
    },
    Preset {
        id: "leo-satellite",
        title: "Low-orbit satellite",
        down: DirectionPreset::of("25ms", "178mbit").jitter("5ms"),
        up: DirectionPreset::of("25ms", "17mbit").jitter("5ms"),
        source: "Michel et al., A First Look at Starlink Performance, IMC 2022: median round trip \
                 50 ms (quartiles 40 and 60 ms, halved into a jitter of 5 ms), median rates 178 \
                 and 17 Mbit/s",
    },
    Preset {
        id: "geo-satellite",
        title: "Geostationary satellite",
        down: DirectionPreset::of("300ms", "100mbit"),
        up: DirectionPreset::of("300ms", "10mbit"),
        source: "RFC 2488 section 2: 239.6 to 279.0 ms per hop; Michel et al., IMC 2022: 600 ms \
                 round trip at least, on a 100/10 Mbit/s subscription",
    },
    Preset {
        id: "wifi-mesh",
        title: "Edge of an 802.11b mesh, three hops from its gateway",
        down: DirectionPreset::of("20ms", "627kbit"),
        up: DirectionPreset::of("20ms", "627kbit"),
        source: "Bicket et al., Architecture and Evaluation of an Unplanned 802.11b Mesh Network, \
                 MobiCom 2005: mean 627 kbit/s over three hops; 39 ms round trip",
    },
    Preset {
        id: "wifi-edge",
        title: "802.11 at the edge of its range",
        down: DirectionPreset::of("5ms", "2mbit").jitter("2ms").loss("5%"),
        up: DirectionPreset::of("5ms", "1mbit").jitter("2ms").loss("5%"),
        source: "planning assumption: lowest 802.11b/g rates less half for the channel's overhead, \
                 and the loss that is left after retries",
    },
    Preset {
        id: "lora-fast",
        title: "LoRa backhaul, SF7 in 125 kHz",
        down: DirectionPreset::of("50ms", "5469bit"),
        up: DirectionPreset::of("50ms", "5469bit"),
        source: "LoRaWAN regional parameters RP002: DR5, 5470 bit/s physical rate (SF7 · 125 kHz / \
                 2^7 · 4/5 = 5469); 50 ms of processing are assumed",
    },
    Preset {
        id: "lora-long",
        title: "LoRa mesh, SF11 in 250 kHz",
        down: DirectionPreset::of("50ms", "1074bit"),
        up: DirectionPreset::of("50ms", "1074bit"),
        source: "Meshtastic, LongFast: 1.07 kbit/s (SF11 · 250 kHz / 2^11 · 4/5 = 1074); 50 ms of \
                 processing are assumed",
    },
];

/// The preset of this name.
///
/// # Errors
/// An unknown name, with the names there are and the nearest one.
pub fn find(id: &str) -> Result<&'static Preset, String> {
    PRESETS.iter().find(|preset| preset.id == id).ok_or_else(|| {
        let names = PRESETS.iter().map(|preset| preset.id);
        let allowed = groundwave_toml_document::suggest::one_of(id, names);
        format!("unknown preset: found {id:?}, allowed {allowed}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_an_impairment_with_a_source() {
        for preset in &PRESETS {
            for side in [preset.down, preset.up] {
                let impairment = side.spec().impairment().unwrap();
                impairment.validate().unwrap();
                assert!(impairment.latency.is_some() && impairment.rate.is_some(), "{}", preset.id);
            }
            assert!(preset.source.len() > 20, "{}", preset.id);
            assert_eq!(find(preset.id), Ok(preset));
        }
    }

    #[test]
    fn lora_rates_follow_from_their_modulation() {
        // Semtech AN1200.22: SF · BW / 2^SF · CR.
        let bps = |sf: i32, bandwidth_hz: f64| f64::from(sf) * bandwidth_hz / 2_f64.powi(sf) * 0.8;
        let rate = |id| find(id).unwrap().down.spec().impairment().unwrap().rate.unwrap();
        assert_eq!(rate("lora-fast").bps, bps(7, 125e3).round() as u64);
        assert_eq!(rate("lora-long").bps, bps(11, 250e3).round() as u64);
    }

    #[test]
    fn unknown_name_gives_nearest_one() {
        let message = find("geo-satelite").unwrap_err();
        assert!(message.contains("did you mean \"geo-satellite\""), "{message}");
    }
}
