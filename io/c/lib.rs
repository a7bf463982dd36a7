//! Links, coverages, ITM losses and positions as C functions (`groundwave.h`), natively and in WebAssembly.
//!
//! Each function returns an answer, which holds an error or a document and an array, and is freed by its caller.
//! Functions have no state: any number of threads may call them.
#![expect(
    unsafe_code,
    reason = "callers hand over pointers with lengths; each function states their terms"
)]

mod answer;
mod input;
#[cfg(feature = "itm")]
mod itm;
mod memory;
#[cfg(feature = "models")]
mod models;
#[cfg(feature = "positions")]
mod positions;
#[cfg(all(test, feature = "itm"))]
mod tests;
#[cfg(all(test, feature = "models"))]
mod tests_npm;

pub use answer::{
    Answer, groundwave_answer_free, groundwave_answer_text, groundwave_answer_text_length,
    groundwave_answer_valid, groundwave_answer_value_bytes, groundwave_answer_values,
    groundwave_answer_values_length,
};
#[cfg(feature = "itm")]
pub use itm::groundwave_itm;
pub use memory::{groundwave_allocate, groundwave_release};
#[cfg(feature = "models")]
pub use models::{
    groundwave_coverage, groundwave_coverage_size, groundwave_link, groundwave_link_over,
    groundwave_presets, groundwave_profile,
};
#[cfg(feature = "positions")]
pub use positions::groundwave_position;
