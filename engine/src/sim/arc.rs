//! The states of the ARC's blocks and what moves them: arc_access(), arc_read() and arc_change_state() of OpenZFS 2.3's
//! module/zfs/arc.c. What is evicted is in `evict.rs`.
//!
//! I/O takes no time here: a block is there as soon as it was asked for.

use super::evict::Balance;
use super::layout::{Blocks, Record};
use super::lists::Lists;
use super::parameters::Parameters;

/// Where a block is. A ghost is a header without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Gone,
    /// Read once lately.
    Mru,
    /// Read more than once.
    Mfu,
    MruGhost,
    MfuGhost,
    /// Only the L2ARC has it; a small header stays.
    L2Only,
}

impl State {
    pub fn is_resident(self) -> bool {
        matches!(self, Self::Mru | Self::Mfu)
    }

    pub fn is_ghost(self) -> bool {
        matches!(self, Self::MruGhost | Self::MfuGhost)
    }
}

pub const DATA: usize = 0;
pub const METADATA: usize = 1;

/// What served a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Arc,
    L2arc,
    Disk,
}

/// arc_buf_hdr_t, as far as decisions depend on it.
#[derive(Clone, Copy)]
pub struct Header {
    pub access_ns: u64,
    pub state: State,
    /// The last read was a prefetch.
    pub prefetch: bool,
    /// It may go to the L2ARC.
    pub l2cache: bool,
    pub on_l2arc: bool,
    /// A dbuf refers to it, so that it is on no list and can't be evicted.
    pub held: bool,
}

const NEW: Header =
    Header { access_ns: 0, state: State::Gone, prefetch: false, l2cache: false, on_l2arc: false, held: false };

pub struct Arc<'a> {
    pub parameters: &'a Parameters,
    pub blocks: Blocks<'a>,
    pub now_ns: u64,
    /// arc_c.
    pub target: u64,
    /// How far the ARC grows beyond its target before it evicts.
    pub overflow: u64,
    pub headers: Vec<Header>,
    pub lists: Lists,
    /// Bytes in each state, data and metadata apart; in ghost states those of the uncompressed blocks.
    pub sizes: [[u64; 2]; 4],
    /// The part of `sizes` that is on lists.
    pub evictable: [[u64; 2]; 4],
    /// arcs_size: everything that counts against the target.
    pub total: u64,
    /// The part of it that headers of blocks take which only the L2ARC has.
    pub l2only_bytes: u64,
    pub balance: Balance,
    /// The share of the records that is simulated; what is common to all of them counts with it.
    kept: f64,
}

impl<'a> Arc<'a> {
    pub fn new(parameters: &'a Parameters, blocks: Blocks<'a>, target: u64, overflow: u64, kept: f64) -> Self {
        let other = (parameters.arc_other_bytes as f64 * kept) as u64;
        let mut arc = Self {
            parameters,
            now_ns: 0,
            target,
            overflow,
            headers: Vec::new(),
            lists: Lists::new(8, parameters.zfs_multilist_num_sublists.max(1) as usize),
            sizes: [[0; 2]; 4],
            evictable: [[0; 2]; 4],
            total: other,
            l2only_bytes: 0,
            balance: Balance::new(parameters),
            kept,
            blocks,
        };
        arc.grow();
        arc
    }

    /// Takes in blocks that were numbered since.
    pub fn grow(&mut self) {
        self.headers.resize(self.blocks.len(), NEW);
        self.lists.grow(self.blocks.len());
    }

    /// arc_read(): finds the block or brings it in. With `hold`, its dbuf refers to it from now on.
    pub fn read(&mut self, block: u32, prefetch: bool, hold: bool) -> Source {
        let header = self.headers[block as usize];
        let record = *self.blocks.get(block);
        let parameters = self.parameters;
        let source = if header.state.is_resident() {
            self.access(block, prefetch);
            Source::Arc
        } else {
            self.bring_in(block, &record, prefetch);
            let from_l2arc = header.on_l2arc && (!prefetch || parameters.l2arc_prefetch_reads);
            if from_l2arc {
                Source::L2arc
            } else {
                Source::Disk
            }
        };
        let header = &mut self.headers[block as usize];
        header.l2cache |= if record.metadata { parameters.metadata_in_l2arc } else { parameters.data_in_l2arc };
        if source != Source::Arc && prefetch && parameters.l2arc_noprefetch {
            header.l2cache = false;
        }
        if hold {
            self.hold(block, &record);
        }
        source
    }

    fn bring_in(&mut self, block: u32, record: &Record, prefetch: bool) {
        match self.headers[block as usize].state {
            State::L2Only => {
                self.l2only_bytes -= self.overhead(record, self.parameters.hdr_l2only_bytes);
                self.total -= self.overhead(record, self.parameters.hdr_l2only_bytes);
                self.total += self.overhead(record, self.parameters.hdr_full_bytes);
            }
            State::Gone => self.total += self.overhead(record, self.parameters.hdr_full_bytes),
            _ => (),
        }
        self.access(block, prefetch);
        // The block isn't on a list yet, so that it can't be evicted for its own sake.
        self.make_room();
        let state = self.headers[block as usize].state;
        self.sizes[at(state)][kind(record)] += u64::from(record.physical);
        self.total += u64::from(record.physical);
        self.enlist(block, record, state);
    }

    /// arc_access(): a read of a block, whatever its state. A dbuf's hit comes here too (arc_buf_access()).
    pub fn access(&mut self, block: u32, prefetch: bool) {
        let now_ns = self.now_ns;
        let header = &mut self.headers[block as usize];
        let was_prefetch = std::mem::replace(&mut header.prefetch, prefetch);
        let before_ns = header.access_ns;
        let to = match header.state {
            State::Gone | State::L2Only => State::Mru,
            State::Mru if was_prefetch => State::Mru,
            State::Mru if now_ns - before_ns <= self.parameters.arc_mintime_ms * 1_000_000 => return,
            State::MruGhost if was_prefetch => State::Mru,
            State::Mru | State::MruGhost | State::Mfu | State::MfuGhost => State::Mfu,
        };
        header.access_ns = now_ns;
        if header.state != to {
            self.change(block, to);
        }
    }

    /// arc_change_state(), but for the sizes and lists of a block that has no data yet, and for headers' memory.
    fn change(&mut self, block: u32, to: State) {
        let record = *self.blocks.get(block);
        let Header { state: from, held, .. } = self.headers[block as usize];
        if from.is_ghost() {
            self.balance.ghost_hits[at(from) - 2][kind(&record)] += u64::from(record.physical);
            self.drop_ghost(block, &record);
        } else if from.is_resident() {
            let bytes = u64::from(record.physical) + if held { uncompressed_copy(&record) } else { 0 };
            self.sizes[at(from)][kind(&record)] -= bytes;
            self.sizes[at(to)][kind(&record)] += bytes;
            if !held {
                self.unlist(block, &record, from);
                self.enlist(block, &record, to);
            }
        }
        self.headers[block as usize].state = to;
    }

    /// Takes a ghost off its list; the header stays as it is.
    fn drop_ghost(&mut self, block: u32, record: &Record) {
        let state = self.headers[block as usize].state;
        self.lists.remove(list(state, record), block);
        self.sizes[at(state)][kind(record)] -= u64::from(record.bytes);
        self.evictable[at(state)][kind(record)] -= u64::from(record.bytes);
    }

    /// Evicts a block's data, or its ghost, and gives the bytes that count as evicted (arc_evict_hdr()): None if it is too
    /// young, which prefetched and indirect blocks may be.
    pub fn evict_block(&mut self, block: u32) -> Option<u64> {
        let record = *self.blocks.get(block);
        let Header { state, access_ns, prefetch, on_l2arc, .. } = self.headers[block as usize];
        if state.is_ghost() {
            self.drop_ghost(block, &record);
            self.total -= self.overhead(&record, self.parameters.hdr_full_bytes);
            let header = &mut self.headers[block as usize];
            header.state = if on_l2arc { State::L2Only } else { State::Gone };
            if on_l2arc {
                let bytes = self.overhead(&record, self.parameters.hdr_l2only_bytes);
                self.total += bytes;
                self.l2only_bytes += bytes;
            }
            return Some(u64::from(record.bytes));
        }
        let young = self.now_ns - access_ns < self.parameters.zfs_arc_min_prefetch_ms * 1_000_000;
        if (prefetch || record.level > 0) && young {
            return None;
        }
        let to = if state == State::Mru { State::MruGhost } else { State::MfuGhost };
        self.unlist(block, &record, state);
        self.sizes[at(state)][kind(&record)] -= u64::from(record.physical);
        self.total -= u64::from(record.physical);
        self.headers[block as usize].state = to;
        self.lists.push(list(to, &record), block);
        self.sizes[at(to)][kind(&record)] += u64::from(record.bytes);
        self.evictable[at(to)][kind(&record)] += u64::from(record.bytes);
        Some(u64::from(record.physical))
    }

    /// A restart: nothing is left in memory.
    pub fn restart(&mut self) {
        let blocks = self.blocks.take();
        let now_ns = self.now_ns;
        *self = Self { now_ns, ..Self::new(self.parameters, blocks, self.target, self.overflow, self.kept) };
    }

    /// The L2ARC device has a block that a restart made the ARC forget.
    pub fn restore_from_l2arc(&mut self, block: u32) {
        let bytes = self.overhead(self.blocks.get(block), self.parameters.hdr_l2only_bytes);
        self.headers[block as usize] = Header { state: State::L2Only, on_l2arc: true, ..NEW };
        self.total += bytes;
        self.l2only_bytes += bytes;
    }

    /// The L2ARC device has the block from now on.
    pub fn put_on_l2arc(&mut self, block: u32) {
        self.headers[block as usize].on_l2arc = true;
    }

    /// The L2ARC device's copy is overwritten.
    pub fn drop_from_l2arc(&mut self, block: u32) {
        let record = *self.blocks.get(block);
        let header = &mut self.headers[block as usize];
        header.on_l2arc = false;
        if header.state == State::L2Only {
            header.state = State::Gone;
            let bytes = self.overhead(&record, self.parameters.hdr_l2only_bytes);
            self.total -= bytes;
            self.l2only_bytes -= bytes;
        }
    }

    /// The block's dbuf refers to it: it is on no list, and an uncompressed copy is there beside compressed data.
    fn hold(&mut self, block: u32, record: &Record) {
        let header = &mut self.headers[block as usize];
        let state = header.state;
        header.held = true;
        self.unlist(block, record, state);
        let copy = uncompressed_copy(record);
        self.sizes[at(state)][kind(record)] += copy;
        self.total += copy + self.overhead(record, self.parameters.buf_bytes + self.parameters.dbuf_bytes);
    }

    /// The dbuf is gone: the block is the newest of its state's list (remove_reference()).
    pub fn release(&mut self, block: u32) {
        let record = *self.blocks.get(block);
        let header = &mut self.headers[block as usize];
        let state = header.state;
        header.held = false;
        let copy = uncompressed_copy(&record);
        self.sizes[at(state)][kind(&record)] -= copy;
        self.total -= copy + self.overhead(&record, self.parameters.buf_bytes + self.parameters.dbuf_bytes);
        self.enlist(block, &record, state);
    }

    fn enlist(&mut self, block: u32, record: &Record, state: State) {
        self.lists.push(list(state, record), block);
        self.evictable[at(state)][kind(record)] += u64::from(record.physical);
    }

    fn unlist(&mut self, block: u32, record: &Record, state: State) {
        self.lists.remove(list(state, record), block);
        self.evictable[at(state)][kind(record)] -= u64::from(record.physical);
    }

    /// What a structure of this size costs for a block: an indirect block is shared by records that aren't simulated.
    fn overhead(&self, record: &Record, bytes: u64) -> u64 {
        if record.level > 0 {
            (bytes as f64 * self.kept) as u64
        } else {
            bytes
        }
    }
}

/// The index of a state among those with sizes.
pub fn at(state: State) -> usize {
    state as usize - State::Mru as usize
}

pub fn kind(record: &Record) -> usize {
    if record.metadata {
        METADATA
    } else {
        DATA
    }
}

fn list(state: State, record: &Record) -> usize {
    2 * at(state) + kind(record)
}

/// What a dbuf's buffer takes beside the ARC's own, also of data that isn't compressed: arc_buf_alloc_impl() shares only
/// what is in one piece (abd_is_linear()), and the ARC's data are in pages.
fn uncompressed_copy(record: &Record) -> u64 {
    u64::from(record.bytes)
}
