//! One change to the linked PTX: waits for copies where none can be under way.
//!
//! A kernel ends with `cp.async.wait_all`, whatever its body did (`tilepipe::entry::run`). A body
//! that forgets a filled stage needs it. Where each path to it has waited for every copy, or starts
//! none, it goes: with nothing to wait for it still takes some 50 cycles of each block, 3 % of a
//! launch over 64 KiB (docs/decisions/78).
//!
//! What may be under way is followed along all paths of an entry: copies without a group yet, and
//! how many groups were committed since the youngest one with copies. A path that does not exist at
//! run time counts as one, so a wait that goes is one that never had to wait. The empty group that
//! `cp.async.wait_all` commits is older than every group behind it: no other wait counts it.
//!
//! Kernels with products of tensor cores keep theirs. Their blocks run long, and without it `ptxas`
//! gives the sums of a product more registers than there are (`gemm` spilled).

use std::collections::HashSet;

use super::flow::{Next, Statement, statements};
use super::lines::{is_entry, parts};

/// The wait that may go, as LLVM writes it.
const WAIT_ALL: &str = "cp.async.wait_all";

/// What starts a product of tensor cores.
const PRODUCT: &str = "wgmma.mma_async.";

/// The module without waits for copies where none can be under way; none if there is none.
pub(crate) fn without_settled_waits(module: &str) -> Option<String> {
    let lines: Vec<&str> = module.lines().collect();
    let parts: Vec<&[&str]> = parts(&lines).collect();
    // What a called function leaves under way is not followed.
    let may_copy = |part: &[&str]| {
        part.iter().any(|line| line.contains(".extern .func"))
            || statements(part).iter().any(|statement| action(statement) != Some(Action::Nothing))
    };
    if parts.iter().any(|part| !is_entry(part) && may_copy(part)) {
        return None;
    }
    let (mut out, mut changed) = (String::with_capacity(module.len()), false);
    for part in parts {
        let has_products = part.iter().any(|line| line.contains(PRODUCT));
        let followed = is_entry(part) && !has_products;
        let settled = if followed { settled_waits(&statements(part)) } else { HashSet::new() };
        for (_, line) in part.iter().enumerate().filter(|(number, _)| !settled.contains(number)) {
            out.extend([line, "\n"]);
        }
        changed |= !settled.is_empty();
    }
    changed.then_some(out)
}

/// What an instruction does to copies that are under way, and where it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// Starts a copy, or something that follows one.
    Copy,
    /// Closes the group of the copies before.
    Commit,
    /// Waits for all groups but so many.
    Wait(u32),
    /// Waits for all copies.
    WaitAll,
    /// Nothing.
    Nothing,
}

/// The copies that may be under way in a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flight {
    /// Whether there may be copies without a group yet.
    open: bool,
    /// At least so many groups are younger than each group that may have copies under way.
    younger: u32,
}

impl Flight {
    /// Nothing is under way.
    const NOTHING: Self = Self { open: false, younger: u32::MAX };

    /// More groups than this are not counted.
    const MOST: u32 = 64;

    fn after(self, action: Action) -> Self {
        match action {
            Action::Copy => Self { open: true, ..self },
            Action::Commit if self.open => Self { open: false, younger: 0 },
            Action::Commit if self.younger < Self::MOST => Self { younger: self.younger + 1, ..self },
            Action::Wait(groups) if self.younger >= groups => Self { younger: u32::MAX, ..self },
            Action::WaitAll => Self::NOTHING,
            Action::Commit | Action::Wait(_) | Action::Nothing => self,
        }
    }

    fn or(self, other: Self) -> Self {
        Self { open: self.open || other.open, younger: self.younger.min(other.younger) }
    }
}

/// The lines of those waits of an entry before which nothing can be under way.
fn settled_waits(statements: &[Statement<'_>]) -> HashSet<usize> {
    let none = HashSet::new();
    let mut before: Vec<Option<Flight>> = vec![None; statements.len() + 1];
    let mut todo = vec![(0, Flight::NOTHING)];
    while let Some((number, flight)) = todo.pop() {
        let known = before[number];
        let joined = known.map_or(flight, |known| known.or(flight));
        if known == Some(joined) {
            continue;
        }
        before[number] = Some(joined);
        let Some(statement) = statements.get(number) else {
            continue;
        };
        let Some(action) = action(statement) else {
            return none;
        };
        let after = joined.after(action);
        todo.extend(statement.following(number).map(|next| (next, after)));
        if statement.predicated {
            todo.push((number + 1, joined));
        }
    }
    let is_settled = |(statement, before): &(&Statement<'_>, &Option<Flight>)| {
        let is_wait = action(statement) == Some(Action::WaitAll) && !statement.predicated && statement.alone;
        is_wait && **before == Some(Flight::NOTHING)
    };
    statements.iter().zip(&before).filter(is_settled).map(|(statement, _)| statement.line).collect()
}

/// What an instruction does to copies that are under way; none where that is not known.
fn action(statement: &Statement<'_>) -> Option<Action> {
    match statement.opcode {
        "cp.async.commit_group" => Some(Action::Commit),
        "cp.async.wait_group" => statement.operand().parse().ok().map(Action::Wait),
        WAIT_ALL => Some(Action::WaitAll),
        opcode if opcode.starts_with("cp.async.bulk") => Some(Action::Nothing),
        // Copies, and arrivals that follow them.
        opcode if opcode.starts_with("cp.async") => Some(Action::Copy),
        _ => (statement.next != Next::Unknown).then_some(Action::Nothing),
    }
}

#[cfg(test)]
mod tests {
    use super::without_settled_waits;

    /// A kernel with this body, behind a function with that one.
    fn module_with(function: &str, body: &str) -> String {
        format!(
            "\
.func f()
{{
{function}\tret;
}}
.visible .entry k(
\t.param .b64 k_param_0
)
{{
\t.reg .pred \t%p<2>;
// %bb.0:
{body}\tcp.async.wait_all;
\tret;
}}
"
        )
    }

    /// Whether the wait at the end of a kernel with this body goes.
    fn goes(body: &str) -> bool {
        let module = module_with("", body);
        let out = without_settled_waits(&module);
        if let Some(out) = &out {
            assert_eq!(*out, module_without_last(&module), "{body}");
        }
        out.is_some()
    }

    /// The module without its last wait for all copies.
    fn module_without_last(module: &str) -> String {
        let (before, after) = module.rsplit_once("\tcp.async.wait_all;\n").expect("it has one");
        [before, after].concat()
    }

    const COPY: &str = "\tcp.async.cg.shared.global [%rd1], [%rd2], 16;\n";
    const COMMIT: &str = "\tcp.async.commit_group;\n";
    const WAIT_0: &str = "\t// begin inline asm\n\tcp.async.wait_group 0;\n\t// end inline asm\n";
    const WAIT_1: &str = "\tcp.async.wait_group \t1;\n";

    #[test]
    fn a_wait_goes_where_nothing_was_started() {
        assert!(goes(""));
        assert!(goes("\tld.shared.v4.b32 \t{%r1, %r2, %r3, %r4}, [%r5];\n\tbar.sync \t0;\n"));
        assert!(goes(
            "\tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, [%r2];\n"
        ));
    }

    #[test]
    fn a_wait_goes_where_all_has_been_waited_for() {
        assert!(goes(&[COPY, COMMIT, WAIT_0].concat()));
        assert!(goes(&[COPY, COPY, COMMIT, COMMIT, WAIT_1].concat()));
        // One stage: a loop that fills, waits and reads, behind a first fill.
        let round = [WAIT_0, "\t@%p1 bra \t$L__BB0_2;\n", COPY, COMMIT, "\tbra.uni \t$L__BB0_1;\n"].concat();
        assert!(goes(&[COPY, COMMIT, "$L__BB0_1:   // a loop\n", &round, "$L__BB0_2:\n"].concat()));
    }

    #[test]
    fn a_wait_stays_where_copies_may_be_under_way() {
        assert!(!goes(COPY));
        assert!(!goes(&[COPY, COMMIT].concat()));
        assert!(!goes(&[COPY, WAIT_0].concat()), "a copy without a group");
        assert!(!goes(&[COPY, COMMIT, WAIT_1].concat()));
        assert!(!goes(&[COPY, COMMIT, WAIT_0, COPY].concat()));
        assert!(!goes(&[COPY, COMMIT, "\tcp.async.mbarrier.arrive.noinc.shared.b64 [%r1];\n"].concat()));
        assert!(!goes(&[COPY, COMMIT, "\tcp.async.wait_group \tN;\n"].concat()), "an unknown number");
    }

    #[test]
    fn a_wait_stays_where_one_path_has_copies_under_way() {
        let skipped = |skip: &str| [COPY, COMMIT, skip, WAIT_0, "$L__BB0_2:\n"].concat();
        assert!(!goes(&skipped("\t@%p1 bra \t$L__BB0_2;\n")));
        assert!(goes(&skipped("")));
        assert!(!goes(&[COPY, COMMIT, "\t@%p1 cp.async.wait_group \t0;\n"].concat()));
        assert!(!goes(&[COPY, "\t@%p1 cp.async.commit_group;\n", WAIT_0].concat()));
        assert!(!goes(&["\t@%p1 cp.async.ca.shared.global [%rd1], [%rd2], 4;\n"].concat()));
        // Behind a loop whose last round may have filled.
        let round = [WAIT_0, "\t@%p1 bra \t$L__BB0_2;\n", COPY, "$L__BB0_2:\n", COMMIT, "\t@%p0 bra \t$L__BB0_1;\n"];
        assert!(!goes(&[&["$L__BB0_1:\n"], &round[..]].concat().concat()));
    }

    #[test]
    fn a_path_that_ends_elsewhere_does_not_count() {
        for end in ["ret", "exit", "trap"] {
            assert!(goes(&format!("\t@%p1 bra \t$L__BB0_2;\n{COPY}\t{end};\n$L__BB0_2:\n")));
        }
        assert!(!goes(&format!("\t@%p1 bra \t$L__BB0_2;\n{COPY}\t@%p0 ret;\n$L__BB0_2:\n")));
    }

    #[test]
    fn labels_of_a_scope_are_its_own() {
        let poll =
            "\t{ tilepipe_again: mbarrier.try_wait.shared.b64 complete, [%r1], %r2; @!complete bra tilepipe_again; }\n";
        assert!(goes(&[poll, COPY, COMMIT, WAIT_0, poll].concat()));
        assert!(!goes(&[poll, COPY, COMMIT, poll].concat()));
        // The jump in the second scope goes back to its own label, behind the copy.
        assert!(goes(&["{\nA:\n}\n", COPY, COMMIT, WAIT_0, "{\nA:\n\t@%p1 bra A;\n}\n"].concat()));
    }

    #[test]
    fn what_is_not_followed_changes_nothing() {
        assert!(!goes("\tbrx.idx \t%r1, TABLE;\n"));
        assert!(!goes("\tbra \tELSEWHERE;\n"));
        assert_eq!(without_settled_waits(&module_with(COPY, "")), None);
        assert!(!goes("\twgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1}, %rd1, %rd2, p, 1, 1, 0, 0;\n"));
        assert_eq!(without_settled_waits(&[".extern .func f\n", &module_with("", "")].concat()), None);
        assert_eq!(without_settled_waits(&module_with("", "").replace("\tcp.async.wait_all;\n", "")), None);
    }

    #[test]
    fn a_wait_within_other_statements_stays() {
        assert!(goes("\t{ cp.async.wait_all; mov.b32 %r1, %r2; }\n"), "the last one goes, the other one stays");
    }

    #[test]
    fn an_older_wait_goes_as_well() {
        let module = module_with("", "\tcp.async.wait_all;\n");
        let out = without_settled_waits(&module).expect("both go");
        assert!(!out.contains("wait_all"), "{out}");
    }
}
