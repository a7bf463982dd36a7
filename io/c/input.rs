//! Arguments of callers.

/// The numbers at a pointer; none where the length is 0, whatever the pointer.
///
/// # Safety
/// Where `length` is above 0, `first` points to so many numbers, aligned, that live and stay as they are for `'a`.
pub unsafe fn slice<'a, T>(first: *const T, length: usize) -> &'a [T] {
    if length == 0 || first.is_null() {
        return &[];
    }
    // SAFETY: by the terms of this function.
    unsafe { std::slice::from_raw_parts(first, length) }
}

/// The text at a pointer.
///
/// # Errors
/// When it is not UTF-8.
///
/// # Safety
/// As [`slice`].
#[cfg(any(feature = "models", feature = "positions"))]
pub unsafe fn text<'a>(first: *const u8, length: usize) -> Result<&'a str, String> {
    // SAFETY: by the terms of this function.
    let bytes = unsafe { slice(first, length) };
    std::str::from_utf8(bytes).map_err(|error| format!("invalid request: {error}"))
}
