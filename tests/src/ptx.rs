//! PTX text as entries with their control flow.

use crate::flow::{Code, Instruction, Item, Next};

/// One kernel of a PTX module.
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Threads a block, as `.reqntid` says, if it does.
    pub required_threads: Option<u32>,
    /// The lines that declare memory local to a thread: spills and stacks.
    pub local_declarations: Vec<String>,
    /// Its code.
    pub code: Code,
}

/// Reads all entries of a module's text.
///
/// # Errors
///
/// What was not understood, with the entry's name.
pub fn entries(text: &str) -> Result<Vec<Entry>, String> {
    let parts = text.split("\n.visible .entry ").skip(1);
    parts.map(entry).collect()
}

/// Reads one entry, from its name to the end of its body (whatever follows is left alone).
fn entry(text: &str) -> Result<Entry, String> {
    let name = text.split('(').next().unwrap_or_default().trim().to_owned();
    let fail = |what: &str| format!("entry `{name}`: {what}");
    let start = text.find("\n{").ok_or_else(|| fail("no body"))?;
    let body = &text[start + 2..];
    let body = &body[..body.find("\n}").ok_or_else(|| fail("the body has no end"))?];
    let head = &text[..start];
    let required_threads = head.split(".reqntid").nth(1).and_then(|rest| {
        let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    });
    let items = items(body);
    let local_declarations = body.lines().filter(|line| line.trim_start().starts_with(".local")).map(str::to_owned);
    Ok(Entry {
        required_threads,
        local_declarations: local_declarations.collect(),
        code: Code::new(&items, next).map_err(|error| fail(&error))?,
        name,
    })
}

/// Reads the labels and instructions of a body; declarations are left out.
fn items(body: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let mut statement = String::new();
    for line in body.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        if let (Some(label), true) = (line.strip_suffix(':'), statement.is_empty()) {
            items.push(Item::Label(label.to_owned()));
        } else if !(line.is_empty() || statement.is_empty() && (line == "{" || line == "}")) {
            statement.push_str(line);
            statement.push(' ');
            if line.ends_with(';') {
                let text = std::mem::take(&mut statement);
                let text = text.trim().trim_end_matches(';').trim_start_matches(['{', '}']).trim();
                if !text.is_empty() && !text.starts_with('.') {
                    items.push(Item::Instruction(instruction(text)));
                }
            }
        }
    }
    items
}

fn instruction(text: &str) -> Instruction {
    let (guarded, text) = match text.strip_prefix('@') {
        Some(rest) => (true, rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest).trim()),
        None => (false, text),
    };
    let (opcode, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    Instruction { guarded, opcode: opcode.to_owned(), operands: operands.trim().to_owned() }
}

fn next(instruction: &Instruction) -> Next<'_> {
    if instruction.is("bra") {
        Next::Label(&instruction.operands)
    } else if ["ret", "exit", "trap"].iter().any(|name| instruction.is(name)) {
        Next::End
    } else {
        Next::Following
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
.version 7.1
.visible .entry one(
\t.param .align 8 .b8 one_param_0[32]
)
.reqntid 128, 1, 1   // @one
{
\t.reg .pred \t%p<2>;
\tmov.u32 \t%r1, %tid.x;
$L__BB0_1:     // =>Loop
\tbar.sync \t0;
\t// begin inline asm
\tcp.async.wait_group 2;
\t// end inline asm
\t@%p1 bra \t$L__BB0_1;
\t{ // callseq 0, 0
\t.param .b64 param0;
\tcall.uni (retval0),
\t_RNv5panic,
\t(param0);
\t} // callseq 0
\ttrap;
}
.visible .entry two(
)
{
\tret;
}
";

    #[test]
    fn entries_are_read_with_their_bounds_and_loops() {
        let entries = entries(TEXT).unwrap();
        let names: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.required_threads)).collect();
        assert_eq!(names, [("one", Some(128)), ("two", None)]);
        let steady = entries[0].code.only_loop_with(|one| one.is("bar")).unwrap();
        let opcodes: Vec<_> = steady.instructions().map(|one| one.opcode.as_str()).collect();
        assert_eq!(opcodes, ["bar.sync", "cp.async.wait_group", "bra"]);
        let call = entries[0].code.instructions().find(|one| one.is("call")).unwrap();
        assert!(call.operands.contains("_RNv5panic"));
    }
}
