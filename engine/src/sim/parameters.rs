//! What a simulation is told: tunables under OpenZFS's own names, the data's compression, and the machine.

/// The tunables are those of zfs(4), with the same names and units. Defaults differ between platforms and versions:
/// `zmysql/locality/parameters.py` has the table.
#[derive(Clone, Debug)]
pub struct Parameters {
    pub zfs_arc_meta_balance: u64,
    /// The ARC may grow beyond its target by this much before it evicts down to the target (arc_is_overflowing()).
    pub zfs_max_recordsize: u64,
    pub zfs_arc_min_prefetch_ms: u64,
    pub zfs_arc_evict_batch_limit: u64,
    pub zfs_multilist_num_sublists: u64,
    /// ARC_MINTIME: a second hit sooner than this doesn't make a block frequent.
    pub arc_mintime_ms: u64,
    /// Where the balance starts: metadata's share, and that of recent blocks among data and among metadata, from 0 to 1.
    pub arc_meta: f64,
    pub arc_pd: f64,
    pub arc_pm: f64,
    pub dbuf_cache_shift: u32,
    pub dbuf_cache_lowater_pct: u64,

    pub zfs_prefetch_disable: bool,
    pub zfetch_max_streams: u64,
    pub zfetch_min_sec_reap: u64,
    pub zfetch_max_sec_reap: u64,
    pub zfetch_min_distance: u64,
    pub zfetch_max_distance: u64,
    pub zfetch_max_idistance: u64,
    pub zfetch_max_reorder: u64,
    pub zfetch_hole_shift: u32,

    pub l2arc_write_max: u64,
    pub l2arc_write_boost: u64,
    pub l2arc_headroom: u64,
    pub l2arc_headroom_boost: u64,
    pub l2arc_feed_secs: u64,
    pub l2arc_feed_min_ms: u64,
    pub l2arc_feed_again: bool,
    pub l2arc_noprefetch: bool,
    pub l2arc_mfuonly: u64,
    pub l2arc_meta_percent: u64,
    /// illumos: with l2arc_noprefetch, prefetch doesn't read from the L2ARC either.
    pub l2arc_prefetch_reads: bool,
    pub l2arc_rebuild_enabled: bool,
    pub l2arc_rebuild_blocks_min_l2size: u64,

    /// Bytes of a record through its bytes on disk and in the ARC, from 1.
    pub compressratio: f64,
    pub metadata_compressratio: f64,
    /// Compressed records take a multiple of this (ashift, and the memory's pages).
    pub sector_bytes: u64,
    /// An indirect block, and what a block pointer in it takes.
    pub indirect_bytes: u64,
    pub blkptr_bytes: u64,
    pub data_in_arc: bool,
    pub metadata_in_arc: bool,
    pub data_in_l2arc: bool,
    pub metadata_in_l2arc: bool,

    /// The machine was short of memory before, so that the L2ARC is fed from the tails and without boost (arc_warm).
    pub arc_warm: bool,
    /// What the ARC holds besides: dnodes, other datasets' blocks.
    pub arc_other_bytes: u64,
    /// sizeof (arc_buf_hdr_t), its L2-only part, arc_buf_t and dmu_buf_impl_t.
    pub hdr_full_bytes: u64,
    pub hdr_l2only_bytes: u64,
    pub buf_bytes: u64,
    pub dbuf_bytes: u64,
}

/// One machine to simulate.
#[derive(Clone, Debug)]
pub struct Case {
    /// The record size; None for the blocks as they were read.
    pub recordsize: Option<u32>,
    pub arc_bytes: u64,
    /// 0 for none.
    pub l2arc_bytes: u64,
    /// Memory that the database's own cache gets in addition: an LRU cache of pages in front.
    pub buffer_pool_bytes: u64,
}

/// How the trace is replayed.
#[derive(Clone, Copy, Debug)]
pub struct Replay {
    /// Reads in the first so many nanoseconds warm the caches and aren't counted.
    pub skip_ns: u64,
    /// The trace is replayed so many times, one after the other; only the last counts.
    pub passes: u32,
    /// Between two passes the machine restarts: the ARC is lost, the L2ARC stays if it is rebuilt.
    pub restarts: bool,
    /// The share of the blocks that is simulated, by a hash of their address (SHARDS), with sizes scaled alike.
    pub sample: f64,
    /// The share of the blocks that the trace holds already.
    pub kept: f64,
}

/// What came of it. Counts are of level-0 reads that were counted, and are whole-trace ones also where `sample` < 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub references: u64,
    pub buffer_pool_hits: u64,
    pub dbuf_hits: u64,
    /// Hits in the ARC, those of the dbuf cache included, as arcstats counts them.
    pub arc_hits: u64,
    pub l2arc_hits: u64,
    pub misses: u64,
    pub holes: u64,
    pub metadata_hits: u64,
    pub metadata_l2arc_hits: u64,
    pub metadata_misses: u64,
    pub prefetches: u64,
    pub disk_reads: u64,
    pub disk_read_bytes: u64,
    pub l2arc_read_bytes: u64,
    pub l2arc_written_bytes: u64,
    pub l2arc_held_bytes: u64,
    /// The ARC's memory for headers of blocks that only the L2ARC holds, at the end (arcstats' l2_hdr_size).
    pub l2arc_header_bytes: u64,
    pub arc_size_bytes: u64,
    pub warmup_ns: Option<u64>,
    /// Level-0 misses of each object of the reads, by its number.
    pub object_misses: Vec<u64>,
}
