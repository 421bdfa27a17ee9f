use super::{Items, internal};

const MODULE: &str = r##"; ModuleID = 'x'
source_filename = "x"
target triple = "nvptx64-nvidia-cuda"

@anon.1 = private unnamed_addr constant [9 x i8] c"@b #1 !2\00", align 1
@anon.2 = private unnamed_addr constant <{ ptr }> <{ ptr @anon.1 }>, align 8
@shared = external addrspace(3) global [0 x i8], align 128

define void @other() #1 !dbg !9 {
  ret void
}

define void @"k$one"(ptr %0) unnamed_addr #7 !dbg !9 {
  %2 = load ptr, ptr %0, align 8, !dbg !10, !nonnull !5, !align !6
  call void asm sideeffect "bar; // @other #1 !5", "~{memory}"() #1, !srcloc !11
  call void @apart(ptr @anon.2, ptr @shared) #7, !dbg !10
  ret void
}

define internal void @apart(ptr %0, ptr %1) #1 {
  ret void
}

declare void @llvm.trap() #7

attributes #1 = { cold noinline nounwind }
attributes #7 = { nounwind }

!llvm.module.flags = !{!4}

!4 = !{i32 7, !"Dwarf Version", i32 4}
!5 = !{!6}
!6 = !{i64 8}
!9 = distinct !DISubprogram(name: "one")
!10 = !DILocation(line: 1, scope: !9)
!11 = !{i64 77}
"##;

const PART: &str = r##"target triple = "nvptx64-nvidia-cuda"
define void @"k$one"(ptr %0) unnamed_addr #0 {
  %2 = load ptr, ptr %0, align 8, !nonnull !0, !align !1
  call void asm sideeffect "bar; // @other #1 !5", "~{memory}"() #1
  call void @apart(ptr @constant.0, ptr @shared) #0
  ret void
}
define internal void @apart(ptr %0, ptr %1) #1 {
  ret void
}
@shared = external addrspace(3) global [0 x i8], align 128
@constant.0 = private unnamed_addr constant <{ ptr }> <{ ptr @constant.1 }>, align 8
@constant.1 = private unnamed_addr constant [9 x i8] c"@b #1 !2\00", align 1
attributes #0 = { nounwind }
attributes #1 = { cold noinline nounwind }
!0 = !{!1}
!1 = !{i64 8}
"##;

#[test]
fn a_part_has_what_its_roots_need_with_numbers_of_its_own() {
    let items = Items::read(MODULE);
    let (part, apart) = items.part("k", ["k$one", "not there"]);
    assert_eq!(part, PART);
    assert_eq!(apart, ["apart"]);
    let (again, _) = Items::read(&part).part("k", ["k$one"]);
    assert_eq!(again, PART, "a part is a part of itself");
}

#[test]
fn a_part_does_not_change_with_what_it_does_not_need() {
    let (part, _) = Items::read(MODULE).part("k", ["k$one"]);
    let more = MODULE
        .replace("define void @other() #1", "@anon.0 = private constant i8 0\ndefine void @other() #2")
        .replace("attributes #7", "attributes #2 = { cold }\nattributes #7")
        .replace("!dbg !10", "!dbg !12")
        .replace("anon.", "anon.abc.");
    assert_ne!(more, MODULE);
    assert_eq!(Items::read(&more).part("k", ["k$one"]).0, part);
    let (changed, _) = Items::read(&MODULE.replace("i64 8}", "i64 16}")).part("k", ["k$one"]);
    assert_ne!(changed, part);
}

#[test]
fn functions_of_dependencies_stand_by_their_names() {
    let text = |order: [&str; 4]| {
        let define = |name: &&str| format!("define void @{name}() {{\n}}\n");
        let calls = "  call void @_Rb()\n  call void @_Ra()\n  call void @_R4my_ky()\n  call void @_R4my_kx()\n";
        format!("define void @k() {{\n{calls}}}\n{}", order.iter().map(define).collect::<String>())
    };
    let names = |text: &str| -> Vec<String> { Items::read(text).items.iter().map(|item| item.name.into()).collect() };
    for order in [["_R4my_ky", "_Rb", "_R4my_kx", "_Ra"], ["_Ra", "_R4my_ky", "_R4my_kx", "_Rb"]] {
        let text = text(order);
        let (part, _) = Items::read(&text).part("my-k", ["k"]);
        assert_eq!(names(&part), ["k", "_R4my_ky", "_R4my_kx", "_Ra", "_Rb"]);
    }
}

#[test]
fn values_and_blocks_are_numbered_anew_in_each_function() {
    let text = "define void @k(ptr %out.i7, i32 %0) {\nstart:\n  br i1 true, label %.exit20.i, label %bb-1\n\
        bb-1:                 ; preds = %start\n  br label %.exit20.i\n\
        .exit20.i:            ; preds = %bb-1, %start\n  store i32 %0, ptr %out.i7, align 4\n  call void @_Rb()\n\
        \x20 ret void\n}\ndefine void @_Rb() {\n2:\n  br label %one\none:\n  ret void\n}\n";
    let (part, _) = Items::read(text).part("k", ["k"]);
    assert_eq!(
        part,
        "define void @k(ptr %v.0, i32 %0) {\nv.1:\n  br i1 true, label %v.2, label %v.3\n\
         v.3:                 ; preds = %v.1\n  br label %v.2\n\
         v.2:            ; preds = %v.3, %v.1\n  store i32 %0, ptr %v.0, align 4\n  call void @_Rb()\n\
         \x20 ret void\n}\ndefine void @_Rb() {\n2:\n  br label %v.0\nv.0:\n  ret void\n}\n"
    );
    let typed = format!("%t = type {{ i32 }}\n{text}");
    assert!(Items::read(&typed).part("k", ["k"]).0.contains("%out.i7"));
}

#[test]
fn functions_become_internal() {
    let module = "define void @a() {\n}\ndefine weak_odr hidden noundef i1 @\"b c\"() #1 {\n}\n\
        define internal void @d() {\n}\ndefine void @e() {\n}\n";
    let names = ["a", "b c", "d"].map(str::to_string);
    assert_eq!(
        internal(module, &names),
        "define internal void @a() {\n}\ndefine internal noundef i1 @\"b c\"() #1 {\n}\n\
         define internal void @d() {\n}\ndefine void @e() {\n}\n"
    );
}

#[test]
fn what_is_needed_keeps_its_line_tables() {
    let needed = Items::read(MODULE).needed(["k$one"]);
    assert!(needed.contains("!dbg !10, !nonnull !5") && needed.contains("!9 = distinct !DISubprogram"));
    assert!(!needed.contains("define void @other()") && !needed.contains("llvm.trap"));
}
