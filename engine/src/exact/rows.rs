//! Sums over what is later than each of some places: to add to them takes few of the processor's vectors.

/// Sums that are updated together: a vector or a few.
pub const LANES: usize = 32;

/// A sum for each lane. Aligned, so that it is in as few of the cache's lines as can be.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Row<T>(pub [T; LANES]);

impl<T: Copy + Default> Default for Row<T> {
    fn default() -> Self {
        Self([T::default(); LANES])
    }
}

/// For each lane, and for one past the last: all bits set in the lanes below.
#[repr(align(64))]
struct Below<T>([[T; LANES]; LANES + 1]);

macro_rules! below {
    ($type:ident) => {{
        let mut rows = [[0; LANES]; LANES + 1];
        let mut lane = 0;
        while lane <= LANES {
            let mut below = 0;
            while below < lane {
                rows[lane][below] = $type::MAX;
                below += 1;
            }
            lane += 1;
        }
        Below(rows)
    }};
}

macro_rules! add_below {
    ($type:ident) => {
        impl Row<$type> {
            /// Adds a weight to the sums of the lanes below.
            #[inline(always)]
            pub fn add_below(&mut self, lane: usize, weight: $type) {
                static BELOW: Below<$type> = below!($type);
                let mut sums = self.0;
                for (sum, below) in sums.iter_mut().zip(&BELOW.0[lane]) {
                    *sum = sum.wrapping_add(weight & below);
                }
                self.0 = sums;
            }
        }
    };
}

add_below!(u32);
add_below!(u64);

impl Row<u16> {
    /// Adds 1 to the sums of the lanes below.
    #[inline(always)]
    fn add_one_below(&mut self, lane: usize) {
        static BELOW: Below<u16> = below!(u16);
        let mut sums = self.0;
        for (sum, below) in sums.iter_mut().zip(&BELOW.0[lane]) {
            // All bits set are -1.
            *sum = sum.wrapping_sub(*below);
        }
        self.0 = sums;
    }
}

/// Slots of [`Above`].
pub const SLOTS: usize = LANES * LANES;

/// Counts things in slots, at most 2^16 - 1: how many lie above a slot is known at once, from sums in two steps.
#[derive(Clone, Default)]
pub struct Above {
    /// For each slot, the things in later slots of its row. Those that are added go to either in turn: many that follow
    /// each other may change the sums of one row, and the processor takes long to load what it stored just before.
    fine: [[Row<u16>; LANES]; 2],
    /// For each row, the things in later rows.
    coarse: Row<u16>,
}

impl Above {
    /// How many lie above this slot.
    #[inline(always)]
    pub fn of(&self, slot: usize) -> u32 {
        let (row, lane) = (slot / LANES, slot % LANES);
        let [even, odd] = &self.fine;
        u32::from(even[row].0[lane]) + u32::from(odd[row].0[lane]) + u32::from(self.coarse.0[row])
    }

    /// Adds some, one after the other.
    #[inline(always)]
    pub fn adding(&mut self) -> Adding<'_> {
        Adding { coarse: self.coarse, above: self, turn: 0 }
    }
}

/// Things that are being added.
pub struct Adding<'a> {
    above: &'a mut Above,
    /// The same as that of `above`, but in a register, as each changes it.
    coarse: Row<u16>,
    turn: usize,
}

impl Adding<'_> {
    /// Adds one; gives how many lay above it.
    #[inline(always)]
    pub fn add(&mut self, slot: usize) -> u32 {
        let found = self.above.of(slot);
        self.above.fine[self.turn % 2][slot / LANES].add_one_below(slot % LANES);
        self.coarse.add_one_below(slot / LANES);
        self.above.coarse = self.coarse;
        self.turn += 1;
        found
    }
}
