//! Options of a discipline, interpreted as the kernel's own code does.

use groundwave_impair::QueueUnit;
use groundwave_netlink::attr::{Attrs, put, put_words, words};
use netlink_packet_core::DecodeError;
use nix::libc::{EINVAL, ERANGE};

use super::super::fifo::Fifo;
use super::super::netem::{self, Netem};
use super::super::table::ENTRIES_MAX;
use super::super::tbf::{self, Tbf, bytes, ticks};
use super::Refusal;

/// State of a discipline.
#[derive(Debug, Clone, PartialEq)]
pub enum QdiscState {
    Netem(Box<Netem>, Option<Vec<i16>>),
    Tbf(Tbf),
    Fifo(Fifo),
    /// A kind outside this model, with its options.
    Other(Vec<u8>),
}

const INVALID: Refusal = (EINVAL, "");

fn invalid(_: DecodeError) -> Refusal {
    INVALID
}

fn too_short(_: DecodeError) -> Refusal {
    (ERANGE, "")
}

/// `prio_tune`: the number of bands, and the band of each of 16 priorities.
pub fn prio(options: Option<&[u8]>) -> Result<QdiscState, Refusal> {
    let (bands, map) = options.and_then(<[u8]>::split_first_chunk::<4>).ok_or(INVALID)?;
    let bands = u32::from_ne_bytes(*bands);
    let is_valid = (2..=16).contains(&bands)
        && map.len() == 16
        && map.iter().all(|band| u32::from(*band) < bands);
    is_valid.then(|| QdiscState::Other(options.unwrap_or_default().to_vec())).ok_or(INVALID)
}

/// `fl_change`: the keys of a filter. A change of a filter keeps them, and two filters of a preference
/// have different ones.
pub fn flower(options: &[u8]) -> Result<Vec<(u16, Vec<u8>)>, Refusal> {
    /// `TCA_FLOWER_CLASSID`, `TCA_FLOWER_KEY_ETH_TYPE`.
    const CLASS: u16 = 1;
    const ETH_TYPE: u16 = 8;
    let attrs = Attrs::read("flower options", options).map_err(invalid)?;
    attrs.u16(ETH_TYPE).map_err(too_short)?;
    let keys = attrs.all().filter(|(kind, _)| *kind != CLASS);
    Ok(keys.map(|(kind, value)| (kind, value.to_vec())).collect())
}

/// `netem_change`: omitted attributes are kept, except the loss model.
pub fn netem(
    options: Option<&[u8]>,
    before: Option<(Netem, Option<Vec<i16>>)>,
) -> Result<QdiscState, Refusal> {
    let options = options.ok_or(INVALID)?;
    let (mut netem, mut table) = before.unwrap_or_default();
    let [latency, limit, loss, gap, duplicate, jitter] =
        words("netem options", options).map_err(invalid)?;
    let attrs = Attrs::read("netem options", &options[24..]).map_err(invalid)?;
    (netem.limit, netem.loss.prob, netem.gap) = (limit, loss, gap);
    netem.duplicate.prob = duplicate;
    if netem.gap != 0 {
        // "for compatibility with earlier versions": overwritten when a probability is given.
        netem.reorder.prob = u32::MAX;
    }
    if let Some([delay, loss, duplicate]) = attrs.words(netem::CORR).map_err(too_short)? {
        netem.delay_corr = delay;
        (netem.loss.correlation, netem.duplicate.correlation) = (loss, duplicate);
    }
    if let Some(entries) = attrs.get(netem::DELAY_DIST) {
        let (pairs, _) = entries.as_chunks::<2>();
        if !(1..=ENTRIES_MAX).contains(&pairs.len()) {
            return Err(INVALID);
        }
        table = Some(pairs.iter().map(|pair| i16::from_ne_bytes(*pair)).collect());
    }
    for draw in &netem::DRAWS {
        draw.read_attribute(&attrs, &mut netem).map_err(too_short)?;
    }
    netem.gemodel = None;
    netem.unsupported.four_states = false;
    if let Some(model) = attrs.nest(netem::LOSS).map_err(invalid)? {
        netem.gemodel = model.words(netem::LOSS_GE).map_err(invalid)?;
        let four: Option<[u32; 5]> = model.words(netem::LOSS_GI).map_err(invalid)?;
        netem.unsupported.four_states = four.is_some();
        let models = [netem::LOSS_GE, netem::LOSS_GI];
        if model.all().any(|(kind, _)| !models.contains(&kind)) {
            return Err(INVALID);
        }
    }
    let long = |kind| attrs.u64(kind).map_err(too_short);
    if let Some([rate]) = attrs.words(netem::RATE).map_err(too_short)? {
        netem.unsupported.rate = rate.into();
    }
    if let Some(rate) = long(netem::RATE64)? {
        netem.unsupported.rate = rate;
    }
    if let Some([ecn]) = attrs.words(netem::ECN).map_err(too_short)? {
        netem.unsupported.ecn = ecn != 0;
    }
    let ns = |exact: Option<u64>, ticks| exact.map_or(i64::from(ticks) << 6, u64::cast_signed);
    netem.latency_ns = ns(long(netem::LATENCY64)?, latency);
    netem.jitter_ns = ns(long(netem::JITTER64)?, jitter);
    if let Some(slot) = attrs.get(netem::SLOT) {
        netem.unsupported.slots = slot.iter().any(|byte| *byte != 0);
    }
    netem.jitter_ns = netem.jitter_ns.saturating_abs().min(i64::from(i32::MAX));
    Ok(QdiscState::Netem(Box::new(netem), table))
}

/// `tbf_change`: the bucket is stored as the time to fill it.
pub fn tbf(options: Option<&[u8]>) -> Result<QdiscState, Refusal> {
    let attrs = Attrs::read("tbf options", options.ok_or(INVALID)?).map_err(invalid)?;
    let parms = attrs.words(tbf::PARMS).map_err(invalid)?.ok_or(INVALID)?;
    let [_, _, rate, _, _, peak_rate, limit, buffer_ticks, mtu_ticks] = parms;
    let wide = attrs.u64(tbf::RATE64).map_err(too_short)?;
    let mut tbf = Tbf {
        rate: wide.unwrap_or_default().max(rate.into()),
        peak_rate: peak_rate.into(),
        limit,
        buffer_ticks: buffer_ticks.into(),
        mtu_ticks,
    };
    let burst = match attrs.words(tbf::BURST).map_err(too_short)? {
        Some([burst]) => {
            tbf.buffer_ticks = ticks(burst, tbf.rate);
            burst
        }
        None => bytes(tbf.buffer_ticks, tbf.rate),
    };
    if burst == 0 {
        return Err(INVALID);
    }
    Ok(QdiscState::Tbf(tbf))
}

/// `fifo_init` and its change; without options the size follows from the interface.
pub fn fifo(
    unit: QueueUnit,
    options: Option<&[u8]>,
    packets: u32,
    frame_bytes: u32,
) -> Result<QdiscState, Refusal> {
    let [limit] = match (options, unit) {
        (Some(options), _) => words("fifo options", options).map_err(invalid)?,
        (None, QueueUnit::Packets) => [packets],
        (None, QueueUnit::Bytes) => [packets.saturating_mul(frame_bytes)],
    };
    Ok(QdiscState::Fifo(Fifo { unit, limit }))
}

impl QdiscState {
    /// TCA_OPTIONS as the kernel dumps it: no table, 32 bits of the bucket.
    pub fn dumped(&self) -> Vec<u8> {
        match self {
            Self::Netem(netem, _) => dumped_netem(netem),
            Self::Tbf(tbf) => {
                let low = Tbf { buffer_ticks: tbf.buffer_ticks & u64::from(u32::MAX), ..*tbf };
                low.payload(0)
            }
            Self::Fifo(fifo) => fifo.payload(),
            Self::Other(options) => options.clone(),
        }
    }
}

/// Options as in a request, without what no dump has and with what another program has set.
fn dumped_netem(netem: &Netem) -> Vec<u8> {
    let payload = netem.payload(None);
    let mut out = payload[..24].to_vec();
    let attrs = Attrs::read("netem options", &payload[24..]).expect("an own encoding");
    for (kind, value) in attrs.all() {
        match kind {
            netem::RATE => put_words(&mut out, kind, &[netem.unsupported.rate as u32, 0, 0, 0]),
            netem::ECN if !netem.unsupported.ecn => {}
            netem::ECN => put_words(&mut out, kind, &[1]),
            netem::SLOT if !netem.unsupported.slots => {}
            _ => put(&mut out, kind, value),
        }
    }
    out
}
