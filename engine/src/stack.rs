//! Exact LRU reuse distances in bytes, one read after the other (Mattson 1970; the tree over time is Olken's, 1981).
//!
//! Simple and slow: the tests hold the other analyses against it.
//!
//! # What a reuse distance is here
//!
//! The LRU stack holds every block seen, the last read on top. The distance of a read is the sum of the sizes of the
//! blocks from the top down to the block read, itself included. An LRU cache of C bytes holds the longest part of the
//! stack, from the top, whose sizes sum to at most C; so a read hits exactly if its distance is at most C. This is the
//! inclusion property: a larger cache holds all that a smaller one holds, and one pass answers for every C at once.
//!
//! # When a block's size changes
//!
//! A block counts with the largest size it was read with so far: a read hits or misses by the size before it, and
//! the block then lies on top with the larger of the two sizes. Growing keeps the property above exact (what no longer
//! fits falls off the bottom). Shrinking would not: a real cache can't take back what it evicted for the larger size.
//! In ZFS a file's blocks grow while it is small and then stay, so that nothing is lost by this.

use std::num::NonZeroU32;

/// Slots that a node of the tree covers. Their sizes are summed one by one, which the compiler vectorises; so the tree
/// is 64 times smaller than the number of slots and stays in the processor's cache.
const GROUP: usize = 64;

/// The LRU stack of all blocks, as sizes in the order of their last read.
///
/// Each read takes the next slot in time. When the slots are used up, those that were left behind by later reads are
/// squeezed out: memory grows with the number of distinct blocks, not with the number of reads.
#[derive(Default)]
pub struct ByteStack {
    /// For each block: its slot.
    slot_of: Vec<u32>,
    /// For each slot: the size of its block, 0 once the block was read again later.
    sizes: Vec<u32>,
    /// For each slot: its block.
    blocks: Vec<u32>,
    /// A Fenwick tree over the sums of groups of slots.
    tree: Vec<u64>,
    next_slot: usize,
    total_bytes: u64,
}

impl ByteStack {
    /// The distinct blocks seen.
    pub fn distinct_blocks(&self) -> usize {
        self.slot_of.len()
    }

    /// The sum of the sizes of the distinct blocks seen.
    pub fn distinct_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// Reads `block` with `size` bytes, and gives its reuse distance in bytes, or None when it is read for the first
    /// time. Blocks are numbered from 0 in the order of their first reads.
    pub fn read(&mut self, block: usize, size: NonZeroU32) -> Option<u64> {
        if self.next_slot == self.sizes.len() {
            self.squeeze();
        }
        let slot = self.next_slot;
        self.next_slot += 1;
        let mut size = size.get();
        let mut distance = None;
        if block == self.slot_of.len() {
            self.slot_of.push(slot as u32);
            self.total_bytes += u64::from(size);
        } else {
            let old_slot = std::mem::replace(&mut self.slot_of[block], slot as u32) as usize;
            distance = Some(self.total_bytes - self.bytes_below(old_slot));
            let old_size = std::mem::replace(&mut self.sizes[old_slot], 0);
            self.add(old_slot, 0u64.wrapping_sub(u64::from(old_size)));
            size = size.max(old_size);
            self.total_bytes += u64::from(size - old_size);
        }
        self.sizes[slot] = size;
        self.blocks[slot] = block as u32;
        self.add(slot, u64::from(size));
        distance
    }

    /// The bytes of the blocks whose last read was before that in `slot`.
    fn bytes_below(&self, slot: usize) -> u64 {
        let group = slot / GROUP;
        let in_group: u64 = self.sizes[group * GROUP..slot].iter().map(|size| u64::from(*size)).sum();
        let mut node = group;
        let mut sum = in_group;
        while node > 0 {
            sum = sum.wrapping_add(self.tree[node - 1]);
            node &= node - 1;
        }
        sum
    }

    /// Adds to the sum of a slot's group; a subtraction is an addition that wraps.
    fn add(&mut self, slot: usize, bytes: u64) {
        let mut node = slot / GROUP + 1;
        while node <= self.tree.len() {
            self.tree[node - 1] = self.tree[node - 1].wrapping_add(bytes);
            node += node & node.wrapping_neg();
        }
    }

    /// Moves the blocks to the first slots, in the same order, and makes at least as many slots free.
    fn squeeze(&mut self) {
        let mut kept = 0;
        for slot in 0..self.next_slot {
            if self.sizes[slot] != 0 {
                self.sizes[kept] = self.sizes[slot];
                self.blocks[kept] = self.blocks[slot];
                self.slot_of[self.blocks[kept] as usize] = kept as u32;
                kept += 1;
            }
        }
        let slots = (2 * kept.max(GROUP)).next_multiple_of(GROUP);
        self.sizes.truncate(kept);
        self.sizes.resize(slots, 0);
        self.blocks.resize(slots, 0);
        self.next_slot = kept;
        self.rebuild_tree();
    }

    fn rebuild_tree(&mut self) {
        self.tree.clear();
        self.tree.extend(self.sizes.chunks(GROUP).map(|group| group.iter().map(|size| u64::from(*size)).sum::<u64>()));
        for node in 1..=self.tree.len() {
            let parent = node + (node & node.wrapping_neg());
            if parent <= self.tree.len() {
                self.tree[parent - 1] += self.tree[node - 1];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, literally: a vector as the stack, searched from the top.
    #[derive(Default)]
    struct Naive(Vec<(usize, u64)>);

    impl Naive {
        fn read(&mut self, block: usize, size: u64) -> Option<u64> {
            let found = self.0.iter().rposition(|entry| entry.0 == block);
            let distance = found.map(|at| self.0[at..].iter().map(|entry| entry.1).sum());
            let old_size = found.map_or(0, |at| self.0.remove(at).1);
            self.0.push((block, size.max(old_size)));
            distance
        }
    }

    fn size(bytes: u32) -> NonZeroU32 {
        NonZeroU32::new(bytes).unwrap()
    }

    #[test]
    fn a_distance_counts_the_block_itself() {
        let mut stack = ByteStack::default();
        assert_eq!(stack.read(0, size(16)), None);
        assert_eq!(stack.read(0, size(16)), Some(16));
        assert_eq!(stack.read(1, size(4)), None);
        assert_eq!(stack.read(0, size(16)), Some(20));
        assert_eq!(stack.read(1, size(4)), Some(20));
        assert_eq!((stack.distinct_blocks(), stack.distinct_bytes()), (2, 20));
    }

    #[test]
    fn a_block_counts_with_its_largest_size() {
        let mut stack = ByteStack::default();
        stack.read(0, size(8));
        assert_eq!(stack.read(0, size(32)), Some(8));
        assert_eq!(stack.read(0, size(8)), Some(32));
        assert_eq!(stack.distinct_bytes(), 32);
    }

    #[test]
    fn equals_the_definition_over_many_squeezes() {
        let (mut stack, mut naive) = (ByteStack::default(), Naive::default());
        let mut random = 1u64;
        for step in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let known = stack.distinct_blocks();
            let block = ((random >> 33) as usize % (20 + step / 40)).min(known);
            let bytes = 1 + (random >> 20) as u32 % 9;
            assert_eq!(stack.read(block, size(bytes)), naive.read(block, u64::from(bytes)));
        }
        assert!(stack.distinct_blocks() > 4 * GROUP);
        assert!(stack.sizes.len() <= 4 * stack.distinct_blocks());
    }
}
