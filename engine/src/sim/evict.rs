//! What the ARC evicts: arc_evict() of OpenZFS 2.2 and later (module/zfs/arc.c), which balances data against metadata and
//! recent against frequent blocks by the bytes of ghosts that were hit since it last ran.

use super::arc::{at, Arc, State, DATA, METADATA};
use super::layout::NONE;
use super::parameters::Parameters;

/// 100 % as a fraction of 32 bits.
const WHOLE: u64 = 1 << 32;

/// The shares that arc_evict() aims at, and what it learnt since.
pub struct Balance {
    /// arc_meta: metadata's share of everything.
    pub meta: u64,
    /// arc_pd, arc_pm: the share of the recent blocks, of data and of metadata.
    pub recent: [u64; 2],
    /// Bytes of ghosts hit since the last eviction: recent, then frequent; data and metadata.
    pub ghost_hits: [[u64; 2]; 2],
    /// How large the ghost lists were allowed to be then.
    pub ghost_limits: [[u64; 2]; 2],
    /// Where the next eviction begins: OpenZFS takes a random sublist.
    next_sublist: usize,
}

impl Balance {
    pub fn new(parameters: &Parameters) -> Self {
        let share = |of_one: f64| (of_one * WHOLE as f64) as u64;
        let none = [[0; 2]; 2];
        Self {
            meta: share(parameters.arc_meta),
            recent: [share(parameters.arc_pd), share(parameters.arc_pm)],
            ghost_hits: none,
            ghost_limits: none,
            next_sublist: 0,
        }
    }

    fn learn(&mut self, meta_balance: u64) {
        let limits = std::mem::take(&mut self.ghost_limits);
        let hits = std::mem::take(&mut self.ghost_hits);
        let of = |table: &[[u64; 2]; 2], kind: usize| table[0][kind] + table[1][kind];
        let total = of(&limits, DATA) + of(&limits, METADATA);
        self.meta = adjust(self.meta, total, of(&hits, METADATA), of(&hits, DATA), meta_balance);
        for kind in [DATA, METADATA] {
            self.recent[kind] = adjust(self.recent[kind], of(&limits, kind), hits[0][kind], hits[1][kind], 100);
        }
    }
}

/// arc_evict_adj(): moves a share up and down by ghost hits in relation to the ghosts' size, slower near its ends.
fn adjust(share: u64, total: u64, up: u64, down: u64, balance: u64) -> u64 {
    if total < 32 || up + down == 0 {
        return share;
    }
    let (mut up, mut down) = (up, down);
    if up + down >= total / 16 {
        let scale = (up + down) / (total / 32);
        up /= scale;
        down /= scale;
    }
    let shift = total.leading_zeros().min(32);
    let rest = WHOLE - share;
    if share >= 4 * rest {
        up /= share / (2 * rest + 1);
    }
    if rest >= 4 * share {
        down /= rest / (2 * share + 1);
    }
    let part = |hits: u64| (hits << shift) / (total >> (32 - shift));
    let (up, down) = (part(up), part(down) * 100 / balance.max(1));
    (share + up).min(WHOLE).saturating_sub(down)
}

fn share_of(bytes: i64, share: u64) -> i64 {
    (bytes * (share >> 16) as i64) >> 16
}

impl Arc<'_> {
    /// Evicts down to the target once that was exceeded by far enough (arc_is_overflowing(), arc_evict_cb()).
    pub fn make_room(&mut self) {
        if self.total < self.target + self.overflow {
            return;
        }
        while self.evict() > 0 && self.total > self.target {}
    }

    /// arc_evict(): one round, which gives the bytes of data that it evicted.
    fn evict(&mut self) -> u64 {
        self.balance.learn(self.parameters.zfs_arc_meta_balance);
        let size = |arc: &Self, state, kind: usize| arc.sizes[at(state)][kind] as i64;
        let (mru_data, mru_meta) = (size(self, State::Mru, DATA), size(self, State::Mru, METADATA));
        let (mfu_data, mfu_meta) = (size(self, State::Mfu, DATA), size(self, State::Mfu, METADATA));
        let metadata = mru_meta + mfu_meta;
        let mut excess = self.total as i64 - self.target as i64;
        let wanted = mru_data + mfu_data + metadata - excess;
        let Balance { meta, recent, .. } = self.balance;

        let recent_meta = ((u128::from(meta) * u128::from(recent[METADATA])) >> 32) as u64;
        let from_mru_meta = self.evict_from(State::Mru, METADATA, excess.min(mru_meta - share_of(wanted, recent_meta)));
        excess -= from_mru_meta;
        let over = metadata - from_mru_meta - share_of(wanted, meta);
        let from_mfu_meta = self.evict_from(State::Mfu, METADATA, excess.min(over));
        excess -= from_mfu_meta;

        let wanted_data = wanted - (metadata - from_mru_meta - from_mfu_meta);
        let over = mru_data - share_of(wanted_data, recent[DATA]);
        let from_mru_data = self.evict_from(State::Mru, DATA, excess.min(over));
        excess -= from_mru_data;
        let from_mfu_data = self.evict_from(State::Mfu, DATA, excess);

        let left = [
            [mru_data - from_mru_data, mru_meta - from_mru_meta],
            [mfu_data - from_mfu_data, mfu_meta - from_mfu_meta],
        ];
        self.evict_ghosts(&left);
        (from_mru_meta + from_mfu_meta + from_mru_data + from_mfu_data) as u64
    }

    /// A ghost list may be as long as half of what the other three states hold.
    fn evict_ghosts(&mut self, left: &[[i64; 2]; 2]) {
        let all: i64 = left.iter().flatten().sum();
        for (recency, state) in [State::MruGhost, State::MfuGhost].into_iter().enumerate() {
            for kind in [DATA, METADATA] {
                let limit = (all - left[recency][kind]).max(0) / 2;
                self.balance.ghost_limits[recency][kind] = limit as u64;
                self.evict_from(state, kind, self.sizes[at(state)][kind] as i64 - limit);
            }
        }
    }

    /// arc_evict_state(): evicts so many bytes from the old ends of a list, some blocks of each sublist in turn.
    fn evict_from(&mut self, state: State, kind: usize, bytes: i64) -> i64 {
        let wanted = (bytes.max(0) as u64).min(self.evictable[at(state)][kind]);
        if wanted == 0 {
            return 0;
        }
        let list = 2 * at(state) + kind;
        let sublists = self.lists.sublists();
        let first = self.balance.next_sublist;
        self.balance.next_sublist = (first + 1) % sublists;
        let mut cursors: Vec<u32> = (0..sublists).map(|sublist| self.lists.oldest(list, sublist)).collect();
        let mut evicted = 0;
        loop {
            let before = evicted;
            for turn in 0..sublists {
                let cursor = &mut cursors[(first + turn) % sublists];
                let mut batch = self.parameters.zfs_arc_evict_batch_limit.max(1);
                while batch > 0 && evicted < wanted && *cursor != NONE {
                    let block = *cursor;
                    *cursor = self.lists.newer(block);
                    if let Some(bytes) = self.evict_block(block) {
                        evicted += bytes;
                        batch -= 1;
                    }
                }
            }
            if evicted >= wanted || evicted == before {
                return evicted as i64;
            }
        }
    }
}
