//! One change to the linked PTX: the end of a partition into roles, where the kernel ends there.
//!
//! A partition ends with a barrier of the block, the end of its mbarriers and another barrier, so
//! that what follows finds its memory. Where the kernel ends there, nothing follows. But threads
//! that are done wait at the barrier, and a warp some of whose threads wait there is slow on the
//! path of the others: even and odd ranks with bulk copies run at 0.6 of the speed that they have
//! without (docs/decisions/65).
//!
//! So where roles meet between a kernel's last effect and its `ret`, these go from there: barriers
//! of the block and of the warp, and `mbarrier.inval`. That changes nothing that a program can see:
//!
//! - What is left there computes numbers and jumps forward, within those lines.
//! - A barrier orders what comes before it with what comes after, and nothing does.
//! - No thread waits in vain for one that has left. LLVM duplicates no convergent operation, and
//!   all threads of a block come to all of the block's barriers: whoever would have waited at one
//!   that goes would have gone on to the same `ret`.
//! - A thread that is done leaves earlier. The memory of the block stays until the last one has
//!   left, and those that copies were started for wait for them before.
//!
//! Other kernels keep the barriers at their ends: all of their threads come there together.
//!
//! If that was the kernel's only partition, its waits lose their suspend time hint as well
//! (docs/decisions/62), which is for warps in which threads wait where the roles meet.

use std::collections::HashSet;

use super::lines::{PURE, code, is_entry, parts};

/// What goes. They are written as LLVM and the device crate write them.
const LAST: [&str; 4] = [JOIN, "bar.sync 0;", "bar.warp.sync ", "mbarrier.inval.shared.b64 "];

/// Where roles meet: a barrier that the threads of a warp may reach one by one.
const JOIN: &str = "barrier.sync 0;";

/// What a wait with a suspend time hint ends with. Such a wait leaves time to a warp's other path
/// while threads wait where roles meet. Without that place it only takes longer.
const HINT: &str = ", 20;";

/// The module without what ends a partition at the end of its kernels; none if there is none.
pub(crate) fn without_last_joins(module: &str) -> Option<String> {
    let lines: Vec<&str> = module.lines().collect();
    let (mut out, mut changed) = (String::with_capacity(module.len()), false);
    for part in parts(&lines) {
        // A function returns to its caller, and whatever follows there.
        let last = if is_entry(part) { last_of_kernel(part) } else { HashSet::new() };
        let roles_meet = |(number, line): (usize, &&str)| !last.contains(&number) && code(line) == JOIN;
        let is_last_partition = !last.is_empty() && !part.iter().enumerate().any(roles_meet);
        for (_, line) in part.iter().enumerate().filter(|(number, _)| !last.contains(number)) {
            let is_wait = is_last_partition && line.trim_start().starts_with("mbarrier.try_wait.");
            match line.strip_suffix(HINT).filter(|_| is_wait) {
                Some(wait) => out.extend([wait, ";\n"]),
                None => out.extend([line, "\n"]),
            }
        }
        changed |= !last.is_empty();
    }
    changed.then_some(out)
}

/// The numbers of the lines that can go of a kernel's.
fn last_of_kernel(kernel: &[&str]) -> HashSet<usize> {
    let ends = kernel.iter().enumerate().filter(|(_, line)| line.trim() == "ret;");
    ends.flat_map(|(number, _)| last_barriers(&kernel[..number])).collect()
}

/// The numbers of the lines that can go of those before a `ret`.
fn last_barriers(before: &[&str]) -> Vec<usize> {
    let (mut found, mut labels, mut roles_meet) = (Vec::new(), HashSet::new(), false);
    for (number, line) in before.iter().enumerate().rev() {
        let code = code(line);
        if LAST.iter().any(|last| code.starts_with(last)) {
            found.push(number);
            roles_meet |= code == JOIN;
        } else if let Some(label) = code.strip_suffix(':') {
            labels.insert(label.to_string());
        } else if !is_nothing(&code, &labels) {
            break;
        }
    }
    if roles_meet { found } else { Vec::new() }
}

/// Whether a line has no effect on memory or on other threads, and goes on within the lines that
/// have these labels.
fn is_nothing(code: &str, labels: &HashSet<String>) -> bool {
    let words: Vec<&str> = code.split(' ').filter(|word| !word.is_empty()).collect();
    let own = if words.first().is_some_and(|word| word.starts_with('@')) { &words[1..] } else { &words };
    match own {
        // Each thread's own copies and stores; it stays.
        [] | ["cp.async.wait_all;"] | ["cp.async.bulk.wait_group.read", "0;"] => true,
        ["bra" | "bra.uni", target] => target.strip_suffix(';').is_some_and(|target| labels.contains(target)),
        [opcode, ..] => PURE.contains(&opcode.split('.').next().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::without_last_joins;

    /// A kernel with these lines before its last `ret`, behind a function.
    fn module(end: &str) -> String {
        format!(
            "\
.func f()
{{
\tbar.sync \t0;
\tret;
}}
.visible .entry k(
\t.param .b64 k_param_0
)
{{
\t@%p1 bra \t$L__BB0_3;
\tst.shared.b32 \t[%r1], %r2;
\tbar.sync \t0;
\tst.shared.b32 \t[%r2], %r2;
$L__BB0_3:
{end}\tret;
}}
"
        )
    }

    /// The end of a partition.
    const PARTITION: &str = "\
\tbarrier.sync \t0;
\tbar.warp.sync \t-1;
\t@%p3 bra \t$L__BB0_63;
// %bb.62:
\tcvt.u32.u64 \t%r133, %rd131;
\t// begin inline asm
\tmbarrier.inval.shared.b64 [%r129];
\t// end inline asm
$L__BB0_63:                             // %v.151
\tbar.sync \t0;
\tcp.async.wait_all;
";

    #[test]
    fn what_ends_a_partition_goes_where_the_kernel_ends() {
        let expected = module(
            "\
\t@%p3 bra \t$L__BB0_63;
// %bb.62:
\tcvt.u32.u64 \t%r133, %rd131;
\t// begin inline asm
\t// end inline asm
$L__BB0_63:                             // %v.151
\tcp.async.wait_all;
",
        );
        assert_eq!(without_last_joins(&module(PARTITION)), Some(expected));
    }

    #[test]
    fn what_ends_a_partition_goes_before_the_wait_for_stores() {
        let stores = "\t// begin inline asm\n\tcp.async.bulk.wait_group.read 0;\n\t// end inline asm\n";
        let without = without_last_joins(&module(&[PARTITION, stores].concat())).expect("it goes");
        assert!(without.contains(stores) && !without.contains("barrier.sync"), "{without}");
    }

    #[test]
    fn waits_lose_their_hint_with_the_only_place_where_roles_meet() {
        let wait = "\tmbarrier.try_wait.parity.shared.b64 complete, [%r1], %r2";
        let arrive = "\tmbarrier.arrive.shared.b64 _, [%r1];\n";
        let with = |hint: &str, before: &str| module(&format!("{before}{wait}{hint};\n{arrive}{PARTITION}"));
        let waits = |module: &str| without_last_joins(module).map(|out| out.contains(&format!("{wait};\n")));
        assert_eq!(waits(&with(", 20", "")), Some(true));
        assert_eq!(waits(&with("", "")), Some(true));
        assert_eq!(waits(&with(", 20", "\tbarrier.sync \t0;\n")), Some(false));
        assert_eq!(waits(&with(", 20", "").replace(PARTITION, "")), None);
    }

    #[test]
    fn a_barrier_where_no_roles_meet_stays() {
        let block = PARTITION.replace("barrier.sync \t0", "bar.sync \t0");
        assert_eq!(without_last_joins(&module(&block)), None);
    }

    #[test]
    fn a_barrier_before_an_effect_stays() {
        for effect in [
            "\tst.global.b32 \t[%rd1], %r1;\n",
            "\tmbarrier.arrive.shared.b64 _, [%r1];\n",
            "\tmbarrier.try_wait.parity.shared.b64 complete, [%r1], %r2;\n",
            "\tcp.async.bulk.wait_group \t0;\n",
            "\tbar.sync \t1, 64;\n",
            "\t@%p1 st.global.b32 \t[%rd1], %r1;\n",
            "\ttrap;\n",
            "\tcall.uni \tf, ();\n",
            "\tld.volatile.shared.b32 \t%r1, [%r2];\n",
        ] {
            assert_eq!(without_last_joins(&module(&[PARTITION, effect].concat())), None, "{effect}");
        }
    }

    #[test]
    fn a_barrier_before_a_jump_to_elsewhere_stays() {
        for jump in ["\t@%p2 bra \t$L__BB0_3;\n", "\tbra.uni \t$L__BB0_7;\n"] {
            assert_eq!(without_last_joins(&module(&[PARTITION, jump].concat())), None, "{jump}");
        }
    }

    #[test]
    fn a_module_without_such_barriers_is_as_it_was() {
        assert_eq!(without_last_joins(&module("")), None);
        assert_eq!(without_last_joins(&module("\tmov.b32 \t%r1, 0;\n\tcp.async.wait_all;\n")), None);
    }
}
