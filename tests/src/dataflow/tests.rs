use super::*;
use crate::ptx;

/// A kernel with this body.
fn entry(body: &str) -> Entry {
    let text = format!(
        "\n.visible .entry k(\n\t.param .b64 k_param_0\n)\n{{\n{}\n}}\n",
        body.replace("; ", ";\n").replace(": ", ":\n")
    );
    ptx::entries(&text).unwrap().remove(0)
}

/// The comparable form of a kernel with this body.
fn kernel(body: &str) -> Vec<String> {
    normal_form(&entry(body))
}

const LOOP: &str = "ld.param.b64 %rd1, [k_param_0]; mov.b32 %r1, 0; mov.b32 %r2, 0; $L: add.s32 %r1, %r1, 1; \
     add.s32 %r2, %r2, 4; cvt.u64.u32 %rd2, %r2; add.s64 %rd3, %rd1, %rd2; st.global.b32 [%rd3+8], %r1; \
     setp.ge.u32 %p1, %r1, 9; @%p1 bra $E; bra.uni $L; $E: ret;";

#[test]
fn names_order_association_and_polarity_make_no_difference() {
    let other = "mov.b32 %r7, 0; mov.b32 %r6, 0; ld.param.b64 %rd9, [k_param_0]; add.s64 %rd4, %rd9, 8; $A: \
         add.s32 %r7, %r7, 4; add.s32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 9; cvt.u64.u32 %rd2, %r7; \
         add.s64 %rd3, %rd2, %rd4; st.global.b32 [%rd3], %r6; @%p3 bra $A; ret;";
    assert_eq!(kernel(LOOP), kernel(other));
}

#[test]
fn another_constant_operand_order_of_events_or_target_is_a_difference() {
    let body = "ld.param.b64 %rd1, [k_param_0]; bar.sync 0; st.global.b32 [%rd1], 1; ret;";
    let swapped = "ld.param.b64 %rd1, [k_param_0]; st.global.b32 [%rd1], 1; bar.sync 0; ret;";
    assert_ne!(kernel(body), kernel(swapped));
    for (from, to) in [
        ("%r2, %r2, 4", "%r2, %r2, 8"),
        ("%rd3+8", "%rd3+4"),
        ("%p1, %r1, 9", "%p1, %r2, 9"),
        ("setp.ge", "setp.gt"),
        ("], %r1", "], %r2"),
        ("@%p1", "@!%p1"),
        ("mov.b32 %r1, 0", "mov.b32 %r1, 1"),
        ("st.global.b32", "st.global.b64"),
    ] {
        assert!(LOOP.contains(from));
        assert_ne!(kernel(LOOP), kernel(&LOOP.replace(from, to)), "{from} for {to}");
    }
}

#[test]
fn registers_that_swap_their_roles_are_a_difference() {
    let body = "mov.b32 %r1, 0; mov.b32 %r2, 0; $L: add.s32 %r1, %r1, 1; add.s32 %r2, %r2, 1; \
         st.shared.b32 [x], %r1; st.shared.b32 [y], %r2; setp.lt.u32 %p1, %r1, 9; @%p1 bra $L; ret;";
    let crossed = body.replace("[y], %r2", "[y], %r1");
    let renamed = body.replace("%r1", "%r3").replace("%r2", "%r1").replace("%r3", "%r2");
    assert_ne!(kernel(body), kernel(&crossed));
    assert_eq!(kernel(body), kernel(&renamed));
}

#[test]
fn panics_are_alike_whatever_they_report() {
    let with = |panic: &str| {
        kernel(&format!("ld.param.b64 %rd1, [k_param_0]; setp.eq.b64 %p1, %rd1, 0; @%p1 bra $P; ret; $P: {panic}"))
    };
    assert_eq!(with("trap;"), with("st.param.b64 [param0], %rd1; call.uni _R5fault, (param0); exit;"));
    assert_ne!(with("trap;"), with("ret;"));
}

#[test]
fn a_comparison_with_a_constant_is_the_same_from_either_side() {
    let with = |setp: &str| kernel(&format!("mov.u32 %r1, %tid.x; setp.{setp}; @%p1 bra $E; bar.sync 0; $E: ret;"));
    assert_eq!(with("gt.u32 %p1, %r1, 127"), with("ge.u32 %p1, %r1, 128"));
    assert_eq!(with("lt.s32 %p1, %r1, 0"), with("le.s32 %p1, %r1, -1"));
    for (one, other) in [
        ("gt.u32 %p1, %r1, 127", "gt.u32 %p1, %r1, 128"),
        ("gt.u32 %p1, %r1, 127", "lt.u32 %p1, %r1, 128"),
        // Nothing is above the greatest number, and everything at or above the least one.
        ("gt.u32 %p1, %r1, 4294967295", "ge.u32 %p1, %r1, 0"),
        ("gt.s32 %p1, %r1, 2147483647", "ge.s32 %p1, %r1, -2147483648"),
    ] {
        assert_ne!(with(one), with(other), "{one} and {other}");
    }
}

#[test]
fn a_loop_is_the_same_whatever_is_around_it() {
    let found = rounds(&entry(LOOP));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].len(), 4, "{found:?}");
    for (from, to) in
        [("mov.b32 %r1, 0", "mov.b32 %r1, 1"), ("ret;", "bar.sync 0; ret;"), ("@%p1 bra $E", "bra.uni $L")]
    {
        assert!(LOOP.contains(from));
        let is_same = rounds(&entry(&LOOP.replace(from, to))) == found;
        assert_eq!(is_same, !from.contains("bra"), "{from} for {to}");
    }
    for (from, to) in [
        ("%r2, %r2, 4", "%r2, %r2, 8"),
        ("%rd3+8", "%rd3+4"),
        ("setp.ge", "setp.gt"),
        ("st.global.b32", "st.global.b64"),
    ] {
        assert_ne!(rounds(&entry(&LOOP.replace(from, to))), found, "{from} for {to}");
    }
}

#[test]
fn loops_are_told_apart_and_inner_ones_belong_to_the_outer_one() {
    let two = "mov.b32 %r1, 0; $A: bar.sync 0; add.s32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra $A; $B: bar.sync 1; \
         $C: bar.sync 2; add.s32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 18; @%p1 bra $C; setp.lt.u32 %p1, %r1, 27; @%p1 bra $B; ret;";
    let barriers =
        |lines: &[String]| lines.iter().filter(|line| line.starts_with("bar.sync")).cloned().collect::<Vec<_>>();
    let found: Vec<_> = rounds(&entry(two)).iter().map(|lines| barriers(lines)).collect();
    assert_eq!(found, [vec!["bar.sync 0"], vec!["bar.sync 1", "bar.sync 2"]]);
}

#[test]
fn a_difference_names_both_sides() {
    let lines = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(difference(&lines("a b c"), &lines("a x c d")), ["- b", "+ x", "+ d"]);
    assert_eq!(difference(&lines("a b b"), &lines("b a")), ["- b"]);
    assert_eq!(difference(&lines("a b"), &lines("b a")), Vec::<String>::new());
}
