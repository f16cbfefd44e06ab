//! A simulation of OpenZFS's caches: ARC, dbuf cache, prefetcher and L2ARC, on the reads of a trace.
//!
//! The rules are those of OpenZFS 2.3 (module/zfs/arc.c, dbuf.c and dmu_zfetch.c). What a trace can't show isn't there:
//! writes, other processes' reads, memory pressure, and how long I/O takes.

mod arc;
pub mod classic;
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

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::reads::Reads;

use layout::{Layout, Shape};
use machine::Machine;
pub use parameters::{Case, Outcome, Parameters, Replay};
use sample::Sample;

/// Between two looks at whether to go on.
const ASKED_EVERY: Duration = Duration::from_millis(100);

/// Simulates each case on so many threads; `go_on` is asked several times a second, and stops everything with false.
///
/// Gives None if it was stopped. The outcomes are in the order of the cases.
pub fn simulate(
    reads: &Reads,
    cases: &[Case],
    parameters: &Parameters,
    replay: &Replay,
    threads: usize,
    mut go_on: impl FnMut() -> bool,
) -> Option<Vec<Outcome>> {
    let kept = replay.sample * replay.kept;
    let mut outcomes = vec![None; cases.len()];
    for (recordsize, members) in by_recordsize(cases) {
        let layout = Layout::new(reads, recordsize, Shape::new(parameters, kept));
        let sample = Sample::new(reads, &layout, replay);
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (send, receive) = mpsc::channel();
        let work = |send: mpsc::Sender<(usize, Outcome)>| {
            while let Some(at) = members.get(next.fetch_add(1, Ordering::Relaxed)) {
                let machine = Machine::new(&layout, &cases[*at], parameters, kept);
                let Some(outcome) = machine.replay(reads, &sample, replay, &stop) else { break };
                if send.send((*at, sample.scaled(outcome))).is_err() {
                    break;
                }
            }
        };
        thread::scope(|scope| {
            for send in vec![send; threads.clamp(1, members.len())] {
                scope.spawn(|| work(send));
            }
            loop {
                match receive.recv_timeout(ASKED_EVERY) {
                    Ok((at, outcome)) => outcomes[at] = Some(outcome),
                    Err(mpsc::RecvTimeoutError::Timeout) => stop.store(!go_on(), Ordering::Relaxed),
                    Err(mpsc::RecvTimeoutError::Disconnected) => break,
                }
            }
        });
        if stop.into_inner() {
            return None;
        }
    }
    outcomes.into_iter().collect()
}

/// The smallest record size that splits no block: that of the smallest blocks which a file of several was read in.
pub fn smallest_recordsize(reads: &Reads) -> Option<u32> {
    let mut largest = vec![(0, false); reads.objects.len()];
    for block in &reads.blocks {
        let (size, several) = &mut largest[block.object as usize];
        *size = block.size.max(*size);
        *several |= block.blkid > 0;
    }
    let several =
        largest.into_iter().zip(&reads.objects).filter(|((_, several), object)| *several && object.level == 0);
    several.map(|((size, _), _)| size).min()
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
