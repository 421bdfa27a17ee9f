use super::cheapen;

/// What rustc 1.96 makes of the functions that lead from a panic to the report, without bodies.
const MODULE: &str = r#"target triple = "nvptx64-nvidia-cuda"
define void @_RNvNtCsa_4core9panicking9panic_fmt(ptr noundef nonnull %0, ptr noundef nonnull %1, ptr noalias align 8 captures(address, read_provenance) dereferenceable(24) %2) unnamed_addr #1 !dbg !7 {
  call void @_RNvCsr_7___rustc17rust_begin_unwind(ptr %2), !dbg !8
  unreachable
}
define void @_RNvNtCsa_4core9panicking18panic_bounds_check(i64 noundef %0, i64 noundef %1, ptr align 8 dereferenceable(24) %2) unnamed_addr #0 !dbg !9 {
  %4 = alloca [16 x i8], align 8
  unreachable, !dbg !10
}
define void @_RNvNtNtCsa_4core5slice5index16slice_index_fail(i64 noundef %0, i64 noundef %1, i64 %2, ptr align 8 %3) unnamed_addr #1 {
  unreachable
}
define void @_RNvNtNtCsa_4core9panicking11panic_const23panic_const_div_by_zero(ptr align 8 %0) unnamed_addr #1 {
  unreachable
}
define void @_RINvNtCsa_4core9panicking13assert_failedjjEB4_(i8 %0) unnamed_addr #1 {
  unreachable
}
define void @_RNvNtNtCsa_4core3str16slice_error_fail(ptr %0) unnamed_addr #1 {
  unreachable
}
define void @_RNvNtCsu_4user9panicking5panic(ptr %0) unnamed_addr #1 {
  unreachable
}
define void @_RNvCsr_7___rustc17rust_begin_unwind(ptr %0) unnamed_addr #2 {
  unreachable
}
define void @kernel(i64 %0) {
  call void @_RNvNtCsa_4core9panicking18panic_bounds_check(i64 noundef %0, i64 noundef 4, ptr @place) #3, !dbg !11
  call void @_RNvNtNtCsa_4core3str16slice_error_fail(ptr @place) #3
  unreachable
}
define internal void @_RNvNtNtCst_8tilepipe5fault3gpu6report(ptr %0, i64 %1, ptr %2, i32 %3, i64 %4, i64 %5) unnamed_addr #1 {
  unreachable
}
attributes #0 = { cold minsize noinline noreturn nounwind optsize "target-cpu"="sm_80" }
attributes #1 = { cold noinline noreturn nounwind "target-cpu"="sm_80" }
attributes #2 = { noreturn nounwind "target-cpu"="sm_80" }
attributes #3 = { noinline noreturn nounwind }
"#;

#[test]
fn what_leads_to_the_report_is_inlined_and_nothing_else_changes() {
    let changed = cheapen(MODULE).unwrap();
    let of = |text: &str, name: &str| -> String {
        let line = text.lines().find(|line| line.starts_with("define ") && line.contains(name)).unwrap();
        let number = line.split(" #").nth(1).unwrap().split(' ').next().unwrap();
        let group = format!("attributes #{number} = ");
        text.lines().find_map(|line| line.strip_prefix(&group)).unwrap().to_string()
    };
    let inlined = r#"{ alwaysinline cold noreturn nounwind "target-cpu"="sm_80" }"#;
    for name in ["9panic_fmt", "18panic_bounds_check", "16slice_index_fail", "by_zero", "assert_failed"] {
        assert_eq!(of(&changed, name), inlined, "{name}");
    }
    assert_eq!(of(&changed, "begin_unwind"), r#"{ alwaysinline noreturn nounwind "target-cpu"="sm_80" }"#);
    for name in ["16slice_error_fail", "4user9panicking5panic", "6report"] {
        assert_eq!(of(&changed, name), of(MODULE, name), "{name}");
    }
    // So are calls, which rustc marks on their own.
    let calls: Vec<&str> = changed.lines().filter(|line| line.contains("@place)")).collect();
    assert!(calls[0].ends_with(" #7, !dbg !11") && calls[1].ends_with(" #3"), "{calls:?}");
    assert!(changed.contains("\nattributes #7 = { alwaysinline noreturn nounwind }\n"));
    // The body of a function that only passes on stays, with its place in the source.
    assert!(changed.contains("!dbg !7 {\n  call void @_RNvCsr_7___rustc17rust_begin_unwind(ptr %2), !dbg !8\n"));
}

#[test]
fn numbers_are_reported() {
    let changed = cheapen(MODULE).unwrap();
    with_definition(&changed, "18panic_bounds_check", |line, body| {
        assert!(!line.contains("!dbg"), "{line}");
        assert_eq!(
            body,
            "  call void @_RNvNtNtCst_8tilepipe5fault3gpu6report(ptr @tilepipe.panic.bounds, i64 54, ptr %2, i32 2, i64 %1, i64 %0)\n  unreachable\n"
        );
    });
    with_definition(&changed, "16slice_index_fail", |_, body| {
        assert!(body.contains("select i1 %late, ptr @tilepipe.panic.start, ptr %text.0"), "{body}");
        assert!(body.ends_with("(ptr %text, i64 %length, ptr %3, i32 2, i64 %first, i64 %second)\n  unreachable\n"));
    });
    assert!(changed.contains(
        "@tilepipe.panic.bounds = private unnamed_addr constant [54 x i8] c\"index out of bounds: the len is {} but the index is {}\", align 1\n"
    ));
    assert!(!changed.contains("@tilepipe.panic.lengths"), "a message that no function reports");
}

#[test]
fn a_module_is_left_alone_where_something_is_unknown() {
    assert_eq!(cheapen(&MODULE.replace("8tilepipe5fault", "8tilepipe6faults")), None, "no report");
    assert_eq!(cheapen(&MODULE.replace("i32 %3, i64 %4", "i32 %3, i32 %4")), None, "a report of another type");
    let two = format!("{MODULE}define void @_RNvNtCsb_4core3fmt5write() {{\n  unreachable\n}}\n");
    assert_eq!(cheapen(&two), None, "two crates called `core`");
    // A panic of another type keeps its body and is not inlined; the others are.
    let other = MODULE.replace("panic_bounds_check(i64", "panic_bounds_check(i32");
    let changed = cheapen(&other).unwrap();
    with_definition(&changed, "18panic_bounds_check", |line, body| {
        assert!(line.ends_with("unnamed_addr #0 !dbg !9 {") && body.contains("alloca"), "{line}\n{body}");
    });
}

/// Passes on a definition's line and what follows it up to its end.
fn with_definition(module: &str, name: &str, check: impl FnOnce(&str, &str)) {
    let start = module.lines().find(|line| line.starts_with("define ") && line.contains(name)).unwrap();
    let (_, after) = module.split_once(&format!("{start}\n")).unwrap();
    check(start, &format!("{}\n", after.split_once("\n}").unwrap().0));
}
