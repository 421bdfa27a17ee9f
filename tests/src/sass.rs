//! Disassembled machine code as kernels with their control flow.

use crate::flow::{Code, Instruction, Item, Next};

/// Reads the kernels of `nvdisasm -c`'s output: name and code, without the functions that they
/// call.
///
/// # Errors
///
/// What was not understood, with the kernel's name.
pub fn kernels(text: &str) -> Result<Vec<(String, Code)>, String> {
    text.split("\n.text.").skip(1).map(kernel).collect()
}

/// Reads one kernel, from its name on.
fn kernel(text: &str) -> Result<(String, Code), String> {
    let (name, body) = text.split_once(':').ok_or("a section without a label")?;
    let mut items = Vec::new();
    for line in body.lines().map(str::trim) {
        if line.starts_with('$') || line.starts_with("//-") || line.starts_with(".section") {
            break;
        }
        match line.strip_suffix(':') {
            Some(label) => items.push(Item::Label(label.to_owned())),
            None => items.extend(instruction(line).map(Item::Instruction)),
        }
    }
    let code = Code::new(&items, next).map_err(|error| format!("kernel `{name}`: {error}"))?;
    Ok((name.to_owned(), code))
}

/// Reads a line such as `/*0f10*/  @!P0 BRA ``(.L_x_1) ;`; other lines are none.
fn instruction(line: &str) -> Option<Instruction> {
    let (_, text) = line.strip_prefix("/*")?.split_once("*/")?;
    let text = text.split(';').next()?.trim();
    // `@!PT` never holds and guards nothing that runs.
    let guard = text.strip_prefix('@').and_then(|rest| rest.split_once(' '));
    let (guard, text) = guard.map_or((None, text), |(guard, rest)| (Some(guard.to_owned()), rest.trim()));
    let (opcode, operands) = text.split_once(' ').unwrap_or((text, ""));
    Some(Instruction { guard, opcode: opcode.to_owned(), operands: operands.trim().to_owned() })
}

fn next(instruction: &Instruction) -> Next<'_> {
    if instruction.is("BRA") {
        let label = instruction.operands.split("`(").nth(1).and_then(|rest| rest.split(')').next());
        label.map_or(Next::End, Next::Label)
    } else if ["EXIT", "RET", "BPT"].iter().any(|name| instruction.is(name)) {
        Next::End
    } else {
        Next::Following
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_read_without_what_they_call() {
        let text = "
.text.one:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_1:
        /*0010*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0020*/               @P0 BRA `(.L_x_1) ;
        /*0030*/                   EXIT ;
$one$panic:
        /*0040*/                   BRA `(.L_x_9) ;
//--------------------- .text.two --------------------------
";
        let kernels = kernels(text).unwrap();
        assert_eq!(kernels.len(), 1);
        let steady = kernels[0].1.loops_with(&[|one| one.is("BAR")]);
        assert_eq!(steady[0].count(|_| true), 2);
    }
}
