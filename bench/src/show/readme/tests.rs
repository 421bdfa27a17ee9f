use super::*;
use crate::record::tests::{example, recorded};
use crate::record::{PeerRow, Timing};
use crate::statistics::Summary;

#[test]
fn readme_and_chart_are_what_the_command_makes_of_the_record_that_readme_names() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let (from, to) = marks(&readme).unwrap();
    let name = readme[from..to].split("](").nth(1).and_then(|rest| rest.split(')').next()).unwrap();
    let report = Report::read(&root.join(name)).unwrap();
    let again = format!("cargo xtask bench --readme {name}");
    assert!(readme[from..to] == format!("\n{}", section(&report, name)), "README.md is out of date: {again}");
    let drawn = fs::read_to_string(root.join(CHART)).unwrap();
    assert!(drawn == chart(&report), "{CHART} is out of date: {again}");
}

/// A contestant that takes so many times as long as ours.
fn peer(name: &str, class: Class, ratio: f64) -> PeerRow {
    PeerRow {
        name: name.to_owned(),
        symbol: name.to_owned(),
        class: Some(class),
        timing: Timing::of(&[ratio], 2 << 30),
        ratio: Summary::of(&[ratio]),
        interval: Some([ratio - 0.01, ratio + 0.01]),
        ..example().comparisons[0].peers[0].clone()
    }
}

fn row(task: &str, dtype: &str, bytes: u64, peers: Vec<PeerRow>) -> Row {
    let timing = Timing::of(&[1.0], bytes);
    Row { task: task.to_owned(), dtype: dtype.to_owned(), timing, peers, ..example().comparisons[0].clone() }
}

/// A record with two of the tasks, one of them in two sizes, and with others.
fn of_tasks() -> Report {
    let of_neighbours = vec![
        peer("cp.async, 1 barrier", Class::Hand, 1.02),
        peer("cuda::pipeline, 4 elements a thread", Class::Pipeline, 1.01),
        peer("cuda::pipeline", Class::Guide, 2.5),
        peer("unsafe Rust", Class::UnsafeRust, 0.999),
        peer("torch.compile", Class::PyTorch, 0.5),
    ];
    let of_triple = || vec![peer("plain", Class::Plain, 0.975)];
    let comparisons = vec![
        row(TASKS[1].0, "i32", 1 << 20, vec![peer("CUB", Class::Library, 3.0)]),
        row(TASKS[1].0, "i32", 2 << 30, of_triple()),
        row(TASKS[1].0, "f32", 2 << 30, of_triple()),
        row("transpose", "i32", 2 << 30, of_triple()),
        row(TASKS[0].0, "i32", 2 << 30, of_neighbours),
    ];
    Report { comparisons, ..example() }
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("| ")).collect()
}

#[test]
fn the_table_has_a_row_for_each_task_beside_the_best_cpp_the_guide_and_the_twin() {
    let text = section(&of_tasks(), "a/bench.json");
    assert_eq!(
        lines(&text),
        [
            "| task | our kernel | ms | GB/s | of the copy | best C++ of any shape | the guide's code as printed | twin in unsafe Rust |",
            "| neighbour sum in groups of 256, i32 | `first_kernel`, 2 stages | 1.0000 | 2147 | 80 % | \
             1.010 (1.000 to 1.020): cuda::pipeline, 4 elements a thread | 2.50 | 0.999 |",
            "| three times each element, i32, 2 GiB | `first_kernel`, 2 stages | 1.0000 | 2147 | 80 % | \
             0.975 (0.965 to 0.985): C++, no asynchronous copy |  |  |",
        ]
    );
    let made = "\n\nMade from [`a/bench.json`](a/bench.json): A \"GPU\"";
    assert!(text.contains(made) && text.contains(" In parentheses: "), "{text}");
}

#[test]
fn the_sentence_has_the_range_of_each_ratio_and_says_where_there_is_none() {
    let mut report = of_tasks();
    let sentence = |report: &Report| section(report, "x").lines().next().unwrap().to_owned();
    assert_eq!(
        sentence(&report),
        "At its fastest each task runs at 0.975 to 1.010 times the speed of the best C++ of any shape, and at 2.50 \
         times the speed of the guide's code as printed, where there is any."
    );
    report.comparisons[4].peers.remove(2);
    assert_eq!(
        sentence(&report),
        "At its fastest each task runs at 0.975 to 1.010 times the speed of the best C++ of any shape."
    );
    for row in &mut report.comparisons {
        row.peers.clear();
    }
    assert!(sentence(&report).starts_with("Made from"), "there is nobody to compare with");
}

#[test]
fn a_task_in_which_ours_is_wrong_shows_and_leaves_no_sentence() {
    let mut report = of_tasks();
    report.comparisons[4].timing = None;
    report.comparisons[4].fault = Some("all differ".to_owned());
    let text = section(&report, "x");
    assert!(text.starts_with("Made from"), "{text}");
    assert_eq!(lines(&text)[1], "| neighbour sum in groups of 256, i32 | wrong |  |  |  |  |  |  |");
    assert!(chart(&report).contains("WRONG"));
}

#[test]
fn the_chart_has_the_tasks_of_the_table_and_no_others() {
    let chart = chart(&of_tasks());
    let has = |text: &str| chart.contains(text);
    assert!(has("neighbour sum in groups of 256, i32: ours 0.50") && has("three times each element, i32, 2 GiB: "));
    assert!(!has("transpose") && !has("f32") && !has("MiB"), "{chart}");
}

#[test]
fn a_task_is_shown_once_a_record_has_the_kernel_that_its_peers_came_with() {
    let mut report = of_tasks();
    assert!(!section(&report, "a.json").contains("| transpose, i32"));
    report.comparisons[3].kernel = "transpose_wide".to_owned();
    assert!(section(&report, "a.json").contains("| transpose, i32"));
}

#[test]
fn a_record_without_tasks_has_rows_of_its_first_kernels() {
    let text = section(&example(), "x");
    let header = "| kernel | our kernel | ms | GB/s | of the copy | best C++ beside it |";
    assert!(
        text.starts_with("At its fastest each kernel runs at 0.900 times the speed of the best C++ beside it, and")
    );
    assert!(lines(&text).len() == 2 && lines(&text)[0].starts_with(header), "{text}");
    assert!(!text.contains("In parentheses"), "the record has no intervals: {text}");
    for path in recorded() {
        let report = Report::read(&path).unwrap();
        let has = |kernel: &str| report.comparisons.iter().any(|row| row.kernel == kernel);
        let tasks = TASKS.iter().filter(|(_, kernel)| kernel.is_none_or(has)).count();
        let rows = if has_tasks(&report) { tasks } else { KERNELS };
        assert_eq!(lines(&section(&report, "x")).len(), 1 + rows, "{}", path.display());
    }
}

#[test]
fn only_the_section_is_replaced() {
    let readme = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
    assert_eq!(with_section(&readme, "new\n").unwrap(), format!("before\n{BEGIN}\nnew\n{END}\nafter\n"));
    assert!(with_section("no marks", "").unwrap_err().to_string().contains(BEGIN));
    assert!(with_section(&format!("{END}{BEGIN}"), "").is_err());
}

#[test]
fn a_record_outside_of_the_repository_is_refused() {
    let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = outside.path().join("bench.json");
    fs::write(&file, serde_json::to_string(&example()).unwrap()).unwrap();
    let refused = run(&Options { file, root: root.path().to_owned() }).unwrap_err();
    assert!(refused.to_string().contains("is not in the repository"), "{refused}");

    fs::create_dir(root.path().join("docs")).unwrap();
    fs::write(root.path().join("README.md"), format!("{BEGIN}\n{END}\n")).unwrap();
    let file = root.path().join("bench.json");
    fs::write(&file, serde_json::to_string(&of_tasks()).unwrap()).unwrap();
    run(&Options { file, root: root.path().to_owned() }).unwrap();
    assert!(fs::read_to_string(root.path().join("README.md")).unwrap().contains("](bench.json)"));
    assert!(root.path().join(CHART).exists());
}

#[test]
fn a_record_with_none_of_the_tasks_is_refused_and_changes_nothing() {
    let root = tempfile::tempdir().unwrap();
    let mut report = of_tasks();
    report.comparisons = vec![report.comparisons.swap_remove(3)];
    let file = root.path().join("bench.json");
    fs::write(&file, serde_json::to_string(&report).unwrap()).unwrap();
    let readme = format!("{BEGIN}\n{END}\n");
    fs::write(root.path().join("README.md"), &readme).unwrap();
    let refused = run(&Options { file, root: root.path().to_owned() }).unwrap_err();
    assert!(refused.to_string().contains("bench.json has none of the tasks"), "{refused}");
    assert_eq!(fs::read_to_string(root.path().join("README.md")).unwrap(), readme);
}
