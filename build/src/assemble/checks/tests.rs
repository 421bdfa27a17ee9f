use super::in_line;

const CONSTANTS: &str = "\
.global .align 1 .b8 constant_$_0[9] = {105, 116, 32, 105, 115, 32, 123, 125};
.global .align 1 .b8 constant_$_1[5] = {97, 46, 114, 115};
.global .align 8 .u64 constant_$_2[3] = {generic(constant_$_1), 4, 30064771077};
";

/// A call of a report behind a label, with these numbers.
fn report(label: &str, function: &str, setup: &str, values: [&str; 2]) -> String {
    let [first, second] = values;
    format!(
        "\
{label}:                             // %v.5
{setup}\t{{ // callseq 0, 0
\t.param .b64 \tparam0;
\t.param .b32 \tparam3;
\tst.param.b64 \t[param5], {second};
\tmov.b64 \t%rd58, constant_$_2;
\tcvta.global.u64 \t%rd59, %rd58;
\tst.param.b64 \t[param2], %rd59;
\tmov.b64 \t%rd60, constant_$_0;
\tcvta.global.u64 \t%rd61, %rd60;
\tst.param.b64 \t[param0], %rd61;
\tst.param.b64 \t[param4], {first};
\tst.param.b32 \t[param3], 2;
\tst.param.b64 \t[param1], 8;
\tcall.uni {function}, (param0, param1, param2, param3, param4, param5);
\t}} // callseq 0
\t// begin inline asm
\texit;
\t// end inline asm
"
    )
}

const REPORT: &str = "_RNvNtNtCs1_8tilepipe5fault3gpu6report";
const FAIL: &str = "_RNvNtNtCs1_8tilepipe5fault3gpu4fail";

/// A thread's own conditions.
const OWN: &str = "\
\tmov.u32 \t%r9, %tid.x;
\tand.b32 \t%r8, %r9, 31;
\tsetp.eq.b32 \t%p1, %r8, 0;
\tsetp.eq.b32 \t%p2, %r1, %r8;
\tsetp.eq.b32 \t%p3, %r1, 0;
";

/// A module with this kernel.
fn module(body: &str) -> String {
    format!(
        "{CONSTANTS}.visible .entry k(\n\t.param .b64 k_param_0\n)\n{{\n\t.reg .pred \t%p<3>;\n{OWN}{body}}}\n.func f()\n{{\n\tret;\n}}\n"
    )
}

/// The lines of a kernel with checks in line, without those of the checks but for their
/// conditions.
fn outline(body: &str) -> Option<Vec<String>> {
    let text = in_line(&module(body))?;
    let own = |line: &&str| {
        !OWN.contains(*line)
            && !line.contains("tilepipe_")
            && !line.contains("fence.sc.sys")
            && !line.starts_with("\t.reg")
    };
    let (kernel, _) = text.split_once(".func f").unwrap();
    let (_, kernel) = kernel.split_once(".entry").unwrap();
    Some(kernel.lines().filter(own).map(|line| line.trim().to_string()).skip(2).collect())
}

#[test]
fn a_jump_to_a_report_becomes_an_exit_in_line() {
    let body = ["\t@%p1 bra \t$L__BB0_5;\n\tret;\n", &report("$L__BB0_5", REPORT, "", ["1024", "%rd110"])].concat();
    let wanted = [")", "{", "{", "@%p1 exit;", "}", "ret;", "}"];
    assert_eq!(outline(&body).unwrap(), wanted);
    let text = in_line(&module(&body)).unwrap();
    for line in [
        "\t@!%p1 bra tilepipe_checked_10;\n",
        "\tmov.b64 tilepipe_value, 1024;\n",
        "\tmov.b64 tilepipe_other, %rd110;\n",
        "[tilepipe_record+28], 2;\n",
        "\t@tilepipe_first brkpt;\n",
    ] {
        assert_eq!(text.matches(line).count(), 1, "{line}{text}");
    }
    let site = text.lines().last().unwrap();
    let (number, rest) = site.strip_prefix("// tilepipe.panic\t").unwrap().split_once('\t').unwrap();
    assert_eq!(rest, "5\t7\ta.rs\tit is {}");
    assert!(text.contains(&format!("[tilepipe_record+832], 0x{number};\n")), "{text}");
}

#[test]
fn a_jump_around_a_jump_to_a_report_goes_on_behind_the_check() {
    let jumps = "\t@!%p1 bra \t$L__BB0_6;\n\tbra.uni \t$L__BB0_5;\n$L__BB0_6:\n\tret;\n";
    let setup = "\tadd.s64 \t%rd7, %rd6, 1;\n";
    let body = [jumps, &report("$L__BB0_5", FAIL, setup, ["%rd7", "%rd6"])].concat();
    let wanted = [
        ")",
        "{",
        "{",
        "add.s64 \t%rd7, %rd6, 1;",
        "@%p1 exit;",
        "}",
        "bra.uni \t$L__BB0_6;",
        "$L__BB0_6:",
        "ret;",
        "}",
    ];
    assert_eq!(outline(&body).unwrap(), wanted);
}

#[test]
fn each_jump_is_a_check_of_its_own_and_a_report_that_others_need_stays() {
    let report = report("$L__BB0_5", REPORT, "", ["4", "%rd1"]);
    let both = "\t@%p1 bra \t$L__BB0_5;\n\t@!%p2 bra \t$L__BB0_5;\n\tret;\n";
    let exits = |lines: &[String]| lines.iter().filter(|line| line.starts_with('@')).count();
    assert_eq!(exits(&outline(&[both, &report].concat()).unwrap()), 2);
    // A jump that always goes there.
    let always = "\tmov.b32 \t%r1, 0;\n\tbra.uni \t$L__BB0_5;\n";
    let lines = outline(&[both, always, &report].concat()).unwrap();
    assert!(exits(&lines) == 2 && lines.iter().any(|line| line.starts_with("call.uni")), "{lines:?}");
    let text = in_line(&module(&[both, &report].concat())).unwrap();
    assert!(!text.contains("call.uni") && text.matches("// tilepipe.panic").count() == 1, "{text}");
}

#[test]
fn a_check_that_all_threads_make_alike_stays_as_it_is() {
    let report = report("$L__BB0_5", REPORT, "", ["4", "%rd1"]);
    let of = |own: &str| outline(&[own, "\t@%p3 bra \t$L__BB0_5;\n\tret;\n", &report].concat());
    assert_eq!(of(""), None);
    assert_eq!(of("\tmov.u32 \t%r1, %ctaid.x;\n\tld.param.b64 \t%rd1, [k_param_0];\n"), None);
    for own in [
        "\tld.shared.v2.b32 \t{%r2, %r1}, [%r5];\n",
        "\t// begin inline asm\n\t{ elect.sync %r3|%p4, 1; selp.b32 %r1, 1, 0, %p4; }\n",
        "\tmov.b32 \t%r1, 1;\n\t@%p1 mov.b32 \t%r1, 0;\n",
        "\tmax.u32 \t%r1, %r7, 4;\n\tmad.lo.s32 \t%r7, %r6, %r9, 1;\n",
        "\tshfl.sync.idx.b32 \t%r1|%p4, %r6, 0, 31, -1;\n",
    ] {
        assert!(of(own).is_some(), "{own}");
    }
}

#[test]
fn what_is_no_such_report_stays_as_it_is() {
    let jump = "\t@%p1 bra \t$L__BB0_5;\n\tret;\n";
    let whole = report("$L__BB0_5", REPORT, "", ["4", "%rd1"]);
    assert!(outline(&[jump, &whole].concat()).is_some());
    for (from, to) in [
        ("6report", "6others"),
        ("constant_$_0;", "elsewhere;"),
        ("[param1], 8", "[param1], 9"),
        ("[param1], 8", "[param1], %rd4"),
        ("\texit;", "\tret;"),
        ("\tst.param.b32", "\tst.global.b32 \t[%rd1], 1;\n\tst.param.b32"),
        (", (param0", "x, (param0"),
    ] {
        let other = whole.replace(from, to);
        assert_ne!(other, whole, "{from}");
        assert_eq!(outline(&[jump, &other].concat()), None, "{to}");
    }
    // Another function is called at a thread's own word; at everybody's it may be.
    let other = report("$L__BB0_7", "others", "", ["4", "%rd1"]);
    assert_eq!(outline(&[jump, &whole, "\t@%p2 bra \t$L__BB0_7;\n\tret;\n", &other].concat()), None);
    assert!(outline(&[jump, &whole, "\t@%p3 bra \t$L__BB0_7;\n\tret;\n", &other].concat()).is_some());
    // The path before runs into it.
    assert_eq!(outline(&["\t@%p1 bra \t$L__BB0_5;\n\tmov.b32 \t%r1, 0;\n", &whole].concat()), None);
    assert_eq!(outline(&[jump, "\t.branchtargets $L__BB0_5;\n\tret;\n", &whole].concat()), None);
    let many = "\t@%p1 bra \t$L__BB0_5;\n".repeat(super::MOST + 1);
    assert_eq!(outline(&[&many, "\tret;\n", &whole].concat()), None);
    // A function is no kernel.
    let function = module(&[jump, &whole].concat()).replace(".visible .entry k", ".func k");
    assert_eq!(in_line(&function), None);
}
