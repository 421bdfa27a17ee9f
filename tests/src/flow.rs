//! Control flow of generated code: instructions, basic blocks, loops.

use std::collections::{BTreeMap, BTreeSet};

/// One instruction of PTX or SASS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The predicate that guards it, such as `%p1` or `!%p1`, if there is one.
    pub guard: Option<String>,
    /// The opcode with its modifiers, such as `ld.shared.v4.b32`.
    pub opcode: String,
    /// The operands as text.
    pub operands: String,
}

impl Instruction {
    /// Returns whether the opcode is `name`, or begins with `name` and a dot.
    pub fn is(&self, name: &str) -> bool {
        self.opcode.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// Returns whether the opcode has the modifier `part` between its dots.
    pub fn has(&self, part: &str) -> bool {
        self.opcode.split('.').any(|own| own == part)
    }
}

/// One line of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A place to branch to.
    Label(String),
    /// An instruction.
    Instruction(Instruction),
}

/// Where control goes after an instruction that is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<'a> {
    /// To the one behind it.
    Following,
    /// To a label.
    Label(&'a str),
    /// Nowhere: the thread ends.
    End,
}

/// A straight run of instructions.
#[derive(Clone, Debug, Default)]
pub struct BasicBlock {
    /// The instructions; only the last one can branch.
    pub instructions: Vec<Instruction>,
    /// Indices of the blocks that may follow.
    pub successors: Vec<usize>,
}

/// More executions of an instruction than are counted.
pub const MANY: usize = 100;

/// What becomes of a way at one step.
enum Step {
    Followed,
    Counted,
    Ignored,
}

/// The code of one kernel.
#[derive(Clone, Debug)]
pub struct Code {
    /// The basic blocks in order; the first is the entry.
    pub blocks: Vec<BasicBlock>,
}

impl Code {
    /// Cuts code into basic blocks; `next` says where an instruction leads.
    ///
    /// # Errors
    ///
    /// The label, if a branch goes to one that is not there, or if it stands in two places.
    pub fn new(items: &[Item], next: impl Fn(&Instruction) -> Next<'_>) -> Result<Code, String> {
        let mut blocks = vec![BasicBlock::default()];
        let mut labels: Vec<(&str, usize)> = Vec::new();
        for item in items {
            let last = blocks.len() - 1;
            match item {
                Item::Label(name) => {
                    if !blocks[last].instructions.is_empty() {
                        blocks.push(BasicBlock::default());
                    }
                    if labels.iter().any(|(label, _)| label == name) {
                        return Err(format!("label `{name}` twice"));
                    }
                    labels.push((name, blocks.len() - 1));
                }
                Item::Instruction(instruction) => {
                    blocks[last].instructions.push(instruction.clone());
                    if next(instruction) != Next::Following {
                        blocks.push(BasicBlock::default());
                    }
                }
            }
        }
        let count = blocks.len();
        for (index, block) in blocks.iter_mut().enumerate() {
            let last = block.instructions.last();
            let target = last.map_or(Next::Following, &next);
            if let Next::Label(name) = target {
                let found = labels.iter().find(|(label, _)| *label == name);
                block.successors.push(found.ok_or_else(|| format!("no label `{name}`"))?.1);
            }
            let falls_through = target == Next::Following || last.is_some_and(|last| last.guard.is_some());
            if falls_through && index + 1 < count {
                block.successors.push(index + 1);
            }
        }
        Ok(Code { blocks })
    }

    /// Returns all instructions that can be reached, in order.
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        let reached = self.reachable(0, |_| true);
        let blocks = self.blocks.iter().enumerate().filter(move |(index, _)| *index == 0 || reached[*index]);
        blocks.flat_map(|(_, block)| &block.instructions)
    }

    /// Returns the loops: the largest sets of blocks in which each is reached from each. A loop's
    /// inner loops are part of it.
    pub fn loops(&self) -> Vec<Loop<'_>> {
        self.loops_among((0..self.blocks.len()).collect())
    }

    /// The largest loops that have no other blocks than these.
    fn loops_among(&self, blocks: Vec<usize>) -> Vec<Loop<'_>> {
        let candidates = self.around_cycles(blocks);
        let reached: Vec<Vec<bool>> =
            candidates.iter().map(|&block| self.reachable(block, |next| candidates.contains(&next))).collect();
        let mut loops: Vec<Loop<'_>> = Vec::new();
        for (at, block) in candidates.iter().enumerate().filter(|(at, block)| reached[*at][**block]) {
            if !loops.iter().any(|found| found.members.contains(block)) {
                let both_ways = |(other, member): &(usize, &usize)| reached[at][**member] && reached[*other][*block];
                let members = candidates.iter().enumerate().filter(both_ways).map(|(_, member)| *member);
                loops.push(Loop { code: self, members: members.collect() });
            }
        }
        loops
    }

    /// Of `left` the blocks on a cycle or between two of them: what is left when those without a
    /// way in or without a way out are taken off.
    fn around_cycles(&self, mut left: Vec<usize>) -> Vec<usize> {
        loop {
            let leads_on = |block: &usize| self.blocks[*block].successors.iter().any(|next| left.contains(next));
            let entered: BTreeSet<usize> =
                left.iter().flat_map(|block| self.blocks[*block].successors.iter().copied()).collect();
            let kept: Vec<usize> =
                left.iter().copied().filter(|block| entered.contains(block) && leads_on(block)).collect();
            if kept.len() == left.len() {
                return left;
            }
            left = kept;
        }
    }

    /// Returns the loops that have an instruction of each of the `wanted` kinds.
    pub fn loops_with(&self, wanted: &[fn(&Instruction) -> bool]) -> Vec<Loop<'_>> {
        let mut found = self.loops();
        found.retain(|one| wanted.iter().all(|kind| one.count(kind) > 0));
        found
    }

    /// Returns the instructions of each basic block, and the numbers of the blocks to which it
    /// leads.
    pub fn blocks(&self) -> impl Iterator<Item = (&[Instruction], &[usize])> {
        self.blocks.iter().map(|block| (&block.instructions[..], &block.successors[..]))
    }

    /// Returns how often a thread executes `wanted` instructions from the entry to an instruction
    /// that `ends` it: one number for each possible way. [`MANY`] is among them if there is no
    /// bound.
    pub fn executions(
        &self,
        wanted: impl Fn(&Instruction) -> bool,
        ends: impl Fn(&Instruction) -> bool,
    ) -> BTreeSet<usize> {
        let is_end = |block: usize| self.blocks[block].instructions.last().is_some_and(&ends);
        self.counts([0], &wanted, |from, to| match to {
            None if is_end(from) => Step::Counted,
            None => Step::Ignored,
            Some(_) => Step::Followed,
        })
    }

    /// Returns what `pick` makes of the instructions on each way from the entry to an instruction
    /// that `ends` it, in order, equal ones in a row once. A way that picks again and again is cut
    /// off.
    pub fn traces(
        &self,
        pick: impl Fn(&Instruction) -> Option<String>,
        ends: impl Fn(&Instruction) -> bool,
    ) -> BTreeSet<Vec<String>> {
        let (mut traces, mut seen) = (BTreeSet::new(), BTreeSet::new());
        let mut open: Vec<(usize, Vec<String>)> = vec![(0, Vec::new())];
        while let Some((block, mut trace)) = open.pop() {
            if trace.len() > MANY || !seen.insert((block, trace.clone())) {
                continue;
            }
            let BasicBlock { instructions, successors } = &self.blocks[block];
            trace.extend(instructions.iter().filter_map(&pick));
            trace.dedup();
            if successors.is_empty() && instructions.last().is_some_and(&ends) {
                traces.insert(trace);
            } else {
                open.extend(successors.iter().map(|next| (*next, trace.clone())));
            }
        }
        traces
    }

    /// Follows every way from the blocks `starts` on and returns how many `wanted` instructions
    /// were passed where a step of it (from a block to a block, or to none at an end) is
    /// [`Step::Counted`].
    fn counts(
        &self,
        starts: impl IntoIterator<Item = usize>,
        wanted: &impl Fn(&Instruction) -> bool,
        step: impl Fn(usize, Option<usize>) -> Step,
    ) -> BTreeSet<usize> {
        let mut counted = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open: Vec<(usize, usize)> = starts.into_iter().map(|block| (block, 0)).collect();
        while let Some((block, before)) = open.pop() {
            if !seen.insert((block, before)) {
                continue;
            }
            let own = self.blocks[block].instructions.iter().filter(|one| wanted(one));
            let (always, perhaps): (Vec<_>, Vec<_>) = own.partition(|one| one.guard.is_none());
            for executed in 0..=perhaps.len() {
                let count = (before + always.len() + executed).min(MANY);
                let successors = &self.blocks[block].successors;
                let ends = successors.is_empty().then_some(None);
                for next in ends.into_iter().chain(successors.iter().map(|next| Some(*next))) {
                    match (step(block, next), next) {
                        (Step::Counted, _) => {
                            counted.insert(count);
                        }
                        (Step::Followed, Some(next)) => open.push((next, count)),
                        _ => {}
                    }
                }
            }
        }
        counted
    }

    /// The blocks that can be reached from `start` by one step or more through blocks that may be
    /// `entered`.
    fn reachable(&self, start: usize, entered: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut reached = vec![false; self.blocks.len()];
        let mut open = vec![start];
        while let Some(block) = open.pop() {
            for &next in &self.blocks[block].successors {
                if entered(next) && !reached[next] {
                    reached[next] = true;
                    open.push(next);
                }
            }
        }
        reached
    }
}

/// A loop of some [`Code`].
pub struct Loop<'a> {
    code: &'a Code,
    members: Vec<usize>,
}

impl<'a> Loop<'a> {
    /// Returns the loops inside this one: those that it has without the blocks through which it is
    /// entered.
    pub fn inner(&self) -> Vec<Loop<'a>> {
        let heads = self.heads();
        self.code.loops_among(self.members.iter().copied().filter(|block| !heads.contains(block)).collect())
    }

    /// Returns the indices of the loop's blocks.
    pub fn members(&self) -> &[usize] {
        &self.members
    }

    /// Returns the loop's instructions in order.
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.members.iter().flat_map(|&block| &self.code.blocks[block].instructions)
    }

    /// Counts the instructions that are `wanted`.
    pub fn count(&self, wanted: impl Fn(&Instruction) -> bool) -> usize {
        self.instructions().filter(|instruction| wanted(instruction)).count()
    }

    /// Returns how often an iteration executes `wanted` instructions: one number for each possible
    /// way round the loop. [`MANY`] is among them if an inner loop repeats one.
    pub fn executions(&self, wanted: impl Fn(&Instruction) -> bool) -> BTreeSet<usize> {
        let heads = self.heads();
        self.code.counts(heads.clone(), &wanted, |_, to| match to {
            Some(next) if heads.contains(&next) => Step::Counted,
            Some(next) if self.members.contains(&next) => Step::Followed,
            _ => Step::Ignored,
        })
    }

    /// Returns the fewest `wanted` instructions that a way round the loop has, with those that are
    /// guarded. An inner loop is gone through once at most.
    pub fn fewest(&self, wanted: impl Fn(&Instruction) -> bool) -> usize {
        let heads = self.heads();
        let own = |block: usize| self.code.blocks[block].instructions.iter().filter(|one| wanted(one)).count();
        let mut fewest: BTreeMap<usize, usize> = heads.iter().map(|head| (*head, own(*head))).collect();
        let mut open = heads.clone();
        while let Some(block) = open.pop() {
            for &next in &self.code.blocks[block].successors {
                let count = fewest[&block] + own(next);
                if !heads.contains(&next)
                    && self.members.contains(&next)
                    && fewest.get(&next).is_none_or(|found| count < *found)
                {
                    fewest.insert(next, count);
                    open.push(next);
                }
            }
        }
        let leads_back = |block: &usize| self.code.blocks[*block].successors.iter().any(|next| heads.contains(next));
        fewest.iter().filter(|(block, _)| leads_back(block)).map(|(_, count)| *count).min().unwrap_or(0)
    }

    /// Returns the loops with a `wanted` instruction in which no inner loop has one: this one, or
    /// some inside it.
    pub fn innermost(self, wanted: fn(&Instruction) -> bool) -> Vec<Loop<'a>> {
        let inner: Vec<Loop<'a>> = self.inner().into_iter().filter(|one| one.count(wanted) > 0).collect();
        match inner.is_empty() {
            true => vec![self],
            false => inner.into_iter().flat_map(|one| one.innermost(wanted)).collect(),
        }
    }

    /// Returns whether control can get from this loop to another one.
    pub fn leads_to(&self, other: &Loop<'_>) -> bool {
        let reached = self.members.first().map(|block| self.code.reachable(*block, |_| true)).unwrap_or_default();
        other.members.iter().any(|block| reached[*block])
    }

    /// The blocks through which the loop is entered.
    fn heads(&self) -> Vec<usize> {
        let outside = |block: &usize| !self.members.contains(block);
        let entered_from = (0..self.code.blocks.len()).filter(outside);
        let targets: Vec<usize> = entered_from.flat_map(|block| self.code.blocks[block].successors.clone()).collect();
        self.members.iter().copied().filter(|block| *block == 0 || targets.contains(block)).collect()
    }
}

#[cfg(test)]
mod tests;
