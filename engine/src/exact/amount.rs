//! What reads are measured in, and rows of sums of that.

use super::span::{Bitmap, Sums};

/// Sums that are updated together: a vector or a few.
pub const LANES: usize = 32;

/// Blocks in 32 bits, or bytes in 64. Sums wrap, and come out right in the end.
pub trait Amount: Copy + Default + Send + Sync + 'static {
    /// Whether blocks have sizes; otherwise each counts 1, and what weighs is ignored.
    const WEIGHTED: bool;
    /// What counts within a span.
    type Counter: super::span::Counter<Self>;

    fn of(weight: u32) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn and(self, mask: Self) -> Self;
    /// All bits set in the lanes below this, which may be one past the last.
    fn below(lane: usize) -> &'static [Self; LANES];
    fn bytes_or_blocks(self) -> u64;
}

macro_rules! below {
    ($type:ty) => {{
        let mut rows = [[0; LANES]; LANES + 1];
        let mut lane = 0;
        while lane <= LANES {
            let mut below = 0;
            while below < lane {
                rows[lane][below] = <$type>::MAX;
                below += 1;
            }
            lane += 1;
        }
        rows
    }};
}

/// Aligned, so that a row is in as few of the cache's lines as can be.
#[repr(align(64))]
pub struct Aligned<T>(pub T);

pub static BELOW_16: Aligned<[[u16; LANES]; LANES + 1]> = Aligned(below!(u16));
static BELOW_32: Aligned<[[u32; LANES]; LANES + 1]> = Aligned(below!(u32));
static BELOW_64: Aligned<[[u64; LANES]; LANES + 1]> = Aligned(below!(u64));

impl Amount for u32 {
    const WEIGHTED: bool = false;
    type Counter = Bitmap;

    #[inline(always)]
    fn of(_weight: u32) -> Self {
        1
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    #[inline(always)]
    fn and(self, mask: Self) -> Self {
        self & mask
    }

    #[inline(always)]
    fn below(lane: usize) -> &'static [Self; LANES] {
        &BELOW_32.0[lane]
    }

    #[inline(always)]
    fn bytes_or_blocks(self) -> u64 {
        self.into()
    }
}

impl Amount for u64 {
    const WEIGHTED: bool = true;
    type Counter = Sums;

    #[inline(always)]
    fn of(weight: u32) -> Self {
        weight.into()
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    #[inline(always)]
    fn and(self, mask: Self) -> Self {
        self & mask
    }

    #[inline(always)]
    fn below(lane: usize) -> &'static [Self; LANES] {
        &BELOW_64.0[lane]
    }

    #[inline(always)]
    fn bytes_or_blocks(self) -> u64 {
        self
    }
}

/// Sums over what is later than each lane, in its row.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Row<A>(pub [A; LANES]);

impl<A: Amount> Default for Row<A> {
    fn default() -> Self {
        Self([A::default(); LANES])
    }
}

impl<A: Amount> Row<A> {
    /// Adds what is at `lane` to the sums of those before it.
    #[inline(always)]
    pub fn add_below(&mut self, lane: usize, weight: u32) {
        let (amount, mut sums) = (A::of(weight), self.0);
        for (sum, below) in sums.iter_mut().zip(A::below(lane)) {
            *sum = sum.plus(amount.and(*below));
        }
        self.0 = sums;
    }
}
