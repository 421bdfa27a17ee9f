//! A form of PTX in which two kernels can be compared: what they do to memory and how they branch,
//! whatever their registers are called and in whatever order values are computed.
//!
//! Instructions without an effect are substituted where their result is used, integer arithmetic as
//! polynomials. What is left are *events* (loads, stores, copies, barriers, ..), branches, and at
//! every join of several ways the values that registers take along to it. Ways that end in a panic
//! or a trap end as `panic`, whatever is reported.

mod evaluate;
mod names;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use evaluate::{address, bits_of, evaluate, is_pure, is_register, operand, operands, register};
use value::Value;

use crate::flow::{BasicBlock, Code, Instruction};
use crate::ptx::Entry;

/// An instruction with an effect.
struct Event {
    opcode: String,
    /// The registers that it writes.
    results: Vec<String>,
    sources: Vec<Value>,
}

/// How a block ends.
enum End {
    Return,
    Panic,
    Jump(usize),
    Branch { condition: Value, yes: usize, no: usize },
}

/// What a block does, in terms of the registers at the last join before it.
struct Summary {
    events: Vec<Event>,
    end: End,
    /// What registers hold at the end, other than at the last join.
    after: BTreeMap<String, Value>,
}

/// The kernel in its comparable form, one line for each event, branch and value taken along.
pub fn normal_form(entry: &Entry) -> Vec<String> {
    let (graph, summaries) = summaries(entry);
    names::lines(&graph, &summaries).into_iter().map(|line| line.replace(&entry.name, "kernel")).collect()
}

/// What each loop of the kernel does in a round: the lines of [`normal_form`], but registers all
/// have the same name, branches have no targets, and the lines of a loop are sorted, so that where
/// LLVM put a block and what is around the loop make no difference. Loops within others count as
/// these; shorter loops come first.
pub fn rounds(entry: &Entry) -> Vec<Vec<String>> {
    let (graph, summaries) = summaries(entry);
    let mut loops = names::lines_of_loops(&graph, &summaries);
    loops.iter_mut().flatten().for_each(|line| *line = line.replace(&entry.name, "kernel"));
    loops
}

/// The blocks of a kernel, and what each does.
fn summaries(entry: &Entry) -> (Graph, BTreeMap<usize, Summary>) {
    let graph = Graph::new(&entry.code);
    let constants = constants(&graph.code.blocks);
    let mut summaries: BTreeMap<usize, Summary> = BTreeMap::new();
    for block in graph.order() {
        let before = match graph.only_predecessor(block) {
            Some(one) if block != 0 => summaries.get(&one).map(|summary| summary.after.clone()).unwrap_or_default(),
            _ => BTreeMap::new(),
        };
        summaries.insert(block, summarise(&graph, block, before, &constants));
    }
    (graph, summaries)
}

/// The lines that only one of two loops has, with `-` for the first and `+` for the second.
pub fn difference(first: &[String], second: &[String]) -> Vec<String> {
    let only = |one: &[String], other: &[String], sign: &str| {
        let mut unmatched = other.to_vec();
        let mut lines = Vec::new();
        for line in one {
            match unmatched.iter().position(|own| own == line) {
                Some(at) => drop(unmatched.swap_remove(at)),
                None => lines.push(format!("{sign} {line}")),
            }
        }
        lines
    };
    [only(first, second, "-"), only(second, first, "+")].concat()
}

/// Basic blocks without those that only jump, and with straight runs joined.
struct Graph {
    code: Code,
    predecessors: Vec<Vec<usize>>,
}

impl Graph {
    fn new(code: &Code) -> Graph {
        let mut code = code.clone();
        let blocks = &mut code.blocks;
        for index in 0..blocks.len() {
            for at in 0..blocks[index].successors.len() {
                let mut seen = BTreeSet::new();
                let mut target = blocks[index].successors[at];
                while seen.insert(target) && blocks[target].successors.len() == 1 && only_jumps(&blocks[target]) {
                    target = blocks[target].successors[0];
                }
                blocks[index].successors[at] = target;
            }
        }
        let mut graph = Graph { code, predecessors: Vec::new() };
        graph.find_predecessors();
        for index in graph.order() {
            while let [next] = graph.code.blocks[index].successors[..] {
                if next == index || next == 0 || graph.predecessors[next].len() > 1 {
                    break;
                }
                let tail = std::mem::take(&mut graph.code.blocks[next]);
                let head = &mut graph.code.blocks[index];
                head.instructions.retain(|one| !one.is("bra"));
                head.instructions.extend(tail.instructions);
                head.successors = tail.successors;
                graph.find_predecessors();
            }
        }
        graph
    }

    fn find_predecessors(&mut self) {
        self.predecessors = vec![Vec::new(); self.code.blocks.len()];
        for index in self.order() {
            for next in &self.code.blocks[index].successors {
                self.predecessors[*next].push(index);
            }
        }
    }

    /// The one block from which control comes, if there is only one way.
    fn only_predecessor(&self, block: usize) -> Option<usize> {
        match self.predecessors[block][..] {
            [one] => Some(one),
            _ => None,
        }
    }

    /// The blocks that can be reached, each behind its only predecessor if it has one.
    fn order(&self) -> Vec<usize> {
        let (mut order, mut open) = (Vec::new(), vec![0]);
        while let Some(block) = open.pop() {
            if !order.contains(&block) {
                order.push(block);
                open.extend(self.code.blocks[block].successors.iter().rev());
            }
        }
        order
    }
}

fn only_jumps(block: &BasicBlock) -> bool {
    block.instructions.iter().all(|one| one.is("bra") && one.guard.is_none())
}

/// The registers that are written once and depend on nothing that changes.
fn constants(blocks: &[BasicBlock]) -> BTreeMap<String, Value> {
    let all = || blocks.iter().flat_map(|block| &block.instructions);
    let mut writes: BTreeMap<String, usize> = BTreeMap::new();
    for target in all().flat_map(targets) {
        *writes.entry(target).or_default() += 1;
    }
    let mut constants: BTreeMap<String, Value> = BTreeMap::new();
    loop {
        let before = constants.len();
        for one in all().filter(|one| is_pure(one)) {
            let parts = operands(&one.operands);
            let names = parts[1..].iter().flat_map(|part| registers(part));
            let [target] = &targets(one)[..] else { continue };
            if writes[target] == 1
                && !constants.contains_key(target)
                && names.into_iter().all(|name| constants.contains_key(name))
            {
                let value = evaluate(one, &|name| constants.get(name).cloned().unwrap_or_else(|| register(name)));
                constants.insert(target.clone(), value);
            }
        }
        if constants.len() == before {
            return constants;
        }
    }
}

/// The registers that an instruction writes.
fn targets(one: &Instruction) -> Vec<String> {
    let writes = is_pure(one) || ["ld", "shfl", "vote", "atom", "bar.red"].iter().any(|name| one.is(name));
    let first = operands(&one.operands).first().copied().unwrap_or_default();
    if writes { registers(first).into_iter().map(str::to_owned).collect() } else { Vec::new() }
}

/// The registers in an operand, which may be a vector.
fn registers(operand: &str) -> Vec<&str> {
    operand.split(|c: char| "{}|,".contains(c) || c.is_whitespace()).filter(|name| is_register(name)).collect()
}

fn summarise(
    graph: &Graph,
    block: usize,
    mut values: BTreeMap<String, Value>,
    constants: &BTreeMap<String, Value>,
) -> Summary {
    let BasicBlock { instructions, successors } = &graph.code.blocks[block];
    let mut events = Vec::new();
    let mut condition = None;
    for one in instructions {
        let look_up = |name: &str| {
            let known = values.get(name).or_else(|| constants.get(name));
            known.cloned().unwrap_or_else(|| register(name))
        };
        if one.is("bra") {
            condition = one.guard.as_deref().map(|guard| guarded_by(guard, &look_up));
        } else if let (true, [target]) = (is_pure(one), &targets(one)[..]) {
            if !constants.contains_key(target) {
                let value = evaluate(one, &look_up);
                values.insert(target.clone(), value);
            }
        } else if !["ret", "exit", "trap", "call"].iter().any(|name| one.is(name)) {
            let event = event(one, &look_up);
            for result in &event.results {
                values.remove(result);
            }
            events.push(event);
        }
    }
    let end = match (&successors[..], condition) {
        ([], _) if instructions.last().is_some_and(|one| one.is("ret")) => End::Return,
        ([], _) => End::Panic,
        ([yes, no], Some(Value::Predicate { negated, of })) => {
            let (yes, no) = if negated { (*no, *yes) } else { (*yes, *no) };
            End::Branch { condition: Value::Predicate { negated: false, of }, yes, no }
        }
        ([yes, no], Some(condition)) => End::Branch { condition, yes: *yes, no: *no },
        (successors, _) => End::Jump(successors[0]),
    };
    Summary { events, end, after: values }
}

/// The predicate of a guard.
fn guarded_by(guard: &str, look_up: &impl Fn(&str) -> Value) -> Value {
    match (operand(guard.trim_start_matches('!'), 1, look_up), guard.starts_with('!')) {
        (Value::Predicate { negated, of }, not) => Value::Predicate { negated: negated != not, of },
        (other, _) => other,
    }
}

/// What an instruction with an effect reads and writes.
fn event(one: &Instruction, look_up: &impl Fn(&str) -> Value) -> Event {
    let results = targets(one);
    let skipped = usize::from(!results.is_empty());
    let mut sources: Vec<Value> = one.guard.iter().map(|guard| guarded_by(guard, look_up)).collect();
    for part in operands(&one.operands).into_iter().skip(skipped) {
        if part.starts_with('[') {
            sources.push(address(part, look_up));
        } else {
            let inner = part.trim_start_matches('{').trim_end_matches('}');
            sources.extend(operands(inner).into_iter().map(|part| operand(part, bits_of(part), look_up)));
        }
    }
    Event { opcode: one.opcode.clone(), results, sources }
}

#[cfg(test)]
mod tests;
