//! Reuse distances and miss-ratio curves of record reads.
//!
//! [`trace`] reads the one trace format record by record, [`stack`] gives each read its reuse distance in bytes,
//! [`curve`] turns distances into hits at any cache size, and [`profile`] folds a whole trace into figures.
//! Nothing here knows Python; `py` holds the bindings behind the feature `python`.

#![forbid(unsafe_code)]

pub mod curve;
pub mod hash;
pub mod lru;
pub mod objects;
pub mod own_curve;
pub mod previous;
pub mod profile;
#[cfg(feature = "python")]
mod py;
pub mod reads;
pub mod spatial;
pub mod stack;
pub mod trace;
pub mod windows;
