//! The dbuf layer over the ARC: module/zfs/dbuf.c. A dbuf holds its ARC buffer, and the dbuf of the indirect block above;
//! dbufs that nobody holds stay in a cache of their own, an LRU list of a 32nd of the ARC's target.

use super::arc::{Arc, Source};
use super::layout::NONE;
use super::lists::Lists;

/// What a read of a block met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Dbuf,
    In(Source),
}

#[derive(Clone, Copy, Default)]
struct Dbuf {
    exists: bool,
    /// In the dbuf cache, which it is as long as nothing holds it.
    cached: bool,
    /// Dbufs of the blocks below.
    holds: u32,
}

/// Reads of indirect blocks, by where they were found.
#[derive(Clone, Copy, Default)]
pub struct MetadataReads {
    pub hits: u64,
    pub l2arc_hits: u64,
    pub misses: u64,
    pub l2arc_read_bytes: u64,
    pub disk_read_bytes: u64,
}

pub struct Dbufs {
    dbufs: Vec<Dbuf>,
    cache: Lists,
    cached_bytes: u64,
    target: u64,
    lowater: u64,
    pub metadata: MetadataReads,
}

impl Dbufs {
    pub fn new(arc: &Arc) -> Self {
        let target = arc.target.checked_shr(arc.parameters.dbuf_cache_shift).unwrap_or(0);
        let lowater = target - target * arc.parameters.dbuf_cache_lowater_pct.min(100) / 100;
        let mut dbufs = Self {
            dbufs: Vec::new(),
            cache: Lists::new(1, 1),
            cached_bytes: 0,
            target,
            lowater,
            metadata: MetadataReads::default(),
        };
        dbufs.grow(arc.blocks.len());
        dbufs
    }

    pub fn grow(&mut self, blocks: usize) {
        self.dbufs.resize(blocks, Dbuf::default());
        self.cache.grow(blocks);
    }

    pub fn exists(&self, block: u32) -> bool {
        self.dbufs[block as usize].exists
    }

    /// Reads a record: dbuf_hold(), dbuf_read() and dbuf_rele().
    pub fn read(&mut self, arc: &mut Arc, block: u32) -> Found {
        let found = self.take(arc, block);
        self.put(arc, block);
        self.evict(arc);
        found
    }

    /// Reads a record that isn't to stay (primarycache): only what is above it is cached.
    pub fn read_uncached(&mut self, arc: &mut Arc, block: u32) {
        let parent = arc.blocks.get(block).parent;
        if parent != NONE {
            self.hold_indirect(arc, parent);
            self.unhold(arc, parent);
            self.evict(arc);
        }
    }

    /// Reads the indirect block above a block that is to be prefetched (dbuf_prefetch_impl()).
    pub fn read_above(&mut self, arc: &mut Arc, block: u32) {
        let parent = arc.blocks.get(block).parent;
        if parent == NONE {
            return;
        }
        if self.exists(parent) || arc.headers[parent as usize].state.is_resident() {
            self.hold_indirect(arc, parent);
            self.unhold(arc, parent);
        } else {
            self.read_above(arc, parent);
            let source = arc.read(parent, false, false);
            self.count(arc, parent, source);
        }
        self.evict(arc);
    }

    fn take(&mut self, arc: &mut Arc, block: u32) -> Found {
        if self.exists(block) {
            arc.access(block, false);
            self.uncache(arc, block);
            return Found::Dbuf;
        }
        let parent = arc.blocks.get(block).parent;
        if parent != NONE {
            self.hold_indirect(arc, parent);
        }
        self.dbufs[block as usize].exists = true;
        Found::In(arc.read(block, false, true))
    }

    fn hold_indirect(&mut self, arc: &mut Arc, block: u32) {
        match self.take(arc, block) {
            Found::Dbuf => self.metadata.hits += 1,
            Found::In(source) => self.count(arc, block, source),
        }
        self.dbufs[block as usize].holds += 1;
    }

    fn unhold(&mut self, arc: &mut Arc, block: u32) {
        self.dbufs[block as usize].holds -= 1;
        self.put(arc, block);
    }

    fn count(&mut self, arc: &Arc, block: u32, source: Source) {
        let physical = u64::from(arc.blocks.get(block).physical);
        match source {
            Source::Arc => self.metadata.hits += 1,
            Source::L2arc => {
                self.metadata.l2arc_hits += 1;
                self.metadata.l2arc_read_bytes += physical;
            }
            Source::Disk => {
                self.metadata.misses += 1;
                self.metadata.disk_read_bytes += physical;
            }
        }
    }

    /// Nobody reads it any more: into the cache with it, unless dbufs below hold it.
    fn put(&mut self, arc: &Arc, block: u32) {
        let dbuf = &mut self.dbufs[block as usize];
        if dbuf.holds == 0 && !std::mem::replace(&mut dbuf.cached, true) {
            self.cache.push(0, block);
            self.cached_bytes += u64::from(arc.blocks.get(block).bytes);
        }
    }

    fn uncache(&mut self, arc: &Arc, block: u32) {
        if std::mem::replace(&mut self.dbufs[block as usize].cached, false) {
            self.cache.remove(0, block);
            self.cached_bytes -= u64::from(arc.blocks.get(block).bytes);
        }
    }

    /// dbuf_evict_thread(): once above the target, down to the low-water mark.
    fn evict(&mut self, arc: &mut Arc) {
        if self.cached_bytes <= self.target {
            return;
        }
        while self.cached_bytes > self.lowater {
            let block = self.cache.oldest(0, 0);
            self.uncache(arc, block);
            self.dbufs[block as usize].exists = false;
            arc.release(block);
            let parent = arc.blocks.get(block).parent;
            if parent != NONE {
                self.unhold(arc, parent);
            }
        }
    }
}
