//! The L2ARC: a device that is written round and round, and the thread that feeds it from the ARC's lists. See
//! l2arc_feed_thread(), l2arc_write_buffers() and l2arc_evict() of OpenZFS 2.3's module/zfs/arc.c.

use std::collections::VecDeque;

use super::arc::{Arc, State, DATA, METADATA};
use super::layout::NONE;

/// sizeof (l2arc_log_blk_phys_t), and the entries that it has.
const LOG_BLOCK_BYTES: u64 = 64 << 10;
const LOG_ENTRIES: u64 = 1022;
const MIN_BLOCK_SHIFT: u32 = 9;

struct Entry {
    at: u64,
    bytes: u64,
    block: u32,
}

pub struct L2arc {
    /// The device's size; offsets go from 0 to it.
    end: u64,
    hand: u64,
    /// Up to where the device was cleared for the writes to come.
    cleared: u64,
    /// The device wasn't written to its end yet.
    pub first_sweep: bool,
    /// What is on the device, oldest first.
    entries: VecDeque<Entry>,
    pub held_bytes: u64,
    pub written_bytes: u64,
    pub next_feed_ns: u64,
    turn: u64,
    /// Tunables of bytes are of a machine of which this share is simulated.
    scale: f64,
}

impl L2arc {
    pub fn new(device_bytes: u64, scale: f64) -> Self {
        Self {
            end: device_bytes,
            hand: 0,
            cleared: 0,
            first_sweep: true,
            entries: VecDeque::new(),
            held_bytes: 0,
            written_bytes: 0,
            next_feed_ns: 0,
            turn: 0,
            scale,
        }
    }

    /// Feeds the device once, and gives the bytes written.
    pub fn feed(&mut self, arc: &mut Arc) -> u64 {
        let parameters = arc.parameters;
        let second_ns = 1_000_000_000;
        let began_ns = self.next_feed_ns;
        self.next_feed_ns = began_ns.saturating_add(second_ns);
        if u128::from(arc.l2only_bytes) * 100 > u128::from(arc.target) * u128::from(parameters.l2arc_meta_percent) {
            return 0;
        }
        let wanted = self.write_size(arc);
        self.clear_ahead(arc, wanted);
        let wrote = self.write(arc, wanted);
        let again = parameters.l2arc_feed_again && wrote > wanted / 2;
        let interval_ns = if again {
            parameters.l2arc_feed_min_ms.saturating_mul(1_000_000)
        } else {
            parameters.l2arc_feed_secs.saturating_mul(second_ns)
        };
        self.next_feed_ns = began_ns.saturating_add(interval_ns.max(1_000_000));
        wrote
    }

    /// The device's contents survive a restart, but not the ARC's headers of them.
    pub fn restart(&mut self, arc: &mut Arc) {
        let keeps = arc.parameters.l2arc_rebuild_enabled
            && self.end >= self.scaled(arc.parameters.l2arc_rebuild_blocks_min_l2size);
        if keeps {
            self.entries.iter().for_each(|entry| arc.restore_from_l2arc(entry.block));
        } else {
            *self = Self {
                written_bytes: self.written_bytes,
                next_feed_ns: self.next_feed_ns,
                ..Self::new(self.end, self.scale)
            };
        }
    }

    fn scaled(&self, bytes: u64) -> u64 {
        (bytes as f64 * self.scale) as u64
    }

    /// l2arc_write_size().
    fn write_size(&self, arc: &Arc) -> u64 {
        let parameters = arc.parameters;
        let boost = if arc.parameters.arc_warm { 0 } else { parameters.l2arc_write_boost };
        let mut size = parameters.l2arc_write_max.saturating_add(boost);
        if self.end >= self.scaled(parameters.l2arc_rebuild_blocks_min_l2size) {
            size = size.saturating_add((size >> MIN_BLOCK_SHIFT).div_ceil(LOG_ENTRIES) * LOG_BLOCK_BYTES);
        }
        self.scaled(size).min(self.end / 4)
    }

    /// l2arc_evict(): forgets what lies in front of the hand.
    fn clear_ahead(&mut self, arc: &mut Arc, distance: u64) {
        loop {
            let at_end = self.hand + distance > self.end;
            let to = if at_end { self.end } else { self.hand + distance };
            if !self.first_sweep {
                self.cleared = self.cleared.max(to);
                while let Some(entry) = self.entries.front() {
                    if entry.at >= self.cleared || entry.at < self.hand {
                        break;
                    }
                    self.held_bytes -= entry.bytes;
                    arc.drop_from_l2arc(entry.block);
                    self.entries.pop_front();
                }
            }
            if !at_end {
                return;
            }
            (self.hand, self.cleared, self.first_sweep) = (0, 0, false);
        }
    }

    /// l2arc_write_buffers(): metadata before data, frequent before recent, one sublist of each.
    fn write(&mut self, arc: &mut Arc, wanted: u64) -> u64 {
        let lists = [(State::Mfu, METADATA), (State::Mru, METADATA), (State::Mfu, DATA), (State::Mru, DATA)];
        let mut written = 0;
        for (pass, (state, kind)) in lists.into_iter().enumerate() {
            let skip = match arc.parameters.l2arc_mfuonly {
                0 => false,
                1 => state == State::Mru,
                _ => pass == 3,
            };
            if !skip && !self.write_list(arc, 2 * super::arc::at(state) + kind, wanted, &mut written) {
                break;
            }
        }
        self.written_bytes += written;
        written
    }

    /// Writes from one list; false when the device got all that it wanted.
    fn write_list(&mut self, arc: &mut Arc, list: usize, wanted: u64, written: &mut u64) -> bool {
        let parameters = arc.parameters;
        let headroom =
            u128::from(wanted) * u128::from(parameters.l2arc_headroom) * u128::from(parameters.l2arc_headroom_boost)
                / 100;
        // Until the ARC had to evict for want of memory, from the new end: they have the time to be read again.
        let from_newest = !parameters.arc_warm;
        let sublist = self.random_sublist(arc.lists.sublists());
        let mut block = if from_newest { arc.lists.newest(list, sublist) } else { arc.lists.oldest(list, sublist) };
        let mut passed: u128 = 0;
        while block != NONE {
            let record = *arc.blocks.get(block);
            let header = &arc.headers[block as usize];
            passed += u128::from(record.bytes);
            if parameters.l2arc_headroom != 0 && passed > headroom {
                break;
            }
            let bytes = u64::from(record.physical).next_multiple_of(self.sector(arc, &record));
            if header.l2cache && !header.on_l2arc {
                if *written + bytes + self.scaled(LOG_BLOCK_BYTES) > wanted {
                    return false;
                }
                self.entries.push_back(Entry { at: self.hand, bytes, block });
                arc.put_on_l2arc(block);
                self.hand += bytes;
                self.held_bytes += bytes;
                *written += bytes;
            }
            block = if from_newest { arc.lists.older(block) } else { arc.lists.newer(block) };
        }
        true
    }

    fn sector(&self, arc: &Arc, record: &super::layout::Record) -> u64 {
        if record.level > 0 {
            1
        } else {
            arc.parameters.sector_bytes.max(1)
        }
    }

    fn random_sublist(&mut self, sublists: usize) -> usize {
        self.turn += 1;
        let hash = self.turn.wrapping_mul(0xD1B5_4A32_D192_ED03);
        ((hash ^ (hash >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33) as usize % sublists
    }
}
