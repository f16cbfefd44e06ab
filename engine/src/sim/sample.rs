//! Mini-simulation (Waldspurger et al., ATC '17): a share of the records, chosen by a hash of their address, in caches that
//! are smaller by the same share.

use crate::reads::Reads;
use crate::trace::Class;

use super::layout::Layout;
use super::parameters::{Outcome, Replay};

pub struct Sample {
    /// The places of its reads in the trace; None for all of them.
    places: Option<Vec<u32>>,
    reads: usize,
    share: f64,
    /// The time at which the trace begins.
    pub begin_ns: u64,
    /// Reads of the whole trace that count.
    references: u64,
    holes: u64,
}

impl Sample {
    pub fn new(reads: &Reads, layout: &Layout, replay: &Replay) -> Self {
        let begin_ns = reads.time_ns.first().copied().unwrap_or(0);
        let all =
            Self { places: None, reads: reads.block.len(), share: replay.sample, begin_ns, references: 0, holes: 0 };
        if replay.sample >= 1.0 {
            return all;
        }
        let limit = (replay.sample * 2f64.powi(64)) as u64;
        let chosen: Vec<bool> = (0..reads.blocks.len()).map(|block| hash(layout.place(block as u32)) < limit).collect();
        let places =
            (0..reads.block.len()).filter(|at| chosen[reads.block[*at] as usize]).map(|at| at as u32).collect();
        let from = counted_from(reads, begin_ns, replay.skip_ns);
        let holes = reads.class[from..].iter().filter(|class| **class == Class::Hole).count() as u64;
        Self { references: (reads.block.len() - from) as u64 - holes, holes, places: Some(places), ..all }
    }

    pub fn len(&self) -> usize {
        self.places.as_ref().map_or(self.reads, Vec::len)
    }

    /// The place in the trace of a read of the sample.
    pub fn at(&self, turn: usize) -> usize {
        self.places.as_ref().map_or(turn, |places| places[turn] as usize)
    }

    /// Estimates the whole trace's outcome. How far the sample has more or fewer reads than its share is put down to the
    /// hits, as it is mostly hot blocks that are in it or not (SHARDS-adj).
    pub fn scaled(&self, sampled: Outcome) -> Outcome {
        if self.places.is_none() {
            return sampled;
        }
        let up = |count: u64| (count as f64 / self.share).round() as u64;
        let pool = up(sampled.buffer_pool_hits).min(self.references);
        let l2arc = up(sampled.l2arc_hits).min(self.references - pool);
        let misses = up(sampled.misses).min(self.references - pool - l2arc);
        let arc_hits = self.references - pool - l2arc - misses;
        Outcome {
            references: self.references,
            buffer_pool_hits: pool,
            dbuf_hits: up(sampled.dbuf_hits).min(arc_hits),
            arc_hits,
            l2arc_hits: l2arc,
            misses,
            holes: self.holes,
            // Indirect blocks are all read, each with a share of its bytes.
            disk_reads: up(sampled.disk_reads - sampled.metadata_misses) + sampled.metadata_misses,
            disk_read_bytes: up(sampled.disk_read_bytes),
            l2arc_read_bytes: up(sampled.l2arc_read_bytes),
            l2arc_written_bytes: up(sampled.l2arc_written_bytes),
            l2arc_held_bytes: up(sampled.l2arc_held_bytes),
            l2arc_header_bytes: up(sampled.l2arc_header_bytes),
            arc_size_bytes: up(sampled.arc_size_bytes),
            prefetches: up(sampled.prefetches),
            object_misses: sampled.object_misses.iter().map(|count| up(*count)).collect(),
            ..sampled
        }
    }
}

/// The first read that counts, as the machine's clock has it, which never goes back.
fn counted_from(reads: &Reads, begin_ns: u64, skip_ns: u64) -> usize {
    reads.time_ns.iter().position(|time_ns| time_ns.saturating_sub(begin_ns) >= skip_ns).unwrap_or(reads.block.len())
}

fn hash((file, index): (u32, u64)) -> u64 {
    let mut hash = (u64::from(file) << 40 ^ index).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    hash ^ (hash >> 33)
}
