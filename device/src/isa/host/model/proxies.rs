//! The model of the two proxies: what threads have accessed in shared memory, and may not be copied
//! to by the copy engine before their fence and a barrier.
//!
//! Threads access shared memory through the generic proxy, and bulk copies write it through the
//! async one. A barrier orders accesses through one proxy alone.

use std::cell::Cell;
use std::collections::BTreeMap;

thread_local! {
    /// Whether code of one thread of a role runs, rather than code of all of them.
    static ONE_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body`, which is code of one thread alone.
pub(in crate::isa::host) fn in_one_thread(body: impl FnOnce()) {
    let before = ONE_THREAD.replace(true);
    body();
    ONE_THREAD.set(before);
}

/// Parts of memory, by the address of the first byte and the one behind the last.
#[derive(Default)]
pub(super) struct Ranges {
    parts: BTreeMap<usize, usize>,
    /// The part that was added to last.
    last: (usize, usize),
}

impl Ranges {
    pub(super) const fn new() -> Self {
        Ranges { parts: BTreeMap::new(), last: (0, 0) }
    }

    pub(super) fn add(&mut self, first: usize, bytes: usize) {
        let (mut start, mut end) = (first, first + bytes);
        if self.last.0 <= start && end <= self.last.1 {
            return;
        }
        while let Some((&before, &its_end)) = self.parts.range(..=end).next_back().filter(|part| *part.1 >= start) {
            self.parts.remove(&before);
            (start, end) = (start.min(before), end.max(its_end));
        }
        self.parts.insert(start, end);
        self.last = (start, end);
    }

    pub(super) fn overlap(&self, first: usize, bytes: usize) -> bool {
        self.parts.range(..first + bytes).next_back().is_some_and(|(_, &end)| end > first)
    }

    pub(super) fn append(&mut self, other: &mut Ranges) {
        for (&start, &end) in &other.parts {
            self.add(start, end - start);
        }
        other.clear();
    }

    pub(super) fn clear(&mut self) {
        self.parts.clear();
        self.last = (0, 0);
    }
}

/// What the threads of a block, or of a role, have accessed through the generic proxy.
pub(in crate::isa::host) struct Accesses {
    /// By whichever thread, with no fence since.
    unfenced: Ranges,
    /// By the group's first thread alone, with no fence of it since.
    of_one: Ranges,
    /// Stages that a role reads, with no fence since, by the mbarrier that it hands each over at.
    read: BTreeMap<usize, (usize, usize)>,
    /// With a fence of the thread since, but no barrier or arrival.
    fenced: Ranges,
    /// With an arrival since, at the barrier of this number, for which nobody has waited.
    arrived: BTreeMap<usize, Ranges>,
}

impl Accesses {
    pub(in crate::isa::host) const fn new() -> Self {
        Accesses {
            unfenced: Ranges::new(),
            of_one: Ranges::new(),
            read: BTreeMap::new(),
            fenced: Ranges::new(),
            arrived: BTreeMap::new(),
        }
    }

    pub(in crate::isa::host) fn clear(&mut self) {
        for ranges in [&mut self.unfenced, &mut self.of_one, &mut self.fenced] {
            ranges.clear();
        }
        self.read.clear();
        self.arrived.clear();
    }

    /// Takes over those of a role at its end.
    pub(in crate::isa::host) fn absorb(&mut self, role: &mut Accesses) {
        self.unfenced.append(&mut role.unfenced);
        self.unfenced.append(&mut role.of_one);
        for (first, bytes) in std::mem::take(&mut role.read).into_values() {
            self.unfenced.add(first, bytes);
        }
        self.fenced.append(&mut role.fenced);
        for mut arrived in std::mem::take(&mut role.arrived).into_values() {
            self.fenced.append(&mut arrived);
        }
    }

    /// The calling threads access these bytes.
    pub(in crate::isa::host) fn touch(&mut self, first: usize, bytes: usize) {
        let of_whom = if ONE_THREAD.get() { &mut self.of_one } else { &mut self.unfenced };
        of_whom.add(first, bytes);
    }

    /// The role reads a stage, until it arrives at a barrier.
    pub(in crate::isa::host) fn read_stage(&mut self, first: usize, bytes: usize, barrier: usize) {
        self.read.insert(barrier, (first, bytes));
    }

    /// `fence.proxy.async` in the calling threads.
    pub(in crate::isa::host) fn fence(&mut self) {
        if ONE_THREAD.get() {
            // What this thread did comes before what it does next: it needs no barrier.
            return self.of_one.clear();
        }
        for ranges in [&mut self.unfenced, &mut self.of_one] {
            self.fenced.append(ranges);
        }
        for (first, bytes) in std::mem::take(&mut self.read).into_values() {
            self.fenced.add(first, bytes);
        }
    }

    /// A barrier of the threads.
    pub(in crate::isa::host) fn barrier(&mut self) {
        self.fenced.clear();
        self.arrived.clear();
    }

    /// An arrival of all threads at a barrier of their own.
    pub(in crate::isa::host) fn arrive_at(&mut self, barrier: usize) {
        self.arrived.entry(barrier).or_default().append(&mut self.fenced);
    }

    /// All threads wait for the arrivals at a barrier of their own.
    pub(in crate::isa::host) fn wait_for(&mut self, barrier: usize) {
        self.arrived.remove(&barrier);
    }

    /// An arrival of all threads of a role. If a stage that it read without a fence is handed over
    /// so, it is noted as that.
    pub(in crate::isa::host) fn arrive(&mut self, barrier: usize, handed_over: &mut Accesses) {
        self.fenced.clear();
        if let Some((first, bytes)) = self.read.remove(&barrier) {
            handed_over.unfenced.add(first, bytes);
        }
    }

    /// Refuses a bulk copy to memory that threads have accessed without a fence and a barrier.
    pub(in crate::isa::host) fn check(&self, first: usize, bytes: usize) {
        self.check_source(first, bytes);
        let read = self.read.values().any(|(start, len)| *start < first + bytes && first < start + len);
        assert!(
            !read,
            "race between the proxies: a bulk copy (async proxy) to a stage that a role still reads (generic proxy)"
        );
    }

    /// Refuses a bulk store from such memory. (A stage that a role reads may be stored meanwhile:
    /// both read it.)
    pub(in crate::isa::host) fn check_source(&self, first: usize, bytes: usize) {
        let arrived =
            self.arrived.values().map(|ranges| (ranges, "and fenced, without a wait for their arrivals since"));
        for (ranges, missing) in [
            (&self.unfenced, "without `fence.proxy.async` in each of them"),
            (&self.of_one, "without `fence.proxy.async`"),
            (&self.fenced, "and fenced, without a barrier since"),
        ]
        .into_iter()
        .chain(arrived)
        {
            assert!(
                !ranges.overlap(first, bytes),
                "race between the proxies: a bulk copy (async proxy) to memory that threads have accessed (generic proxy) \
                 {missing}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_touch_are_one() {
        let mut ranges = Ranges::new();
        for first in [32, 0, 64, 16, 48] {
            ranges.add(first, 16);
        }
        assert_eq!(ranges.parts.iter().collect::<Vec<_>>(), [(&0, &80)]);
        ranges.add(96, 4);
        ranges.add(8, 90);
        assert_eq!(ranges.parts.iter().collect::<Vec<_>>(), [(&0, &100)]);
        assert!(ranges.overlap(99, 1) && !ranges.overlap(100, 8));
        ranges.clear();
        ranges.add(40, 8);
        assert!(!ranges.overlap(0, 40) && ranges.overlap(0, 41) && ranges.overlap(47, 1) && !ranges.overlap(48, 9));
    }

    fn refuses(accesses: &Accesses) -> bool {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| accesses.check(16, 16))).is_err()
    }

    #[test]
    fn a_fence_an_arrival_and_a_wait_for_that_are_as_a_barrier() {
        let mut accesses = Accesses::new();
        accesses.touch(0, 32);
        accesses.arrive_at(1);
        accesses.wait_for(1);
        assert!(refuses(&accesses), "there was no fence");
        accesses.fence();
        accesses.arrive_at(1);
        accesses.touch(64, 8);
        accesses.fence();
        accesses.arrive_at(2);
        accesses.wait_for(2);
        assert!(refuses(&accesses), "that was another barrier");
        accesses.wait_for(1);
        assert!(!refuses(&accesses));
        // What was not waited for stays so at the end of a role.
        accesses.touch(0, 32);
        accesses.fence();
        accesses.arrive_at(1);
        let mut block = Accesses::new();
        block.absorb(&mut accesses);
        assert!(refuses(&block) && !refuses(&accesses));
        block.barrier();
        assert!(!refuses(&block));
    }

    #[test]
    fn a_fence_and_then_a_barrier_are_what_a_bulk_copy_wants() {
        let mut accesses = Accesses::new();
        accesses.touch(0, 32);
        assert!(refuses(&accesses));
        accesses.barrier();
        assert!(refuses(&accesses), "a barrier orders one proxy alone");
        accesses.fence();
        assert!(refuses(&accesses), "a fence behind the barrier is that of each thread for itself");
        accesses.barrier();
        assert!(!refuses(&accesses));
    }

    #[test]
    fn a_fence_of_one_thread_is_for_its_own_accesses_alone() {
        let mut accesses = Accesses::new();
        in_one_thread(|| accesses.touch(16, 4));
        assert!(refuses(&accesses));
        in_one_thread(|| accesses.fence());
        assert!(!refuses(&accesses));
        accesses.touch(16, 4);
        in_one_thread(|| accesses.fence());
        accesses.barrier();
        assert!(refuses(&accesses), "the others have no fence");
    }

    #[test]
    fn a_stage_that_a_role_read_is_handed_over_by_its_arrival() {
        let (empty, other) = (1000, 1008);
        let (mut role, mut shared) = (Accesses::new(), Accesses::new());
        role.read_stage(0, 64, empty);
        role.arrive(other, &mut shared);
        assert!(!refuses(&shared) && refuses(&role), "another pipeline's mbarrier hands nothing over");
        role.arrive(empty, &mut shared);
        assert!(refuses(&shared) && !refuses(&role));
        let (mut role, mut shared) = (Accesses::new(), Accesses::new());
        role.read_stage(0, 64, empty);
        role.fence();
        role.arrive(empty, &mut shared);
        assert!(!refuses(&shared) && !refuses(&role));
    }
}
