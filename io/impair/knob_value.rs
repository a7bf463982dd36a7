//! Kinds of values of knobs: how each is read and printed.

use std::num::NonZeroU32;

use groundwave_impair::{Distribution, Impairment, QueueLimit, QueueUnit};

use super::quantity::{
    self, InvalidQuantity, Limit, print_duration, print_percent, print_rate, print_size,
    significant,
};

/// A kind of values.
#[derive(Debug)]
pub struct KnobValue<T> {
    /// Name in usages.
    pub name: &'static str,
    /// Reads a text.
    pub read: fn(&str) -> Result<T, InvalidQuantity>,
    /// Prints a value so that it reads back.
    pub print: fn(T) -> String,
}

impl<T> KnobValue<T> {
    /// Sets the value of a text by `set`.
    pub(super) fn set(
        &self,
        text: &str,
        impairment: &mut Impairment,
        set: fn(&mut Impairment, T) -> Option<()>,
    ) -> Result<Option<()>, InvalidQuantity> {
        Ok(set(impairment, (self.read)(text)?))
    }

    /// Text of the value that `get` finds.
    pub(super) fn get(
        &self,
        impairment: &Impairment,
        get: fn(&Impairment) -> Option<T>,
    ) -> Option<String> {
        get(impairment).map(self.print)
    }
}

/// Duration, ns.
pub const TIME: KnobValue<u64> =
    KnobValue { name: "TIME", read: quantity::duration_ns, print: print_duration };

/// Percentage, [0, 100].
pub const PERCENT: KnobValue<f64> =
    KnobValue { name: "PERCENT", read: quantity::percent, print: print_percent };

/// Share, [0, 1].
pub const SHARE: KnobValue<f64> =
    KnobValue { name: "SHARE", read: quantity::share, print: |share| print_percent(share * 100.0) };

/// Probabilities of a two-state loss: p, r, 1-h, 1-k.
pub const SHARES: KnobValue<[f64; 4]> = KnobValue {
    name: "SHARES",
    read: read_shares,
    print: |shares| shares.map(significant).join(" "),
};

/// Rate, bit/s.
pub const RATE: KnobValue<u64> =
    KnobValue { name: "RATE", read: quantity::rate_bps, print: print_rate };

/// Size, bytes.
pub const SIZE: KnobValue<u32> = KnobValue {
    name: "SIZE",
    read: |text| quantity::size_bytes(text).and_then(small),
    print: |bytes| print_size(bytes.into()),
};

/// Limit of a queue.
pub const LIMIT: KnobValue<QueueLimit> =
    KnobValue { name: "LIMIT", read: read_limit, print: print_limit };

/// Count of packets, 1 or more.
pub const PACKETS: KnobValue<NonZeroU32> =
    KnobValue { name: "PACKETS", read: read_packets, print: |packets| packets.to_string() };

/// Name of a distribution.
pub const NAME: KnobValue<Distribution> =
    KnobValue { name: "NAME", read: read_distribution, print: print_distribution };

fn small(value: u64) -> Result<u32, InvalidQuantity> {
    u32::try_from(value).map_err(|_| format!("found {value}, allowed up to {}", u32::MAX))
}

fn read_limit(text: &str) -> Result<QueueLimit, InvalidQuantity> {
    let (unit, value) = match quantity::queue_limit(text)? {
        Limit::Packets(value) => (QueueUnit::Packets, value),
        Limit::Bytes(value) => (QueueUnit::Bytes, value),
    };
    Ok(QueueLimit { unit, value: small(value)? })
}

fn print_limit(limit: QueueLimit) -> String {
    match limit.unit {
        QueueUnit::Packets => format!("{}packets", limit.value),
        QueueUnit::Bytes => print_size(limit.value.into()),
    }
}

fn read_distribution(text: &str) -> Result<Distribution, InvalidQuantity> {
    let name = text.trim();
    if let Some(built_in) = Distribution::built_in(name) {
        return Ok(built_in);
    }
    groundwave_impair::check_table_name("distribution", name).map_err(|_| {
        let names = Distribution::BUILT_IN.each_ref().map(Distribution::kind).join(", ");
        let table = "the name of a table (1 to 64 of a-z, 0-9, _ and -)";
        format!("found {name:?}, allowed {names}, or {table}")
    })?;
    Ok(Distribution::Table { name: name.to_owned() })
}

fn print_distribution(distribution: Distribution) -> String {
    match distribution {
        Distribution::Table { name } => name,
        built_in => built_in.kind().to_owned(),
    }
}

fn read_shares(text: &str) -> Result<[f64; 4], InvalidQuantity> {
    let shares: Result<Vec<f64>, String> = text.split_whitespace().map(quantity::share).collect();
    match shares?[..] {
        [p, r] => Ok([p, r, 0.0, 1.0]),
        [p, r, bad] => Ok([p, r, 0.0, bad]),
        [p, r, good, bad] => Ok([p, r, good, bad]),
        _ => Err(format!("found {text:?}, allowed two to four shares, \"p r [1-h [1-k]]\"")),
    }
}

fn read_packets(text: &str) -> Result<NonZeroU32, InvalidQuantity> {
    let allowed = "a whole number of packets, 1 or more";
    let packets = text.trim().parse();
    packets.map_err(|_| format!("found {text:?}, allowed {allowed}"))
}
