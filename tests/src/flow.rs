//! Control flow of generated code: instructions, basic blocks, loops.

/// One instruction of PTX or SASS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Whether a predicate guards it.
    pub guarded: bool,
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
    /// The label, if a branch goes to one that is not there.
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
            let falls_through = target == Next::Following || last.is_some_and(|last| last.guarded);
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

    /// Returns the loops: the largest sets of blocks in which each is reached from each. A loop's inner loops are part of it.
    pub fn loops(&self) -> Vec<Loop<'_>> {
        let reached: Vec<Vec<bool>> = (0..self.blocks.len()).map(|block| self.reachable(block, |_| true)).collect();
        let mut loops: Vec<Loop<'_>> = Vec::new();
        let both_ways = |one: usize, other: usize| reached[one][other] && reached[other][one];
        for block in (0..self.blocks.len()).filter(|&block| both_ways(block, block)) {
            if !loops.iter().any(|found| found.members.contains(&block)) {
                let members = (0..self.blocks.len()).filter(|&other| both_ways(block, other));
                loops.push(Loop { code: self, members: members.collect() });
            }
        }
        loops
    }

    /// Returns the one loop in which an instruction is `wanted`.
    ///
    /// # Errors
    ///
    /// How many loops there are, if not one.
    pub fn only_loop_with(&self, wanted: impl Fn(&Instruction) -> bool) -> Result<Loop<'_>, String> {
        let mut found: Vec<Loop<'_>> = self.loops();
        found.retain(|one| one.count(&wanted) > 0);
        match (found.pop(), found.len()) {
            (Some(one), 0) => Ok(one),
            (one, rest) => Err(format!("{} loops, and one was expected", rest + usize::from(one.is_some()))),
        }
    }

    /// The blocks that can be reached from `start` by one step or more through blocks that may be `entered`.
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

impl Loop<'_> {
    /// Returns the loop's instructions in order.
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.members.iter().flat_map(|&block| &self.code.blocks[block].instructions)
    }

    /// Counts the instructions that are `wanted`.
    pub fn count(&self, wanted: impl Fn(&Instruction) -> bool) -> usize {
        self.instructions().filter(|instruction| wanted(instruction)).count()
    }

    /// Returns whether every iteration executes each instruction that is `wanted` as often as it stands there: one of them
    /// is on every way round the loop, and none is guarded or in an inner loop.
    pub fn always_passes(&self, wanted: impl Fn(&Instruction) -> bool) -> bool {
        let heads = self.heads();
        let blocks = &self.code.blocks;
        let has = |block: usize| blocks[block].instructions.iter().any(&wanted);
        let inside = |block: usize| self.members.contains(&block);
        let around = |block: usize| inside(block) && !has(block);
        let beside = |block: usize| inside(block) && !heads.contains(&block);
        let mut all = self.members.iter().flat_map(|&block| &blocks[block].instructions);
        all.all(|one| !wanted(one) || !one.guarded)
            && heads.iter().all(|&head| has(head) || !self.code.reachable(head, around)[head])
            && self
                .members
                .iter()
                .all(|&block| !has(block) || !beside(block) || !self.code.reachable(block, beside)[block])
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
mod tests {
    use super::*;

    fn code(text: &str) -> Code {
        let items: Vec<Item> = text
            .split_whitespace()
            .map(|word| match word.strip_suffix(':') {
                Some(label) => Item::Label(label.to_owned()),
                None => {
                    let (guarded, opcode) = (word.starts_with('?'), word.trim_start_matches('?'));
                    let (opcode, operands) = opcode.split_once('>').unwrap_or((opcode, ""));
                    Item::Instruction(Instruction { guarded, opcode: opcode.to_owned(), operands: operands.to_owned() })
                }
            })
            .collect();
        Code::new(&items, |instruction| match instruction.opcode.as_str() {
            "to" => Next::Label(&instruction.operands),
            "end" => Next::End,
            _ => Next::Following,
        })
        .unwrap()
    }

    #[test]
    fn loops_are_found_and_what_follows_them_is_not_part() {
        let code = code("a head: b ?to>out c ?to>head out: d end unreachable");
        let found = code.only_loop_with(|_| true).unwrap();
        let names: Vec<_> = found.instructions().map(|one| one.opcode.as_str()).collect();
        assert_eq!(names, ["b", "to", "c", "to"]);
        assert!(code.instructions().all(|one| one.opcode != "unreachable"));
    }

    #[test]
    fn an_instruction_in_one_arm_is_not_always_passed() {
        let code = code("head: both ?to>else then else: ?to>head end");
        let found = code.only_loop_with(|_| true).unwrap();
        assert!(found.always_passes(|one| one.is("both")));
        assert!(!found.always_passes(|one| one.is("then")));
    }

    #[test]
    fn an_inner_loop_neither_hides_nor_repeats_an_instruction() {
        let code = code("head: both inner: again ?to>inner ?to>head end");
        let found = code.only_loop_with(|one| one.is("both")).unwrap();
        assert!(found.always_passes(|one| one.is("both")));
        assert!(!found.always_passes(|one| one.is("again")));
    }

    #[test]
    fn a_branch_to_nowhere_is_an_error() {
        let branch = Instruction { guarded: false, opcode: "to".to_owned(), operands: "x".to_owned() };
        let error = Code::new(&[Item::Instruction(branch)], |one| Next::Label(&one.operands)).unwrap_err();
        assert!(error.contains("`x`"));
    }
}
