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
