use roxmltree::{Document, Node};

use super::*;
use crate::record::tests::example;
use crate::record::{Line, Point, Sweep, Timing};

fn elements<'a>(document: &'a Document<'_>, name: &'a str) -> Vec<Node<'a, 'a>> {
    document.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", name))).collect()
}

fn texts(document: &Document<'_>) -> String {
    elements(document, "text").iter().filter_map(|node| node.text()).map(|text| text.trim().to_owned() + "\n").collect()
}

fn bar(name: &str, rate: Option<f64>, kind: Kind) -> Bar {
    Bar { name: name.to_owned(), rate, note: if rate.is_none() { "WRONG".to_owned() } else { String::new() }, kind }
}

#[test]
fn a_bar_is_as_long_as_its_rate_and_a_wrong_result_has_none() {
    let bars = vec![
        bar("ours <1>", Some(50.0), Kind::Ours),
        bar("a & b", Some(100.0), Kind::Hand),
        bar("wrong", None, Kind::Hand),
        bar("no number", Some(f64::NAN), Kind::Hand),
    ];
    let groups = vec![Group { name: "group".to_owned(), bars }];
    let chart = Bars { title: "a <title>".to_owned(), most: 100.0, mark: None, groups };
    let svg = chart.svg().unwrap();
    let document = Document::parse(&svg).unwrap();
    let widths: Vec<&str> = elements(&document, "rect").iter().map(|node| node.attribute("width").unwrap()).collect();
    assert_eq!(widths, ["219", "438"]);
    let texts = texts(&document);
    assert!(texts.contains("ours <1>\n50\n") && texts.contains("a & b\n100\n") && texts.contains("wrong\nWRONG\n"));
    assert_eq!(elements(&document, "title")[0].text(), Some("a <title>"));
}

#[test]
fn an_empty_chart_and_one_without_a_rate_are_drawn() {
    let chart = |groups| Bars { title: String::new(), most: 0.0, mark: Some((0.0, "mark".to_owned())), groups };
    Document::parse(&chart(Vec::new()).svg().unwrap()).unwrap();
    let group = Group { name: String::new(), bars: vec![bar("wrong", None, Kind::Ours)] };
    let svg = chart(vec![group]).svg().unwrap();
    assert!(elements(&Document::parse(&svg).unwrap(), "rect").is_empty(), "{svg}");
}

#[test]
fn every_colour_has_one_for_dark_pages() {
    let svg = lines(&example().sweeps[0]).unwrap().unwrap();
    let document = Document::parse(&svg).unwrap();
    let style = elements(&document, "style")[0].text().unwrap();
    for node in document.descendants().filter(|node| node.is_element()) {
        for name in ["fill", "stroke"] {
            let colour = node.attribute(name).filter(|colour| colour.starts_with('#'));
            let unseen = node.attribute("opacity") == Some("0");
            let known = colour.is_none_or(|colour| style.contains(&format!("[{name}=\"{colour}\"]")));
            assert!(known || unseen, "{node:?}");
        }
    }
}

#[test]
fn a_sweep_has_a_point_for_each_time_and_names_its_lines() {
    let svg = lines(&example().sweeps[0]).unwrap().unwrap();
    let document = Document::parse(&svg).unwrap();
    assert_eq!(elements(&document, "circle").len(), 5, "one of six is missing");
    let texts = texts(&document);
    for name in ["ours", "C++ & co", "size (bytes)", "GB/s", "1 KiB", "64 KiB", "1 MiB"] {
        assert!(texts.contains(&format!("{name}\n")), "{name} in {texts}");
    }
}

#[test]
fn odd_sweeps_have_no_chart_or_a_small_one() {
    let sweep = |lines| Sweep { title: String::new(), axis: String::new(), unit: String::new(), lines };
    assert_eq!(lines(&sweep(Vec::new())).unwrap(), None);
    let line = |points| Line { name: String::new(), points };
    assert_eq!(lines(&sweep(vec![line(Vec::new())])).unwrap(), None);
    let point = |x, timing| Point { x, timing, fault: None };
    assert_eq!(lines(&sweep(vec![line(vec![point(1.0, None)])])).unwrap(), None);
    for x in [0.0, -3.0, 1.0, 1e300, f64::NAN] {
        let one = sweep(vec![line(vec![point(x, Timing::of(&[1.0], 1 << 30))])]);
        let chart = lines(&one).unwrap();
        assert_eq!(chart.is_some(), x.is_finite(), "{x}");
    }
}
