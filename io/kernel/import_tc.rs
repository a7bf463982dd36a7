//! Disciplines in a listing of `tc -j qdisc show` (iproute2).

use serde_json::{Map, Value};

use super::import::{ForeignOptions, ForeignQdisc};
use super::netem::{Netem, Odds, probability};
use super::tbf::{Tbf, bytes};
use super::{Fifo, Handle};
use groundwave_impair::QueueUnit;

/// Parent of a discipline of incoming traffic (`TC_H_INGRESS`).
const INGRESS: Handle = Handle(0xffff_fff1);

/// Disciplines of one interface in a listing. `interface` selects one; absent, the listing has one.
///
/// # Errors
/// The place and the cause, in words: text that is not such a listing, several interfaces or none of that name.
pub fn parse_tc_listing(text: &str, interface: Option<&str>) -> Result<Vec<ForeignQdisc>, String> {
    let allowed = "allowed the output of `tc -j qdisc show`";
    let listing: Vec<Map<String, Value>> =
        serde_json::from_str(text).map_err(|err| format!("invalid listing: {err}, {allowed}"))?;
    let device =
        |entry: &Map<String, Value>| entry.get("dev").and_then(Value::as_str).map(str::to_owned);
    let mut devices: Vec<String> = listing.iter().filter_map(device).collect();
    devices.sort();
    devices.dedup();
    let all = devices.join(", ");
    match interface {
        Some(name) if !devices.is_empty() && !devices.iter().any(|device| device == name) => {
            return Err(format!("invalid interface: found {name}, allowed {all}"));
        }
        None if devices.len() > 1 => {
            return Err(format!(
                "invalid listing: found the interfaces {all}, allowed one; name it"
            ));
        }
        _ => {}
    }
    let own = listing.iter().filter(|entry| {
        let device = device(entry);
        interface.is_none() || device.is_none() || device.as_deref() == interface
    });
    own.map(qdisc).collect()
}

fn qdisc(entry: &Map<String, Value>) -> Result<ForeignQdisc, String> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let kind = text("kind").ok_or("invalid listing: found a discipline without kind")?.to_owned();
    let handle = handle(text("handle").unwrap_or("0:"))?;
    let is_root = entry.get("root").and_then(Value::as_bool) == Some(true);
    let parent = match text("parent") {
        _ if is_root => Handle::ROOT,
        Some(parent) => self::handle(parent)?,
        None => INGRESS,
    };
    let empty = Map::new();
    let fields = entry.get("options").and_then(Value::as_object).unwrap_or(&empty);
    let mut options = Options { name: format!("{kind} {handle}"), fields, omissions: Vec::new() };
    let values = match kind.as_str() {
        "netem" => ForeignOptions::Netem(options.netem()?),
        "tbf" => ForeignOptions::Tbf(options.tbf()?),
        "pfifo" | "bfifo" => {
            let unit = if kind == "pfifo" { QueueUnit::Packets } else { QueueUnit::Bytes };
            ForeignOptions::Fifo(Fifo { unit, limit: options.whole("limit")?.unwrap_or_default() })
        }
        _ => ForeignOptions::Other,
    };
    let omissions = options.omissions;
    Ok(ForeignQdisc { kind, handle, parent, options: values, omissions })
}

/// A handle as `tc` writes it: `1:`, `1:10`, in hexadecimal digits.
fn handle(text: &str) -> Result<Handle, String> {
    let part = |part: &str| match part {
        "" => Some(0),
        digits => u16::from_str_radix(digits, 16).ok(),
    };
    let handle = text
        .split_once(':')
        .and_then(|(major, minor)| Some(Handle::new(part(major)?, part(minor)?)));
    handle.ok_or_else(|| format!("invalid handle: found {text:?}, allowed 1: or 1:10"))
}

/// Options of a discipline.
struct Options<'a> {
    name: String,
    fields: &'a Map<String, Value>,
    omissions: Vec<String>,
}

impl Options<'_> {
    fn error(&self, key: &str, found: &Value, allowed: &str) -> String {
        format!("invalid {key} of {}: found {found}, allowed {allowed}", self.name)
    }

    /// A whole number of 32 bits.
    fn whole(&self, key: &str) -> Result<Option<u32>, String> {
        let number = self.number(key)?;
        number.map_or(Ok(None), |number| {
            let error = || self.error(key, &Value::from(number), "0 to 4294967295");
            u32::try_from(number).map(Some).map_err(|_| error())
        })
    }

    /// A whole number.
    fn number(&self, key: &str) -> Result<Option<u64>, String> {
        self.fields.get(key).map_or(Ok(None), |value| {
            let allowed = "a whole number, as of `tc -j` without -d";
            value.as_u64().map(Some).ok_or_else(|| self.error(key, value, allowed))
        })
    }

    /// Member of an object, a number.
    fn member(&self, key: &str, member: &str) -> Result<Option<f64>, String> {
        self.fields.get(key).and_then(|object| object.get(member)).map_or(Ok(None), |value| {
            value
                .as_f64()
                .map(Some)
                .ok_or_else(|| self.error(&format!("{key}.{member}"), value, "a number"))
        })
    }

    /// A share in [0, 1], in the kernel's units.
    fn share(&self, key: &str, member: &str) -> Result<Option<u32>, String> {
        self.member(key, member)?.map_or(Ok(None), |share| match share {
            0.0..=1.0 => Ok(Some(probability(share))),
            other => Err(self.error(&format!("{key}.{member}"), &Value::from(other), "0 to 1")),
        })
    }

    /// Seconds as ns.
    fn ns(&self, key: &str, member: &str) -> Result<i64, String> {
        let seconds = self.member(key, member)?.unwrap_or_default();
        let ns = (seconds * 1e9).round();
        match (0.0..=i64::MAX as f64).contains(&ns) {
            true => Ok(ns as i64),
            false => Err(self.error(key, &Value::from(seconds), "0 s or more")),
        }
    }

    fn odds(&self, key: &str, member: &str) -> Result<Odds, String> {
        Ok(Odds {
            prob: self.share(key, member)?.unwrap_or_default(),
            correlation: self.share(key, "correlation")?.unwrap_or_default(),
        })
    }

    /// Notes the options that are not among the known ones.
    fn omit_others(&mut self, known: &[&str]) {
        let others = self.fields.iter().filter(|(key, _)| !known.contains(&key.as_str()));
        self.omissions.extend(others.map(|(key, value)| format!("{key} {value}")));
    }

    fn netem(&mut self) -> Result<Netem, String> {
        let known = [
            "limit",
            "delay",
            "loss-random",
            "loss-gemodel",
            "loss-state",
            "duplicate",
            "reorder",
            "gap",
            "corrupt",
            "rate",
            "ecn",
            "slot",
            "seed",
        ];
        let mut netem = Netem {
            latency_ns: self.ns("delay", "delay")?,
            jitter_ns: self.ns("delay", "jitter")?,
            delay_corr: self.share("delay", "correlation")?.unwrap_or_default(),
            limit: self.whole("limit")?.unwrap_or(1000),
            loss: self.odds("loss-random", "loss")?,
            duplicate: self.odds("duplicate", "duplicate")?,
            gap: self.whole("gap")?.unwrap_or_default(),
            reorder: self.odds("reorder", "reorder")?,
            corrupt: self.odds("corrupt", "corrupt")?,
            ..Netem::default()
        };
        if self.fields.contains_key("loss-gemodel") {
            let share =
                |member| Ok::<_, String>(self.share("loss-gemodel", member)?.unwrap_or_default());
            // The kernel keeps h, the share that passes in Bad.
            netem.gemodel =
                Some([share("p")?, share("r")?, u32::MAX - share("1-h")?, share("1-k")?]);
        }
        netem.unsupported.rate = self.member("rate", "rate")?.unwrap_or_default() as u64;
        netem.unsupported.ecn = self.fields.get("ecn").and_then(Value::as_bool) == Some(true);
        netem.unsupported.slots = self.fields.contains_key("slot");
        netem.unsupported.four_states = self.fields.contains_key("loss-state");
        self.omit_others(&known);
        Ok(netem)
    }

    fn tbf(&mut self) -> Result<Tbf, String> {
        let missing = |key: &str| format!("invalid {}: found no {key}, allowed one", self.name);
        let rate = self.number("rate")?.ok_or_else(|| missing("rate"))?;
        let burst = self.whole("burst")?.ok_or_else(|| missing("burst"))?;
        // The time that the last byte of the queue waits, us, when the bucket is empty.
        let waiting = self.number("lat")?.map(|us| u128::from(us) * u128::from(rate) / 1_000_000);
        let limit = waiting.map(|waiting| waiting.saturating_add(burst.into()));
        let limit = limit.map(|limit| u32::try_from(limit).unwrap_or(u32::MAX));
        let limit = limit.or(self.whole("limit")?).unwrap_or(burst);
        self.omit_others(&["rate", "burst", "lat", "limit"]);
        let mut tbf = Tbf::new(rate, burst, burst, limit);
        // Ticks are rounded down, and so are the bytes of `tc`: those stay.
        while bytes(tbf.buffer_ticks, rate) < burst {
            tbf.buffer_ticks += 1;
        }
        Ok(tbf)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::import::{ImportedImpairment, import};

    fn burst_bytes(bps: u64) -> u32 {
        u32::try_from(bps / 500).unwrap_or(u32::MAX)
    }

    fn imported(listing: &Value) -> ImportedImpairment {
        import(&parse_tc_listing(&listing.to_string(), None).unwrap(), burst_bytes)
    }

    #[test]
    fn netem_over_tbf_over_a_queue_is_one_impairment() {
        let listing = json!([
            {"kind": "netem", "handle": "1:", "root": true, "refcnt": 2, "options": {"limit": 5000,
                "delay": {"delay": 0.05, "jitter": 0, "correlation": 0},
                "loss-random": {"loss": 0.015, "correlation": 0.25},
                "duplicate": {"duplicate": 0.005, "correlation": 0},
                "corrupt": {"corrupt": 0.001, "correlation": 0}, "ecn": false, "gap": 0}},
            {"kind": "tbf", "handle": "10:", "parent": "1:1",
                "options": {"rate": 1_250_000, "burst": 20_000, "lat": 50_000}},
            {"kind": "pfifo", "handle": "20:", "parent": "10:1", "options": {"limit": 500}},
        ]);
        let expected = json!({
            "latency": {"kind": "constant", "duration": 50_000_000},
            "loss": {"model": "bernoulli", "pct": 1.5, "correlation": 0.25},
            "duplication": {"pct": 0.5}, "corruption": {"pct": 0.1},
            "rate": {"bps": 10_000_000, "burst_bytes": 20_000},
            "queue": {"limit": {"unit": "packets", "value": 500}},
        });
        let imported = imported(&listing);
        assert_eq!(serde_json::to_value(&imported.impairment).unwrap(), expected);
        assert_eq!(imported.omissions, Vec::<String>::new());
    }

    #[test]
    fn what_an_impairment_has_no_field_for_is_named() {
        let listing = json!([
            {"kind": "tbf", "handle": "1:", "root": true,
                "options": {"rate": 125_000, "burst": 5_000, "lat": 400_000, "minburst": 1539}},
            {"kind": "netem", "handle": "2:", "parent": "1:1", "options": {"limit": 50, "seed": 7,
                "delay": {"delay": 0.05, "jitter": 0.005, "correlation": 0}, "ecn": true,
                "slot": {"min-delay": 1}, "loss-gemodel": {"p": 0.01, "r": 0.25, "1-h": 1, "1-k": 0},
                "rate": {"rate": 1_000_000}, "new": 3}},
            {"kind": "ingress", "handle": "ffff:", "parent": "ffff:fff1", "options": {}},
        ]);
        let imported = imported(&listing);
        let loss = serde_json::to_value(&imported.impairment).unwrap()["loss"].clone();
        let expected = json!({"model": "gilbert-elliott", "p": 0.01, "r": 0.25, "one_minus_h": 0.0,
            "one_minus_k": 1.0});
        assert_eq!(loss, expected);
        let queue = imported.impairment.queue.unwrap().limit;
        assert_eq!((queue.unit, queue.value), (QueueUnit::Bytes, 55_000));
        let text = imported.omissions.join("\n");
        for words in [
            "tbf 1:: minburst 1539",
            "the order of both",
            "netem 2:: new 3",
            "8000000 bit/s beside",
            "ECN",
            "slots",
            "distribution of its jitter",
            "limit of 50 packets",
            "ingress ffff:",
        ] {
            assert!(text.contains(words), "{words} in\n{text}");
        }
    }

    #[test]
    fn disciplines_of_other_kinds_and_defaults_are_no_impairment() {
        let htb = json!([
            {"kind": "htb", "handle": "1:", "root": true, "options": {"r2q": 10}},
            {"kind": "netem", "handle": "10:", "parent": "1:10", "options": {"limit": 1000}},
        ]);
        let of_htb = imported(&htb);
        assert!(of_htb.impairment.is_empty());
        assert_eq!(of_htb.omissions.len(), 2, "{:?}", of_htb.omissions);
        let bare = json!([{"kind": "fq_codel", "handle": "0:", "root": true, "options": {}}]);
        assert_eq!(imported(&bare), ImportedImpairment::default());
        assert_eq!(imported(&json!([])), ImportedImpairment::default());
    }

    #[test]
    fn invalid_listings_give_found_and_allowed() {
        let error = |listing: &Value, interface| {
            parse_tc_listing(&listing.to_string(), interface).unwrap_err()
        };
        let two = json!([
            {"kind": "noqueue", "handle": "0:", "dev": "a", "root": true},
            {"kind": "noqueue", "handle": "0:", "dev": "b", "root": true},
        ]);
        assert!(error(&two, None).contains("found the interfaces a, b, allowed one"));
        assert!(error(&two, Some("c")).contains("found c, allowed a, b"));
        assert_eq!(parse_tc_listing(&two.to_string(), Some("b")).unwrap().len(), 1);
        assert!(error(&json!({"kind": "tbf"}), None).starts_with("invalid listing"));
        let tbf = |burst: Value| {
            json!([{"kind": "tbf", "handle": "1:", "root": true,
                "options": {"rate": 1, "burst": burst}}])
        };
        let detailed = error(&tbf(json!("16Kb/1")), None);
        assert!(detailed.contains("invalid burst of tbf 1:: found \"16Kb/1\""), "{detailed}");
        assert!(detailed.contains("without -d"));
        let netem = |delay: Value, loss: Value| {
            json!([{"kind": "netem", "handle": "1:", "root": true,
                "options": {"delay": {"delay": delay}, "loss-random": {"loss": loss}}}])
        };
        assert!(error(&netem(json!(-1.0), json!(0.0)), None).contains("0 s or more"));
        assert!(error(&netem(json!(0.0), json!(1.5)), None).contains("found 1.5, allowed 0 to 1"));
        let handle = json!([{"kind": "netem", "handle": "1:g", "root": true}]);
        assert!(error(&handle, None).contains("invalid handle: found \"1:g\""));
    }
}
