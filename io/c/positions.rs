//! Positions as people write them.

use groundwave_coordinate::degrees;

use crate::answer::{Answer, Values};
use crate::input::text;

/// Position in a text: the answer has its latitude and its longitude, deg, north and east positive.
///
/// # Safety
/// `spelling` points to a text of `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groundwave_position(spelling: *const u8, length: usize) -> *mut Answer {
    // SAFETY: by the terms of this function.
    let spelling = unsafe { text(spelling, length) };
    let position = spelling.and_then(|text| degrees(text).map_err(|error| error.to_string()));
    Answer::of(position.map(|degrees| (String::new(), Values::Doubles(degrees.to_vec()))))
}
