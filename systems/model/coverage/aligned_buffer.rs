//! Aligned buffer for the heights along one path.

use std::ops::{Deref, DerefMut};

/// Numbers in a vector and in a cache line.
const LANES: usize = 8;

/// Heights along a path, the second at the beginning of a cache line: the heights between the ends
/// are read repeatedly in whole vectors.
#[derive(Debug, Clone, Default)]
pub(super) struct AlignedBuffer {
    memory: Vec<f64>,
    start: usize,
    len: usize,
}

impl AlignedBuffer {
    /// Changes the number of heights; their values are undefined afterwards.
    pub fn resize(&mut self, len: usize) {
        self.len = len;
        if self.start + len <= self.memory.len() {
            return;
        }
        self.memory = vec![0.0; len.next_power_of_two() + 2 * LANES];
        let aligned = self.memory.as_ptr().align_offset(LANES * size_of::<f64>());
        // Where nothing is known of alignment any place will do.
        self.start = (aligned % LANES + LANES - 1) % LANES;
    }
}

impl Deref for AlignedBuffer {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.memory[self.start..self.start + self.len]
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.memory[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_height_is_aligned_and_all_are_kept_apart() {
        let mut row = AlignedBuffer::default();
        for len in [2, 40, 33, 541, 1_024] {
            row.resize(len);
            assert_eq!(row.len(), len);
            assert_eq!(row[1..].as_ptr().addr() % 64, 0);
            row.fill(len as f64);
            assert!(row.iter().all(|height| *height == len as f64));
        }
    }
}
