//! The LRU order of a sample: blocks can leave it again.

use super::Block;

/// Slots whose bytes are one sum.
const GROUP: usize = 32;

/// The sizes of blocks in the order of their last read. Which slot a block has is kept with the block.
#[derive(Default)]
pub struct Recency {
    /// For each slot: the size of its block, 0 once the block was read again later or has left.
    sizes: Vec<u32>,
    /// For each slot: its block.
    blocks: Vec<u32>,
    /// A Fenwick tree over the sums of the groups that are full. What is added in the last group stands in no sum.
    sums: Vec<u64>,
    total_bytes: u64,
}

impl Recency {
    /// Puts a block on top that isn't in the order.
    pub fn push(&mut self, number: u32, blocks: &mut [Block]) {
        if self.sizes.len() == self.sizes.capacity() {
            self.squeeze(blocks);
        }
        let block = &mut blocks[number as usize];
        block.slot = self.sizes.len() as u32;
        self.sizes.push(block.sampled.size);
        self.blocks.push(number);
        self.total_bytes += u64::from(block.sampled.size);
        if self.sizes.len() % GROUP == 0 {
            self.sum_up_next_group();
        }
    }

    /// Takes a block out, and gives the bytes of the blocks that were read after it.
    pub fn take(&mut self, number: u32, blocks: &[Block]) -> u64 {
        let slot = blocks[number as usize].slot as usize;
        let above = self.total_bytes - self.bytes_up_to(slot);
        let size = u64::from(std::mem::replace(&mut self.sizes[slot], 0));
        self.total_bytes -= size;
        let mut node = slot / GROUP + 1;
        while node <= self.sums.len() {
            self.sums[node - 1] -= size;
            node += node & node.wrapping_neg();
        }
        above
    }

    /// Loads what taking the block in this slot will need.
    pub fn touch(&self, slot: u32) -> u32 {
        self.sizes.get(slot as usize).copied().unwrap_or(0)
    }

    /// The bytes of the blocks whose last read was that in `slot` or before.
    fn bytes_up_to(&self, slot: usize) -> u64 {
        let mut node = slot / GROUP;
        let mut sum: u64 = self.sizes[node * GROUP..=slot].iter().map(|size| u64::from(*size)).sum();
        while node > 0 {
            sum += self.sums[node - 1];
            node &= node - 1;
        }
        sum
    }

    /// A node of the tree sums up as many groups, back from its own, as its number's lowest bit says.
    fn sum_up_next_group(&mut self) {
        let node = self.sums.len() + 1;
        let mut sum: u64 = self.sizes[(node - 1) * GROUP..node * GROUP].iter().map(|size| u64::from(*size)).sum();
        let mut below = node - 1;
        while below > node & (node - 1) {
            sum += self.sums[below - 1];
            below &= below - 1;
        }
        self.sums.push(sum);
    }

    /// Moves the blocks to the first slots, in the same order, and makes at least as many slots free.
    fn squeeze(&mut self, blocks: &mut [Block]) {
        let mut kept = 0;
        for slot in 0..self.sizes.len() {
            if self.sizes[slot] != 0 {
                self.sizes[kept] = self.sizes[slot];
                self.blocks[kept] = self.blocks[slot];
                blocks[self.blocks[kept] as usize].slot = kept as u32;
                kept += 1;
            }
        }
        self.sizes.truncate(kept);
        self.blocks.truncate(kept);
        self.sizes.reserve_exact(kept.max(GROUP));
        self.blocks.reserve_exact(kept.max(GROUP));
        self.sums.clear();
        for _ in 0..kept / GROUP {
            self.sum_up_next_group();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_a_vector_searched_from_its_end() {
        let mut recency = Recency::default();
        let mut blocks = vec![Block::default(); 2000];
        let mut stack: Vec<(u32, u32)> = Vec::new();
        let mut random = 1u64;
        for step in 0..40_000u32 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (number, size) = ((random >> 33) as u32 % (100 + step / 20).min(2000), 1 + (random >> 20) as u32 % 9);
            if let Some(at) = stack.iter().position(|entry| entry.0 == number) {
                let above = stack.drain(at..).skip(1).collect::<Vec<_>>();
                let expected = above.iter().map(|entry| u64::from(entry.1)).sum::<u64>();
                assert_eq!(recency.take(number, &blocks), expected);
                stack.extend(above);
            }
            if random >> 60 != 0 {
                blocks[number as usize].sampled.size = size;
                recency.push(number, &mut blocks);
                stack.push((number, size));
            }
        }
        assert!(stack.len() > 1000 && recency.sizes.capacity() <= 4 * stack.len());
    }
}
