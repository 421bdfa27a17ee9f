//! Names for registers that depend on what they hold and what they are used for, not on their
//! numbers.
//!
//! Every register starts with the same name. Again and again it gets a new one from its own name,
//! from the values that it is given and from where it is used, until no more registers are told
//! apart.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::value::Value;
use super::{End, Event, Graph, Summary, bits_of};

/// Where and what: a line of the comparable form, before registers have names.
enum Line<'a> {
    Label,
    Event(&'a Event),
    /// A register takes a value along to a join.
    Taken(&'a str, Value),
    End(&'a End),
}

/// The comparable form of a kernel.
pub(super) fn lines(graph: &Graph, summaries: &BTreeMap<usize, Summary>) -> Vec<String> {
    let numbers = number_blocks(summaries);
    let lines = bare_lines(graph, summaries, &numbers);
    let mut names: BTreeMap<&str, u64> = BTreeMap::new();
    for (_, line) in &lines {
        visit_registers(line, &mut |register| {
            if let Some(register) = find(summaries, register) {
                names.insert(register, u64::from(bits_of(register)));
            }
        });
    }
    let mut kinds = 0;
    loop {
        let told_apart = names.values().collect::<BTreeSet<_>>().len();
        if told_apart == kinds {
            break;
        }
        kinds = told_apart;
        names = rename(&lines, &names, &numbers);
    }
    in_order(&lines, &names, &numbers)
}

/// What the loops of a kernel do in a round, each loop's lines sorted, without names of registers
/// and targets of branches; the loops sorted too.
pub(super) fn lines_of_loops(graph: &Graph, summaries: &BTreeMap<usize, Summary>) -> Vec<Vec<String>> {
    let numbers = number_blocks(summaries);
    let lines = bare_lines(graph, summaries, &numbers);
    let name = |_: &str| "%".to_owned();
    let own_text = |block: usize, line: &Line<'_>| match line {
        Line::Event(_) | Line::Taken(..) => Some(text(line, block, &numbers, &name).trim_start().to_owned()),
        Line::End(End::Branch { condition, .. }) => Some(format!("if {}", condition.text(&name))),
        Line::Label | Line::End(_) => None,
    };
    let mut loops: Vec<Vec<String>> = graph
        .code
        .loops()
        .iter()
        .map(|one| {
            let own = lines.iter().filter(|(block, _)| one.members().contains(block));
            let mut texts: Vec<String> = own.filter_map(|(block, line)| own_text(*block, line)).collect();
            texts.sort();
            texts
        })
        .collect();
    loops.sort_by_key(|lines| (lines.len(), lines.clone()));
    loops
}

/// The register's name as it stands in a summary, so that it can be borrowed.
fn find<'a>(summaries: &'a BTreeMap<usize, Summary>, register: &str) -> Option<&'a str> {
    let taken = summaries.values().filter_map(|summary| summary.after.get_key_value(register));
    let results = summaries.values().flat_map(|summary| &summary.events).flat_map(|event| &event.results);
    taken.map(|(name, _)| name.as_str()).chain(results.map(String::as_str).filter(|name| *name == register)).next()
}

/// Numbers the blocks in the order in which branches lead to them, the way where the condition
/// holds first.
fn number_blocks(summaries: &BTreeMap<usize, Summary>) -> BTreeMap<usize, usize> {
    let (mut numbers, mut open) = (BTreeMap::new(), vec![0]);
    while let Some(block) = open.pop() {
        if numbers.contains_key(&block) {
            continue;
        }
        numbers.insert(block, numbers.len());
        match &summaries[&block].end {
            End::Jump(next) => open.push(*next),
            End::Branch { yes, no, .. } => open.extend([*no, *yes]),
            End::Return | End::Panic => {}
        }
    }
    numbers
}

/// The lines block by block, each with its block.
fn bare_lines<'a>(
    graph: &Graph,
    summaries: &'a BTreeMap<usize, Summary>,
    numbers: &BTreeMap<usize, usize>,
) -> Vec<(usize, Line<'a>)> {
    let mut blocks: Vec<usize> = numbers.keys().copied().collect();
    blocks.sort_by_key(|block| numbers[block]);
    let used = used_registers(graph, summaries);
    let mut lines = Vec::new();
    for block in blocks {
        let summary = &summaries[&block];
        // The only thing a panic does here is to end.
        let is_panic = matches!(summary.end, End::Panic);
        lines.push((block, Line::Label));
        if !is_panic {
            lines.extend(summary.events.iter().map(|event| (block, Line::Event(event))));
            if leads_to_join(graph, &summary.end) {
                let taken = summary.after.iter().filter(|(register, _)| used.contains(register.as_str()));
                lines.extend(taken.map(|(register, value)| (block, Line::Taken(register, value.clone()))));
            }
        }
        lines.push((block, Line::End(&summary.end)));
    }
    lines
}

/// Whether control can go from here to a block that is reached in several ways.
fn leads_to_join(graph: &Graph, end: &End) -> bool {
    let is_join = |block: &usize| graph.predecessors[*block].len() > 1;
    match end {
        End::Jump(next) => is_join(next),
        End::Branch { yes, no, .. } => is_join(yes) || is_join(no),
        End::Return | End::Panic => false,
    }
}

/// The registers whose value at a join matters: those in events and conditions, and in what such
/// registers are given.
fn used_registers(graph: &Graph, summaries: &BTreeMap<usize, Summary>) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for summary in summaries.values().filter(|summary| !matches!(summary.end, End::Panic)) {
        let mut note = |register: &str| {
            used.insert(register.to_owned());
        };
        summary.events.iter().flat_map(|event| &event.sources).for_each(|value| value.registers(&mut note));
        if let End::Branch { condition, .. } = &summary.end {
            condition.registers(&mut note);
        }
    }
    loop {
        let mut more = used.clone();
        for summary in summaries.values().filter(|summary| leads_to_join(graph, &summary.end)) {
            for (_, value) in summary.after.iter().filter(|(register, _)| used.contains(*register)) {
                value.registers(&mut |register| {
                    more.insert(register.to_owned());
                });
            }
        }
        if more.len() == used.len() {
            return used;
        }
        used = more;
    }
}

fn visit_registers(line: &Line<'_>, visit: &mut impl FnMut(&str)) {
    match line {
        Line::Event(event) => {
            event.results.iter().for_each(|register| visit(register));
            event.sources.iter().for_each(|value| value.registers(visit));
        }
        Line::Taken(register, value) => {
            visit(register);
            value.registers(visit);
        }
        Line::End(End::Branch { condition, .. }) => condition.registers(visit),
        Line::Label | Line::End(_) => {}
    }
}

/// A line as text, with registers named by `name`.
fn text(line: &Line<'_>, block: usize, numbers: &BTreeMap<usize, usize>, name: &impl Fn(&str) -> String) -> String {
    match line {
        Line::Label => format!("block {}:", numbers[&block]),
        Line::Event(event) => {
            let results: Vec<String> = event.results.iter().map(|register| name(register)).collect();
            let sources: Vec<String> = event.sources.iter().map(|value| value.text(name)).collect();
            let arrow = if results.is_empty() { String::new() } else { format!("{} = ", results.join(", ")) };
            format!("  {arrow}{} {}", event.opcode, sources.join(", ")).trim_end().to_owned()
        }
        Line::Taken(register, value) => format!("  {} <- {}", name(register), value.text(name)),
        Line::End(End::Return) => "  return".to_owned(),
        Line::End(End::Panic) => "  panic".to_owned(),
        Line::End(End::Jump(next)) => format!("  to {}", numbers[next]),
        Line::End(End::Branch { condition, yes, no }) => {
            format!("  if {} to {} else {}", condition.text(name), numbers[yes], numbers[no])
        }
    }
}

/// New names from the old ones and from all lines that a register stands in.
fn rename<'a>(
    lines: &[(usize, Line<'a>)],
    names: &BTreeMap<&'a str, u64>,
    numbers: &BTreeMap<usize, usize>,
) -> BTreeMap<&'a str, u64> {
    let old = |register: &str| format!("%{:x}", names.get(register).copied().unwrap_or_default());
    let mut marks: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (block, line) in lines {
        let mut seen = BTreeSet::new();
        visit_registers(line, &mut |register| {
            seen.insert(register.to_owned());
        });
        for (known, _) in names.iter().filter(|(known, _)| seen.contains(**known)) {
            // The register itself stands out, so that its place in the line counts.
            let marked = |register: &str| if register == *known { "%own".to_owned() } else { old(register) };
            let mark = format!("{} {}", numbers[block], text(line, *block, numbers, &marked));
            marks.entry(*known).or_default().push(mark);
        }
    }
    let renamed = names.iter().map(|(register, before)| {
        let mut own = marks.remove(register).unwrap_or_default();
        own.sort();
        let mut hasher = DefaultHasher::new();
        (before, own).hash(&mut hasher);
        (*register, hasher.finish())
    });
    renamed.collect()
}

/// The lines as text: what is taken along sorted, and registers numbered in the order of their
/// appearance.
fn in_order(lines: &[(usize, Line<'_>)], names: &BTreeMap<&str, u64>, numbers: &BTreeMap<usize, usize>) -> Vec<String> {
    let name = |register: &str| format!("%{:016x}", names.get(register).copied().unwrap_or_default());
    let mut texts: Vec<(usize, u8, usize, String)> = lines
        .iter()
        .enumerate()
        .map(|(at, (block, line))| {
            let text = text(line, *block, numbers, &name);
            let (rank, at) = match line {
                Line::Label => (0, 0),
                Line::Event(_) => (1, at),
                Line::Taken(..) => (2, 0),
                Line::End(_) => (3, 0),
            };
            (numbers[block], rank, at, text)
        })
        .collect();
    texts.sort();
    let mut order: BTreeMap<String, usize> = BTreeMap::new();
    let renumber = |(_, _, _, text): (usize, u8, usize, String)| {
        let mut parts = text.split('%');
        let mut line = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            match part.get(..16).filter(|hash| hash.chars().all(|c| c.is_ascii_hexdigit())) {
                Some(hash) => {
                    let next = order.len();
                    let number = *order.entry(hash.to_owned()).or_insert(next);
                    line.push_str(&format!("%{number}{}", &part[16..]));
                }
                None => line.push_str(&format!("%{part}")),
            }
        }
        line
    };
    texts.into_iter().map(renumber).collect()
}
