//! What reads are measured in.

/// Blocks in 32 bits, or bytes in 64. Sums wrap, and come out right in the end.
pub trait Amount: Copy + Default + Send + Sync + 'static {
    /// A block's size; nothing where each block counts 1.
    type Weight: Copy + Default + Send + Sync;
    /// What counts between spans, and within one.
    type Spans: super::spans::Spans<Self>;
    type Counter: super::span::Counter<Self>;

    fn of(weight: Self::Weight) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn bytes_or_blocks(self) -> u64;
}

impl Amount for u32 {
    type Weight = ();
    type Spans = super::spans::Counts;
    type Counter = super::span::Bitmap;

    #[inline(always)]
    fn of((): ()) -> Self {
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
    fn bytes_or_blocks(self) -> u64 {
        self.into()
    }
}

impl Amount for u64 {
    type Weight = u32;
    type Spans = super::spans::Bytes;
    type Counter = super::span::Sums;

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
    fn bytes_or_blocks(self) -> u64 {
        self
    }
}
