//! Links, profiles and coverages.

use groundwave_bindings::Invalid;
use groundwave_bindings::coverage::{CoverageDocument, coverage, size};
use groundwave_bindings::document::{read, write};
use groundwave_bindings::elevation::{Elevation, Extent};
use groundwave_bindings::link::{LinkRequest, link, link_over};
use groundwave_bindings::path::path;

use crate::answer::{Answer, Values};
use crate::input::{slice, text};

/// A document without numbers beside it.
fn document(outcome: Result<String, Invalid>) -> *mut Answer {
    let outcome = outcome.map(|text| (text, Values::Doubles(Vec::new())));
    Answer::of(outcome.map_err(|error| error.to_string()))
}

/// A document with numbers beside it.
fn with_values<A: serde::Serialize>(
    answer: Result<A, Invalid>,
    values: fn(A) -> Values,
) -> *mut Answer {
    let outcome = answer.and_then(|answer| Ok((write(&answer)?, values(answer))));
    Answer::of(outcome.map_err(|error| error.to_string()))
}

/// Request and elevation of callers.
///
/// # Safety
/// As [`groundwave_link`].
unsafe fn inputs<'a, R: serde::de::DeserializeOwned>(
    request: (*const u8, usize),
    extent: (*const u8, usize),
    heights: (*const f32, usize),
) -> Result<(R, Elevation<&'a [f32]>), Invalid> {
    // SAFETY: by the terms of this function.
    let (request, extent, heights) = unsafe {
        (text(request.0, request.1), text(extent.0, extent.1), slice(heights.0, heights.1))
    };
    let extent: Extent = read(extent.map_err(Invalid)?)?;
    Ok((read(request.map_err(Invalid)?)?, Elevation::new(extent, heights)?))
}

/// Budget of a link over an array of heights.
///
/// # Safety
/// `request` and `extent` point to texts of such lengths, `heights` to so many floats.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groundwave_link(
    request: *const u8,
    request_length: usize,
    extent: *const u8,
    extent_length: usize,
    heights: *const f32,
    heights_length: usize,
) -> *mut Answer {
    let [request, extent] = [(request, request_length), (extent, extent_length)];
    // SAFETY: by the terms of this function.
    let inputs = unsafe { inputs::<LinkRequest>(request, extent, (heights, heights_length)) };
    document(inputs.and_then(|(request, terrain)| write(&link(&request, &terrain)?)))
}

/// Budget of a link over heights that the caller measured, evenly spaced from one end to the other.
///
/// # Safety
/// `request` points to a text of such a length, `heights` to so many floats.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groundwave_link_over(
    request: *const u8,
    request_length: usize,
    heights: *const f64,
    heights_length: usize,
) -> *mut Answer {
    // SAFETY: by the terms of this function.
    let (request, heights) =
        unsafe { (text(request, request_length), slice(heights, heights_length)) };
    let request = request.map_err(Invalid).and_then(read::<LinkRequest>);
    document(request.and_then(|request| write(&link_over(&request, heights)?)))
}

/// Samples of a profile over an array of heights: 64-bit floats, column by column.
///
/// # Safety
/// As [`groundwave_link`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groundwave_profile(
    request: *const u8,
    request_length: usize,
    extent: *const u8,
    extent_length: usize,
    heights: *const f32,
    heights_length: usize,
) -> *mut Answer {
    let [request, extent] = [(request, request_length), (extent, extent_length)];
    // SAFETY: by the terms of this function.
    let inputs = unsafe { inputs::<LinkRequest>(request, extent, (heights, heights_length)) };
    let answer = inputs.and_then(|(request, terrain)| path(&request, &terrain));
    with_values(answer, |answer| Values::Doubles(answer.values))
}

/// Coverage over an array of heights: 32-bit floats, plane by plane.
///
/// # Safety
/// As [`groundwave_link`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groundwave_coverage(
    request: *const u8,
    request_length: usize,
    extent: *const u8,
    extent_length: usize,
    heights: *const f32,
    heights_length: usize,
) -> *mut Answer {
    let [request, extent] = [(request, request_length), (extent, extent_length)];
    // SAFETY: by the terms of this function.
    let inputs = unsafe { inputs::<CoverageDocument>(request, extent, (heights, heights_length)) };
    let answer = inputs.and_then(|(request, terrain)| coverage(&request, &terrain));
    with_values(answer, |answer| Values::Floats(answer.values))
}

/// Rows and columns of the grid of a coverage, as a JSON array.
///
/// # Safety
/// `request` points to a text of such a length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groundwave_coverage_size(
    request: *const u8,
    request_length: usize,
) -> *mut Answer {
    // SAFETY: by the terms of this function.
    let request = unsafe { text(request, request_length) };
    let request = request.map_err(Invalid).and_then(read::<CoverageDocument>);
    document(request.and_then(|request| write(&size(&request)?)))
}

/// Radios and antennas by name.
#[unsafe(no_mangle)]
pub extern "C" fn groundwave_presets() -> *mut Answer {
    document(groundwave_bindings::station::presets())
}
