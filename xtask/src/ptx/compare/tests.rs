use super::*;

/// Compares two builds of one module each.
fn compare_modules(old: &str, new: &str) -> Found {
    compare_texts(&[old], &[new])
}

/// A module with all that builds may differ in: an entry that calls a function which panics, with a
/// place and a message.
const OLD: &str = r#"
.version 7.1
.target sm_80
.address_size 64

.func _RNvCsAAAA_8tilepipe6report
(
	.param .b64 _RNvCsAAAA_8tilepipe6report_param_0
)
.noreturn;
.global .align 1 .b8 anon_$_1[5] = {97, 46, 114, 115};
.global .align 8 .u64 anon_$_2[3] = {generic(anon_$_1), 4, 141733920795};
.global .align 1 .b8 anon_$_3[3] = {98, 97, 100};
.visible .shared .align 16 .b8 scratch[656];
	// .globl	scale__i32_256
.visible .entry scale__i32_256(
	.param .u64 scale__i32_256_param_0,
	.param .u64 scale__i32_256_param_1
)
.reqntid 256, 1, 1                      // @scale__i32_256
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<5>;

// %bb.0:
	ld.param.u64 	%rd1, [scale__i32_256_param_0];
	mov.u32 	%r1, %tid.x;
	mov.b64 	%rd4, scratch;
	{
	.reg .pred done;
	again:
	mbarrier.test_wait.shared.b64 done, [%rd4], %rd1;
	@!done bra again;
	}
	setp.eq.s32 	%p1, %r1, 7;
	@%p1 bra 	$L__BB0_2;
	add.s32 	%r2, %r1, %r1;
	st.global.u32 	[%rd1+8], %r2;
	ret;
$L__BB0_2:                              // %panic
	mov.b64 	%rd2, anon_$_3;
	mov.b64 	%rd3, anon_$_2;
	call.uni _RNvCsAAAA_8tilepipe6report, (param0);
                                        // -- End function
}
.func _RNvCsAAAA_8tilepipe6report(
	.param .b64 _RNvCsAAAA_8tilepipe6report_param_0
)
.noreturn
{
	.local .align 8 .b8 	__local_depot1[16];
	.reg .b64 	%rd<2>;
	ld.param.b64 	%rd1, [_RNvCsAAAA_8tilepipe6report_param_0];
	mov.b64 	%rd1, __local_depot1;
	trap;
}
"#;

/// The module with some of its text replaced; each piece stands in it.
#[track_caller]
fn with(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(OLD.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "`{from}`");
        text.replace(from, to)
    })
}

#[track_caller]
fn is_same(changes: &[(&str, &str)]) {
    let found = compare_modules(OLD, &with(changes));
    assert_eq!((found.text.as_str(), found.same), ("", 1));
}

/// The comparison finds a difference and shows each of `parts`.
#[track_caller]
fn differs(changes: &[(&str, &str)], parts: &[&str]) {
    let found = compare_modules(OLD, &with(changes));
    assert_eq!((found.same, found.different), (0, 1), "{}", found.text);
    for part in parts {
        assert!(found.text.contains(part), "`{part}` is not in: {}", found.text);
    }
}

#[test]
fn registers_and_labels_may_have_other_names() {
    is_same(&[("%r1", "%r9"), ("%rd2", "%rd17"), ("%p1", "%p4"), ("%r<4>", "%r<10>")]);
    is_same(&[("%r1", "%x1"), ("%r2", "%x2"), (".reg .b32 \t%r<4>", ".reg .b32 \t%x<4>")]);
    is_same(&[
        ("$L__BB0_2", "$L__BB7_12"),
        ("again", "once_more"),
        ("done", "complete"),
        ("__local_depot1", "__local_depot4"),
    ]);
}

#[test]
fn symbols_may_have_other_names() {
    is_same(&[("CsAAAA_", "CsBBBB_"), ("anon_$_3", "anon_$_17"), ("scratch", "words")]);
    is_same(&[("scale__i32_256", "some_kernels$scale__i32_256")]);
}

#[test]
fn panics_may_have_other_places() {
    is_same(&[("141733920795", "98784248000")]);
    is_same(&[
        ("[5] = {97, 46, 114, 115}", "[6] = {97, 98, 46, 114, 115}"),
        ("generic(anon_$_1), 4", "generic(anon_$_1), 5"),
    ]);
}

#[test]
fn contracts_comments_and_versions_do_not_count() {
    let contract = ".visible .global .align 1 .b8 __tilepipe_contract__scale[3] = {1, 2, 3};\n.visible .shared";
    is_same(&[(".visible .shared", contract)]);
    let used = [
        (".visible .shared", contract),
        ("mov.b64 \t%rd4, scratch;", "mov.b64 \t%rd4, scratch;\n\tmov.b64 \t%rd4, __tilepipe_contract__scale;"),
    ];
    let (one, other) =
        (with(&used), with(&used).replace("{1, 2, 3}", "{4, 5, 6}").replace("contract__scale", "contract__another"));
    assert_eq!(compare_modules(&one, &other).text, "");
    is_same(&[
        ("// %panic", "// another comment"),
        (".version 7.1", ".version 8.0"),
        ("sm_80", "sm_90"),
        ("\n\n", "\n\n\n"),
    ]);
}

#[test]
fn an_instruction_differs() {
    differs(
        &[("add.s32", "sub.s32")],
        &["differs: scale__i32_256", "- add.s32 %r2, %r1, %r1;", "+ sub.s32 %r2, %r1, %r1;"],
    );
    differs(&[("\tret;\n", "\tbar.sync \t0;\n\tret;\n")], &["+ bar.sync 0;"]);
    differs(&[("%r1, 7", "%r1, 8")], &["- setp.eq.s32 %p1, %r1, 7;"]);
    differs(&[("%tid.x", "%laneid")], &["%laneid"]);
}

#[test]
fn another_register_label_or_parameter_differs() {
    differs(&[("add.s32 \t%r2, %r1, %r1", "add.s32 \t%r2, %r1, %r2")], &["+ add.s32 b32_2, b32_1, b32_2;"]);
    differs(&[("@%p1 bra \t$L__BB0_2", "@%p1 bra \tagain")], &["label_1"]);
    differs(&[("[scale__i32_256_param_0]", "[scale__i32_256_param_1]")], &["param_2"]);
    differs(&[(".reg .b32 \t%r<4>", ".reg .f32 \t%r<4>")], &["differs"]);
}

#[test]
fn sizes_of_threads_shared_memory_and_stack_differ() {
    differs(&[(".reqntid 256", ".reqntid 128")], &["- .reqntid 256, 1, 1"]);
    differs(&[("scratch[656]", "scratch[664]")], &["in scratch:", "+ .visible .shared .align 16 .b8 self[664];"]);
    differs(&[("__local_depot1[16]", "__local_depot1[32]")], &["in tilepipe::report:"]);
}

#[test]
fn the_body_of_a_called_function_differs() {
    differs(&[("trap;", "exit;")], &["in tilepipe::report:", "- trap;", "+ exit;"]);
}

#[test]
fn the_message_of_a_panic_differs() {
    differs(&[("{98, 97, 100}", "{98, 97, 99}")], &["in \"bad\", now \"bac\""]);
    // A string of Rust has no zero byte at its end: this is no place.
    differs(&[("[5] = {97, 46", "[4] = {97, 46"), ("{generic(anon_$_1), 4", "{generic(anon_$_1), 3")], &["anon_$_2"]);
}

#[test]
fn one_of_two_variables_alike_is_not_the_other() {
    let two = (".visible .shared", ".shared .align 8 .b8 other[656];\n.visible .shared");
    let both = "mov.b64 \t%rd4, scratch;\n\tmov.b64 \t%rd3, scratch;";
    let old =
        with(&[two, ("mov.b64 \t%rd4, scratch;", both)]).replace(".visible .shared .align 16", ".shared .align 8");
    let new = old.replace("%rd3, scratch", "%rd3, other");
    let found = compare_modules(&old, &new);
    assert_eq!(found.different, 1);
    assert!(found.text.contains("another one of several alike: scratch, now other"), "{}", found.text);
}

#[test]
fn entries_come_and_go() {
    let found = compare_modules(OLD, &with(&[("scale__i32_256", "shift__i32_256")]));
    assert_eq!((found.same, found.added, found.removed), (0, 1, 1));
    assert_eq!(found.text, "removed: scale__i32_256\nadded: shift__i32_256\n");
}

#[test]
fn entries_of_two_crates_are_told_apart() {
    let entry = |name: &str, code: &str| format!(".visible .entry {name}()\n{{\n\t{code};\n\tret;\n}}\n");
    let old = entry("a$scale", "bar.sync 0") + &entry("b$scale", "bar.sync 1");
    assert_eq!(compare_modules(&old, &old).same, 2);
    let found = compare_modules(&old, &old.replace("bar.sync 1", "bar.sync 2"));
    assert_eq!((found.same, found.different), (1, 1));
    assert!(found.text.starts_with("differs: b$scale\n"), "{}", found.text);
}

#[test]
fn a_long_difference_is_cut() {
    let entry = |code: &str| format!(".visible .entry long()\n{{\n{}\tret;\n}}\n", code.repeat(100));
    let found = compare_modules(&entry("\tadd.s32 1, 2, 3;\n"), &entry("\tsub.s32 1, 2, 3;\n"));
    assert_eq!(found.text.lines().count(), 1 + 40 + 1);
    assert!(found.text.trim_end().ends_with("lines more"), "{}", found.text);
}

#[test]
fn recursion_ends() {
    let recursive = [("\ttrap;\n", "\tcall.uni _RNvCsAAAA_8tilepipe6report, (param0);\n\ttrap;\n")];
    assert_eq!(compare_modules(&with(&recursive), &with(&recursive)).same, 1);
    differs(&recursive, &["in tilepipe::report:"]);
}

#[test]
fn a_folder_is_a_target_folder_or_holds_ptx() {
    let folder = tempfile::tempdir().unwrap();
    let [target, plain, empty] = ["target", "plain", "empty"].map(|name| folder.path().join(name));
    for path in [target.join("ptx"), target.join("test-ptx/twins"), plain.clone(), empty.clone()] {
        fs::create_dir_all(path).unwrap();
    }
    fs::write(target.join("ptx/kernels.ptx"), OLD).unwrap();
    fs::write(target.join("test-ptx/twins/twins.ptx"), OLD).unwrap();
    fs::write(plain.join("kernels.ptx"), with(&[("CsAAAA_", "CsBBBB_")])).unwrap();
    let find = |path: &Path| Files::find(path).unwrap();
    assert_eq!((find(&target).files.len(), find(&plain).files.len()), (2, 1));
    assert!(compare(find(&target), find(&plain)).unwrap() && compare(find(&plain), find(&target)).unwrap());
    assert!(compare(find(&plain), find(&plain)).unwrap_err().to_string().contains("itself"));
    let error = Files::find(&empty).unwrap_err().to_string();
    assert!(error.contains("holds no .ptx file"), "{error}");

    let other = folder.path().join("other");
    fs::create_dir_all(other.join("ptx")).unwrap();
    fs::write(other.join("ptx/kernels.ptx"), OLD).unwrap();
    assert!(!compare(find(&target), find(&other)).unwrap(), "a file less is a difference");
}
