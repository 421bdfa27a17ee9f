use super::*;

/// The least contrast of a mark with the page behind it, by the web's guidelines on contrast.
const CONTRAST: f64 = 3.0;
/// The least distance in Oklab of two contestants' colours, for those who see it.
const APART: f64 = 0.11;
/// The least distance of two that have the same shape too.
const APART_BY_COLOUR_ALONE: f64 = 0.15;

type Vector = [f64; 3];

/// How linear red, green and blue look to a dichromat (Machado, Oliveira and Fernandes 2009,
/// severity 1), and to anybody else.
const SEEN: [(&str, [Vector; 3]); 3] = [
    ("by anybody", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "with protanopia",
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    ),
    (
        "with deuteranopia",
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    ),
];

fn product(matrix: [Vector; 3], vector: Vector) -> Vector {
    matrix.map(|row| row.iter().zip(vector).map(|(one, other)| one * other).sum())
}

/// Red, green and blue of `#RRGGBB` as linear intensities.
fn linear(colour: &str) -> Vector {
    let channel = |at: usize| f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
    [1, 3, 5]
        .map(channel)
        .map(|value| if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) })
}

/// Ottosson's Oklab: distances in it are about as large as they look.
fn oklab(linear: Vector) -> Vector {
    let cones = [
        [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
        [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
        [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
    ];
    let lab = [
        [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
        [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
        [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
    ];
    product(lab, product(cones, linear.map(|value| value.clamp(0.0, 1.0))).map(f64::cbrt))
}

fn distance(one: &str, other: &str, seen: [Vector; 3]) -> f64 {
    let [one, other] = [one, other].map(|colour| oklab(product(seen, linear(colour))));
    one.iter().zip(other).map(|(one, other)| (one - other).powi(2)).sum::<f64>().sqrt()
}

fn contrast(one: &str, other: &str) -> f64 {
    let luminance = |colour| product([[0.2126, 0.7152, 0.0722]; 3], linear(colour))[0] + 0.05;
    let (one, other): (f64, f64) = (luminance(one), luminance(other));
    one.max(other) / one.min(other)
}

/// Which two cannot be told apart, and by whom.
fn confused(styles: &[(&str, Style)]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, (name, style)) in styles.iter().enumerate() {
        for (other_name, other) in &styles[at + 1..] {
            let least = if style.shape == other.shape { APART_BY_COLOUR_ALONE } else { APART };
            for (by, seen) in SEEN {
                for (page, colours) in [
                    ("light", [style.colour.light, other.colour.light]),
                    ("dark", [style.colour.dark, other.colour.dark]),
                ] {
                    let apart = distance(colours[0], colours[1], seen);
                    if apart < least {
                        found.push(format!("{name} and {other_name} on a {page} page {by}: {apart:.3}"));
                    }
                }
            }
        }
    }
    found
}

fn classes() -> Vec<(&'static str, Style)> {
    CLASSES.iter().map(|(class, .., name)| (*name, style(*class))).collect()
}

#[test]
fn every_class_has_its_own_row() {
    for (at, (class, light, ..)) in CLASSES.iter().enumerate() {
        assert_eq!((*class as usize, style(*class).colour.light), (at, *light));
    }
}

#[test]
fn every_contestant_stands_out_from_the_page() {
    let further = FURTHER.map(|style| ("further", style));
    for (name, Style { colour, .. }) in classes().into_iter().chain(further) {
        for (mark, page) in [(colour.light, PAPER.light), (colour.dark, PAPER.dark)] {
            assert!(contrast(mark, page) >= CONTRAST, "{name}: {mark} on {page} is {:.2}", contrast(mark, page));
        }
    }
    for text in [INK, SOFT, WRONG] {
        for (text, page) in [(text.light, PAPER.light), (text.dark, PAPER.dark)] {
            assert!(contrast(text, page) >= 4.5, "{text} on {page}: {:.2}", contrast(text, page));
        }
    }
    for (text, band) in [(WRONG.light, BAND.light), (WRONG.dark, BAND.dark)] {
        assert!(contrast(text, band) >= 4.5, "{text} on {band}: {:.2}", contrast(text, band));
    }
}

#[test]
fn contestants_are_told_apart_with_and_without_colour_blindness() {
    assert_eq!(confused(&classes()), [""; 0]);
}

#[test]
fn two_that_look_alike_are_found() {
    let red_and_green = |shape| {
        let style = |light, shape| Style { colour: Colour { light, dark: light }, shape, dashes: None };
        confused(&[("red", style("#B04848", Shape::Circle)), ("green", style("#198741", shape))])
    };
    let by_deuteranopes = |found: &[String]| found.iter().any(|one| one.contains("with deuteranopia"));
    assert!(by_deuteranopes(&red_and_green(Shape::Circle)), "{:?}", red_and_green(Shape::Circle));
    let blue = |light, shape| ("blue", Style { colour: Colour { light, dark: light }, shape, dashes: None });
    let close = |shape| confused(&[blue("#1042D1", Shape::Circle), blue("#547BE6", shape)]);
    assert!(!close(Shape::Circle).is_empty() && close(Shape::Star).is_empty(), "{:?}", close(Shape::Circle));
}

#[test]
fn black_on_white_has_the_contrast_that_the_guidelines_say() {
    assert!((contrast("#000000", "#FFFFFF") - 21.0).abs() < 1e-9);
    assert!((distance("#000000", "#FFFFFF", SEEN[0].1) - 1.0).abs() < 1e-3);
}

#[test]
fn a_line_has_its_class_and_a_second_of_it_another_colour() {
    let names =
        ["tilepipe", "tilepipe, no asynchronous copy", "cuda::pipeline", "cp.async by hand", "cp.async, 2 barriers"];
    let [hand, guide] = [Class::Hand, Class::Guide].map(style);
    assert_eq!(styles(names), [style(Class::Tilepipe), FURTHER[0], guide, hand, FURTHER[1]]);
    assert_eq!(styles(["a", "b", "c", "d"]), [FURTHER[0], FURTHER[1], FURTHER[2], FURTHER[0]]);
}
