//! The model of a block's mbarriers: phases, the arrivals that each counts, and the copies that
//! arrive when they land.
//!
//! An mbarrier is known by its address in shared memory. Its state is here; the eight bytes there
//! are poison.

use std::collections::{BTreeMap, VecDeque};

use super::model::{Accesses, Unit};
use super::random::Random;

/// The size of an mbarrier in shared memory in bytes, and its alignment (PTX "mbarrier object").
pub(super) const BYTES: usize = 8;
/// The most arrivals that a phase can count (PTX "Contents of the mbarrier object").
const MOST_ARRIVALS: u32 = (1 << 20) - 1;
/// The most bytes that a phase can wait for, and the most that may land before they are announced.
const MOST_BYTES: i64 = (1 << 20) - 1;

/// The initialised mbarriers of a block, and the copies that arrive at them.
pub(super) struct Barriers {
    by_address: BTreeMap<usize, Barrier>,
    deferred: VecDeque<Deferred>,
    /// What roles have read and handed over without a fence between the proxies.
    pub(super) handed_over: Accesses,
    /// How many have been initialised in this block so far.
    made: usize,
    /// The address of the first byte of the block's shared memory.
    start: usize,
}

/// One mbarrier.
struct Barrier {
    /// Its place in the order in which the block's mbarriers were initialised.
    number: usize,
    name: Option<(&'static str, u32)>,
    /// The arrivals that the next phase counts.
    expected: u32,
    /// The arrivals that the present phase still waits for.
    pending: u32,
    /// Of these, the ones that copies in flight will make.
    deferred: u32,
    /// The transaction bytes that the present phase still waits for.
    pending_bytes: i64,
    /// How many phases are complete.
    phase: u64,
    /// The parity of the phase that is marked as one that does not come.
    marked: Option<u32>,
}

/// Copies in flight, and what they do to an mbarrier when they have landed.
struct Deferred {
    /// The role that issued them.
    role: usize,
    /// The mbarrier's address.
    barrier: usize,
    then: Then,
    units: Vec<Unit>,
}

/// What copies that have landed do to their mbarrier.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// They make so many arrivals: copies of the threads.
    Arrive(u32),
    /// They complete so many bytes: a part of a bulk copy.
    Complete(u32),
}

impl Then {
    fn arrives(self) -> bool {
        matches!(self, Then::Arrive(_))
    }
}

impl Barrier {
    /// Takes `arrivals` off the present phase, which is complete when nothing is left to wait for.
    fn count(&mut self, arrivals: u32) {
        self.pending -= arrivals;
        self.complete_if_over();
    }

    fn complete_if_over(&mut self) {
        if self.pending == 0 && self.pending_bytes == 0 {
            self.phase += 1;
            self.pending = self.expected;
        }
    }
}

impl Barriers {
    pub(super) const fn new() -> Self {
        Barriers {
            by_address: BTreeMap::new(),
            deferred: VecDeque::new(),
            handed_over: Accesses::new(),
            made: 0,
            start: 0,
        }
    }

    /// Starts a block whose shared memory begins at the address `start`.
    pub(super) fn begin(&mut self, start: usize) {
        self.by_address.clear();
        self.deferred.clear();
        self.handed_over.clear();
        (self.made, self.start) = (0, start);
    }

    /// Whether no mbarrier is initialised.
    pub(super) fn is_empty(&self) -> bool {
        self.by_address.is_empty()
    }

    /// `mbarrier.init`.
    pub(super) fn init(&mut self, address: usize, arrivals: u32) {
        assert!(address.is_multiple_of(BYTES), "mbarrier.init at an address that is no multiple of {BYTES}");
        assert!(
            (1..=MOST_ARRIVALS).contains(&arrivals),
            "mbarrier.init with {arrivals} arrivals: a phase counts 1 to {MOST_ARRIVALS}"
        );
        if self.by_address.contains_key(&address) {
            panic!("mbarrier.init of an mbarrier that is already initialised: {}", self.describe(address));
        }
        let number = self.made;
        self.made += 1;
        let barrier = Barrier {
            number,
            name: None,
            expected: arrivals,
            pending: arrivals,
            deferred: 0,
            pending_bytes: 0,
            phase: 0,
            marked: None,
        };
        self.by_address.insert(address, barrier);
    }

    /// `mbarrier.inval`, when no role waits there.
    pub(super) fn inval(&mut self, address: usize) {
        let barrier = self.get("mbarrier.inval", address);
        let pending = barrier.deferred != 0 || barrier.pending_bytes != 0;
        if pending || self.deferred.iter().any(|copies| copies.barrier == address) {
            panic!("mbarrier.inval while copies that arrive there are under way: {}", self.describe(address));
        }
        self.by_address.remove(&address);
    }

    /// Names an mbarrier in messages: "waits until stage `stage` is `name`".
    pub(super) fn name(&mut self, address: usize, name: &'static str, stage: u32) {
        self.get("the name", address).name = Some((name, stage));
    }

    /// `mbarrier.arrive` with a count.
    pub(super) fn arrive(&mut self, address: usize, arrivals: u32) {
        self.check_counted("mbarrier.arrive", address, arrivals).count(arrivals);
    }

    /// `cp.async.mbarrier.arrive.noinc`: `arrivals` of role `role` when `units` and all that it
    /// deferred before have landed.
    pub(super) fn defer(&mut self, role: usize, address: usize, arrivals: u32, units: Vec<Unit>) {
        self.check_counted("cp.async.mbarrier.arrive", address, arrivals).deferred += arrivals;
        self.deferred.push_back(Deferred { role, barrier: address, then: Then::Arrive(arrivals), units });
    }

    /// `mbarrier.expect_tx`: the present phase waits for `bytes` more.
    pub(super) fn expect_tx(&mut self, address: usize, bytes: u32) {
        let barrier = self.get("mbarrier.expect_tx", address);
        barrier.pending_bytes += i64::from(bytes);
        if barrier.pending == 0 || barrier.pending_bytes > MOST_BYTES {
            let (pending, bytes) = (barrier.pending, barrier.pending_bytes);
            let at = self.describe(address);
            panic!(
                "mbarrier.expect_tx at {at}: its phase waits for {pending} arrivals, and would wait for {bytes} bytes (at most {MOST_BYTES})"
            );
        }
    }

    /// `cp.async.bulk`, in parts that land each for itself and complete their bytes there.
    pub(super) fn copy_bulk(&mut self, role: usize, address: usize, parts: impl Iterator<Item = (Vec<Unit>, u32)>) {
        if self.get("cp.async.bulk", address).pending == 0 {
            let at = self.describe(address);
            panic!("a bulk copy that completes at {at}, whose phase may end before it: no arrival is left");
        }
        let parts = parts.map(|(units, bytes)| Deferred { role, barrier: address, then: Then::Complete(bytes), units });
        self.deferred.extend(parts);
    }

    /// Lands all bulk copies.
    pub(super) fn land_bulk(&mut self) {
        while let Some(index) = self.deferred.iter().position(|copies| !copies.then.arrives()) {
            self.land_at(index);
        }
    }

    /// Notes that the phase of this parity does not come.
    pub(super) fn mark(&mut self, address: usize, parity: u32) {
        self.get("the mark", address).marked = Some(parity);
    }

    /// Whether the phase with this parity is complete, or, for one who `looks` for marks, marked as
    /// one that does not come.
    pub(super) fn is_over(&self, address: usize, parity: u32, looks: bool) -> bool {
        let is_marked = || self.by_address.get(&address).is_some_and(|barrier| barrier.marked == Some(parity));
        self.is_complete(address, parity) || (looks && is_marked())
    }

    /// `mbarrier.test_wait.parity`: whether the phase with this parity is complete. Of the present
    /// phase and the one before it, exactly one has it.
    pub(super) fn is_complete(&self, address: usize, parity: u32) -> bool {
        assert!(parity < 2, "mbarrier.test_wait.parity of parity {parity}: parities are 0 and 1");
        match self.by_address.get(&address) {
            Some(barrier) => barrier.phase % 2 != u64::from(parity),
            None => self.missing("mbarrier.test_wait", address),
        }
    }

    /// Lands the oldest copies that arrive at an mbarrier, and counts their arrivals. Returns
    /// whether there were any.
    pub(super) fn land_oldest(&mut self) -> bool {
        match self.deferred.pop_front() {
            Some(oldest) => {
                self.land(oldest);
                true
            }
            None => false,
        }
    }

    /// Lands all copies by threads of role `role` that arrive at an mbarrier.
    pub(super) fn land_all_of(&mut self, role: usize) {
        while self.land_oldest_of(role) {}
    }

    /// Lands the oldest such copies of some role, or any part of a bulk copy.
    pub(super) fn land_any(&mut self, random: &mut Random) {
        let index = random.draw(self.deferred.len() as u64) as usize;
        match self.deferred.get(index).map(|drawn| (drawn.role, drawn.then)) {
            Some((role, Then::Arrive(_))) => _ = self.land_oldest_of(role),
            Some((_, Then::Complete(_))) => self.land_at(index),
            None => {}
        }
    }

    /// After the end of the roles, all that is still in flight belongs to the block.
    pub(super) fn adopt(&mut self, role: usize) {
        for deferred in &mut self.deferred {
            deferred.role = role;
        }
    }

    fn land_oldest_of(&mut self, role: usize) -> bool {
        let oldest = self.deferred.iter().position(|deferred| deferred.role == role && deferred.then.arrives());
        oldest.inspect(|&index| self.land_at(index)).is_some()
    }

    fn land_at(&mut self, index: usize) {
        if let Some(copies) = self.deferred.remove(index) {
            self.land(copies);
        }
    }

    fn land(&mut self, copies: Deferred) {
        for unit in copies.units {
            unit.land();
        }
        match copies.then {
            Then::Arrive(arrivals) => {
                let barrier = self.get("cp.async.mbarrier.arrive", copies.barrier);
                barrier.deferred -= arrivals;
                barrier.count(arrivals);
            }
            Then::Complete(bytes) => self.complete_tx(copies.barrier, bytes),
        }
    }

    /// `mbarrier.complete_tx`: `bytes` have landed.
    pub(super) fn complete_tx(&mut self, address: usize, bytes: u32) {
        let barrier = self.get("mbarrier.complete_tx", address);
        barrier.pending_bytes -= i64::from(bytes);
        assert!(
            barrier.pending_bytes >= -MOST_BYTES,
            "more bytes land before their announcement than an mbarrier counts"
        );
        barrier.complete_if_over();
    }

    /// Refuses memory that contains an initialised mbarrier or that copies in flight write to.
    pub(super) fn check_free(&self, first: usize, bytes: usize) {
        let from = first.saturating_sub(BYTES - 1);
        if let Some((&address, _)) = self.by_address.range(from..first + bytes).next() {
            panic!("memory of an initialised mbarrier is used again: {}", self.describe(address));
        }
        if self.deferred.iter().flat_map(|copies| &copies.units).any(|unit| unit.overlaps(first, bytes)) {
            panic!("race: a stage is filled again while copies into it are under way");
        }
    }

    /// What a role that waits at this mbarrier is waiting for.
    pub(super) fn wait_reason(&self, address: usize, parity: u32) -> String {
        let place = self.place(address);
        match self.by_address.get(&address) {
            Some(Barrier { name: Some((name, stage)), number, .. }) => {
                format!("waits until stage {stage} is {name} (phase {parity} of mbarrier {number} {place})")
            }
            Some(Barrier { number, .. }) => format!("waits for phase {parity} of mbarrier {number} ({place})"),
            None => format!("waits for an mbarrier {place}"),
        }
    }

    pub(super) fn describe(&self, address: usize) -> String {
        let place = self.place(address);
        match self.by_address.get(&address) {
            Some(Barrier { name: Some((name, stage)), number, .. }) => {
                format!("mbarrier {number} (`{name}` of stage {stage}, {place})")
            }
            Some(Barrier { number, .. }) => format!("mbarrier {number} ({place})"),
            None => place,
        }
    }

    fn place(&self, address: usize) -> String {
        match address.checked_sub(self.start) {
            Some(offset) => format!("at byte {offset} of shared memory"),
            None => "outside of shared memory".to_owned(),
        }
    }

    /// The mbarrier, after a check that it has these arrivals left beside those of copies in
    /// flight.
    fn check_counted(&mut self, operation: &str, address: usize, arrivals: u32) -> &mut Barrier {
        let &mut Barrier { pending, deferred, .. } = self.get(operation, address);
        if u64::from(arrivals) + u64::from(deferred) > u64::from(pending) {
            let at = self.describe(address);
            panic!(
                "more arrivals than counted at {at}: {arrivals} by {operation}, but its phase waits for {pending}, and \
                 copies under way make {deferred} of them"
            );
        }
        self.get(operation, address)
    }

    fn get(&mut self, operation: &str, address: usize) -> &mut Barrier {
        if !self.by_address.contains_key(&address) {
            self.missing(operation, address);
        }
        self.by_address.get_mut(&address).expect("the mbarrier that was just found")
    }

    fn missing(&self, operation: &str, address: usize) -> ! {
        panic!("{operation} where no mbarrier is initialised: {}", self.place(address));
    }
}

/// What the copy engines of later targets add; their instructions are not in the seam.
#[cfg(test)]
impl Barriers {
    /// `mbarrier.arrive_drop`: an arrival at this phase that later phases no longer count.
    pub(super) fn arrive_drop(&mut self, address: usize, arrivals: u32) {
        let barrier = self.get("mbarrier.arrive_drop", address);
        barrier.expected -= arrivals;
        barrier.count(arrivals);
    }

    /// How many arrivals copies in flight will make.
    pub(super) fn under_way(&self, address: usize) -> u32 {
        self.by_address.get(&address).map_or(0, |barrier| barrier.deferred)
    }
}
