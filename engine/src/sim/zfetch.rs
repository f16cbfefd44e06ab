//! The predictive prefetcher: module/zfs/dmu_zfetch.c of OpenZFS 2.3. A file's reads are sorted into streams; what a stream
//! is expected to want is prefetched, once one of its reads had to wait for a device.

use super::parameters::Parameters;

/// ZFETCH_RANGES: stretches ahead of a stream that were read out of order.
const RANGES: usize = 9;

/// No file of ZFS has so many blocks; a trace that says so is not to be followed.
const FAR: u64 = 1 << 60;

#[derive(Clone, Default)]
struct Stream {
    /// The block that the next read is expected to want.
    next: u64,
    used_s: u64,
    /// Read already, from and to, relative to `next`; in order.
    ahead: Vec<(u64, u64)>,
    /// One of its reads had to wait for a device (zs_missed): from then on data are prefetched, too.
    missed: bool,
    distance_bytes: u64,
    indirect_distance_bytes: u64,
    data: (u64, u64),
    indirect: (u64, u64),
}

impl Stream {
    fn new(next: u64, now_s: u64, parameters: &Parameters) -> Self {
        // It may be replaced at once, as long as nothing hits it.
        let used_s = now_s.saturating_sub(parameters.zfetch_min_sec_reap);
        Self { next, used_s, data: (next, next), indirect: (next, next), ..Self::default() }
    }

    /// Goes on by so many blocks, and by what was read ahead of them; gives how far.
    fn advance(&mut self, mut blocks: u64) -> u64 {
        while let Some(&(from, to)) = self.ahead.first() {
            if from > blocks {
                break;
            }
            self.ahead.remove(0);
            if to >= blocks {
                blocks = to;
                break;
            }
        }
        self.ahead.iter_mut().for_each(|(from, to)| (*from, *to) = (*from - blocks, *to - blocks));
        self.next += blocks;
        blocks
    }

    /// Notes a read ahead of the stream; gives how far the stream goes on if that filled enough of the holes.
    fn note_ahead(&mut self, from: u64, to: u64, hole_shift: u32) -> u64 {
        let (from, to) = (from - self.next, to - self.next);
        let first = self.ahead.partition_point(|range| range.1 < from);
        let end = self.ahead.partition_point(|range| range.0 <= to);
        if first < end {
            let joined = (from.min(self.ahead[first].0), to.max(self.ahead[end - 1].1));
            self.ahead.splice(first..end, [joined]);
        } else if first < RANGES {
            // The farthest makes room.
            self.ahead.insert(first, (from, to));
            self.ahead.truncate(RANGES);
        } else {
            return 0;
        }
        if hole_shift >= 16 {
            return 0;
        }
        let (mut holes, mut before, mut filled) = (0, 0, 0);
        for (from, to) in &self.ahead {
            holes += from - before;
            before = *to;
            if holes <= to >> hole_shift {
                filled = *to;
            }
        }
        if filled > 0 {
            self.advance(filled)
        } else {
            0
        }
    }
}

/// What is to be prefetched, as blocks of the file: their own, and (as blocks of the file below them) indirect blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefetch {
    pub data: (u64, u64),
    pub indirect: (u64, u64),
}

/// What the prefetcher has to know of a file.
#[derive(Clone, Copy)]
pub struct Shape {
    pub block_bytes: u64,
    pub last_block: u64,
    /// The ARC's target.
    pub arc_bytes: u64,
}

/// The streams of a file, the newest first.
#[derive(Clone, Default)]
pub struct Zfetch {
    streams: Vec<Stream>,
}

impl Zfetch {
    /// Takes in a read of one block (dmu_zfetch_prepare()), and gives what to prefetch (dmu_zfetch_run()); `missed` says
    /// that the block had to come from a device.
    pub fn read(
        &mut self,
        block: u64,
        missed: bool,
        now_s: u64,
        file: &Shape,
        parameters: &Parameters,
    ) -> Option<Prefetch> {
        if !(2..FAR).contains(&file.last_block) {
            return None;
        }
        let (at, blocks) = self.find(block, now_s, file, parameters)?;
        let stream = &mut self.streams[at];
        stream.used_s = now_s;
        if blocks == 0 {
            return None;
        }
        if stream.next >= file.last_block {
            self.streams.remove(at);
            return None;
        }
        plan(stream, blocks, file, parameters);
        let mut found = Prefetch { data: (0, 0), indirect: stream.indirect };
        stream.missed |= missed;
        if stream.missed {
            found.data = stream.data;
            stream.data.0 = stream.data.1;
        }
        stream.indirect.0 = stream.indirect.1;
        Some(found)
    }

    /// The stream that the read belongs to, and by how many blocks it went on; None for a new one, or a read behind one.
    fn find(&mut self, block: u64, now_s: u64, file: &Shape, parameters: &Parameters) -> Option<(usize, u64)> {
        if let Some(at) = self.streams.iter().position(|stream| block == stream.next || block + 1 == stream.next) {
            let stream = &mut self.streams[at];
            let blocks = u64::from(block == stream.next);
            return Some((at, stream.advance(blocks)));
        }
        let reorder = (parameters.zfetch_max_reorder / file.block_bytes + 1).min(u64::from(u16::MAX));
        let old_s = now_s.saturating_sub(parameters.zfetch_max_sec_reap);
        let end = block + 1;
        for (at, stream) in self.streams.iter_mut().enumerate() {
            if block > stream.next {
                if end <= stream.next + reorder {
                    return Some((at, stream.note_ahead(block, end, parameters.zfetch_hole_shift)));
                }
            } else if end + reorder > stream.next && stream.used_s >= old_s {
                stream.used_s = now_s;
                return None;
            }
        }
        if end < file.last_block {
            self.create(end, now_s, file, parameters);
        }
        None
    }

    /// dmu_zfetch_stream_create(): old streams make room.
    fn create(&mut self, next: u64, now_s: u64, file: &Shape, parameters: &Parameters) {
        let old_s = now_s.saturating_sub(parameters.zfetch_max_sec_reap);
        self.streams.retain(|stream| stream.used_s >= old_s);
        let file_bytes = u128::from(file.last_block) * u128::from(file.block_bytes);
        let apart = (file_bytes / u128::from(parameters.zfetch_max_distance.max(1))).min(u128::from(u64::MAX)) as u64;
        let most = parameters.zfetch_max_streams.min(apart).max(1) as usize;
        if self.streams.len() >= most {
            let reap_s = now_s.saturating_sub(parameters.zfetch_min_sec_reap);
            let oldest = self.streams.iter().map(|stream| stream.used_s).filter(|used_s| *used_s < reap_s).min();
            let Some(at) = oldest.and_then(|used_s| self.streams.iter().rposition(|stream| stream.used_s == used_s))
            else {
                return;
            };
            self.streams.remove(at);
        }
        self.streams.insert(0, Stream::new(next, now_s, parameters));
    }
}

/// Moves the ends of what is to be prefetched: the distance doubles with each read up to zfetch_min_distance. What OpenZFS
/// adds when a prefetch comes too late has no place here, where I/O takes no time.
fn plan(stream: &mut Stream, blocks: u64, file: &Shape, parameters: &Parameters) {
    let bytes = blocks * file.block_bytes;
    let ample = stream.distance_bytes < file.block_bytes || file.arc_bytes >> 4 >= file.block_bytes;
    if stream.distance_bytes < bytes {
        stream.distance_bytes = bytes;
    } else if stream.distance_bytes < parameters.zfetch_min_distance && ample {
        stream.distance_bytes *= 2;
    }
    stream.distance_bytes = stream.distance_bytes.min(parameters.zfetch_max_distance);
    stream.data.0 = stream.data.0.max(stream.next);
    stream.data.1 = stream.data.1.max(stream.next + stream.distance_bytes / file.block_bytes);

    let doubled = stream.indirect_distance_bytes.saturating_mul(2).max(bytes);
    stream.indirect_distance_bytes = doubled.min(parameters.zfetch_max_idistance);
    stream.indirect.0 = stream.indirect.0.max(stream.data.1);
    stream.indirect.1 = stream.indirect.1.max(stream.data.1 + stream.indirect_distance_bytes / file.block_bytes);
}

#[cfg(test)]
mod tests {
    use super::super::tests::parameters;
    use super::*;

    const FILE: Shape = Shape { block_bytes: 16384, last_block: 100_000, arc_bytes: 1 << 30 };

    fn data(zfetch: &mut Zfetch, block: u64, missed: bool, now_s: u64) -> (u64, u64) {
        zfetch.read(block, missed, now_s, &FILE, &parameters()).map_or((0, 0), |found| found.data)
    }

    #[test]
    fn the_distance_doubles_up_to_its_least() {
        let mut zfetch = Zfetch::default();
        let found: Vec<_> = (10..20).map(|block| data(&mut zfetch, block, true, 9)).collect();
        let ends = [13, 15, 18, 23, 32, 49, 82, 147, 276];
        assert_eq!(found[0], (0, 0));
        assert_eq!(found[1], (12, 13));
        assert!(found[1..].iter().zip(ends).all(|(found, end)| found.1 == end), "{found:?}");
        assert!(found[1..].windows(2).all(|pair| pair[1].0 == pair[0].1));
    }

    #[test]
    fn nothing_is_fetched_for_a_stream_that_never_waited() {
        let mut zfetch = Zfetch::default();
        assert!((10..20).all(|block| data(&mut zfetch, block, false, 9) == (0, 0)));
        assert_ne!(data(&mut zfetch, 20, true, 9), (0, 0));
        assert_ne!(data(&mut zfetch, 21, false, 9), (0, 0));
    }

    #[test]
    fn indirect_blocks_are_fetched_further_ahead() {
        let mut zfetch = Zfetch::default();
        let found = (10..14).filter_map(|block| zfetch.read(block, false, 9, &FILE, &parameters()));
        assert_eq!(found.map(|found| found.indirect).collect::<Vec<_>>(), [(13, 14), (15, 17), (18, 22)]);
    }

    #[test]
    fn of_too_many_reads_ahead_the_farthest_is_forgotten() {
        let mut zfetch = Zfetch::default();
        data(&mut zfetch, 10, true, 9);
        for block in (20..=100).step_by(10) {
            data(&mut zfetch, block, true, 9);
        }
        let ahead = |zfetch: &Zfetch| zfetch.streams[0].ahead.iter().map(|range| range.0 + 11).collect::<Vec<_>>();
        assert_eq!(ahead(&zfetch), [20, 30, 40, 50, 60, 70, 80, 90, 100]);
        data(&mut zfetch, 110, true, 9);
        assert_eq!(ahead(&zfetch).last(), Some(&100));
        data(&mut zfetch, 45, true, 9);
        assert_eq!(ahead(&zfetch), [20, 30, 40, 45, 50, 60, 70, 80, 90]);
    }

    #[test]
    fn reads_ahead_of_a_stream_wait_until_the_holes_are_few() {
        let mut zfetch = Zfetch::default();
        data(&mut zfetch, 10, true, 9);
        // 11 is missing: with 12 to 14 the hole is a quarter of what was passed.
        assert_eq!([12, 13].map(|block| data(&mut zfetch, block, true, 9)), [(0, 0); 2]);
        let (from, to) = data(&mut zfetch, 14, true, 9);
        assert_eq!((from, to > 15), (15, true));
        // A read behind the stream belongs to it, and changes nothing.
        assert_eq!(data(&mut zfetch, 12, true, 9), (0, 0));
        assert_eq!(zfetch.streams.len(), 1);
        // The hole is closed from behind: 16 and 17 are ahead, and 15 joins them.
        assert_eq!(data(&mut zfetch, 17, true, 9).1, 0);
        data(&mut zfetch, 15, true, 9);
        assert_eq!(zfetch.streams[0].next, 16);
        data(&mut zfetch, 16, true, 9);
        assert_eq!(zfetch.streams[0].next, 18);
    }

    #[test]
    fn a_file_has_as_many_streams_as_fit_apart() {
        let mut zfetch = Zfetch::default();
        // 100,000 blocks of 16K hold 24 streams of 64 MiB, more than zfetch_max_streams.
        for at in 0..20 {
            data(&mut zfetch, at * 5000, true, 9);
        }
        assert_eq!(zfetch.streams.len(), 8);
        // One that was never hit may be replaced a second later, one that was hit after two.
        data(&mut zfetch, 1, true, 10);
        assert_eq!(zfetch.streams.len(), 8);
        data(&mut zfetch, 99_000, true, 10);
        assert_eq!(zfetch.streams[0].next, 99_001);
        data(&mut zfetch, 50_000, true, 20);
        assert_eq!(zfetch.streams.len(), 1);
        let small = Shape { last_block: 1, ..FILE };
        assert_eq!(Zfetch::default().read(1, true, 9, &small, &parameters()), None);
    }
}
