//! A machine that replays a trace: buffer pool, dbufs, prefetcher, ARC, L2ARC and disks, in that order.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::reads::Reads;
use crate::trace::Class;

use super::arc::{Arc, Source};
use super::dbuf::{Dbufs, Found, MetadataReads};
use super::l2arc::L2arc;
use super::layout::{Blocks, Layout, Record};
use super::parameters::{Case, Outcome, Parameters, Replay};
use super::pool::Pool;
use super::sample::Sample;
use super::warmup::Warmup;
use super::zfetch::{Shape, Zfetch};

/// The smallest ARC that OpenZFS takes (MIN_ARC_MAX in arc_impl.h); for a smaller one, as on a machine that is smaller
/// throughout, what it may overflow by shrinks too.
const SMALLEST_ARC_BYTES: f64 = (64 << 20) as f64;
/// Feeds in a row that find nothing, after which the thread is taken to sleep until the next read.
const IDLE_FEEDS: u32 = 64;
const SECOND_NS: u64 = 1_000_000_000;
const READS_PER_LOOK: usize = 1 << 16;

pub struct Machine<'a> {
    parameters: &'a Parameters,
    layout: &'a Layout,
    arc: Arc<'a>,
    dbufs: Dbufs,
    l2arc: Option<L2arc>,
    pool: Option<Pool>,
    zfetch: Vec<Zfetch>,
    warmup: Warmup,
    counts: Outcome,
    prefetching: bool,
}

impl<'a> Machine<'a> {
    /// `kept` is the share of the records that is simulated: sizes shrink with it.
    pub fn new(layout: &'a Layout, case: &Case, parameters: &'a Parameters, kept: f64) -> Self {
        let scaled = |bytes: u64| ((bytes as f64 * kept) as u64).min(i64::MAX as u64 / 4);
        let small = (case.arc_bytes as f64 / SMALLEST_ARC_BYTES).min(1.0);
        let overflow = scaled((parameters.zfs_max_recordsize as f64 * small) as u64);
        let arc = Arc::new(parameters, Blocks::new(layout), scaled(case.arc_bytes).max(1), overflow, kept);
        let device = scaled(case.l2arc_bytes);
        Self {
            dbufs: Dbufs::new(&arc),
            l2arc: (device > 0).then(|| L2arc::new(device, kept)),
            pool: (case.buffer_pool_bytes > 0).then(|| Pool::new(scaled(case.buffer_pool_bytes))),
            zfetch: vec![Zfetch::default(); layout.files.len()],
            warmup: Warmup::default(),
            counts: Outcome { object_misses: vec![0; layout.files.len()], ..Outcome::default() },
            // A sample of the blocks has no sequences to see.
            prefetching: !parameters.zfs_prefetch_disable && kept == 1.0,
            parameters,
            layout,
            arc,
        }
    }

    /// Replays these reads of the trace; None if it was told to stop.
    pub fn replay(mut self, reads: &Reads, sample: &Sample, replay: &Replay, stop: &AtomicBool) -> Option<Outcome> {
        let begin_ns = sample.begin_ns;
        let passes = replay.passes.max(1);
        for pass in 1..=passes {
            let offset_ns = if pass == 1 { 0 } else { self.arc.now_ns.saturating_add(SECOND_NS) };
            self.begin_pass(offset_ns, pass > 1 && replay.restarts);
            let mut counting = false;
            for turn in 0..sample.len() {
                if turn % READS_PER_LOOK == 0 && stop.load(Ordering::Relaxed) {
                    return None;
                }
                let at = sample.at(turn);
                let since_ns = reads.time_ns[at].saturating_sub(begin_ns);
                self.advance(offset_ns.saturating_add(since_ns));
                if !counting && pass == passes && since_ns >= replay.skip_ns {
                    counting = true;
                    self.forget_counts();
                }
                self.read(reads, at);
            }
            if !counting {
                self.forget_counts();
            }
        }
        Some(self.finish())
    }

    fn begin_pass(&mut self, now_ns: u64, restart: bool) {
        self.advance(now_ns);
        if restart {
            self.arc.restart();
            self.dbufs = Dbufs::new(&self.arc);
            self.zfetch.fill(Zfetch::default());
            self.pool = self.pool.take().map(|pool| pool.emptied());
            if let Some(l2arc) = &mut self.l2arc {
                l2arc.restart(&mut self.arc);
            }
        }
        if let Some(l2arc) = &mut self.l2arc {
            l2arc.next_feed_ns = now_ns.saturating_add(self.parameters.l2arc_feed_secs.saturating_mul(SECOND_NS));
            self.warmup = Warmup::new(now_ns, l2arc);
        }
    }

    fn forget_counts(&mut self) {
        self.counts = Outcome { object_misses: vec![0; self.layout.files.len()], ..Outcome::default() };
        self.dbufs.metadata = MetadataReads::default();
        if let Some(l2arc) = &mut self.l2arc {
            l2arc.written_bytes = 0;
        }
    }

    /// Lets the time pass that the trace says, never back; the L2ARC is fed meanwhile.
    fn advance(&mut self, now_ns: u64) {
        let now_ns = now_ns.max(self.arc.now_ns);
        if let Some(l2arc) = &mut self.l2arc {
            let mut idle = 0;
            while l2arc.next_feed_ns <= now_ns {
                self.arc.now_ns = l2arc.next_feed_ns;
                let wrote = l2arc.feed(&mut self.arc);
                self.warmup.note(self.arc.now_ns, l2arc);
                idle = if wrote == 0 { idle + 1 } else { 0 };
                if idle == IDLE_FEEDS {
                    l2arc.next_feed_ns = l2arc.next_feed_ns.max(now_ns);
                }
                if l2arc.next_feed_ns == u64::MAX {
                    break;
                }
            }
        }
        self.arc.now_ns = now_ns;
    }

    fn read(&mut self, reads: &Reads, at: usize) {
        if reads.class[at] == Class::Hole {
            self.counts.holes += 1;
            return;
        }
        self.counts.references += 1;
        let page = reads.block[at];
        let number = self.layout.of_block[page as usize];
        let record = *self.arc.blocks.get(number);
        if self.pool.as_mut().is_some_and(|pool| pool.read(page, reads.blocks[page as usize].size)) {
            self.counts.buffer_pool_hits += 1;
            return;
        }
        let parameters = self.parameters;
        if !(if record.metadata { parameters.metadata_in_arc } else { parameters.data_in_arc }) {
            self.dbufs.read_uncached(&mut self.arc, number);
            self.miss(&record);
            return;
        }
        let found = self.dbufs.read(&mut self.arc, number);
        match found {
            Found::Dbuf => {
                self.counts.dbuf_hits += 1;
                self.counts.arc_hits += 1;
            }
            Found::In(Source::Arc) => self.counts.arc_hits += 1,
            Found::In(Source::L2arc) => {
                self.counts.l2arc_hits += 1;
                self.counts.l2arc_read_bytes += u64::from(record.physical);
            }
            Found::In(Source::Disk) => self.miss(&record),
        }
        if self.prefetching && !record.metadata {
            self.prefetch(&record, matches!(found, Found::In(Source::L2arc | Source::Disk)));
        }
    }

    fn miss(&mut self, record: &Record) {
        self.counts.misses += 1;
        self.counts.object_misses[record.file as usize] += 1;
        self.counts.disk_reads += 1;
        self.counts.disk_read_bytes += u64::from(record.physical);
    }

    /// Shows a read to the prefetcher, and does what that wants.
    fn prefetch(&mut self, record: &Record, missed: bool) {
        let file = &self.layout.files[record.file as usize];
        let block_bytes = u64::from(file.record_bytes);
        let shape = Shape { block_bytes, last_block: file.last, arc_bytes: self.arc.target };
        let now_s = self.arc.now_ns / SECOND_NS;
        let zfetch = &mut self.zfetch[record.file as usize];
        let Some(found) = zfetch.read(record.index, missed, now_s, &shape, self.parameters) else { return };
        for index in found.data.0..found.data.1.min(file.last + 1) {
            self.prefetch_block(record.file, 0, index);
        }
        let shift = self.layout.fanout_shift();
        let upper = |index: u64| (index + (1 << shift) - 1) >> shift;
        if file.last >> shift > 0 || file.last > 0 {
            for index in upper(found.indirect.0)..upper(found.indirect.1).min((file.last >> shift) + 1) {
                self.prefetch_block(record.file, 1, index);
            }
        }
    }

    fn prefetch_block(&mut self, file: u32, level: u8, index: u64) {
        let number = self.arc.blocks.number(file, level, index);
        if self.arc.blocks.len() > self.arc.headers.len() {
            self.arc.grow();
            self.dbufs.grow(self.arc.blocks.len());
        }
        if self.dbufs.exists(number) {
            return;
        }
        self.dbufs.read_above(&mut self.arc, number);
        let physical = u64::from(self.arc.blocks.get(number).physical);
        match self.arc.read(number, true, false) {
            Source::Arc => (),
            Source::L2arc => {
                self.counts.prefetches += 1;
                self.counts.l2arc_read_bytes += physical;
            }
            Source::Disk => {
                self.counts.prefetches += 1;
                self.counts.disk_reads += 1;
                self.counts.disk_read_bytes += physical;
            }
        }
    }

    fn finish(mut self) -> Outcome {
        let metadata = self.dbufs.metadata;
        self.counts.metadata_hits = metadata.hits;
        self.counts.metadata_l2arc_hits = metadata.l2arc_hits;
        self.counts.metadata_misses = metadata.misses;
        self.counts.disk_reads += metadata.misses;
        self.counts.disk_read_bytes += metadata.disk_read_bytes;
        self.counts.l2arc_read_bytes += metadata.l2arc_read_bytes;
        self.counts.arc_size_bytes = self.arc.total;
        self.counts.l2arc_header_bytes = self.arc.l2only_bytes;
        if let Some(l2arc) = &self.l2arc {
            self.counts.l2arc_written_bytes = l2arc.written_bytes;
            self.counts.l2arc_held_bytes = l2arc.held_bytes;
            self.counts.warmup_ns = self.warmup.finish(self.arc.now_ns);
        }
        self.counts
    }
}
