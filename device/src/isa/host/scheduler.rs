//! Who goes on: the baton of a block's roles, what lands meanwhile, and the virtual time.
//!
//! One role runs at a time. At every synchronising operation the schedule says whether the role
//! hands the baton on, and to whom. This file only decides; `roles` has the OS threads that wait
//! for the baton. Outside of roles the block counts as a single role.

use super::Schedule;
use super::mbarrier::Barriers;
use super::random::Random;
use crate::isa::Members;

/// The time that a synchronising operation takes, in nanoseconds.
const STEP: u64 = 1_000;
/// The longest leap of time at a poll, in nanoseconds.
const LONGEST_LEAP: u64 = 1_000_000_000;

/// The synchronisation of one running block.
pub(super) struct Scheduler {
    pub(super) barriers: Barriers,
    schedule: Schedule,
    random: Random,
    roles: Vec<Role>,
    /// The role with the baton; `None` before the roles begin and after their end.
    running: Option<usize>,
    /// How often the baton has been given away, to order roles by how long they have waited.
    turns: u64,
    /// Virtual nanoseconds since the block's start.
    now: u64,
    /// How far time leaps at the next poll that nobody else can answer.
    leap: u64,
    stop: Option<Stop>,
}

struct Role {
    members: Members,
    status: Status,
    /// The turn in which it last gave the baton away.
    since: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    /// It can go on.
    Ready,
    /// It can go on, but its last operation was an unsuccessful poll.
    Polling,
    /// It can go on when this mbarrier's phase of this parity is complete, or if it looks for marks
    /// when that is marked as one that does not come.
    Waiting { barrier: usize, parity: u32, looks: bool },
    /// It has run to its end.
    Ended,
}

/// Why all roles unwind.
enum Stop {
    /// One of them panicked.
    Panic,
    /// None can go on; the message says what each waits for.
    Deadlock(String),
}

impl Scheduler {
    pub(super) const fn new() -> Self {
        Scheduler {
            barriers: Barriers::new(),
            schedule: Schedule::Lazy,
            random: Random::new(0),
            roles: Vec::new(),
            running: None,
            turns: 0,
            now: 0,
            leap: STEP,
            stop: None,
        }
    }

    /// Starts a block whose shared memory begins at the address `start`.
    pub(super) fn begin(&mut self, schedule: Schedule, random: Random, start: usize) {
        self.barriers.begin(start);
        (self.schedule, self.random) = (schedule, random);
        (self.turns, self.now, self.leap, self.stop) = (0, 0, STEP, None);
        self.join();
    }

    /// The block is in roles from here on; none runs before [`start`](Self::start).
    pub(super) fn divide(&mut self, members: &[Members]) {
        self.roles.clear();
        self.roles.extend(members.iter().enumerate().map(|(index, &members)| Role {
            members,
            status: Status::Ready,
            since: index as u64,
        }));
        self.turns = members.len() as u64;
        self.running = None;
    }

    /// The block is one again.
    pub(super) fn join(&mut self) {
        self.roles.clear();
        let members = Members { first: 0, stride: 1, count: 0 };
        self.roles.push(Role { members, status: Status::Ready, since: 0 });
        self.running = Some(0);
        self.barriers.adopt(0);
    }

    /// A source of chance for a role's copies.
    pub(super) fn random_of_role(&mut self) -> Random {
        self.random.fork()
    }

    pub(super) fn schedule(&self) -> Schedule {
        self.schedule
    }

    /// The role with the baton.
    pub(super) fn running(&self) -> Option<usize> {
        self.running
    }

    /// Whether all roles unwind.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// What each role waits for, if none could go on.
    pub(super) fn deadlock(&self) -> Option<&str> {
        match &self.stop {
            Some(Stop::Deadlock(message)) => Some(message),
            _ => None,
        }
    }

    /// Whether some role waits at that mbarrier.
    pub(super) fn waits_at(&self, address: usize) -> bool {
        self.roles.iter().any(|role| matches!(role.status, Status::Waiting { barrier, .. } if barrier == address))
    }

    /// Gives the baton to the first role.
    pub(super) fn start(&mut self) {
        if self.is_stopped() {
            return self.hand_on();
        }
        let first = match self.schedule {
            Schedule::Random { .. } => self.random.draw(self.roles.len() as u64) as usize,
            _ => 0,
        };
        self.running = Some(first);
    }

    /// The running role did something.
    pub(super) fn step(&mut self) {
        self.leap = STEP;
        self.set_status(Status::Ready);
        self.tick();
        self.hand_on_if_due();
    }

    /// The running role asks for the time, which is no progress: a role that polls stays one that
    /// polls.
    pub(super) fn clock(&mut self) -> u64 {
        let now = self.now;
        self.tick();
        self.hand_on_if_due();
        now
    }

    /// The running role polled without success.
    pub(super) fn poll(&mut self) {
        self.set_status(Status::Polling);
        self.tick();
        self.hand_on();
    }

    /// The running role waits until the mbarrier's phase of that parity is complete, or if it looks
    /// for marks until it is marked as one that does not come. When the role has the baton again,
    /// it is, unless all roles unwind.
    pub(super) fn wait(&mut self, barrier: usize, parity: u32, looks: bool) {
        if self.barriers.is_over(barrier, parity, looks) {
            return self.step();
        }
        self.leap = STEP;
        self.set_status(Status::Waiting { barrier, parity, looks });
        self.tick();
        self.hand_on();
    }

    /// The running role has run to its end.
    pub(super) fn end(&mut self) {
        self.set_status(Status::Ended);
        self.hand_on();
    }

    /// Has all roles unwind, one after the other, because one of them panicked.
    pub(super) fn stop(&mut self) {
        self.stop.get_or_insert(Stop::Panic);
    }

    /// Role `index` has no OS thread to run on.
    pub(super) fn remove(&mut self, index: usize) {
        self.roles[index].status = Status::Ended;
    }

    fn set_status(&mut self, status: Status) {
        if let Some(running) = self.running {
            self.roles[running].status = status;
        }
    }

    /// Time goes on, and something may land.
    fn tick(&mut self) {
        self.now += STEP;
        if matches!(self.schedule, Schedule::Random { .. }) && self.random.draw(4) == 0 {
            self.barriers.land_any(&mut self.random);
        }
    }

    /// Hands the baton on where the schedule says so, although the running role could go on.
    fn hand_on_if_due(&mut self) {
        let due = match self.schedule {
            Schedule::Eager => true,
            Schedule::Lazy => false,
            Schedule::Random { .. } => self.random.draw(2) == 0,
        };
        if due && let Some(next) = self.pick(|_| true) {
            self.give(next);
        }
    }

    /// Hands the baton to a role that can go on. If there is none, copies land or time passes until
    /// there is.
    fn hand_on(&mut self) {
        let left = self.roles.iter().position(|role| role.status != Status::Ended);
        if self.is_stopped() || left.is_none() {
            self.running = left;
            return;
        }
        if let Some(running) = self.running {
            self.roles[running].since = self.turns;
        }
        loop {
            if let Some(next) = self.pick(|status| status != Status::Polling) {
                return self.give(next);
            }
            let landed = self.barriers.land_oldest();
            if landed && self.pick(|status| status != Status::Polling).is_some() {
                continue;
            }
            if let Some(next) = self.pick(|_| true) {
                if !landed {
                    self.now += self.leap;
                    self.leap = (self.leap * 2).min(LONGEST_LEAP);
                }
                return self.give(next);
            }
            if landed {
                continue;
            }
            self.stop = Some(Stop::Deadlock(self.describe_deadlock()));
            self.running = left;
            return;
        }
    }

    /// Gives the baton to role `next`, which can go on.
    fn give(&mut self, next: usize) {
        if let Some(running) = self.running {
            self.roles[running].since = self.turns;
        }
        self.turns += 1;
        if let Status::Waiting { .. } = self.roles[next].status {
            self.roles[next].status = Status::Ready;
        }
        self.running = Some(next);
    }

    /// Picks one of the roles that can go on and have such a status: the next in round-robin order,
    /// the one that has waited longest, or any.
    fn pick(&mut self, admits: impl Fn(Status) -> bool) -> Option<usize> {
        let (barriers, roles) = (&self.barriers, &self.roles);
        let can_go_on = |&index: &usize| match roles[index].status {
            Status::Ready | Status::Polling => admits(roles[index].status),
            Status::Waiting { barrier, parity, looks } => barriers.is_over(barrier, parity, looks),
            Status::Ended => false,
        };
        let count = roles.len();
        match self.schedule {
            Schedule::Eager => {
                let after = self.running.map_or(0, |running| running + 1);
                (after..after + count).map(|index| index % count).find(can_go_on)
            }
            Schedule::Lazy => (0..count).filter(can_go_on).min_by_key(|&index| roles[index].since),
            Schedule::Random { .. } => {
                let candidates = (0..count).filter(can_go_on).count();
                let drawn = self.random.draw(candidates as u64) as usize;
                (0..count).filter(can_go_on).nth(drawn)
            }
        }
    }

    fn describe_deadlock(&self) -> String {
        let roles: Vec<String> =
            self.roles.iter().enumerate().map(|(index, role)| self.describe(index, role)).collect();
        format!("deadlock: {}", roles.join("; "))
    }

    fn describe(&self, index: usize, role: &Role) -> String {
        let Members { first, stride, count } = role.members;
        let who = match (count, stride) {
            (0, _) => "the block".to_owned(),
            (_, 1) => format!("role {index} (threads {first}..{})", first + count),
            _ => format!("role {index} ({count} threads from {first} on, {stride} apart)"),
        };
        match role.status {
            Status::Waiting { barrier, parity, .. } => format!("{who} {}", self.barriers.wait_reason(barrier, parity)),
            Status::Ended => format!("{who} has ended"),
            Status::Ready | Status::Polling => format!("{who} can go on"),
        }
    }
}
