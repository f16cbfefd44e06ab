//! Reuse distances and miss-ratio curves of record reads.
//!
//! [`trace`] reads the one trace format record by record, and [`reads`] keeps a trace in memory. [`exact`] finds the
//! reuse distances of all reads, [`curve`] turns them into hits at any cache size, and [`profile`] gives the figures of
//! a whole trace. [`shards`] estimates the same from a sample of the
//! blocks. [`sim`] is a model of OpenZFS's ARC, dbuf cache, prefetcher and L2ARC.
//! Nothing here knows Python; `py` holds the bindings behind the feature `python`.

#![deny(unsafe_code)]

pub mod convert;
pub mod curve;
pub mod exact;
pub mod hash;
pub mod lru;
pub mod objects;
pub mod own_curve;
pub mod previous;
pub mod profile;
#[cfg(feature = "python")]
mod py;
pub mod reads;
pub mod shards;
pub mod sim;
pub mod simd;
pub mod spatial;
#[cfg(test)]
mod stack;
pub mod trace;
pub mod windows;
