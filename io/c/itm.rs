//! Losses of the Irregular Terrain Model.

use groundwave_bindings::itm::{ItmInputs, loss_db};

use crate::answer::{Answer, Values};
use crate::input::slice;

/// Losses of paths by the Irregular Terrain Model: `count` profiles of `samples` heights each, evenly spaced, m above
/// mean sea level. The answer has a 64-bit float per profile, dB.
///
/// # Safety
/// `heights` points to `count * samples` floats, `inputs` to 13 floats in the order of [`ItmInputs`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groundwave_itm(
    heights: *const f64,
    samples: usize,
    count: usize,
    inputs: *const f64,
) -> *mut Answer {
    let losses = (|| {
        let length = samples.checked_mul(count).ok_or("invalid heights: found too many")?;
        // SAFETY: by the terms of this function.
        let (heights, inputs) = unsafe { (slice(heights, length), slice(inputs, 13)) };
        let inputs = itm_inputs(inputs)?;
        let profiles = heights.chunks_exact(samples.max(1));
        let losses = profiles.map(|profile| loss_db(profile, &inputs));
        losses.collect::<Result<Vec<f64>, _>>().map_err(|error| error.to_string())
    })();
    Answer::of(losses.map(|losses| (String::new(), Values::Doubles(losses))))
}

/// Inputs of an array; codes are whole numbers.
fn itm_inputs(numbers: &[f64]) -> Result<ItmInputs, String> {
    let code = |place: usize, name: &str| match numbers[place] {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        number if number.fract() == 0.0 && (0.0..=255.0).contains(&number) => Ok(number as u8),
        number => Err(format!("invalid {name}: found {number}, allowed a whole number up to 255")),
    };
    Ok(ItmInputs {
        step_m: numbers[0],
        tx_agl_m: numbers[1],
        rx_agl_m: numbers[2],
        climate: code(3, "climate")?,
        refractivity_n_units: numbers[4],
        frequency_mhz: numbers[5],
        polarization: code(6, "polarization")?,
        permittivity: numbers[7],
        conductivity_s_m: numbers[8],
        mdvar: code(9, "mdvar")?,
        time_percent: numbers[10],
        location_percent: numbers[11],
        situation_percent: numbers[12],
    })
}
