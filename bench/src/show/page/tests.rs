use roxmltree::{Document, Node};

use super::*;
use crate::balance::tests::{invented, short};
use crate::record::tests::{example, recorded};
use crate::record::{Conditions, Process};
use crate::show::table;

/// The page as XML: without the few elements that HTML leaves open.
fn closed(report: &Report) -> String {
    let page = page(report, &tasks::tasks(report), &charts(report)).into_string();
    let body = page.strip_prefix("<!DOCTYPE html>").unwrap();
    let mut rest = body.to_owned();
    while let Some(from) = rest.find("<meta ") {
        let to = from + rest[from..].find('>').unwrap();
        rest.replace_range(from..=to, "");
    }
    rest
}

fn named<'a>(document: &'a Document<'_>, name: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    named_below(document.root(), name)
}

fn named_below<'a>(node: Node<'a, 'a>, name: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    node.descendants().filter(move |node| node.tag_name().name() == name)
}

fn text(node: Node<'_, '_>) -> String {
    node.descendants().filter(|node| node.is_text()).filter_map(|node| node.text()).collect()
}

#[test]
fn every_recorded_run_becomes_a_well_nested_page_with_every_kernel_and_peer() {
    for path in recorded() {
        let report = Report::read(&path).unwrap();
        let page = closed(&report);
        let document = Document::parse(&page).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let codes: Vec<String> = named(&document, "code").map(text).collect();
        let names: Vec<String> = named(&document, "td").map(text).collect();
        let drawn: String = named(&document, "svg").map(text).collect();
        for row in &report.comparisons {
            assert!(codes.contains(&row.symbol) && names.contains(&row.kernel), "{}", row.symbol);
            assert!(drawn.contains(&format!("tilepipe: {}", row.kernel)), "{}", row.kernel);
            for peer in &row.peers {
                assert!(codes.contains(&peer.symbol) && names.contains(&peer.name), "{}", peer.symbol);
                assert!(drawn.contains(&peer.name), "{}", peer.name);
            }
        }
    }
}

#[test]
fn names_are_escaped() {
    let report = example();
    let page = closed(&report);
    let document = Document::parse(&page).unwrap();
    let all = text(document.root());
    for name in
        [&report.gpu, &report.command, &report.sweeps[0].title, "second<kernel>", "C++ & co", "is <1>, expected"]
    {
        assert!(all.contains(name), "{name}");
    }
    for name in ["<more>", "<all>", "<size>", "<kernel>", "<\"barrier\">", "<1>"] {
        assert!(!page.contains(name), "{name} is not escaped");
    }
}

#[test]
fn nothing_is_fetched() {
    for report in recorded().iter().map(|path| Report::read(path).unwrap()).chain([example()]) {
        let page = closed(&report).replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        for reference in ["http", "src=", "href", "url(", "@import", "<script", "<link"] {
            assert!(!page.contains(reference), "{reference}");
        }
    }
}

#[test]
fn a_wrong_result_shows_as_wrong_and_has_no_bar() {
    let report = example();
    let page = closed(&report);
    let document = Document::parse(&page).unwrap();
    let row = named(&document, "tr").find(|row| text(*row).contains("plain_i32")).unwrap();
    assert!(text(row).contains("WRONG") && !text(row).contains("1.005"), "{}", text(row));
    let is_bar = |node: &Node<'_, '_>| node.attribute("class") == Some("bar");
    let bars: Vec<usize> = named(&document, "svg").map(|chart| chart.descendants().filter(is_bar).count()).collect();
    assert_eq!(bars[bars.len() - 2..], [4, 1], "five contestants, one of them wrong; two, one of them wrong");
}

#[test]
fn what_falls_short_and_what_races_is_marked() {
    let report = example();
    let page = closed(&report);
    let document = Document::parse(&page).unwrap();
    let marked = |class: &str| -> String {
        let classes = |node: &Node<'_, '_>| node.attribute("class").unwrap_or("").split(' ').any(|one| one == class);
        document.descendants().filter(classes).map(|node| text(node) + "\n").collect()
    };
    let cells = marked("short").replace('\n', "|");
    assert!(cells.contains("0.900 (0.900 to 0.900)|BELOW"), "{cells}");
    assert!(marked("short").contains("first_kernel__i32_2 is 0.900x as fast as twin_i32_2"), "{}", marked("short"));
    assert!(marked("short").contains("ours at 65536: element 3"), "{}", marked("short"));
    assert_eq!(marked("races"), "RACES: 13 and 210 wrong\n");
}

#[test]
fn the_balance_stands_beside_the_chart_of_a_sweep_over_arithmetic() {
    let with = |sweep: Sweep| closed(&Report { sweeps: vec![sweep], ..example() });
    let row_of = |page: &str| {
        let document = Document::parse(page).unwrap();
        let row = named(&document, "tr").find(|row| text(*row).contains("balance: 16.0"));
        row.map(|row| named_below(row, "td").map(text).collect::<Vec<_>>())
    };
    assert_eq!(row_of(&with(invented())).unwrap(), ["1.500", "1.100", "1.50", "balance: 16.0", ""]);
    assert_eq!(row_of(&with(short())).unwrap(), ["1.400", "1.100", "1.50", "balance: 16.0", "BELOW"]);
    let mut without = invented();
    without.lines[1].points[0].timing = None;
    let page = with(without);
    assert!(row_of(&page).is_none() && page.contains(table::NO_BALANCE), "{page}");
}

/// The names of a folder's files, sorted.
fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn charts_of_an_earlier_page_are_removed_and_other_files_are_not() {
    let folder = tempfile::tempdir().unwrap();
    write(&example(), folder.path()).unwrap();
    let others = ["1-x.svg", "03-notes.txt", "bench.json", "notes-03.svg", "x.svg"];
    others.iter().for_each(|name| fs::write(folder.path().join(name), "").unwrap());
    let mut smaller = example();
    smaller.comparisons.remove(0);
    write(&smaller, folder.path()).unwrap();
    let mut wanted = ["00-tasks.svg", "01-second_kernel_.svg", "02-rate_over__size_.svg", "index.html"].to_vec();
    wanted.extend(others);
    wanted.sort_unstable();
    assert_eq!(files(folder.path()), wanted);
}

#[test]
fn the_page_and_its_charts_are_files() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("a/b");
    write(&example(), &to).unwrap();
    assert_eq!(
        files(&to),
        ["00-tasks.svg", "01-first_kernel.svg", "02-second_kernel_.svg", "03-rate_over__size_.svg", "index.html"]
    );
    let svg = fs::read_to_string(to.join("01-first_kernel.svg")).unwrap();
    Document::parse(&svg).unwrap();
}

#[test]
fn an_empty_record_is_a_page() {
    let report = Report { copy: None, comparisons: Vec::new(), sweeps: Vec::new(), ..example() };
    let page = closed(&report);
    Document::parse(&page).unwrap();
    let without_points = Sweep { lines: Vec::new(), ..example().sweeps.remove(0) };
    let report = Report { sweeps: vec![without_points], ..report };
    let folder = tempfile::tempdir().unwrap();
    write(&report, folder.path()).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "a sweep without points has no chart");
}

/// The text of every element of this name, in the page's order.
fn texts_of(page: &str, name: &str) -> Vec<String> {
    named(&Document::parse(page).unwrap(), name).map(text).collect()
}

#[test]
fn sections_follow_the_order_of_what_a_reader_asks_first() {
    let with_axis =
        |axis: &str, unit: &str| Sweep { axis: axis.to_owned(), unit: unit.to_owned(), ..example().sweeps.remove(0) };
    let sweeps = vec![
        with_axis("blocks", ""),
        with_axis("size of an element", "bytes"),
        with_axis("stages", ""),
        with_axis("size of the input", "bytes"),
        invented(),
    ];
    let page = closed(&Report { sweeps, ..example() });
    let headings = [
        "Beside the best other form",
        "What falls short",
        "Sizes",
        "Stages",
        "Arithmetic",
        "Other ranges",
        "Kernels",
        "All figures",
        "What is measured",
        "Conditions",
    ];
    assert_eq!(texts_of(&page, "h2"), headings);
}

#[test]
fn tables_begin_with_the_ratio() {
    let page = closed(&Report { sweeps: vec![invented(), example().sweeps.remove(0)], ..example() });
    let document = Document::parse(&page).unwrap();
    let firsts: Vec<String> =
        named(&document, "table").map(|table| text(named_below(table, "th").next().unwrap())).collect();
    assert_eq!(firsts.len(), 5);
    assert!(firsts.iter().all(|first| first.contains("/ ours")), "{firsts:?}");
}

#[test]
fn a_task_with_a_faster_other_form_is_named_before_the_chart() {
    let mut report = example();
    report.comparisons[0].peers[1].interval = Some([0.89, 0.91]);
    let page = closed(&report);
    let first = texts_of(&page, "ul").swap_remove(0);
    let [wrong, slow] =
        ["second<kernel>, i32x4: WRONG", "first_kernel, i32: 0.900 (0.89 to 0.910) times as fast as cp.async"];
    assert!(first.starts_with(wrong) && first.contains(slow), "{first}");
    assert!(page.find("class=\"below\"").unwrap() < page.find("<svg").unwrap());
}

#[test]
fn the_conditions_of_every_process_are_at_the_end() {
    let process = Process {
        date: "2026-01-31".to_owned(),
        commit: "abc".to_owned(),
        command: "measure <it>".to_owned(),
        seed: 7,
        conditions: Some(Conditions {
            looks: 9,
            clock_mhz: [1200.0, 1980.0],
            memory_mhz: [3201.0, 3201.0],
            power_watts: [500.5, 612.0],
            celsius: [40.0, 55.0],
            throttled: vec!["power cap".to_owned()],
        }),
        versions: [("nvcc".to_owned(), "13.0".to_owned())].into(),
        copy: Vec::new(),
    };
    let silent = Process { conditions: None, seed: 8, ..process.clone() };
    let mut report = example();
    let facts = |report: &Report| texts_of(&closed(report), "dl").concat();
    assert!(closed(&report).contains("does not say more of the processes"));
    report.processes = vec![process, silent];
    let all = facts(&report);
    for fact in [
        "seed7",
        "1200 to 1980 MHz",
        "clock3201 MHz",
        "500.5 to 612 W",
        "40 to 55 °C",
        "power cap",
        "nvcc 13.0",
        "seed8",
        "not on record",
    ] {
        assert!(all.contains(fact), "{fact} in {all}");
    }
}
