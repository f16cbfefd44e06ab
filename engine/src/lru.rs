//! An LRU cache of one size over numbered items, in the order of a sequence that is known beforehand.
//!
//! The list of an LRU cache is the sequence of reads itself: what is in the cache is what was last read at or after
//! some point, the tail. So an item needs its last read only, and there are no links to follow.

use std::hint::black_box;

/// Reads whose memory is asked for at once, so that the processor doesn't wait for one after the other.
const BATCH: usize = 256;

/// An item and what the caller keeps with it, side by side in memory.
#[derive(Clone, Copy, Default)]
pub struct Item<T> {
    /// The number of the last read plus one, 0 if there was none.
    last: u32,
    pub size: u32,
    pub kept: T,
}

impl<T: Default> Item<T> {
    pub fn new(size: u32, kept: T) -> Self {
        Self { last: 0, size, kept }
    }
}

/// Reads the items of `sequence` in order through an empty cache of `cache_bytes`, and tells `each` of every read: its
/// number, its item, and whether it is a hit.
///
/// A read hits exactly if the sizes of the distinct items since the last read of its item, its own included, sum to at
/// most the cache's size. `go_on` is asked now and then; false ends the run.
pub fn run<T: Copy>(
    sequence: &[u32],
    items: &mut [Item<T>],
    cache_bytes: u64,
    mut each: impl FnMut(u32, &mut Item<T>, bool),
    mut go_on: impl FnMut() -> bool,
) {
    let mut tail = 0;
    let mut used_bytes = 0u64;
    for (number, batch) in sequence.chunks(BATCH).enumerate() {
        warm(batch, items);
        warm(&sequence[tail..sequence.len().min(tail + BATCH)], items);
        for (at, which) in (number * BATCH..).zip(batch) {
            let item = &mut items[*which as usize];
            let hit = item.last as usize > tail;
            each(at as u32, item, hit);
            item.last = at as u32 + 1;
            if hit {
                continue;
            }
            used_bytes += u64::from(item.size);
            while used_bytes > cache_bytes {
                let oldest = &items[sequence[tail] as usize];
                tail += 1;
                used_bytes -= if oldest.last as usize == tail { u64::from(oldest.size) } else { 0 };
            }
        }
        if number % 4096 == 0 && !go_on() {
            return;
        }
    }
}

fn warm<T>(sequence: &[u32], items: &[Item<T>]) {
    black_box(sequence.iter().fold(0, |all, which| all ^ items[*which as usize].last));
}
