//! Which records `run.sh bench` and `run.sh torch` write, and what becomes of a process that fails.

use std::fs;

use super::{BENCH, Machine, Suite};

/// `tilepipe-bench` with another exit status of its second process, which writes its record or not.
fn second_fails(status: u32, with_record: bool) -> String {
    let fails = format!("case \" $* \" in *\" measure \"*-2.json*) fails={status} ;; *) fails= ;; esac");
    let early = if with_record { "" } else { "[ -z \"$fails\" ] || exit \"$fails\"" };
    format!("{fails}\n{early}\n{BENCH}\nexit ${{fails:-0}}")
}

/// The calls of `tilepipe-bench` in a log: its subcommand, and the records that are named.
fn calls(called: &str) -> Vec<String> {
    let ours = called.lines().filter_map(|line| line.strip_prefix("tilepipe-bench "));
    let names = |line: &str| -> String {
        // The command on record repeats what was typed.
        let line = line.split(" --command ").next().unwrap();
        let (command, rest) = line.split_once(' ').unwrap();
        let records = rest.split(' ').filter(|word| word.ends_with(".json") || *word == "--torch");
        std::iter::once(command).chain(records).collect::<Vec<_>>().join(" ")
    };
    ours.map(names).collect()
}

const THREE: [&str; 7] = [
    "measure bench-1.json",
    "launches bench-1-launches.json",
    "measure bench-2.json",
    "launches bench-2-launches.json",
    "measure bench-3.json",
    "launches bench-3-launches.json",
    "merge bench-1.json bench-2.json bench-3.json bench.json bench-1-launches.json bench-2-launches.json \
     bench-3-launches.json",
];

#[test]
fn several_processes_measure_and_become_one_record() {
    let machine = Machine::new();
    let folder = machine.bundle(&[Suite::Bench]);
    let (status, printed, called) = machine.run(&["bench"]);
    assert!(status == 0 && printed.ends_with("1 passed, 0 failed, 0 skipped\n"), "{printed}");
    assert_eq!(calls(&called), THREE);
    assert!(printed.contains("the record is bench.json") && folder.join("bench.json").exists());
    let (status, _, called) =
        machine.run_with_text(&["bench", "--output", "a/b.json", "--kernel", "x"], "PROCESSES", "2");
    assert_eq!(status, 1, "there is no folder a");
    assert_eq!(calls(&called), ["measure a/b-1.json"]);
    let (status, _, called) = machine.run_with_text(&["bench", "--output=b.json", "--kernel", "x"], "PROCESSES", "2");
    assert_eq!(status, 0);
    let merged = "merge b-1.json b-2.json b.json b-1-launches.json b-2-launches.json";
    let [first, second] = ["b-1-launches.json", "b-2-launches.json"].map(|file| format!("launches {file}"));
    assert_eq!(calls(&called), ["measure b-1.json", &first, "measure b-2.json", &second, merged]);
    assert!(called.contains("--command ./run.sh bench --output=b.json --kernel x --kernel x\n"), "{called}");
}

#[test]
fn a_number_of_processes_that_is_none_and_an_output_without_a_name_are_refused() {
    let machine = Machine::new();
    machine.bundle(&[Suite::Bench]);
    for number in ["0", "x", "-1", "1.5"] {
        let (status, printed, called) = machine.run_with_text(&["bench"], "PROCESSES", number);
        assert!(status == 1 && printed.contains(&format!("PROCESSES is `{number}`")), "{printed}");
        assert!(calls(&called).is_empty(), "{called}");
    }
    let (status, printed, called) = machine.run(&["bench", "--output"]);
    assert!(status == 1 && printed.contains("--output needs") && calls(&called).is_empty(), "{printed}");
}

#[test]
fn a_process_that_finds_something_too_slow_is_merged_and_one_without_a_record_ends_it() {
    let machine = Machine::new();
    for (status, with_record, calls_made, passed) in
        [(1, true, 7, true), (1, false, 3, false), (3, false, 3, false), (139, true, 3, false), (0, false, 3, true)]
    {
        machine.program("bench", &second_fails(status, with_record));
        machine.bundle(&[Suite::Bench]);
        let (exit, printed, called) = machine.run(&["bench"]);
        assert_eq!(calls(&called), THREE[..calls_made], "{status} {with_record}");
        assert_eq!(exit, i32::from(!passed), "{printed}");
        assert_eq!(printed.contains(&format!("FAILED (exit status {status})")), !passed, "{printed}");
    }
    // What the merged record says is the result.
    machine.program("bench", &format!("case $1 in merge) exit 1 ;; esac\n{BENCH}"));
    machine.bundle(&[Suite::Bench]);
    let (exit, printed, called) = machine.run(&["bench"]);
    assert!(exit == 1 && printed.ends_with("0 passed, 1 failed, 0 skipped\n"), "{printed}");
    assert_eq!(calls(&called), THREE);
}

#[test]
fn records_of_an_earlier_run_are_not_merged() {
    let machine = Machine::new();
    machine.program("bench", &second_fails(1, false));
    let folder = machine.bundle(&[Suite::Bench]);
    for name in ["bench.json", "bench-1.json", "bench-2.json"] {
        fs::write(folder.join(name), "old").unwrap();
    }
    assert_eq!(machine.run(&["bench"]).0, 1);
    assert!(!folder.join("bench.json").exists() && !folder.join("bench-2.json").exists());
}

#[test]
fn what_pytorchs_part_writes_becomes_part_of_the_record_of_its_commit() {
    let machine = Machine::new();
    let folder = machine.bundle(&[Suite::Bench]);
    // An argument says what is wanted, and then no file is written unless it is named.
    assert_eq!(machine.run(&["torch", "--command", "x"]).0, 0);
    assert!(!folder.join("torch.json").exists());
    let (_, _, called) = machine.run(&["all"]);
    assert!(called.contains("--output torch.json") && folder.join("torch.json").exists(), "{called}");
    let merged = format!("{} --torch torch.json", THREE[6]);
    assert_eq!(calls(&called).last(), Some(&merged));
    fs::write(folder.join("torch.json"), "{\n  \"commit\": \"another\"\n}\n").unwrap();
    let (status, printed, called) = machine.run(&["bench"]);
    assert!(status == 0 && printed.contains("torch.json is left out: it is of another commit\n"), "{printed}");
    assert_eq!(calls(&called), THREE);
}
