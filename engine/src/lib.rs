//! Reuse distances and miss-ratio curves of record reads.

#![forbid(unsafe_code)]

#[cfg(feature = "python")]
mod py;
