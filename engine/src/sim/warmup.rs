//! When an L2ARC was warm.

use super::l2arc::L2arc;

/// Of what the device holds in the end.
const MOST: f64 = 0.95;
/// Of the time: an L2ARC that still grew after that wasn't warm before the trace ended.
const EARLY: f64 = 0.8;

/// How the contents of the device grew.
#[derive(Default)]
pub struct Warmup {
    began_ns: u64,
    /// When it held how much, where that changed.
    grown: Vec<(u64, u64)>,
    full_ns: Option<u64>,
}

impl Warmup {
    pub fn new(now_ns: u64, l2arc: &L2arc) -> Self {
        Self { began_ns: now_ns, grown: vec![(now_ns, l2arc.held_bytes)], full_ns: None }
    }

    pub fn note(&mut self, now_ns: u64, l2arc: &L2arc) {
        self.take(now_ns, l2arc.held_bytes, !l2arc.first_sweep);
    }

    fn take(&mut self, now_ns: u64, held_bytes: u64, full: bool) {
        if full && self.full_ns.is_none() {
            self.full_ns = Some(now_ns);
        }
        if self.full_ns.is_none() && self.grown.last().is_none_or(|last| held_bytes > last.1) {
            self.grown.push((now_ns, held_bytes));
        }
    }

    /// Nanoseconds until the device was written to its end, or held 95 % of what it held in the end; None where that took
    /// more than 80 % of the time, or it never held anything.
    pub fn finish(&self, now_ns: u64) -> Option<u64> {
        if let Some(full_ns) = self.full_ns {
            return Some(full_ns - self.began_ns);
        }
        let held_bytes = self.grown.last().map_or(0, |last| last.1);
        let most = (held_bytes as f64 * MOST) as u64;
        let reached_ns = self.grown.iter().find(|(_, held)| *held >= most)?.0 - self.began_ns;
        let early = reached_ns as f64 <= (now_ns - self.began_ns) as f64 * EARLY;
        (held_bytes > 0 && early).then_some(reached_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warmup(grown: &[(u64, u64)]) -> Warmup {
        let mut warmup = Warmup { began_ns: 100, ..Warmup::default() };
        grown.iter().for_each(|(now_ns, held)| warmup.take(*now_ns, *held, false));
        warmup
    }

    #[test]
    fn is_warm_once_it_hardly_grows() {
        let warmup = warmup(&[(101, 500), (102, 949), (103, 950), (110, 1000), (120, 1000)]);
        assert_eq!(warmup.finish(200), Some(3));
        assert_eq!(warmup.finish(103), None);
    }

    #[test]
    fn is_not_warm_while_it_grows_or_is_empty() {
        assert_eq!(warmup(&[(101, 500), (190, 1000)]).finish(200), None);
        assert_eq!(warmup(&[(101, 0)]).finish(200), None);
    }

    #[test]
    fn is_warm_when_full() {
        let mut warmup = warmup(&[(101, 500)]);
        warmup.take(195, 900, true);
        warmup.take(199, 800, true);
        assert_eq!(warmup.finish(200), Some(95));
    }
}
