use roxmltree::{Document, Node};

use super::*;
use crate::record::tests::example;
use crate::record::{Class, Line, Point, Report, Sweep, Timing};
use crate::show::tasks;

const WIDTHS: [Width; 3] = [Width::Wide, Width::Column, Width::Narrow];

fn elements<'a>(document: &'a Document<'_>, name: &'a str) -> Vec<Node<'a, 'a>> {
    document.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", name))).collect()
}

fn texts(document: &Document<'_>) -> String {
    elements(document, "text").iter().filter_map(|node| node.text()).map(|text| text.trim().to_owned() + "\n").collect()
}

fn bar(name: &str, rate: Option<f64>, class: Class) -> Bar {
    let note = if rate.is_none() { "WRONG".to_owned() } else { String::new() };
    Bar { name: name.to_owned(), rate, note, class, races: false }
}

#[test]
fn a_bar_is_as_long_as_its_rate_and_a_wrong_result_has_none() {
    let bars = vec![
        bar("ours <1>", Some(50.0), Class::Tilepipe),
        bar("a & b", Some(100.0), Class::Hand),
        bar("wrong", None, Class::Hand),
        bar("no number", Some(f64::NAN), Class::Hand),
    ];
    let groups = vec![Group { name: "group".to_owned(), bars }];
    let chart = Bars { title: "a <title>".to_owned(), most: 100.0, mark: None, groups };
    let svg = chart.svg();
    let document = Document::parse(&svg).unwrap();
    let widths: Vec<&str> = elements(&document, "rect").iter().map(|node| node.attribute("width").unwrap()).collect();
    assert_eq!(widths, ["179", "358"]);
    let texts = texts(&document);
    assert!(texts.contains("ours <1>\n50\n") && texts.contains("a & b\n100\n") && texts.contains("wrong\nWRONG\n"));
    assert_eq!(elements(&document, "title")[0].text(), Some("a <title>"));
}

#[test]
fn an_empty_chart_and_one_without_a_rate_are_drawn() {
    let chart = |groups| Bars { title: String::new(), most: 0.0, mark: Some((0.0, "mark".to_owned())), groups };
    Document::parse(&chart(Vec::new()).svg()).unwrap();
    let group = Group { name: String::new(), bars: vec![bar("wrong", None, Class::Tilepipe)] };
    let svg = chart(vec![group]).svg();
    assert!(elements(&Document::parse(&svg).unwrap(), "rect").is_empty(), "{svg}");
}

/// One of each kind of chart, of the example.
fn of_each_kind(report: &Report) -> Vec<String> {
    let groups = vec![Group {
        name: "group".to_owned(),
        bars: vec![
            bar("ours", Some(1.0), Class::Tilepipe),
            Bar { races: true, ..bar("races", Some(2.0), Class::Guide) },
            bar("wrong", None, Class::Plain),
        ],
    }];
    let bars = Bars { title: "bars".to_owned(), most: 2.0, mark: Some((1.5, "mark".to_owned())), groups };
    let tasks = tasks::tasks(report);
    let dots = WIDTHS.map(|width| dots(&tasks, width));
    let lines = report.sweeps.iter().filter_map(lines);
    lines.chain(dots).chain([bars.svg()]).collect()
}

#[test]
fn every_colour_has_one_for_dark_pages() {
    for svg in of_each_kind(&example()) {
        let document = Document::parse(&svg).unwrap();
        let style = elements(&document, "style")[0].text().unwrap();
        for node in document.descendants().filter(|node| node.is_element()) {
            for name in ["fill", "stroke"] {
                let colour = node.attribute(name).filter(|colour| *colour != "none");
                let known = colour.is_none_or(|colour| style.contains(&format!("[{name}=\"{colour}\"]")));
                assert!(known, "{node:?}");
            }
        }
    }
}

#[test]
fn every_chart_is_an_image_with_a_title_and_its_figures_in_words() {
    let charts = of_each_kind(&example());
    assert_eq!(charts.len(), 5);
    for (svg, figure) in
        charts.iter().zip(["1068 at 1 KiB", "ours 0.900 times", "ours 0.900 times", "ours 0.900 times", "races 2"])
    {
        let document = Document::parse(svg).unwrap();
        let root = document.root_element();
        let text = |name| elements(&document, name)[0].text().unwrap_or_default();
        assert_eq!((root.attribute("role"), root.attribute("aria-label")), (Some("img"), Some(text("title"))));
        assert!(!text("title").is_empty() && text("desc").contains(figure), "{figure} in {}", text("desc"));
    }
}

#[test]
fn a_contestant_has_one_colour_in_every_chart() {
    let [ours, guide] = [Class::Tilepipe, Class::Guide].map(|class| palette::style(class).colour.light);
    let mut report = example();
    report.sweeps[0].lines[0].name = "tilepipe".to_owned();
    report.sweeps[0].lines[1].name = "cuda::pipeline".to_owned();
    for svg in of_each_kind(&report) {
        for colour in [ours, guide] {
            assert!(svg.contains(&format!("=\"{colour}\"")), "{colour} in {svg}");
        }
    }
}

/// The texts of the chart of tasks of one task: ours, and how fast the others are.
fn dots_of(ratio: Option<[f64; 3]>, others: &[(&str, f64)], width: Width) -> String {
    let mut report = example();
    report.comparisons.truncate(1);
    let row = &mut report.comparisons[0];
    let model = row.peers[0].clone();
    row.timing = Timing::of(&[1.0], 1 << 30);
    row.peers = others
        .iter()
        .map(|(name, milliseconds)| crate::record::PeerRow {
            name: (*name).to_owned(),
            timing: Timing::of(&[*milliseconds], 1 << 30),
            ratio: ratio.and_then(|[_, median, _]| crate::statistics::Summary::of(&[median])),
            interval: ratio.map(|[lower, _, upper]| [lower, upper]),
            ..model.clone()
        })
        .collect();
    dots(&tasks::tasks(&report), width)
}

#[test]
fn a_task_in_which_ours_is_slower_by_more_than_its_interval_is_red() {
    for width in WIDTHS {
        let is_red = |svg: &str| svg.contains("class=\"band\"") && svg.contains(palette::WRONG.light);
        let red = dots_of(Some([0.94, 0.95, 0.99]), &[("CUB", 0.95)], width);
        assert!(is_red(&red) && texts(&Document::parse(&red).unwrap()).contains("0.950\n"), "{red}");
        let within = dots_of(Some([0.94, 0.95, 1.01]), &[("CUB", 0.95)], width);
        assert!(!is_red(&within.replace(&palette::dark_rules(), "")), "{within}");
        let unknown = dots_of(None, &[("CUB", 0.95)], width);
        assert!(!is_red(&unknown.replace(&palette::dark_rules(), "")), "{unknown}");
        assert!(texts(&Document::parse(&unknown).unwrap()).contains("No intervals: this record has no samples."));
    }
}

#[test]
fn what_is_beyond_the_axis_stands_at_its_end_with_its_number() {
    let svg = dots_of(Some([3.9, 4.0, 4.1]), &[("CUB", 1.0), ("plain", 4.0)], Width::Wide);
    let texts = texts(&Document::parse(&svg).unwrap());
    // Ours in its column and at the right end; the slow one at the left end.
    assert_eq!(texts.matches("4.00\n").count(), 2, "{texts}");
    assert!(texts.contains("0.25\n"), "{texts}");
}

#[test]
fn a_sweep_has_a_point_for_each_time_and_names_its_lines() {
    let svg = lines(&example().sweeps[0]).unwrap();
    let document = Document::parse(&svg).unwrap();
    let markers =
        |name| elements(&document, name).iter().filter(|node| node.attribute("class") == Some("marker")).count();
    // Two points of ours and three of the other line, and one of each in the legend.
    assert_eq!(markers("circle") + markers("path"), 5 + 2, "one of six is missing");
    let texts = texts(&document);
    for name in ["ours", "C++ & co", "size (bytes)", "GB/s", "1 KiB", "64 KiB", "1 MiB"] {
        assert!(texts.contains(&format!("{name}\n")), "{name} in {texts}");
    }
}

#[test]
fn odd_sweeps_have_no_chart_or_a_small_one() {
    let sweep = |lines| Sweep { title: String::new(), axis: String::new(), unit: String::new(), lines };
    assert_eq!(lines(&sweep(Vec::new())), None);
    let line = |points| Line { name: String::new(), points };
    assert_eq!(lines(&sweep(vec![line(Vec::new())])), None);
    let point = |x, timing| Point { x, timing, fault: None, moved: 0, samples: Vec::new() };
    assert_eq!(lines(&sweep(vec![line(vec![point(1.0, None)])])), None);
    for x in [0.0, -3.0, 1.0, 1e300, f64::NAN] {
        let one = sweep(vec![line(vec![point(x, Timing::of(&[1.0], 1 << 30))])]);
        let chart = lines(&one);
        assert_eq!(chart.is_some(), x.is_finite(), "{x}");
    }
}
