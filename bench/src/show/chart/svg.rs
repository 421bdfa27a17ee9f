//! An SVG that is written element by element.
//!
//! Text is text, so that it can be searched and its size follows from the reader's fonts. Its width
//! is known only when it is shown; [`width`] is a little more than it comes to.

use maud::{Markup, PreEscaped, html};

use super::palette::{Colour, INK, Shape, Style, dark_rules};

/// The width of a letter of the widest font that is usual, over the font's size.
const LETTER: f64 = 0.62;

/// A chart that is being drawn.
pub struct Svg {
    size: [f64; 2],
    elements: Vec<Markup>,
}

/// Where a text is anchored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It begins at its place.
    Start,
    /// It is centred there.
    Middle,
    /// It ends there.
    End,
}

/// How a text is written.
#[derive(Clone, Copy, Debug)]
pub struct Font {
    /// Its height in pixels.
    pub size: f64,
    /// Whether it is bold.
    pub bold: bool,
    /// Its colour.
    pub colour: Colour,
    /// Where it is anchored.
    pub side: Side,
}

impl Font {
    /// A font of this size in the colour of text, that begins at its place.
    pub const fn new(size: f64) -> Font {
        Font { size, bold: false, colour: INK, side: Side::Start }
    }

    pub fn bold(self, bold: bool) -> Font {
        Font { bold, ..self }
    }

    pub fn colour(self, colour: Colour) -> Font {
        Font { colour, ..self }
    }

    pub fn side(self, side: Side) -> Font {
        Font { side, ..self }
    }
}

impl Svg {
    /// Begins a chart of this width and height.
    pub fn new(width: f64, height: f64) -> Svg {
        Svg { size: [width, height.max(1.0)], elements: Vec::new() }
    }

    /// Writes a text whose middle line is at `y`.
    pub fn text(&mut self, text: &str, [x, y]: [f64; 2], font: Font) {
        let Font { size, bold, colour, side } = font;
        let anchor = match side {
            Side::Start => None,
            Side::Middle => Some("middle"),
            Side::End => Some("end"),
        };
        self.elements.push(html! {
            text x=(short(x)) y=(short(y)) dy="0.35em" font-size=(size) font-weight=[bold.then_some("bold")]
                text-anchor=[anchor] fill=(colour.light) { (text) }
        });
    }

    /// Draws a straight line, with dashes where they are given.
    pub fn line(&mut self, from: [f64; 2], to: [f64; 2], colour: Colour, width: f64, dashes: Option<&str>) {
        self.elements.push(html! {
            line x1=(short(from[0])) y1=(short(from[1])) x2=(short(to[0])) y2=(short(to[1])) stroke=(colour.light)
                stroke-width=(width) stroke-dasharray=[dashes] {}
        });
    }

    /// Draws the line through these points.
    pub fn path(&mut self, points: &[[f64; 2]], style: Style) {
        let points: Vec<String> = points.iter().map(|[x, y]| format!("{},{}", short(*x), short(*y))).collect();
        self.elements.push(html! {
            polyline points=(points.join(" ")) fill="none" stroke=(style.colour.light) stroke-width="2"
                stroke-dasharray=[style.dashes] {}
        });
    }

    /// Draws a filled rectangle, or only its outline.
    pub fn bar(&mut self, [x, y]: [f64; 2], [width, height]: [f64; 2], colour: Colour, hollow: bool) {
        // An outline lies on both sides of the edge.
        let inset = if hollow { 0.75 } else { 0.0 };
        let [x, y, width, height] =
            [x + inset, y + inset, (width - 2.0 * inset).max(0.5), (height - 2.0 * inset).max(0.5)].map(short);
        self.elements.push(html! {
            @if hollow {
                rect class="bar" x=(x) y=(y) width=(width) height=(height) fill="none" stroke=(colour.light) stroke-width="1.5" {}
            } @else {
                rect class="bar" x=(x) y=(y) width=(width) height=(height) fill=(colour.light) {}
            }
        });
    }

    /// Draws what lies behind everything else in a part of the chart.
    pub fn band(&mut self, [x, y]: [f64; 2], [width, height]: [f64; 2], colour: Colour) {
        self.elements.push(html! {
            rect class="band" x=(short(x)) y=(short(y)) width=(short(width)) height=(short(height)) fill=(colour.light) {}
        });
    }

    /// Draws a contestant's point.
    pub fn marker(&mut self, [x, y]: [f64; 2], radius: f64, style: Style) {
        let Style { colour: Colour { light, .. }, shape, .. } = style;
        let thick = matches!(shape, Shape::Plus | Shape::Cross);
        self.elements.push(match outline(shape, radius) {
            None => html! { circle class="marker" cx=(short(x)) cy=(short(y)) r=(radius) fill=(light) {} },
            Some(corners) => {
                let corners: Vec<String> =
                    corners.iter().map(|[dx, dy]| format!("{},{}", short(x + dx), short(y + dy))).collect();
                let path = if thick {
                    format!("M{} L{} M{} L{}", corners[0], corners[1], corners[2], corners[3])
                } else {
                    format!("M{}Z", corners.join(" L"))
                };
                html! {
                    @if thick {
                        path class="marker" d=(path) fill="none" stroke=(light) stroke-width=(short(radius * 0.6)) {}
                    } @else {
                        path class="marker" d=(path) fill=(light) {}
                    }
                }
            }
        });
    }

    /// Ends the chart. `title` and `description` are for those who cannot see it: the description
    /// has its figures in words. Points of a chart that is `loose` may lie on one another.
    pub fn finish(self, title: &str, description: &str, loose: bool) -> String {
        let [width, height] = self.size.map(short);
        html! {
            svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) }
                role="img" aria-label=(title) font-family="system-ui, sans-serif" data-loose=[loose.then_some("")] {
                title { (title) }
                desc { (description) }
                style { (PreEscaped(dark_rules())) }
                // One a line, so that a change of one of them is a change of a line.
                @for element in &self.elements { "\n" (element) }
            }
        }
        .into_string()
    }
}

/// The corners of a shape around its middle; none of a circle. Those of [`Shape::Plus`] and
/// [`Shape::Cross`] are the ends of two strokes.
fn outline(shape: Shape, radius: f64) -> Option<Vec<[f64; 2]>> {
    let scaled = |corners: &[[f64; 2]], by: f64| Some(corners.iter().map(|[x, y]| [x * by, y * by]).collect());
    match shape {
        Shape::Circle => None,
        Shape::Square => scaled(&[[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]], radius * 0.9),
        Shape::Diamond => scaled(&[[0.0, -1.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], radius * 1.2),
        Shape::Up => scaled(&[[0.0, -1.0], [1.0, 0.8], [-1.0, 0.8]], radius * 1.1),
        Shape::Down => scaled(&[[0.0, 1.0], [1.0, -0.8], [-1.0, -0.8]], radius * 1.1),
        Shape::Plus => scaled(&[[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]], radius * 1.1),
        Shape::Cross => scaled(&[[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]], radius * 0.85),
        Shape::Star => {
            let point = |nth: u32| {
                let (turn, far) = (f64::from(nth) * std::f64::consts::PI / 5.0, [1.3, 0.55][nth as usize % 2]);
                [turn.sin() * far * radius, -turn.cos() * far * radius]
            };
            Some((0..10).map(point).collect())
        }
    }
}

/// A coordinate, to a hundredth of a pixel.
fn short(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Returns about how wide a text is at most.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * LETTER
}

/// Breaks a text into lines that are at most so wide: at spaces, and within a word after `_`, `:`
/// and `/` or, where it has none of these, anywhere.
pub fn wrapped(text: &str, room: f64, size: f64) -> Vec<String> {
    let most = ((room / (size * LETTER)) as usize).max(4);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut glue = " ";
        for part in word.split_inclusive(['_', ':', '/']) {
            let letters: Vec<char> = part.chars().collect();
            for piece in letters.chunks(most) {
                let held = lines.last().map_or(0, |line| line.chars().count());
                if held > 0 && held + glue.len() + piece.len() > most {
                    lines.push(String::new());
                }
                if let Some(line) = lines.last_mut() {
                    line.push_str(if line.is_empty() { "" } else { glue });
                    line.extend(piece);
                }
                glue = "";
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_within_long_words() {
        let broken = |text| wrapped(text, 10.0 * LETTER * 10.0, 10.0);
        assert_eq!(broken("with a few words"), ["with a few", "words"]);
        assert_eq!(broken("with_specialized_x"), ["with_", "specialize", "d_x"]);
        assert_eq!(broken("abcdefghijklmno p"), ["abcdefghij", "klmno p"]);
        assert_eq!(broken(""), [""]);
        for line in broken("cuda::pipeline, thread scope, äöüß, with_memcpy_async_prior") {
            assert!(width(&line, 10.0) <= 62.0 + 1e-9, "{line}");
        }
    }

    #[test]
    fn every_shape_is_another_one() {
        let shapes = super::super::palette::CLASSES.map(|(class, ..)| super::super::palette::style(class).shape);
        for (at, one) in shapes.iter().enumerate() {
            for other in &shapes[at + 1..] {
                assert_ne!(outline(*one, 4.0), outline(*other, 4.0), "{one:?} and {other:?}");
            }
        }
    }
}
