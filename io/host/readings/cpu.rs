//! The processor: what it is, how busy, how fast, how hot.

use groundwave_files::ReadingError;
use groundwave_files::Root;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most cores listed.
const CORES_MAX: usize = 1024;

/// Ticks that a core spent since it started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ticks {
    /// At work.
    pub busy: u64,
    /// All together.
    pub all: u64,
}

/// The processor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SystemCpu")]
pub struct Cpu {
    /// Model of the processor.
    pub model: String,
    /// Number of cores online.
    pub cores: usize,
    /// Utilisation of each core, %: between the two readings if there was an earlier one, else
    /// since boot.
    pub usage_pct: Vec<f64>,
    /// Current frequency of each core, MHz; empty where it is unknown.
    pub freq_mhz: Vec<f64>,
    /// Temperature of the hottest sensor of the processor, °C.
    pub temperature_c: Option<f64>,
    /// `true` if the processor is slowed down by heat or low supply voltage; `None` where it is
    /// unknown.
    pub throttled: Option<bool>,
}

/// Looks at the ticks of all cores.
///
/// # Errors
/// When `/proc` is not there or not as Linux writes it.
pub fn ticks(root: &Root) -> Result<Vec<Ticks>, ReadingError> {
    let text = root.text("proc/stat")?;
    let mut found = Vec::new();
    for line in text.lines().take_while(|line| line.starts_with("cpu")) {
        let mut words = line.split_ascii_whitespace();
        // The first line sums them up.
        if words.next() == Some("cpu") || found.len() >= CORES_MAX {
            continue;
        }
        let counts: Option<Vec<u64>> = words.map(|word| word.parse().ok()).collect();
        // user nice system idle iowait irq softirq steal; the times of virtual machines are part of
        // user.
        let counts = counts
            .filter(|counts| counts.len() >= 4)
            .ok_or_else(|| ReadingError::decode("/proc/stat"))?;
        let sum =
            |counts: &[u64]| counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
        let all = sum(&counts[..counts.len().min(8)]);
        let idle = sum(&counts[3..counts.len().min(5)]);
        found.push(Ticks { busy: all - idle.min(all), all });
    }
    Ok(found)
}

/// Looks at the processor; `before` is an earlier look at its ticks.
///
/// # Errors
/// As [`ticks`].
pub fn read(root: &Root, before: Option<&[Ticks]>) -> Result<Cpu, ReadingError> {
    let now = ticks(root)?;
    let earlier = |core: usize| {
        let before = before.filter(|before| before.len() == now.len());
        before.map_or_else(Ticks::default, |before| before[core])
    };
    let usage = |(core, now): (usize, &Ticks)| share(earlier(core), *now);
    Ok(Cpu {
        model: model(root),
        cores: now.len(),
        usage_pct: now.iter().enumerate().map(usage).collect(),
        freq_mhz: frequencies(root, now.len()),
        temperature_c: temperature(root),
        throttled: throttled(root),
    })
}

/// Share of the time between two looks at work, %.
fn share(before: Ticks, now: Ticks) -> f64 {
    let all = now.all.saturating_sub(before.all);
    let busy = now.busy.saturating_sub(before.busy);
    if all == 0 {
        return 0.0;
    }
    (busy as f64 / all as f64 * 100.0).min(100.0)
}

/// `model name` on x86; boards of ARM tell theirs as `Model` or `Hardware`.
fn model(root: &Root) -> String {
    let text = root.text("proc/cpuinfo").unwrap_or_default();
    let named = |name: &str| {
        text.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim_end() == name).then(|| value.trim().to_owned())
        })
    };
    let names = ["model name", "Processor", "cpu model", "Hardware", "Model"];
    names.into_iter().find_map(named).unwrap_or_default()
}

fn frequencies(root: &Root, cores: usize) -> Vec<f64> {
    let of = |core: usize| {
        let path = format!("sys/devices/system/cpu/cpu{core}/cpufreq/scaling_cur_freq");
        root.number::<u32>(&path).map(|khz| f64::from(khz) / 1000.0)
    };
    let told: Option<Vec<f64>> = (0..cores).map(of).collect();
    told.unwrap_or_else(|| {
        let text = root.text("proc/cpuinfo").unwrap_or_default();
        let said = text
            .lines()
            .filter_map(|line| line.strip_prefix("cpu MHz"))
            .filter_map(|rest| rest.split_once(':')?.1.trim().parse::<f64>().ok());
        said.filter(|mhz| mhz.is_finite()).collect()
    })
}

/// The hottest of its sensors, °C.
#[must_use]
pub fn temperature(root: &Root) -> Option<f64> {
    let zones =
        root.names("sys/class/thermal").into_iter().filter(|name| name.starts_with("thermal_zone"));
    let degrees = zones.filter_map(|zone| {
        let milli: i32 = root.number(&format!("sys/class/thermal/{zone}/temp"))?;
        // Sensors that are asleep say absurd things.
        (-60_000..=200_000).contains(&milli).then(|| f64::from(milli) / 1000.0)
    });
    degrees.max_by(f64::total_cmp)
}

/// `true` if a cooling device or the board's firmware slows the processor down.
fn throttled(root: &Root) -> Option<bool> {
    if let Some(bits) = root.line("sys/devices/platform/soc/soc:firmware/get_throttled") {
        // Too little power, capped, throttled, too hot: now, not since the start.
        return u32::from_str_radix(bits.trim_start_matches("0x"), 16)
            .ok()
            .map(|bits| bits & 0xf != 0);
    }
    let devices = root
        .names("sys/class/thermal")
        .into_iter()
        .filter(|name| name.starts_with("cooling_device"));
    let states: Vec<u32> = devices
        .filter(|name| {
            let kind = root.line(&format!("sys/class/thermal/{name}/type"));
            kind.is_some_and(|kind| kind.contains("cpufreq") || kind == "Processor")
        })
        .filter_map(|name| root.number(&format!("sys/class/thermal/{name}/cur_state")))
        .collect();
    (!states.is_empty()).then(|| states.iter().any(|state| *state > 0))
}
