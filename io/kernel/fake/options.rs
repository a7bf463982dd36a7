//! What a discipline makes of options, as the kernel's own code does.

use super::super::extack::{EINVAL, ERANGE};
use super::super::fifo::Fifo;
use super::super::netem::Netem;
use super::super::nla::attributes;
use super::super::table::ENTRIES_MAX;
use super::super::tbf::{Tbf, bytes, ticks};
use super::Nack;
use groundwave_systems::impair::QueueUnit;

/// What a discipline holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Holds {
    Netem(Box<Netem>, Option<Vec<i16>>),
    Tbf(Tbf),
    Fifo(Fifo),
    /// A kind this model knows nothing of, with the options it shows.
    Other(Vec<u8>),
}

const INVALID: Nack = (EINVAL, "");

fn word(bytes: &[u8], at: usize) -> Result<u32, Nack> {
    let word = bytes.get(at * 4..at * 4 + 4).ok_or((ERANGE, ""))?;
    Ok(u32::from_ne_bytes(word.try_into().expect("four bytes")))
}

fn long(bytes: &[u8]) -> Result<i64, Nack> {
    let long = bytes.get(..8).ok_or((ERANGE, ""))?;
    Ok(i64::from_ne_bytes(long.try_into().expect("eight bytes")))
}

/// `netem_change`: what is left out stays, except the loss model.
pub fn netem(
    options: Option<&[u8]>,
    before: Option<(Netem, Option<Vec<i16>>)>,
) -> Result<Holds, Nack> {
    let options = options
        .filter(|options| options.len() >= 24)
        .ok_or(INVALID)?;
    let (mut netem, mut table) = before.unwrap_or_default();
    let nested = attributes(&options[24..]).map_err(|_| INVALID)?;
    let head = |at| word(options, at);
    netem.latency_ns = i64::from(head(0)?) << 6;
    (netem.limit, netem.loss, netem.gap) = (head(1)?, head(2)?, head(3)?);
    netem.duplicate = head(4)?;
    netem.jitter_ns = i64::from(head(5)?) << 6;
    if netem.gap != 0 {
        // "for compatibility with earlier versions": overwritten when a probability is given.
        netem.reorder = u32::MAX;
    }
    netem.gemodel = None;
    netem.strange.four_states = false;
    for (kind, value) in nested {
        let at = |at| word(value, at);
        match kind {
            1 => (netem.delay_corr, netem.loss_corr, netem.dup_corr) = (at(0)?, at(1)?, at(2)?),
            2 => {
                if !(1..=ENTRIES_MAX).contains(&(value.len() / 2)) {
                    return Err(INVALID);
                }
                let entry = |pair: &[u8]| i16::from_ne_bytes([pair[0], pair[1]]);
                table = Some(value.chunks_exact(2).map(entry).collect());
            }
            3 => (netem.reorder, netem.reorder_corr) = (at(0)?, at(1)?),
            4 => (netem.corrupt, netem.corrupt_corr) = (at(0)?, at(1)?),
            5 => loss(&mut netem, value)?,
            6 => netem.strange.rate = at(0)?.into(),
            7 => netem.strange.ecn = at(0)? != 0,
            8 => netem.strange.rate = long(value)?.cast_unsigned(),
            10 => netem.latency_ns = long(value)?,
            11 => netem.jitter_ns = long(value)?,
            12 => netem.strange.slots = value.iter().any(|byte| *byte != 0),
            _ => {}
        }
    }
    netem.jitter_ns = netem.jitter_ns.saturating_abs().min(i64::from(i32::MAX));
    Ok(Holds::Netem(Box::new(netem), table))
}

fn loss(netem: &mut Netem, nest: &[u8]) -> Result<(), Nack> {
    for (kind, value) in attributes(nest).map_err(|_| INVALID)? {
        match kind {
            1 if value.len() >= 20 => netem.strange.four_states = true,
            2 if value.len() >= 16 => {
                let at = |at| word(value, at);
                netem.gemodel = Some([at(0)?, at(1)?, at(2)?, at(3)?]);
            }
            _ => return Err(INVALID),
        }
    }
    Ok(())
}

/// `tbf_change`: the bucket is kept as the time to fill it.
pub fn tbf(options: Option<&[u8]>) -> Result<Holds, Nack> {
    let options = options.ok_or(INVALID)?;
    let nested = attributes(options).map_err(|_| INVALID)?;
    let find = |wanted: u16| nested.iter().find(|(kind, _)| *kind == wanted);
    let (_, parms) = find(1)
        .filter(|(_, parms)| parms.len() >= 36)
        .ok_or(INVALID)?;
    let mut tbf = Tbf {
        rate: word(parms, 2)?.into(),
        peak_rate: word(parms, 5)?.into(),
        limit: word(parms, 6)?,
        buffer_ticks: word(parms, 7)?.into(),
        mtu_ticks: word(parms, 8)?,
    };
    if let Some((_, wide)) = find(4) {
        tbf.rate = tbf.rate.max(long(wide)?.cast_unsigned());
    }
    let burst = match find(6) {
        Some((_, burst)) => {
            let burst = word(burst, 0)?;
            tbf.buffer_ticks = ticks(burst, tbf.rate);
            burst
        }
        None => bytes(tbf.buffer_ticks, tbf.rate),
    };
    if burst == 0 {
        return Err(INVALID);
    }
    Ok(Holds::Tbf(tbf))
}

/// `fifo_init` and its change; without options the size follows from the interface.
pub fn fifo(
    unit: QueueUnit,
    options: Option<&[u8]>,
    packets: u32,
    frame_bytes: u32,
) -> Result<Holds, Nack> {
    let limit = match (options, unit) {
        (Some(options), _) => word(options, 0).map_err(|_| INVALID)?,
        (None, QueueUnit::Packets) => packets,
        (None, QueueUnit::Bytes) => packets.saturating_mul(frame_bytes),
    };
    Ok(Holds::Fifo(Fifo { unit, limit }))
}

impl Holds {
    /// TCA_OPTIONS as the kernel dumps it: no table, 32 bits of the bucket.
    pub fn shown(&self) -> Vec<u8> {
        match self {
            Self::Netem(netem, _) => shown_netem(netem),
            Self::Tbf(tbf) => {
                let kept = Tbf {
                    buffer_ticks: tbf.buffer_ticks & u64::from(u32::MAX),
                    ..*tbf
                };
                kept.payload(0)
            }
            Self::Fifo(fifo) => fifo.payload(),
            Self::Other(shown) => shown.clone(),
        }
    }
}

/// As requests say it, less what no dump has and with what another hand may have set.
fn shown_netem(netem: &Netem) -> Vec<u8> {
    use super::super::nla::{put, words};
    let payload = netem.payload(None);
    let mut out = payload[..24].to_vec();
    for (kind, value) in attributes(&payload[24..]).expect("our own") {
        match kind {
            6 => put(&mut out, 6, &words(&[netem.strange.rate as u32, 0, 0, 0])),
            7 if !netem.strange.ecn => {}
            7 => put(&mut out, 7, &words(&[1])),
            12 if !netem.strange.slots => {}
            _ => put(&mut out, kind, value),
        }
    }
    out
}
