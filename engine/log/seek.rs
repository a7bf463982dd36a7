//! Jumping in a log: to a tick, or to a checkpoint before it.

use std::io::{Read, Seek, SeekFrom};

use super::chunk::{self, HEAD, Kind, Next, TAIL, read_up_to};
use super::{Checkpoint, Entry, LogError, Reader};
use crate::limits::CHECKPOINT_BYTES_MAX;

/// Offset and number of a chunk.
type Place = (u64, u32);

impl<R: Read + Seek> Reader<R> {
    /// Jumps to where an entry of `tick` or later can first be; earlier ones may come before it.
    /// Logs of format 1 cannot be jumped in: they are read from where they are.
    ///
    /// # Errors
    /// When reading fails.
    pub fn jump(&mut self, tick: u64) -> Result<(), LogError> {
        let Some(number) = self.number else {
            return Ok(());
        };
        let here = (self.offset, number);
        // A chunk that begins with the tick may come after others of it.
        let before = tick.saturating_sub(1);
        match self.fresh_chunks(here, before)?.last() {
            Some(place) => self.place(*place),
            None => self.seek(here.0),
        }
    }

    /// Reads the last whole checkpoint not after `tick`; what is read next comes behind it. Where
    /// there is none, what is read next is the first entry.
    ///
    /// # Errors
    /// When reading fails.
    pub fn checkpoint(&mut self, tick: u64) -> Result<Option<Checkpoint>, LogError> {
        if self.number.is_none() || !self.has_results() {
            return Ok(None);
        }
        let first = (self.begin, 1);
        for place in self.fresh_chunks(first, tick)?.into_iter().rev() {
            self.place(place)?;
            if let Some(checkpoint) = self.whole_checkpoint()? {
                return Ok(Some(checkpoint));
            }
        }
        self.place(first)?;
        Ok(None)
    }

    /// The checkpoint whose first part comes next, if one does, and all of it is there.
    fn whole_checkpoint(&mut self) -> Result<Option<Checkpoint>, LogError> {
        let mut parts = Vec::new();
        let mut bytes = 0;
        loop {
            let part = match self.next_entry() {
                Ok(Some(Entry::Checkpoint(part))) if part.number as usize == parts.len() => part,
                Err(LogError::Read(err)) => return Err(LogError::Read(err)),
                // Torn, damaged, or none: whoever reads on from an earlier one comes upon it.
                _ => return Ok(None),
            };
            let last = part.last;
            bytes += part.body.len();
            if bytes > CHECKPOINT_BYTES_MAX {
                return Ok(None);
            }
            parts.push(part);
            if last {
                return Ok(Checkpoint::join(parts).ok());
            }
        }
    }

    /// Goes to a fresh chunk.
    fn place(&mut self, (offset, number): Place) -> Result<(), LogError> {
        self.seek(offset)?;
        (self.offset, self.number) = (offset, Some(number));
        self.within = false;
        self.at_end = false;
        self.entries.clear();
        self.at = 0;
        Ok(())
    }

    fn seek(&mut self, offset: u64) -> Result<(), LogError> {
        let sought = self.input.seek(SeekFrom::Start(offset));
        sought.map(drop).map_err(LogError::Read)
    }

    /// Fresh chunks from `here` on that begin with `tick` or before.
    fn fresh_chunks(&mut self, here: Place, tick: u64) -> Result<Vec<Place>, LogError> {
        let mut places = Vec::new();
        let mut at = here;
        // The index is only a hint; the heads there must agree. Ticks never fall.
        for (first, offset) in self.listed()?.unwrap_or_default() {
            if first > tick {
                return Ok(places);
            }
            if offset < here.0 {
                continue;
            }
            self.seek(offset)?;
            match chunk::read_head(&mut self.input, offset) {
                Ok(Next::Found(head)) if head.kind == Kind::Fresh && head.tick == first => {
                    places.push((offset, head.number));
                    at = (offset + (HEAD + head.length) as u64, head.number.wrapping_add(1));
                }
                _ => break,
            }
        }
        // Without an index heads are walked along; what is damaged or torn ends the walk.
        let (mut offset, mut number) = at;
        loop {
            self.seek(offset)?;
            let Ok(Next::Found(head)) = chunk::read_head(&mut self.input, offset) else {
                return Ok(places);
            };
            if head.number != number || head.kind == Kind::Index || head.tick > tick {
                return Ok(places);
            }
            if head.kind == Kind::Fresh {
                places.push((offset, number));
            }
            offset += (HEAD + head.length) as u64;
            number = number.wrapping_add(1);
        }
    }

    /// Tick and offset of each fresh chunk, if the log was closed.
    fn listed(&mut self) -> Result<Option<Vec<(u64, u64)>>, LogError> {
        let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
        let end = self.input.seek(SeekFrom::End(0)).map_err(LogError::Read)?;
        let Some(at) = end.checked_sub(16) else {
            return Ok(None);
        };
        self.seek(at)?;
        let mut tail = [0; 16];
        let got = read_up_to(&mut self.input, &mut tail)?;
        let offset = word(&tail[..8]);
        if got < 16 || tail[8..] != TAIL || offset >= at {
            return Ok(None);
        }
        self.seek(offset)?;
        let Ok(Next::Found(head)) = chunk::read_head(&mut self.input, offset) else {
            return Ok(None);
        };
        match chunk::read_payload(&mut self.input, head, offset) {
            Ok(Next::Found(payload)) if head.kind == Kind::Index => {
                let pairs =
                    payload.chunks_exact(16).map(|pair| (word(&pair[..8]), word(&pair[8..])));
                Ok(Some(pairs.collect()))
            }
            _ => Ok(None),
        }
    }
}
