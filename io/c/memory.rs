//! Memory for arguments of callers that have none of this module's: JavaScript.

use std::alloc::{Layout, alloc, dealloc};

/// Alignment of blocks, bytes.
const ALIGNMENT: usize = 16;

/// A block of `bytes` bytes, aligned to 16; null where there is not enough memory or `bytes` is 0.
#[unsafe(no_mangle)]
pub extern "C" fn groundwave_allocate(bytes: usize) -> *mut u8 {
    match Layout::from_size_align(bytes, ALIGNMENT) {
        // SAFETY: the layout has a size.
        Ok(layout) if bytes > 0 => unsafe { alloc(layout) },
        _ => std::ptr::null_mut(),
    }
}

/// Releases a block of [`groundwave_allocate`]; null is allowed.
///
/// # Safety
/// `block` has `bytes` bytes and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groundwave_release(block: *mut u8, bytes: usize) {
    if let (false, Ok(layout)) = (block.is_null(), Layout::from_size_align(bytes, ALIGNMENT)) {
        // SAFETY: by the terms of this function the block was allocated with this layout.
        unsafe { dealloc(block, layout) }
    }
}
