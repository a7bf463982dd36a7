//! The widest vectors this processor has.

use std::sync::atomic::{AtomicU8, Ordering};

/// Work to be compiled once for each width of vectors. `run` must be `#[inline(always)]`, as
/// must be all it calls that is to profit.
pub trait Kernel {
    /// Result type.
    type Output;

    /// Does the work. The bits that come out depend on the input alone, never on the width.
    fn run(self) -> Self::Output;
}

const UNKNOWN: u8 = 0;
const PLAIN: u8 = 1;
#[cfg(target_arch = "x86_64")]
const AVX2: u8 = 2;
#[cfg(target_arch = "x86_64")]
const AVX512: u8 = 3;

/// Detected processor features: detection costs more than a kernel.
static WIDTH: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Runs `kernel` with the widest vectors this processor has.
#[inline]
pub fn vectorised<K: Kernel>(kernel: K) -> K::Output {
    let width = width();
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "calls functions compiled for processors that have AVX")]
    {
        if width == AVX512 {
            // SAFETY: `detect` found every feature that `with_avx512` is compiled for.
            return unsafe { with_avx512(kernel) };
        }
        if width == AVX2 {
            // SAFETY: `detect` found every feature that `with_avx2` is compiled for.
            return unsafe { with_avx2(kernel) };
        }
    }
    let _ = width;
    kernel.run()
}

#[inline]
fn width() -> u8 {
    let mut width = WIDTH.load(Ordering::Relaxed);
    if width == UNKNOWN {
        width = detect();
        WIDTH.store(width, Ordering::Relaxed);
    }
    width
}

/// True if the processor has AVX-512 F, BW, DQ and VL, and the other features of kernels.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn has_avx512() -> bool {
    width() == AVX512
}

/// True if the processor has AVX2, BMI1, BMI2 and POPCNT, whatever else it has.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn has_avx2() -> bool {
    width() >= AVX2
}

/// Returns what the function of a module `wide` or `narrow` gives where the processor has AVX-512 or
/// AVX2, and goes on where it has neither.
macro_rules! widest {
    ($module:ident::$function:ident($($argument:expr),*)) => {
        #[cfg(target_arch = "x86_64")]
        if $crate::numeric::dispatch::has_avx2() {
            // SAFETY: the processor has the features.
            #[expect(unsafe_code, reason = "calls what is compiled for AVX2 or AVX-512")]
            return unsafe {
                if $crate::numeric::dispatch::has_avx512() {
                    $module::wide::$function($($argument),*)
                } else {
                    $module::narrow::$function($($argument),*)
                }
            };
        }
    };
}
pub(super) use widest;

fn detect() -> u8 {
    #[cfg(target_arch = "x86_64")]
    {
        let wide = std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512bw")
            && std::arch::is_x86_feature_detected!("avx512dq")
            && std::arch::is_x86_feature_detected!("avx512vl");
        // All but a few processors with AVX2 have these too.
        let narrow = std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("bmi2")
            && std::arch::is_x86_feature_detected!("popcnt");
        if wide && narrow {
            return AVX512;
        }
        if narrow {
            return AVX2;
        }
    }
    PLAIN
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,popcnt")]
fn with_avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn with_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}
