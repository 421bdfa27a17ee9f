//! What kernels need of a GPU: the least architecture and PTX version that have all instructions
//! that they reach.
//!
//! Everything newer than `sm_80` comes into a kernel by inline assembly or by one of NVIDIA's
//! intrinsics, whose names begin as the instructions do. An instruction that is missing here is
//! found by `ptxas`, which names it with what it requires. Sources: PTX ISA 9.0, "PTX ISA Notes"
//! and "Target ISA Notes" of each instruction.

use crate::architecture::Architecture;

/// An architecture and a PTX version in tenths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Needs {
    pub architecture: Architecture,
    pub ptx: u32,
}

impl Needs {
    /// What every kernel needs.
    pub(crate) const LEAST: Needs = Needs { architecture: Architecture::plain(80), ptx: 0 };

    /// What both need together. Of two architectures that run on no GPU both, the newer one.
    pub(crate) fn and(self, other: Needs) -> Needs {
        Needs { architecture: self.architecture.max(other.architecture), ptx: self.ptx.max(other.ptx) }
    }
}

/// `sm_90`, and those features of it that no other architecture has.
const SM_90: Architecture = Architecture::plain(90);
const SM_90A: Architecture = Architecture::alone(90);

/// Instructions by what they begin with and the qualifiers that they have, with what they need. All
/// rows that fit an instruction count.
const INSTRUCTIONS: &[(&str, &str, Architecture, u32)] = &[
    // Copies and reductions by the copy engine.
    ("cp.async.bulk", "", SM_90, 80),
    ("cp.async.bulk", ".shared::cta.global", SM_90, 86),
    ("cp.async.bulk.global.to.shared.cta", "", SM_90, 86),
    ("cp.async.bulk", ".multicast::cluster", SM_90A, 80),
    ("cp.reduce.async.bulk", "", SM_90, 80),
    ("prefetch", ".tensormap", SM_90, 80),
    ("tensormap.replace", "", SM_90A, 83),
    ("tensormap.cp_fenceproxy", "", SM_90, 83),
    ("st.async", "", SM_90, 81),
    ("red.async", "", SM_90, 81),
    // Barriers that count bytes, and fences.
    ("mbarrier.expect_tx", "", SM_90, 80),
    ("mbarrier.complete_tx", "", SM_90, 80),
    ("mbarrier.arrive", ".expect_tx", SM_90, 80),
    ("mbarrier.arrive_drop", ".expect_tx", SM_90, 80),
    ("mbarrier.try_wait", "", SM_90, 78),
    ("mbarrier", ".cluster", SM_90, 80),
    ("mbarrier", ".shared::cluster", SM_90, 80),
    ("fence.proxy.async", "", SM_90, 80),
    ("fence.proxy.tensormap", "", SM_90, 83),
    ("fence.proxy.tensormap::generic", "", SM_90, 83),
    ("fence.mbarrier_init", "", SM_90, 80),
    ("fence", ".cluster", SM_90, 78),
    // Clusters.
    ("barrier.cluster", "", SM_90, 78),
    ("mapa", "", SM_90, 78),
    ("getctarank", "", SM_90, 78),
    ("isspacep", ".shared::cluster", SM_90, 78),
    ("isspacep.shared.cluster", "", SM_90, 78),
    ("ld", ".shared::cluster", SM_90, 78),
    ("st", ".shared::cluster", SM_90, 78),
    ("atom", ".shared::cluster", SM_90, 78),
    ("red", ".shared::cluster", SM_90, 78),
    ("ld", ".cluster", SM_90, 78),
    ("st", ".cluster", SM_90, 78),
    ("atom", ".cluster", SM_90, 78),
    ("red", ".cluster", SM_90, 78),
    ("read.ptx.sreg.clusterid", "", SM_90, 78),
    ("read.ptx.sreg.nclusterid", "", SM_90, 78),
    ("read.ptx.sreg.cluster", "", SM_90, 78),
    ("read.ptx.sreg.is_explicit_cluster", "", SM_90, 78),
    // Tensor cores and registers.
    ("wgmma", "", SM_90A, 80),
    ("setmaxnreg", "", SM_90A, 80),
    ("stmatrix", "", SM_90, 78),
    ("mma.sync", ".e4m3", Architecture::plain(89), 84),
    ("mma.sync", ".e5m2", Architecture::plain(89), 84),
    ("cvt", ".e4m3x2", Architecture::plain(89), 81),
    ("cvt", ".e5m2x2", Architecture::plain(89), 81),
    // The rest.
    ("elect.sync", "", SM_90, 80),
    ("griddepcontrol", "", SM_90, 78),
    ("multimem", "", SM_90, 81),
    ("add", ".bf16", SM_90, 78),
    ("add", ".bf16x2", SM_90, 78),
    ("sub", ".bf16", SM_90, 78),
    ("sub", ".bf16x2", SM_90, 78),
    ("mul", ".bf16", SM_90, 78),
    ("mul", ".bf16x2", SM_90, 78),
    ("atom", ".bf16", SM_90, 78),
    ("atom", ".bf16x2", SM_90, 78),
    ("red", ".bf16", SM_90, 78),
    ("red", ".bf16x2", SM_90, 78),
    ("createpolicy", "", Architecture::plain(80), 74),
    ("applypriority", "", Architecture::plain(80), 74),
    ("discard", "", Architecture::plain(80), 74),
    ("cp.async", ".L2::cache_hint", Architecture::plain(80), 74),
    ("ld", ".L2::cache_hint", Architecture::plain(80), 74),
    ("st", ".L2::cache_hint", Architecture::plain(80), 74),
];

/// Registers that the hardware sets, by what their names begin with.
const REGISTERS: &[(&str, Architecture, u32)] =
    &[("%cluster", SM_90, 78), ("%nclusterid", SM_90, 78), ("%is_explicit_cluster", SM_90, 78)];

/// Marks a kernel's parameter that is read where it lies, whatever becomes of its address. That may
/// need `cvta.param`, which PTX has from 7.7 on: LLVM writes it for such an address, and where the
/// version has none it copies the parameter to local memory.
pub(crate) const READ_IN_PLACE: &str = "\"tilepipe.in_place\"";
const CVTA_PARAM: Needs = Needs { architecture: Architecture::plain(80), ptx: 77 };

/// What the lines of a function's definition need.
pub(crate) fn of_function(text: &str) -> Needs {
    text.lines().map(of_line).fold(Needs::LEAST, Needs::and)
}

fn of_line(line: &str) -> Needs {
    if line.starts_with("define ") && line.contains(READ_IN_PLACE) {
        return CVTA_PARAM;
    }
    let assembly = template(line).map_or(Needs::LEAST, of_assembly);
    let intrinsics = line.split("@llvm.nvvm.").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"._".contains(c)).unwrap_or(rest.len());
        of_instruction(&rest[..end])
    });
    intrinsics.fold(assembly, Needs::and)
}

/// The text of the inline assembly that a line calls.
fn template(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(" asm ")?;
    rest.split('"').nth(1)
}

/// What the instructions of inline assembly need, written as LLVM does: `\0A` ends a line.
fn of_assembly(template: &str) -> Needs {
    let lines = template.split("\\0A").map(|line| line.split("//").next().unwrap_or_default());
    let statements = lines.flat_map(|line| line.split([';', '{', '}']));
    statements.map(of_statement).fold(Needs::LEAST, Needs::and)
}

fn of_statement(statement: &str) -> Needs {
    let statement = statement.replace("\\09", " ");
    let words = statement.split_whitespace();
    // Labels and the predicate stand before the instruction.
    let mut words = words.skip_while(|word| word.ends_with(':') || word.starts_with('@'));
    let instruction = words.next().map_or(Needs::LEAST, of_instruction);
    let operands = words
        .flat_map(|word| word.split(','))
        .flat_map(|operand| REGISTERS.iter().filter(move |(register, ..)| operand.starts_with(register)));
    operands
        .map(|(_, architecture, ptx)| Needs { architecture: *architecture, ptx: *ptx })
        .fold(instruction, Needs::and)
}

fn of_instruction(name: &str) -> Needs {
    let has = |text: &str, part: &str| {
        text.match_indices(part).any(|(at, _)| matches!(text.as_bytes().get(at + part.len()), None | Some(b'.')))
    };
    let begins = |start: &str| name.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let rows = INSTRUCTIONS.iter().filter(|(start, qualifier, ..)| {
        begins(start) && (qualifier.is_empty() || has(&name[start.len()..], qualifier))
    });
    rows.map(|(_, _, architecture, ptx)| Needs { architecture: *architecture, ptx: *ptx })
        .fold(Needs::LEAST, Needs::and)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(instruction: &str) -> (String, u32) {
        let needs = of_assembly(instruction);
        (needs.architecture.to_string(), needs.ptx)
    }

    #[test]
    fn instructions_are_known_by_name_and_qualifiers() {
        for (instruction, architecture, ptx) in [
            ("add.u32 $0, $1, $2;", "sm_80", 0),
            ("cp.async.cg.shared.global [$0], [$1], 16;", "sm_80", 0),
            ("cp.async.cg.shared.global.L2::cache_hint [$0], [$1], 16, $2;", "sm_80", 74),
            ("cp.async.bulkier [$0];", "sm_80", 0),
            ("cp.async.bulk.commit_group;", "sm_90", 80),
            ("cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2;", "sm_90", 80),
            ("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "sm_90", 86),
            (
                "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3}], [$4];",
                "sm_90",
                80,
            ),
            (
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [$0], [$1], $2, [$3], $4;",
                "sm_90a",
                80,
            ),
            ("mbarrier.arrive.shared.b64 _, [$0];", "sm_80", 0),
            ("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "sm_90", 80),
            ("mbarrier.test_wait.parity.shared.b64 p, [$1], $2;", "sm_80", 0),
            ("fence.proxy.async.shared::cta;", "sm_90", 80),
            ("fence.acq_rel.cta;", "sm_80", 0),
            ("wgmma.fence.sync.aligned;", "sm_90a", 80),
            ("setmaxnreg.dec.sync.aligned.u32 40;", "sm_90a", 80),
            ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {$0}, {$1};", "sm_80", 0),
            ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {$0}, {$1};", "sm_89", 84),
            ("fma.rn.bf16 $0, $1, $2, $3;", "sm_80", 0),
            ("add.rn.bf16 $0, $1, $2;", "sm_90", 78),
            ("red.global.add.noftz.f16 [$0], $1;", "sm_80", 0),
            ("red.global.add.noftz.bf16 [$0], $1;", "sm_90", 78),
            ("mov.u32 $0, %cluster_ctarank;", "sm_90", 78),
            ("mov.u32 $0, %laneid;", "sm_80", 0),
        ] {
            assert_eq!(needs(instruction), (architecture.to_string(), ptx), "{instruction}");
        }
    }

    #[test]
    fn instructions_are_found_wherever_they_stand() {
        for text in [
            "{\\0A\\09.reg .pred p;\\0A\\09elect.sync _|p, -1;\\0A\\09@p cp.async.bulk.commit_group;\\0A}",
            "again:\\0A\\09@!$1 elect.sync _|p, -1;",
            "mov.u32 $0, 0; again: elect.sync _|p, -1; // wgmma.fence.sync.aligned;",
        ] {
            assert_eq!(needs(text), ("sm_90".to_string(), 80), "{text}");
        }
        assert_eq!(needs("// wgmma.fence.sync.aligned;\\0Aelect.sync _|p, -1;").0, "sm_90");
    }

    #[test]
    fn a_function_needs_what_its_assembly_and_its_intrinsics_do() {
        let line = |line: &str| of_function(&format!("define void @k() {{\n  {line}\n}}\n"));
        let sm_90 = Needs { architecture: SM_90, ptx: 78 };
        let parameter = format!("define ptx_kernel void @k(ptr byval([36 x i8]) align 4 {READ_IN_PLACE} %0) {{");
        assert_eq!(of_function(&parameter), CVTA_PARAM);
        assert_eq!(of_function(&parameter.replace(READ_IN_PLACE, "")), Needs::LEAST);
        assert_eq!(line("tail call void @llvm.nvvm.barrier.cluster.arrive() #1"), sm_90);
        assert_eq!(line("%1 = call i32 @llvm.nvvm.read.ptx.sreg.clusterid.x()"), sm_90);
        assert_eq!(line("%1 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()"), Needs::LEAST);
        assert_eq!(line("call void @wgmma()"), Needs::LEAST);
        let assembly =
            line("%1 = call i32 asm sideeffect \"wgmma.fence.sync.aligned;\", \"=r,~{memory}\"() #2, !srcloc !1");
        assert_eq!(assembly, Needs { architecture: SM_90A, ptx: 80 });
        assert_eq!(assembly.and(sm_90), assembly);
        assert_eq!(sm_90.and(assembly), assembly);
    }
}
