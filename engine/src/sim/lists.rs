//! Doubly linked lists of blocks by number, each in several sublists as OpenZFS's multilists are.

use super::layout::NONE;

#[derive(Clone, Copy)]
struct Link {
    newer: u32,
    older: u32,
}

const ALONE: Link = Link { newer: NONE, older: NONE };

#[derive(Clone, Copy)]
struct Ends {
    newest: u32,
    oldest: u32,
}

/// Lists that a block can be on one of at a time.
pub struct Lists {
    links: Vec<Link>,
    ends: Vec<Ends>,
    sublists: usize,
}

impl Lists {
    pub fn new(lists: usize, sublists: usize) -> Self {
        Self { links: Vec::new(), ends: vec![Ends { newest: NONE, oldest: NONE }; lists * sublists], sublists }
    }

    /// Makes room for blocks up to this number.
    pub fn grow(&mut self, blocks: usize) {
        self.links.resize(blocks, ALONE);
    }

    pub fn sublists(&self) -> usize {
        self.sublists
    }

    /// The sublist of a block is chosen by a hash, as it is by that of its address in OpenZFS.
    fn ends_at(&self, list: usize, block: u32) -> usize {
        let hash = u64::from(block).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        list * self.sublists + (hash % self.sublists as u64) as usize
    }

    pub fn push(&mut self, list: usize, block: u32) {
        let at = self.ends_at(list, block);
        let was_newest = std::mem::replace(&mut self.ends[at].newest, block);
        self.links[block as usize] = Link { newer: NONE, older: was_newest };
        match was_newest {
            NONE => self.ends[at].oldest = block,
            newest => self.links[newest as usize].newer = block,
        }
    }

    pub fn remove(&mut self, list: usize, block: u32) {
        let at = self.ends_at(list, block);
        let Link { newer, older } = std::mem::replace(&mut self.links[block as usize], ALONE);
        match newer {
            NONE => self.ends[at].newest = older,
            newer => self.links[newer as usize].older = older,
        }
        match older {
            NONE => self.ends[at].oldest = newer,
            older => self.links[older as usize].newer = newer,
        }
    }

    pub fn oldest(&self, list: usize, sublist: usize) -> u32 {
        self.ends[list * self.sublists + sublist].oldest
    }

    pub fn newest(&self, list: usize, sublist: usize) -> u32 {
        self.ends[list * self.sublists + sublist].newest
    }

    pub fn newer(&self, block: u32) -> u32 {
        self.links[block as usize].newer
    }

    pub fn older(&self, block: u32) -> u32 {
        self.links[block as usize].older
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_oldest(lists: &Lists, list: usize) -> Vec<u32> {
        let known = |block| (block != NONE).then_some(block);
        let walk = |sublist| {
            std::iter::successors(known(lists.oldest(list, sublist)), move |block| known(lists.newer(*block)))
        };
        (0..lists.sublists()).flat_map(walk).collect()
    }

    #[test]
    fn blocks_leave_from_anywhere() {
        let mut lists = Lists::new(2, 1);
        lists.grow(5);
        for block in 0..4 {
            lists.push(1, block);
        }
        lists.remove(1, 2);
        lists.push(0, 2);
        assert_eq!((from_oldest(&lists, 1), from_oldest(&lists, 0)), (vec![0, 1, 3], vec![2]));
        lists.remove(1, 0);
        lists.remove(1, 3);
        assert_eq!((lists.oldest(1, 0), lists.newest(1, 0)), (1, 1));
        lists.remove(1, 1);
        lists.push(1, 0);
        assert_eq!(from_oldest(&lists, 1), [0]);
    }

    #[test]
    fn sublists_share_the_blocks() {
        let mut lists = Lists::new(1, 4);
        lists.grow(4000);
        (0..4000).for_each(|block| lists.push(0, block));
        let mut found = from_oldest(&lists, 0);
        found.sort_unstable();
        assert_eq!(found, (0..4000).collect::<Vec<_>>());
        for sublist in 0..4 {
            let mut length = 0;
            let mut block = lists.newest(0, sublist);
            while block != NONE {
                length += 1;
                block = lists.older(block);
            }
            assert!((800..1200).contains(&length));
        }
    }
}
