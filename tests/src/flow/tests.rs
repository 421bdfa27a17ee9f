use super::*;

fn code(text: &str) -> Code {
    let items: Vec<Item> = text
        .split_whitespace()
        .map(|word| match word.strip_suffix(':') {
            Some(label) => Item::Label(label.to_owned()),
            None => {
                let (guard, opcode) = (word.strip_prefix('?').map(str::to_owned), word.trim_start_matches('?'));
                let (opcode, operands) = opcode.split_once('>').unwrap_or((opcode, ""));
                Item::Instruction(Instruction { guard, opcode: opcode.to_owned(), operands: operands.to_owned() })
            }
        })
        .collect();
    Code::new(&items, |instruction| match instruction.opcode.as_str() {
        "to" => Next::Label(&instruction.operands),
        "end" | "stop" => Next::End,
        _ => Next::Following,
    })
    .unwrap()
}

fn is(name: &'static str) -> impl Fn(&Instruction) -> bool {
    move |one| one.is(name)
}

#[test]
fn loops_are_found_and_what_follows_them_is_not_part() {
    let code = code("a head: b ?to>out c ?to>head out: d end unreachable");
    let found = code.loops();
    let names: Vec<_> = found[0].instructions().map(|one| one.opcode.as_str()).collect();
    assert_eq!((found.len(), names.as_slice()), (1, ["b", "to", "c", "to"].as_slice()));
    assert!(code.instructions().all(|one| one.opcode != "unreachable"));
}

#[test]
fn two_loops_one_after_the_other_are_two() {
    let code = code("one: a ?to>one b two: c inner: d ?to>inner ?to>two end");
    let sizes: Vec<_> = code.loops().iter().map(|found| found.count(|one| !one.is("to"))).collect();
    assert_eq!(sizes, [1, 2]);
}

#[test]
fn loops_are_chosen_by_what_is_in_them() {
    let code = code("one: a b ?to>one two: a ?to>two end");
    assert_eq!(code.loops_with(&[|one| one.is("a")]).len(), 2);
    assert_eq!(code.loops_with(&[|one| one.is("a"), |one| one.is("b")]).len(), 1);
}

#[test]
fn an_iteration_counts_every_way_round() {
    let code = code("head: both ?both ?to>else then else: ?to>head end");
    let found = &code.loops()[0];
    assert_eq!(found.executions(is("both")), [1, 2].into());
    assert_eq!(found.executions(is("then")), [0, 1].into());
}

#[test]
fn an_inner_loop_neither_hides_nor_bounds_an_instruction() {
    let code = code("head: both inner: again ?to>inner ?to>head end");
    let found = code.loops_with(&[|one| one.is("both")]);
    assert_eq!(found[0].executions(is("both")), [1].into());
    assert!(found[0].executions(is("again")).contains(&MANY));
}

#[test]
fn an_inner_loop_is_what_repeats_without_the_outer_ones_head() {
    let code = code("head: both inner: again ?to>inner other: twice ?to>other ?to>head end");
    let inner = code.loops()[0].inner();
    let counts: Vec<_> = inner.iter().map(|one| [one.count(is("again")), one.count(is("twice"))]).collect();
    assert_eq!(counts, [[1, 0], [0, 1]]);
    assert!(inner.iter().all(|one| one.count(is("both")) == 0 && one.inner().is_empty()));
}

#[test]
fn executions_are_counted_from_the_entry_to_a_regular_end() {
    let code = code("a ?to>else a to>join else: ?to>fault b join: a end fault: a a a stop");
    let counts = |name| code.executions(is(name), is("end"));
    assert_eq!(counts("a"), [2, 3].into());
    assert_eq!(counts("b"), [0, 1].into());
}

#[test]
fn a_trace_has_the_order_of_each_way_and_repetition_once() {
    let code = code("a inner: b ?to>inner ?to>else c to>join else: a join: c end");
    let pick = |one: &Instruction| (!one.is("to")).then(|| one.opcode.clone());
    let traces: Vec<String> = code.traces(pick, is("end")).iter().map(|trace| trace.join(" ")).collect();
    assert_eq!(traces, ["a b a c end", "a b c end"]);
}

#[test]
fn a_loop_leads_to_what_follows_it_and_not_to_its_alternative() {
    let code = code("?to>else one: a ?to>one to>last else: b ?to>else last: c ?to>last end");
    let found = ["a", "b", "c"].map(|name| code.loops().into_iter().find(|own| own.count(is(name)) > 0).unwrap());
    let [one, other, last] = &found;
    assert_eq!([one.leads_to(last), other.leads_to(last)], [true, true]);
    assert_eq!([one.leads_to(other), other.leads_to(one), last.leads_to(one)], [false, false, false]);
}

#[test]
fn a_label_in_two_places_is_an_error() {
    let error = Code::new(&["x", "x"].map(|name| Item::Label(name.to_owned())), |_| Next::Following).unwrap_err();
    assert!(error.contains("`x`"));
}

#[test]
fn a_branch_to_nowhere_is_an_error() {
    let branch = Instruction { guard: None, opcode: "to".to_owned(), operands: "x".to_owned() };
    let error = Code::new(&[Item::Instruction(branch)], |one| Next::Label(&one.operands)).unwrap_err();
    assert!(error.contains("`x`"));
}

#[test]
fn the_shortest_way_round_has_the_fewest_instructions() {
    let code = code("head: a ?a ?to>else a a to>both else: a inner: b ?to>inner both: a ?to>head end");
    let found = &code.loops()[0];
    assert_eq!((found.fewest(is("a")), found.fewest(is("b")), found.fewest(|_| true)), (4, 0, 8));
}

#[test]
fn innermost_loops_with_an_instruction_have_no_inner_one_with_it() {
    let code = code("outer: a first: a ?to>first c second: b a ?to>second third: b ?to>third ?to>outer end");
    let of = |wanted: fn(&Instruction) -> bool| -> Vec<usize> {
        let innermost = code.loops().into_iter().flat_map(|one| one.innermost(wanted));
        innermost.map(|one| one.count(|_| true)).collect()
    };
    assert_eq!(of(|one| one.is("a")), [2, 3]);
    assert_eq!(of(|one| one.is("c")), [code.loops()[0].count(|_| true)]);
}
