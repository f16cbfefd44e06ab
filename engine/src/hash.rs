//! A fast hash for block addresses: std's SipHash would cost more than the rest of the work on a read.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A hash map keyed by small integers or tuples of them.
pub type FastMap<K, V> = HashMap<K, V, Mix>;

/// Builds [`Mixer`]s from a seed that differs from run to run, so that no trace can be made to collide on purpose.
#[derive(Clone)]
pub struct Mix {
    seed: u64,
}

impl Default for Mix {
    fn default() -> Self {
        Self { seed: RandomState::new().hash_one(0u8) }
    }
}

impl BuildHasher for Mix {
    type Hasher = Mixer;

    fn build_hasher(&self) -> Mixer {
        Mixer { state: self.seed }
    }
}

/// A round of multiply and shift for each word, and the finaliser of MurmurHash3 at the end.
pub struct Mixer {
    state: u64,
}

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u8(&mut self, word: u8) {
        self.write_u64(u64::from(word));
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        let mixed = (self.state ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.state = mixed ^ (mixed >> 32);
    }

    fn finish(&self) -> u64 {
        let hash = self.state.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        hash ^ (hash >> 33)
    }
}

/// Finds the number of a thing by its hash, by open addressing. It holds no things: the caller has them by number, and
/// says whether one is the same.
pub struct Numbers {
    /// The high half has bits of the hash, the low half is the number and 1; 0 is a free place.
    places: Vec<u64>,
    held: usize,
    /// Odd, and another from run to run, so that no trace can be made to collide on purpose.
    factor: u64,
}

impl Default for Numbers {
    fn default() -> Self {
        Self { places: Vec::new(), held: 0, factor: RandomState::new().hash_one(0u8) | 1 }
    }
}

impl Numbers {
    /// Makes room for so many more.
    pub fn reserve(&mut self, more: usize, hash_of: impl Fn(u32) -> u64) {
        while 4 * (self.held + more) > 3 * self.places.len() {
            let grown = vec![0; (2 * self.places.len()).max(1 << 10)];
            for place in std::mem::replace(&mut self.places, grown).into_iter().filter(|place| *place != 0) {
                let free = self.probe(hash_of(place as u32 - 1), |at| at == 0);
                self.places[free] = place;
            }
        }
    }

    /// What a look-up looks at first: the number there, if any. A loop over many of them waits for their places at once.
    pub fn guess(&self, hash: u64) -> Option<u32> {
        (self.places[self.home(hash)] as u32).checked_sub(1)
    }

    /// The number of a thing, which is `next` if it has none. There must be room.
    pub fn number(&mut self, hash: u64, next: u32, same: impl Fn(u32) -> bool) -> u32 {
        let wanted = tag(hash);
        let at = self.probe(hash, |place| place == 0 || ((place ^ wanted) >> 32 == 0 && same(place as u32 - 1)));
        if self.places[at] == 0 {
            self.places[at] = wanted | (u64::from(next) + 1);
            self.held += 1;
        }
        self.places[at] as u32 - 1
    }

    /// Forgets the number of a thing, which has one.
    pub fn remove(&mut self, number: u32, hash_of: impl Fn(u32) -> u64) {
        let last = self.places.len() - 1;
        let mut free = self.probe(hash_of(number), |place| place as u32 == number + 1);
        self.held -= 1;
        // A later place may be free now, where what is there looked for one from `free` on or before.
        let mut at = free;
        loop {
            self.places[free] = 0;
            loop {
                at = (at + 1) & last;
                if self.places[at] == 0 {
                    return;
                }
                let home = self.home(hash_of(self.places[at] as u32 - 1));
                if at.wrapping_sub(home) & last >= at.wrapping_sub(free) & last {
                    break;
                }
            }
            self.places[free] = self.places[at];
            free = at;
        }
    }

    fn home(&self, hash: u64) -> usize {
        (hash.wrapping_mul(self.factor) >> (64 - self.places.len().trailing_zeros())) as usize
    }

    fn probe(&self, hash: u64, wanted: impl Fn(u64) -> bool) -> usize {
        let mut at = self.home(hash);
        while !wanted(self.places[at]) {
            at = (at + 1) & (self.places.len() - 1);
        }
        at
    }
}

/// Low bits of a hash, as the high half of a place: in a sample the high bits are all alike.
fn tag(hash: u64) -> u64 {
    hash << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_and_forgotten_as_in_a_plain_map() {
        let (mut numbers, mut known) = (Numbers::default(), HashMap::new());
        // Few hashes, so that things share them.
        let hash_of = |thing: u64| (thing % 700) << 20;
        let mut things: Vec<u64> = Vec::new();
        let mut random = 1u64;
        for _ in 0..60_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let thing = (random >> 33) % 3_000;
            let of_number = |number: u32| hash_of(things[number as usize]);
            if random >> 62 == 0 {
                if let Some(number) = known.remove(&thing) {
                    numbers.remove(number, of_number);
                }
            } else {
                numbers.reserve(1, of_number);
                let next = things.len() as u32;
                let number = numbers.number(hash_of(thing), next, |number| things[number as usize] == thing);
                assert_eq!(number, *known.entry(thing).or_insert(next));
                if number == next {
                    things.push(thing);
                }
            }
            assert_eq!(numbers.held, known.len());
        }
    }
}
