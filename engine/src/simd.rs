//! The same code, compiled for what the processor has.
//!
//! The kernels are plain Rust over arrays, which the compiler vectorises: nothing is written twice, so that each level
//! gives the same results. Choosing one at run time is what Rust can't prove; this module alone may do so.

#![allow(unsafe_code)]

/// What the kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(Features);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Features {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// Work with its arguments. `run`, and what it calls, must be `#[inline(always)]`, to be compiled with the caller.
pub(crate) trait Kernel {
    fn run(self);
}

impl Level {
    /// All that this processor can run, the best last.
    pub fn available() -> Vec<Self> {
        let mut levels = vec![Self(Features::Portable)];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("popcnt") {
            levels.push(Self(Features::Avx2));
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                levels.push(Self(Features::Avx512));
            }
        }
        levels
    }

    /// The best of this processor.
    pub fn best() -> Self {
        Self::available().pop().unwrap_or(Self(Features::Portable))
    }

    #[inline]
    pub(crate) fn run(self, kernel: impl Kernel) {
        match self.0 {
            Features::Portable => kernel.run(),
            // SAFETY: only `available` makes these two, after it asked the processor.
            #[cfg(target_arch = "x86_64")]
            Features::Avx2 => unsafe { avx2(kernel) },
            #[cfg(target_arch = "x86_64")]
            Features::Avx512 => unsafe { avx512(kernel) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi2,popcnt")]
fn avx2(kernel: impl Kernel) {
    kernel.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
fn avx512(kernel: impl Kernel) {
    kernel.run();
}
