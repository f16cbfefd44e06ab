//! A simulation of OpenZFS's caches: ARC, dbuf cache, prefetcher and L2ARC, on the reads of a trace.
//!
//! The rules are those of OpenZFS 2.3 (module/zfs/arc.c, dbuf.c and dmu_zfetch.c). What a trace can't show isn't there:
//! writes, other processes' reads, memory pressure, and how long I/O takes.

mod arc;
mod dbuf;
mod evict;
mod l2arc;
mod layout;
mod lists;
mod machine;
mod parameters;
mod pool;
mod sample;
mod warmup;
mod zfetch;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

use crate::reads::Reads;

use layout::{Layout, Shape};
use machine::Machine;
pub use parameters::{Case, Outcome, Parameters, Replay};
use sample::Sample;

/// Simulates each case on so many threads; `go_on` is asked between two cases, and stops the rest with false.
///
/// Gives None if it was stopped. The outcomes are in the order of the cases.
pub fn simulate(
    reads: &Reads,
    cases: &[Case],
    parameters: &Parameters,
    replay: &Replay,
    threads: usize,
    go_on: impl Fn() -> bool + Sync,
) -> Option<Vec<Outcome>> {
    let outcomes: Mutex<Vec<Option<Outcome>>> = Mutex::new(vec![None; cases.len()]);
    for (recordsize, members) in by_recordsize(cases) {
        let kept = replay.sample * replay.kept;
        let layout = Layout::new(reads, recordsize, Shape::new(parameters, kept));
        let sample = Sample::new(reads, &layout, replay);
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..threads.clamp(1, members.len()) {
                scope.spawn(|| {
                    while let Some(at) = members.get(next.fetch_add(1, Ordering::Relaxed)).filter(|_| go_on()) {
                        let machine = Machine::new(&layout, &cases[*at], parameters, kept);
                        let outcome = sample.scaled(machine.replay(reads, &sample, replay));
                        outcomes.lock().unwrap_or_else(|error| error.into_inner())[*at] = Some(outcome);
                    }
                });
            }
        });
    }
    outcomes.into_inner().unwrap_or_else(|error| error.into_inner()).into_iter().collect()
}

/// The cases of each record size, which share a layout.
fn by_recordsize(cases: &[Case]) -> Vec<(Option<u32>, Vec<usize>)> {
    let mut found: Vec<(Option<u32>, Vec<usize>)> = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        match found.iter_mut().find(|(recordsize, _)| *recordsize == case.recordsize) {
            Some((_, members)) => members.push(at),
            None => found.push((case.recordsize, vec![at])),
        }
    }
    found
}

#[cfg(test)]
mod tests;
