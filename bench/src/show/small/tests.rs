use roxmltree::Document;

use super::*;
use crate::record::small::tests::sizes;
use crate::record::tests::example;
use crate::show::{page, table};

fn report() -> Report {
    Report { sizes: sizes(), ..example() }
}

#[test]
fn the_terminal_has_a_row_for_each_size_with_ratio_best_grids_and_state() {
    let text = table::report(&report());
    assert!(text.contains("sum & co: small sizes, in graphs") && text.contains("triple: small sizes"), "{text}");
    let row = |name: &str| text.lines().find(|line| line.contains(name) && line.contains("second")).unwrap();
    let short = row("1 MiB");
    for part in
        ["0.8", "2.513", "second, resident blocks (16)", "2.050", "cp.async <first>, a block a tile (32)", "BELOW"]
    {
        assert!(short.contains(part), "{part} in {short}");
    }
    assert!(row("64 KiB").contains("1.02") && !row("64 KiB").contains("BELOW"));
    assert!(text.contains("CUB, its own grid"), "{text}");
    assert!(!table::report(&example()).contains(TITLE));
}

#[test]
fn a_task_has_a_chart_of_times_and_one_of_speeds_with_a_line_for_each_kind() {
    let charts = charts(&report());
    let titles: Vec<&str> = charts.iter().map(|(title, _)| title.as_str()).collect();
    let of = |task: &str| [format!("{task}: time of a launch"), format!("{task}: speed, of the fastest")];
    assert_eq!(titles, [of("sum & co"), of("triple")].concat());
    let described = |nth: usize| {
        let document = Document::parse(&charts[nth].1).unwrap();
        assert_eq!(document.root_element().attribute("role"), Some("img"));
        let description = document.descendants().find(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "desc")));
        description.unwrap().text().unwrap().to_owned()
    };
    assert!(
        described(0).contains("tilepipe, µs by size of the input: 2.010 at 64 KiB, 2.513 at 1 MiB."),
        "{}",
        described(0)
    );
    // The fastest of all is ours at the one size, and C++ by hand at the other.
    assert!(
        described(1).contains("tilepipe, of the fastest by size of the input: 1.000 at 64 KiB, 0.816"),
        "{}",
        described(1)
    );
    assert!(described(1).contains("C++ by hand, of the fastest by size of the input: 0.980 at 64 KiB, 1.000"));
    assert!(described(3).contains("CUB, cuBLAS") && !described(3).contains("C++ by hand"));
    assert!(super::charts(&example()).is_empty());
}

#[test]
fn a_wrong_contestant_has_no_point_and_says_so_in_the_tables() {
    let mut report = report();
    let at = &mut report.sizes[0].contestants[3].grids[0];
    at.fault = Some("element 3 is <1>".to_owned());
    report.sizes[0].derive();
    assert_eq!(report.sizes[0].classes(), [Class::Tilepipe, Class::Hand]);
    let (_, svg) = &charts(&report)[0];
    assert!(svg.contains("none at 64 KiB"), "{svg}");
    let tables = tables(&report).into_string();
    assert!(tables.contains(
        "16-byte loads_symbol is wrong at 64 KiB of `sum &amp; co` with a block a tile: element 3 is &lt;1&gt;"
    ));
    assert_eq!(tables.matches("WRONG").count(), 2, "its own row, and that of the size");
    assert!(table::report(&report).contains("WRONG"));
}

#[test]
fn the_page_has_the_charts_and_all_contestants_in_its_section_of_sizes() {
    let folder = tempfile::tempdir().unwrap();
    page::write(&report(), folder.path()).unwrap();
    let page = std::fs::read_to_string(folder.path().join("index.html")).unwrap();
    let section = page.split("<h2>").find(|part| part.starts_with("Sizes")).unwrap();
    assert_eq!(section.matches("<svg").count(), 4 + 1, "two for each task, and the sweep");
    for part in [
        "a hundred",
        "cp.async &lt;first&gt;",
        "resident blocks (16)",
        "best other / ours",
        "all contestants",
        "td class=\"number short\">0.82 (0.80 to 0.83)",
    ] {
        assert!(section.contains(part), "{part}");
    }
    assert!(folder.path().join("03-sum___co__time_of_a_launch.svg").exists());
}
