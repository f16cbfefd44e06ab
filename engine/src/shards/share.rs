//! One in so many blocks of a trace, chosen by the hash of a survey: so a survey knows what will be in it.

use std::num::NonZeroU64;

use super::hash;
use crate::reads::Object;
use crate::trace::Record;

/// The hash of an object, which tells its blocks from those of others.
pub fn of_object(object: &Object) -> u64 {
    hash(hash(hash(object.objset) ^ object.object) ^ u64::from(object.level))
}

/// The hash of a block of an object with that hash.
#[inline]
pub fn of_block(object: u64, blkid: u64) -> u64 {
    hash(blkid ^ object)
}

/// The largest hash of one in so many blocks.
pub fn last_of(one_in: NonZeroU64) -> u64 {
    u64::MAX / one_in
}

/// Tells which records are of the blocks in the share.
pub struct Share {
    last: u64,
    /// The object read last, which is often the next one's too, and its hash.
    object: Option<(Object, u64)>,
}

impl Share {
    pub fn one_in(number: NonZeroU64) -> Self {
        Self { last: last_of(number), object: None }
    }

    pub fn holds(&mut self, record: &Record) -> bool {
        let object = Object::of(record);
        let hash = match self.object {
            Some((last, hash)) if last == object => hash,
            _ => of_object(&object),
        };
        self.object = Some((object, hash));
        of_block(hash, record.blkid) <= self.last
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::shards::{Size, Surveyor};
    use crate::trace::Class;

    #[test]
    fn a_share_holds_the_blocks_and_reads_that_the_survey_says() {
        let mut random = 1u64;
        let records: Vec<Record> = (0..60_000)
            .map(|time_ns| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let (object, level, blkid) = (random >> 62, (random >> 60) as u8 % 2, (random >> 33) % 1000);
                let size = NonZeroU32::new(512).unwrap();
                Record { time_ns, objset: 5, object, level, blkid, size, class: Class::Arc }
            })
            .collect();
        let mut surveyor = Surveyor::new(Size::rate(1.0), 1.0);
        records.iter().for_each(|record| surveyor.record(record));
        let survey = surveyor.finish();
        for one_in in [1, 2, 7, 100, u64::MAX].map(|number| NonZeroU64::new(number).unwrap()) {
            let mut share = Share::one_in(one_in);
            let held: Vec<&Record> = records.iter().filter(|record| share.holds(record)).collect();
            let blocks: std::collections::HashSet<_> = held.iter().map(|one| (Object::of(one), one.blkid)).collect();
            assert_eq!(survey.share(one_in), (blocks.len() as u64, held.len() as u64));
            let expected = 8000.0 / one_in.get() as f64;
            assert!((blocks.len() as f64 - expected).abs() <= 4.0 * expected.sqrt(), "{one_in}: {}", blocks.len());
        }
    }
}
