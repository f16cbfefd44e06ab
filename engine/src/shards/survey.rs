//! A trace read once, record by record: what is counted of all reads, and a sample of the blocks for the rest.

use std::num::NonZeroU64;

use super::share::{last_of, of_block, of_object};
use super::{group, Earlier, Sample, Sampler, Size, GROUPS};
use crate::hash::FastMap;
use crate::reads::Object;
use crate::trace::{Class, Record};

/// Takes records one by one; its memory grows with the sample and the number of objects, not with the trace.
pub struct Surveyor {
    sampler: Sampler,
    /// The share of the blocks that the recorder kept.
    kept: f64,
    group_references: [u64; GROUPS],
    /// The number of each object, and a hash to tell its blocks from those of others.
    object_at: FastMap<Object, (u32, u64)>,
    last: Option<(Object, (u32, u64))>,
    objects: Vec<ObjectSurvey>,
    classes: [u64; Class::NAMES.len()],
    /// The first, the last and the latest time.
    times: Option<[u64; 3]>,
    out_of_order: u64,
}

/// Reads of an object (a file, at level 0): counted, and the blocks of it that are in the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectSurvey {
    pub object: Object,
    pub references: u64,
    pub sampled_blocks: u64,
}

/// What is known of a trace.
pub struct Survey {
    pub sample: Sample,
    pub objects: Vec<ObjectSurvey>,
    /// Records by [`Class`], in the order of [`Class::NAMES`]; those that are no reads are in no other figure.
    pub classes: [u64; Class::NAMES.len()],
    /// From the earliest record to the latest.
    pub span_ns: u64,
    /// Records with an earlier time than the record before them.
    pub out_of_order: u64,
}

impl Survey {
    /// The blocks of a [`Share`](super::Share) and their reads: of one in so many blocks, which are no more than were
    /// sampled.
    pub fn share(&self, one_in: NonZeroU64) -> (u64, u64) {
        let last = last_of(one_in);
        let held = self.sample.blocks.iter().filter(|(hash, _)| *hash <= last);
        held.fold((0, 0), |(blocks, reads), (_, block)| (blocks + 1, reads + u64::from(block.reads)))
    }
}

impl Surveyor {
    /// `kept` is the share of the blocks that the trace holds: 1 for all.
    pub fn new(size: Size, kept: f64) -> Self {
        Self {
            sampler: Sampler::new(size),
            kept,
            group_references: [0; GROUPS],
            object_at: FastMap::default(),
            last: None,
            objects: Vec::new(),
            classes: [0; Class::NAMES.len()],
            times: None,
            out_of_order: 0,
        }
    }

    /// Counts a record.
    pub fn record(&mut self, record: &Record) {
        self.classes[record.class as usize] += 1;
        if !record.class.is_read() {
            return;
        }
        let [first, previous, last] = self.times.unwrap_or([record.time_ns; 3]);
        self.out_of_order += u64::from(record.time_ns < previous);
        self.times = Some([first.min(record.time_ns), record.time_ns, last.max(record.time_ns)]);
        let object = Object::of(record);
        let (number, of_object) = match self.last {
            Some((last, found)) if last == object => found,
            _ => self.object(object),
        };
        self.objects[number as usize].references += 1;
        let hash = of_block(of_object, record.blkid);
        self.group_references[group(hash)] += 1;
        self.sampler.read(hash, record.size.get(), number);
    }

    fn object(&mut self, object: Object) -> (u32, u64) {
        let objects = &mut self.objects;
        let found = *self.object_at.entry(object).or_insert_with(|| {
            objects.push(ObjectSurvey { object, references: 0, sampled_blocks: 0 });
            (objects.len() as u32 - 1, of_object(&object))
        });
        self.last = Some((object, found));
        found
    }

    /// What is known after the last record.
    pub fn finish(mut self) -> Survey {
        let mut sample = self.sampler.finish();
        if self.kept < 1.0 {
            sample.earlier = Some(Earlier { rate: self.kept, references: self.group_references });
        }
        for (_, block) in &sample.blocks {
            self.objects[block.tag as usize].sampled_blocks += 1;
        }
        let [first, _, last] = self.times.unwrap_or_default();
        Survey {
            sample,
            objects: self.objects,
            classes: self.classes,
            span_ns: last - first,
            out_of_order: self.out_of_order,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{read, Expected};

    fn survey(lines: &[&str], kept: f64) -> Survey {
        let mut surveyor = Surveyor::new(Size::rate(1.0), kept);
        let each = |record: &Record| {
            surveyor.record(record);
            Ok(())
        };
        read((lines.join("\n") + "\n").as_bytes(), Expected { complete: true, records: None }, each, |_| true).unwrap();
        surveyor.finish()
    }

    #[test]
    fn counts_are_of_all_reads() {
        let survey = survey(
            &[
                "5 1 7 0 0 512 miss",
                "6 1 7 0 1 512 miss",
                "9 1 8 0 0 512 arc",
                "8 1 7 0 0 1024 dbuf",
                "9 1 7 1 0 512 -",
                "1 1 7 0 2 512 prefetch",
            ],
            1.0,
        );
        assert_eq!((survey.sample.references, survey.span_ns, survey.out_of_order), (5, 4, 1));
        assert_eq!(survey.classes, [1, 1, 0, 2, 0, 0, 1, 0, 1, 0]);
        let objects: Vec<_> =
            survey.objects.iter().map(|o| (o.object.object, o.references, o.sampled_blocks)).collect();
        assert_eq!(objects, [(7, 3, 2), (8, 1, 1), (7, 1, 1)]);
        assert_eq!((survey.sample.count(|_| true).value, survey.sample.distinct_bytes().value), (4.0, 2560.0));
        assert_eq!(survey.sample.earlier, None);
    }

    #[test]
    fn of_a_recorded_sample_the_reads_are_counted_by_group() {
        let survey = survey(&["5 1 7 0 0 512 -", "6 1 7 0 1 512 -", "9 1 7 0 0 512 -"], 0.01);
        let earlier = survey.sample.earlier.unwrap();
        assert_eq!((earlier.rate, earlier.references.iter().sum()), (0.01, 3));
        assert!(survey.sample.miss_ratios(&[1 << 20])[0].error > 0.1);
    }
}
