//! Posts around blocks of positions, fetched while other blocks are placed and computed.

use std::mem::MaybeUninit;
use std::ptr;

use super::LANES;

/// Steps from placing a block to fetching its posts: what was stored is in the cache by then, and a
/// shorter read of it does not wait.
pub const FETCHED: usize = 3;

/// Steps from placing a block to computing its heights.
pub const COMPUTED: usize = 6;

/// Blocks held.
const SLOTS: usize = 8;

const _: () = assert!(
    FETCHED < COMPUTED && COMPUTED < SLOTS,
    "a block is placed, fetched and computed before its slot is another's"
);

/// A block of positions in a square of posts.
#[repr(C, align(64))]
pub struct Slot {
    /// Number of the pair north-west of each, counted from the start of the southernmost row, in the low
    /// half of the bits.
    pub places: [f64; LANES],
    /// Shares of the way northwards and eastwards between the posts.
    pub v: [f64; LANES],
    /// See [`Slot::v`].
    pub u: [f64; LANES],
    /// The four posts around each.
    pub four: [i64; LANES],
}

/// The last blocks.
pub struct Ring([MaybeUninit<Slot>; SLOTS]);

impl Ring {
    /// No block.
    #[inline(always)]
    pub fn new() -> Self {
        // Not filled with zeros, which would take a tenth of the time of a short run.
        Self([const { MaybeUninit::uninit() }; SLOTS])
    }

    /// Address of a block, which is overwritten [`SLOTS`] blocks later.
    #[inline(always)]
    pub fn slot(&mut self, block: usize) -> *mut Slot {
        self.0[block % SLOTS].as_mut_ptr()
    }
}

/// Fetches the posts of a placed block from a square whose southernmost row is given: one by one, which on
/// AMD's Zen 4 takes two thirds of the time of gathers (0.83 and 1.25 ns a height).
///
/// # Safety
/// The slot has places of pairs that lie in the square, as do those after them.
#[inline(always)]
pub unsafe fn fetch(slot: *mut Slot, southern: *const [i16; 2]) {
    for lane in 0..LANES {
        // SAFETY: as the caller guarantees. Volatile, as a compiler may make it a gather.
        unsafe {
            let place = (*slot).places[lane].to_bits() as i32;
            let four = southern.offset(place as isize).cast::<i64>();
            ptr::write_volatile(&raw mut (*slot).four[lane], four.read_unaligned());
        }
    }
}
