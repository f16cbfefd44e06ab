//! Memory that the database's own cache gets in addition. The trace holds what the pool of its time missed; pages that a
//! larger one would have kept are taken to be those of an LRU cache of the added size in front of it.

use super::layout::NONE;
use super::lists::Lists;

pub struct Pool {
    room_bytes: u64,
    held_bytes: u64,
    /// For each page its size; 0 if it isn't held.
    sizes: Vec<u32>,
    pages: Lists,
}

impl Pool {
    pub fn new(room_bytes: u64) -> Self {
        Self { room_bytes, held_bytes: 0, sizes: Vec::new(), pages: Lists::new(1, 1) }
    }

    pub fn emptied(&self) -> Self {
        Self::new(self.room_bytes)
    }

    /// Reads a page, and says whether the pool has it.
    pub fn read(&mut self, page: u32, bytes: u32) -> bool {
        if page as usize >= self.sizes.len() {
            let pages = (page as usize + 1).next_power_of_two();
            self.sizes.resize(pages, 0);
            self.pages.grow(pages);
        }
        let held = self.sizes[page as usize] > 0;
        if held {
            self.pages.remove(0, page);
        } else {
            self.sizes[page as usize] = bytes;
            self.held_bytes += u64::from(bytes);
        }
        self.pages.push(0, page);
        while self.held_bytes > self.room_bytes {
            let oldest = self.pages.oldest(0, 0);
            if oldest == NONE {
                break;
            }
            self.pages.remove(0, oldest);
            self.held_bytes -= u64::from(std::mem::take(&mut self.sizes[oldest as usize]));
        }
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_pages_read_last() {
        let mut pool = Pool::new(30);
        let hits = [1, 2, 3, 1, 4, 2, 1].map(|page| pool.read(page, 10));
        assert_eq!(hits, [false, false, false, true, false, false, true]);
        assert!(!pool.emptied().read(1, 10));
    }

    #[test]
    fn a_page_larger_than_the_room_is_not_kept() {
        let mut pool = Pool::new(5);
        assert!(!pool.read(0, 10));
        assert!(!pool.read(0, 10));
        assert_eq!(pool.held_bytes, 0);
    }
}
