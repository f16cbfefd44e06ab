//! The sampler as a whole, against the exact engine.

use super::*;
use crate::stack::ByteStack;
use std::num::NonZeroU32;

const SIZE: u32 = 16384;

/// Reads with a skew: the block numbers are powers of a random number, so that low ones are hot. Each seed has
/// blocks of its own, and so another sample of them.
fn reads(count: usize, blocks: f64, skew: i32, seed: u64) -> Vec<u64> {
    let draws = (0..count as u64).map(|draw| hash(draw + (seed << 40)) as f64 / 2f64.powi(64));
    draws.map(|draw| (draw.powi(skew) * blocks) as u64 + (seed << 32)).collect()
}

fn sample(reads: &[u64], size: Size) -> Sample {
    let mut sampler = Sampler::new(size);
    reads.chunks(1_000).for_each(|some| sampler.read_all(some, SIZE));
    sampler.finish()
}

fn exact(reads: &[u64], sizes: &[u64]) -> Vec<f64> {
    let mut stack = ByteStack::default();
    let mut number_of = std::collections::HashMap::new();
    let mut distances = Vec::new();
    for read in reads {
        let next = number_of.len();
        let number = *number_of.entry(*read).or_insert(next);
        distances.push(stack.read(number, NonZeroU32::new(SIZE).unwrap()).unwrap_or(u64::MAX));
    }
    distances.sort_unstable();
    let misses = |size: &u64| reads.len() - distances.partition_point(|distance| distance <= size);
    sizes.iter().map(|size| misses(size) as f64 / reads.len() as f64).collect()
}

fn sizes_up_to(blocks: u64) -> Vec<u64> {
    (1..=64).map(|part| part * blocks / 64 * u64::from(SIZE)).collect()
}

#[test]
fn a_sample_of_all_is_exact_but_for_the_width_of_a_bucket() {
    let reads = reads(50_000, 3000.0, 2, 1);
    let sizes: Vec<u64> = (0..=255).map(|blocks| blocks * u64::from(SIZE)).collect(); // these are edges of buckets
    for size in [Size::rate(1.0), Size::blocks(3000)] {
        let sample = sample(&reads, size);
        let found = sample.miss_ratios(&sizes);
        for (found, right) in found.iter().zip(exact(&reads, &sizes)) {
            assert!((found.value - right).abs() < 1e-9 && found.error == 0.0, "{found:?} {right}");
        }
        assert_eq!((sample.rate, sample.references, sample.sampled), (1.0, 50_000, 50_000));
        let distinct = sample.blocks.len() as f64;
        assert_eq!(sample.count(|_| true), Estimate { value: distinct, error: 0.0 });
        assert_eq!(sample.distinct_bytes().value, distinct * f64::from(SIZE));
        assert_eq!(sample.blocks.iter().map(|(_, block)| block.reads).sum::<u32>(), 50_000);
    }
}

#[test]
fn a_sample_is_near_the_exact_curve_and_its_error_tells_how_near() {
    let sizes = sizes_up_to(5_000);
    let (mut within, mut all, mut sum_off) = (0, 0, 0.0);
    for (size, skew) in [Size::rate(0.2), Size::blocks(1024)].into_iter().flat_map(|size| [(size, 1), (size, 3)]) {
        for seed in 0..25 {
            let reads = reads(20_000, 5_000.0, skew, seed);
            let found = sample(&reads, size).miss_ratios(&sizes);
            let off =
                found.iter().zip(exact(&reads, &sizes)).map(|(found, right)| (found, (found.value - right).abs()));
            sum_off += off.clone().map(|(_, off)| off).sum::<f64>();
            within += off.filter(|(found, off)| *off <= 2.0 * found.error).count();
            all += sizes.len();
        }
    }
    assert!(sum_off / (all as f64) < 0.015, "{}", sum_off / all as f64);
    let share = within as f64 / all as f64;
    assert!(share > 0.9, "{share} of the errors are at most twice the standard error");
}

#[test]
fn the_error_of_a_thinner_sample_is_foretold() {
    let sizes = sizes_up_to(20_000);
    let foretold = |rate| {
        let errors = (0..20).map(|seed| {
            let sample = sample(&reads(60_000, 20_000.0, 2, seed), Size::rate(rate));
            sample.miss_ratios_at(&sizes, 0.05).into_iter().map(|found| found.error).sum::<f64>()
        });
        errors.sum::<f64>() / 20.0 / sizes.len() as f64
    };
    let own = foretold(0.05);
    for rate in [0.2, 1.0] {
        assert!((foretold(rate) / own - 1.0).abs() < 0.1, "{} {own}", foretold(rate));
    }
    let whole = sample(&reads(60_000, 20_000.0, 2, 1), Size::rate(1.0));
    let below_what_it_resolves = &whole.miss_ratios_at(&[u64::from(SIZE)], 0.05)[0];
    assert!(below_what_it_resolves.error > 0.01);
}

#[test]
fn counts_of_blocks_are_near() {
    let reads = reads(300_000, 100_000.0, 1, 3);
    let mut times = std::collections::HashMap::new();
    reads.iter().for_each(|read| *times.entry(*read).or_insert(0) += 1);
    let once = times.values().filter(|times| **times == 1).count() as f64;
    for size in [Size::rate(0.02), Size::blocks(2048)] {
        let sample = sample(&reads, size);
        for (found, right) in
            [(sample.count(|_| true), times.len() as f64), (sample.count(|block| block.reads == 1), once)]
        {
            assert!((found.value - right).abs() < 3.0 * found.error && found.error < right / 15.0, "{found:?} {right}");
        }
    }
}

#[test]
fn sifting_in_another_thread_changes_nothing() {
    let reads = reads(3 * PART + 5, 50_000.0, 2, 7);
    let mut sampler = Sampler::new(Size::rate(0.02));
    sampler.read_all(&reads, SIZE);
    let (at_once, in_parts) = (sampler.finish(), sample(&reads, Size::rate(0.02)));
    let sizes = sizes_up_to(50_000);
    assert_eq!(at_once.miss_ratios(&sizes), in_parts.miss_ratios(&sizes));
    assert_eq!((at_once.sampled, at_once.references), (in_parts.sampled, in_parts.references));
}

#[test]
fn a_fixed_size_is_kept() {
    let mut sampler = Sampler::new(Size::blocks(100));
    for read in 0..100_000 {
        sampler.read(hash(read), SIZE, 0);
        // Blocks leave between batches.
        assert!(sampler.blocks.len() <= 100 + CHUNK);
    }
    let sample = sampler.finish();
    assert_eq!((sample.blocks.len(), sample.references), (100, 100_000));
    assert!((0.0007..0.0014).contains(&sample.rate));
}

#[test]
fn a_cache_below_what_the_sample_resolves_may_hit_nothing() {
    let reads: Vec<u64> = (0..400_000).map(|at| at / 400_000 + at % 20_000).collect();
    let sample = sample(&reads, Size::rate(0.01));
    let resolved = sample.resolved_bytes();
    assert!((700..900).contains(&(resolved / u64::from(SIZE))));
    let found = sample.miss_ratios(&[0, u64::from(SIZE), resolved]);
    assert_eq!(found[0], Estimate { value: 1.0, error: 0.0 });
    assert!(found[1].error >= 1.0 - found[2].value);
}

#[test]
fn a_rate_with_a_least_number_of_blocks_is_the_rate_once_that_is_more() {
    let both = Size { rate: 0.01, blocks: 100 };
    let few = sample(&(0..5_000).collect::<Vec<_>>(), both);
    assert!(few.rate > 0.015 && few.blocks.len() == 100);
    let many: Vec<u64> = (0..50_000).collect();
    let (many, plain) = (sample(&many, both), sample(&many, Size::rate(0.01)));
    let sorted = |sample: Sample| {
        let mut blocks = sample.blocks;
        blocks.sort_unstable_by_key(|block| block.0);
        blocks
    };
    assert_eq!(many.rate, plain.rate);
    assert!(sorted(many) == sorted(plain));
}

#[test]
fn a_sample_of_too_little_says_that_it_knows_nothing() {
    for reads in [vec![7], vec![7, 7], vec![1, 2, 3]] {
        for size in [Size::rate(1e-9), Size::rate(0.9), Size::blocks(1), Size::rate(1.0)] {
            let sample = sample(&reads, size);
            for found in sample.miss_ratios(&sample.sizes()[1..]) {
                let known = sample.rate == 1.0;
                assert!((0.0..=1.0).contains(&found.value) && (found.error < 1.0) == known, "{found:?}");
            }
        }
    }
}
