//! Answers: a text and an array, or an error.

/// An array of numbers.
pub enum Values {
    /// 64-bit floats.
    Doubles(Vec<f64>),
    /// 32-bit floats.
    #[cfg(feature = "models")]
    Floats(Vec<f32>),
}

/// An answer, freed by [`groundwave_answer_free`].
pub struct Answer {
    is_valid: bool,
    /// A JSON document, or the text of the error.
    text: String,
    values: Values,
}

impl Answer {
    /// An answer on the heap, for the caller.
    pub(crate) fn of(outcome: Result<(String, Values), String>) -> *mut Self {
        let answer = match outcome {
            Ok((text, values)) => Self { is_valid: true, text, values },
            Err(text) => Self { is_valid: false, text, values: Values::Doubles(Vec::new()) },
        };
        Box::into_raw(Box::new(answer))
    }
}

/// 1 for a result, 0 for an error, which has a text.
///
/// # Safety
/// `answer` is one that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groundwave_answer_valid(answer: *const Answer) -> i32 {
    // SAFETY: by the terms of this function.
    i32::from(unsafe { &*answer }.is_valid)
}

/// The JSON document of a result, or the text of an error: UTF-8 without a closing zero. It lives as long as the
/// answer.
///
/// # Safety
/// As [`groundwave_answer_valid`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groundwave_answer_text(answer: *const Answer) -> *const u8 {
    // SAFETY: by the terms of this function.
    unsafe { &*answer }.text.as_ptr()
}

/// Length of [`groundwave_answer_text`], bytes.
///
/// # Safety
/// As [`groundwave_answer_valid`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groundwave_answer_text_length(answer: *const Answer) -> usize {
    // SAFETY: by the terms of this function.
    unsafe { &*answer }.text.len()
}

/// The array of a result, which lives as long as the answer: 64-bit floats, of a coverage 32-bit floats.
///
/// # Safety
/// As [`groundwave_answer_valid`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groundwave_answer_values(answer: *const Answer) -> *const u8 {
    // SAFETY: by the terms of this function.
    match &unsafe { &*answer }.values {
        Values::Doubles(values) => values.as_ptr().cast(),
        #[cfg(feature = "models")]
        Values::Floats(values) => values.as_ptr().cast(),
    }
}

/// Length of [`groundwave_answer_values`], numbers.
///
/// # Safety
/// As [`groundwave_answer_valid`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groundwave_answer_values_length(answer: *const Answer) -> usize {
    // SAFETY: by the terms of this function.
    match &unsafe { &*answer }.values {
        Values::Doubles(values) => values.len(),
        #[cfg(feature = "models")]
        Values::Floats(values) => values.len(),
    }
}

/// Size of a number of [`groundwave_answer_values`], bytes: 8 or 4.
///
/// # Safety
/// As [`groundwave_answer_valid`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groundwave_answer_value_bytes(answer: *const Answer) -> usize {
    // SAFETY: by the terms of this function.
    match &unsafe { &*answer }.values {
        Values::Doubles(_) => 8,
        #[cfg(feature = "models")]
        Values::Floats(_) => 4,
    }
}

/// Frees an answer; null is allowed.
///
/// # Safety
/// `answer` is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groundwave_answer_free(answer: *mut Answer) {
    if !answer.is_null() {
        // SAFETY: answers come from `Box::into_raw`, and by the terms of this function nobody uses it again.
        drop(unsafe { Box::from_raw(answer) });
    }
}
