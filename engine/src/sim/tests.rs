//! The ARC's states and the L2ARC's ring, in small scenes: what a whole simulation hardly shows.

use super::arc::{at, Arc, Source, State, DATA};
use super::l2arc::L2arc;
use super::layout::{Blocks, Layout, Shape};
use super::parameters::Parameters;
use crate::reads::{Block, Object, Reads};

const MS: u64 = 1_000_000;
const SIZE: u32 = 1 << 20;

/// OpenZFS 2.3's, with one sublist a list, so that order is plain.
pub fn parameters() -> Parameters {
    Parameters {
        zfs_arc_meta_balance: 500,
        zfs_max_recordsize: 16 << 20,
        zfs_arc_min_prefetch_ms: 1000,
        zfs_arc_evict_batch_limit: 10,
        zfs_multilist_num_sublists: 1,
        arc_mintime_ms: 62,
        arc_meta: 0.25,
        arc_pd: 0.5,
        arc_pm: 0.5,
        dbuf_cache_shift: 5,
        dbuf_cache_lowater_pct: 10,
        zfs_prefetch_disable: false,
        zfetch_max_streams: 8,
        zfetch_min_sec_reap: 1,
        zfetch_max_sec_reap: 2,
        zfetch_min_distance: 4 << 20,
        zfetch_max_distance: 64 << 20,
        zfetch_max_idistance: 64 << 20,
        zfetch_max_reorder: 16 << 20,
        zfetch_hole_shift: 2,
        l2arc_write_max: 4 << 20,
        l2arc_write_boost: 0,
        l2arc_headroom: 8,
        l2arc_headroom_boost: 200,
        l2arc_feed_secs: 1,
        l2arc_feed_min_ms: 200,
        l2arc_feed_again: true,
        l2arc_noprefetch: true,
        l2arc_mfuonly: 0,
        l2arc_meta_percent: 33,
        l2arc_prefetch_reads: true,
        l2arc_rebuild_enabled: true,
        l2arc_rebuild_blocks_min_l2size: 1 << 30,
        compressratio: 1.0,
        metadata_compressratio: 2.5,
        sector_bytes: 4096,
        indirect_bytes: 131_072,
        blkptr_bytes: 128,
        data_in_arc: true,
        metadata_in_arc: true,
        data_in_l2arc: true,
        metadata_in_l2arc: true,
        arc_warm: false,
        arc_other_bytes: 0,
        hdr_full_bytes: 240,
        hdr_l2only_bytes: 96,
        buf_bytes: 32,
        dbuf_bytes: 368,
    }
}

/// So many files of one block of 1 MiB: block n is file n's, and has none above it.
fn layout(files: u32) -> Layout {
    let reads = Reads {
        objects: (0..files).map(|file| Object { objset: 1, object: u64::from(file), level: 0 }).collect(),
        blocks: (0..files).map(|object| Block { blkid: 0, object, size: SIZE }).collect(),
        ..Reads::default()
    };
    Layout::new(&reads, None, Shape::new(&parameters(), 1.0))
}

fn arc<'a>(layout: &'a Layout, parameters: &'a Parameters, blocks: u64) -> Arc<'a> {
    // The headers of all files fit in beside.
    Arc::new(parameters, Blocks::new(layout), blocks * u64::from(SIZE) + (100 << 10), 1, 1.0)
}

fn states(arc: &Arc, blocks: std::ops::Range<usize>) -> Vec<State> {
    arc.headers[blocks].iter().map(|header| header.state).collect()
}

fn read_all(arc: &mut Arc, blocks: std::ops::Range<u32>) {
    for block in blocks {
        arc.read(block, false, false);
    }
}

/// Reads blocks 0 and 1 twice, so that they are frequent: only then is there room for ghosts of recent blocks.
fn make_two_frequent(arc: &mut Arc) {
    for now_ms in [0, 100] {
        arc.now_ns = now_ms * MS;
        read_all(arc, 0..2);
    }
}

#[test]
fn the_oldest_of_those_read_once_become_ghosts() {
    let (layout, parameters) = (layout(6), parameters());
    let mut arc = arc(&layout, &parameters, 4);
    make_two_frequent(&mut arc);
    for block in 2..6 {
        assert_eq!(arc.read(block, false, false), Source::Disk);
    }
    arc.make_room();
    // Ghosts of recent blocks may be half as many as there are frequent blocks.
    let expected = [State::Mfu, State::Mfu, State::Gone, State::MruGhost, State::Mru, State::Mru];
    assert_eq!(states(&arc, 0..6), expected);
    assert_eq!(arc.sizes[at(State::Mru)][DATA], 2 * u64::from(SIZE));
    assert_eq!(arc.total, 4 * u64::from(SIZE) + 5 * 240);
}

#[test]
fn a_ghost_comes_back_as_frequent() {
    let (layout, parameters) = (layout(6), parameters());
    let mut arc = arc(&layout, &parameters, 4);
    make_two_frequent(&mut arc);
    read_all(&mut arc, 2..6);
    arc.make_room();
    assert_eq!(arc.read(3, false, false), Source::Disk);
    assert_eq!(arc.headers[3].state, State::Mfu);
    assert_eq!(arc.balance.ghost_hits[0][DATA], u64::from(SIZE));
    let recent = arc.balance.recent[DATA];
    arc.make_room();
    assert!(arc.balance.recent[DATA] > recent);
}

#[test]
fn a_prefetched_block_needs_two_reads_more_to_be_frequent() {
    let (layout, parameters) = (layout(2), parameters());
    let mut arc = arc(&layout, &parameters, 3);
    arc.read(0, true, false);
    for (now_ms, state) in [(500, State::Mru), (540, State::Mru), (563, State::Mfu)] {
        arc.now_ns = now_ms * MS;
        arc.read(0, false, false);
        assert_eq!(arc.headers[0].state, state, "{now_ms}");
    }
}

#[test]
fn a_prefetched_ghost_counts_as_new() {
    let (layout, parameters) = (layout(7), parameters());
    let mut arc = arc(&layout, &parameters, 4);
    make_two_frequent(&mut arc);
    arc.read(2, true, false);
    // Prefetched blocks stay for a second.
    read_all(&mut arc, 3..6);
    arc.make_room();
    assert_eq!(states(&arc, 2..4), [State::Mru, State::Gone]);
    arc.now_ns = 1100 * MS;
    arc.read(6, false, false);
    arc.make_room();
    assert_eq!(arc.headers[2].state, State::MruGhost);
    arc.read(2, false, false);
    assert_eq!(arc.headers[2].state, State::Mru);
}

#[test]
fn a_block_with_a_dbuf_is_not_evicted() {
    let (layout, parameters) = (layout(6), parameters());
    let mut arc = arc(&layout, &parameters, 3);
    arc.read(0, false, true);
    read_all(&mut arc, 1..6);
    arc.make_room();
    assert_eq!(arc.headers[0].state, State::Mru);
    let held = arc.total;
    arc.release(0);
    // Its dbuf, and the copy that it had.
    assert_eq!(held - arc.total, 400 + u64::from(SIZE));
    // It is the newest now.
    arc.read(1, false, false);
    arc.make_room();
    assert_eq!(arc.headers[0].state, State::Mru);
}

#[test]
fn only_the_l2arc_has_what_fell_off_the_ghosts() {
    let (layout, parameters) = (layout(12), parameters());
    let mut arc = arc(&layout, &parameters, 3);
    let mut l2arc = L2arc::new(64 << 20, 1.0);
    arc.read(0, false, false);
    arc.read(1, true, false);
    assert_eq!(l2arc.feed(&mut arc), u64::from(SIZE));
    arc.now_ns = 2000 * MS;
    read_all(&mut arc, 2..12);
    assert_eq!(states(&arc, 0..2), [State::L2Only, State::Gone]);
    assert_eq!(arc.l2only_bytes, 96);
    assert_eq!(arc.read(0, false, false), Source::L2arc);
    assert_eq!((arc.headers[0].state, arc.l2only_bytes), (State::Mru, 0));
}

#[test]
fn the_ring_forgets_what_it_is_about_to_overwrite() {
    let (layout, parameters) = (layout(40), parameters());
    let mut arc = arc(&layout, &parameters, 40);
    // A quarter of the device is written at most at once: two blocks and the reserve of a log block.
    let mut l2arc = L2arc::new(10 << 20, 1.0);
    let mut held = Vec::new();
    for block in 0..40 {
        arc.read(block, false, false);
        l2arc.feed(&mut arc);
        held.push((0..40).filter(|block| arc.headers[*block].on_l2arc).count() as u64);
        assert_eq!(held.last().map(|held| held * u64::from(SIZE)), Some(l2arc.held_bytes));
        assert!(l2arc.held_bytes <= 10 << 20);
    }
    assert!(!l2arc.first_sweep);
    assert_eq!(held.iter().max(), Some(&8));
    // On the first sweep nothing is cleared ahead; later 2.5 MiB are, and more where the end is near.
    assert!(held[10..].iter().all(|held| *held >= 5), "{held:?}");
}

#[test]
fn frequent_blocks_are_fed_first_and_recent_ones_if_wanted() {
    let (layout, mut parameters) = (layout(8), parameters());
    parameters.l2arc_mfuonly = 1;
    let mut arc = arc(&layout, &parameters, 40);
    for now_ms in [0, 100] {
        arc.now_ns = now_ms * MS;
        read_all(&mut arc, 0..3);
    }
    arc.read(5, false, false);
    let mut l2arc = L2arc::new(64 << 20, 1.0);
    // Of what is wanted, 4 MiB, the last 64 KiB are for a log block.
    l2arc.feed(&mut arc);
    assert_eq!(states(&arc, 0..3), [State::Mfu; 3]);
    assert_eq!([0, 1, 2, 5].map(|block| arc.headers[block].on_l2arc), [true, true, true, false]);
    assert_eq!(l2arc.next_feed_ns, 200 * MS);
    l2arc.feed(&mut arc);
    assert_eq!((l2arc.written_bytes, l2arc.next_feed_ns), (3 * u64::from(SIZE), 1200 * MS));
}
