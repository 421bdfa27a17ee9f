use super::*;
use crate::record::tests::example;

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

/// The example with its first kernel named as one of the guide's, and a smaller grid of it.
fn of_guide() -> Report {
    let mut report = example();
    report.comparisons[0].kernel = "with_staging".to_owned();
    let smaller = Row { grid: 512, ..report.comparisons[0].clone() };
    report.comparisons.insert(0, smaller);
    report
}

#[test]
fn the_table_has_the_guides_kernels_at_their_largest_grid() {
    let section = section(&of_guide(), "a/bench.json");
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| `")).collect();
    assert_eq!(rows, ["| `with_staging` | `i32` | 2 | 2137 | 80 % | 2.00 | 0.90 |"]);
    assert!(section.starts_with("Made from [`a/bench.json`](a/bench.json): A \"GPU\""), "{section}");
    assert_eq!(rows_of(&of_guide()), [4096]);
}

fn rows_of(report: &Report) -> Vec<u32> {
    rows(report).iter().map(|row| row.grid).collect()
}

#[test]
fn what_is_wrong_races_or_is_missing_shows() {
    let mut report = of_guide();
    report.copy = None;
    report.comparisons[1].peers.drain(..3);
    let text = section(&report, "x");
    assert!(text.contains("| 2137 |  | 1.50 (it races) |  |"), "{text}");
    report.comparisons[1].timing = None;
    report.comparisons[1].fault = Some("all differ".to_owned());
    assert!(section(&report, "x").contains("| wrong |"));
    assert!(chart(&report).contains("WRONG"));
    report.comparisons.clear();
    assert!(!chart(&report).contains("<rect class=\"bar\""));
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
    fs::write(&file, serde_json::to_string(&of_guide()).unwrap()).unwrap();
    run(&Options { file, root: root.path().to_owned() }).unwrap();
    assert!(fs::read_to_string(root.path().join("README.md")).unwrap().contains("](bench.json)"));
    assert!(root.path().join(CHART).exists());
}
