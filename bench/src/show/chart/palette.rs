//! Colours and shapes: a contestant has the same ones in every chart.

use crate::record::Class;

/// A colour on a light page and the one that takes its place on a dark page, as SVG writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    /// On a light page.
    pub light: &'static str,
    /// On a dark page.
    pub dark: &'static str,
}

/// What marks a point. Whoever cannot tell two colours apart tells the shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Circle,
    Square,
    Diamond,
    Up,
    Down,
    Plus,
    Cross,
    Star,
}

/// How a contestant is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Of its bar, its line and its points.
    pub colour: Colour,
    /// Of its points.
    pub shape: Shape,
    /// The dashes of its line; none where it is solid.
    pub dashes: Option<&'static str>,
}

/// Text and axes.
pub const INK: Colour = Colour { light: "#1F2328", dark: "#E6EDF3" };
/// What is said beside the figures.
pub const SOFT: Colour = Colour { light: "#59636E", dark: "#9198A1" };
/// Lines of the grid.
pub const GRID: Colour = Colour { light: "#D8DEE4", dark: "#30363D" };
/// The page itself.
pub const PAPER: Colour = Colour { light: "#FFFFFF", dark: "#0D1117" };
/// Wrong results, and what is slower than another form.
pub const WRONG: Colour = Colour { light: "#CF222E", dark: "#FF7B72" };
/// Behind a line of what is slower.
pub const BAND: Colour = Colour { light: "#FFEBE9", dark: "#3C1618" };

/// Everything that is drawn in no contestant's colour.
const OTHERS: [Colour; 6] = [INK, SOFT, GRID, PAPER, WRONG, BAND];

/// Every class with its colour on a light page, on a dark page, its shape and its name. The colours
/// were found by search: contrast with the page of at least 3, and the greatest least distance of
/// any two, as seen with deuteranopia, with protanopia and with neither.
pub const CLASSES: [(Class, &str, &str, Shape, &str); 8] = [
    (Class::Tilepipe, "#1042D1", "#6A93FF", Shape::Circle, "tilepipe"),
    (Class::Guide, "#654200", "#AA5709", Shape::Square, "CUDA's libraries, as the guide has it"),
    (Class::Pipeline, "#CD7D00", "#F9D222", Shape::Diamond, "CUDA's libraries, fastest shape"),
    (Class::Hand, "#351F1F", "#F1FFE3", Shape::Up, "C++ by hand"),
    (Class::Plain, "#8E9095", "#717592", Shape::Down, "C++, no asynchronous copy"),
    (Class::Library, "#006C79", "#13BC8B", Shape::Plus, "CUB, cuBLAS"),
    (Class::PyTorch, "#C666E0", "#F4B7FF", Shape::Star, "PyTorch"),
    (Class::UnsafeRust, "#4D1C7D", "#7047D7", Shape::Cross, "twin in unsafe Rust"),
];

/// Lines of a sweep that are of no class, or of one that the sweep already has. Their dashes tell
/// them from the classes.
pub const FURTHER: [Style; 3] = [
    further("#7D7A12", "#C4C04A", Shape::Circle, "6 3"),
    further("#BF3989", "#F778BA", Shape::Square, "2 3"),
    further("#4A6A8A", "#8FB0D0", Shape::Diamond, "8 3 2 3"),
];

const fn further(light: &'static str, dark: &'static str, shape: Shape, dashes: &'static str) -> Style {
    Style { colour: Colour { light, dark }, shape, dashes: Some(dashes) }
}

/// Returns how a class is drawn.
pub fn style(class: Class) -> Style {
    let (_, light, dark, shape, _) = entry(class);
    Style { colour: Colour { light, dark }, shape, dashes: None }
}

/// Returns what a class is called in legends.
pub fn name(class: Class) -> &'static str {
    entry(class).4
}

/// The table is in the order of [`Class`], which a test checks.
fn entry(class: Class) -> (Class, &'static str, &'static str, Shape, &'static str) {
    CLASSES[class as usize]
}

/// Returns how the lines of a sweep with these names are drawn.
pub fn styles<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<Style> {
    let (mut taken, mut others) = (Vec::new(), FURTHER.iter().cycle());
    let mut style_of = |name| match Class::of_name(name).filter(|class| !taken.contains(class)) {
        Some(class) => {
            taken.push(class);
            style(class)
        }
        None => others.next().copied().unwrap_or(FURTHER[0]),
    };
    names.into_iter().map(&mut style_of).collect()
}

/// Returns rules that replace all colours on a dark page. They stand above the attributes of the
/// elements.
pub fn dark_rules() -> String {
    let classes = CLASSES.iter().map(|(_, light, dark, ..)| Colour { light, dark });
    let all = OTHERS.into_iter().chain(classes).chain(FURTHER.map(|style| style.colour));
    let rules = all.map(|Colour { light, dark }| {
        format!("[fill=\"{light}\"]{{fill:{dark}}}[stroke=\"{light}\"]{{stroke:{dark}}}")
    });
    format!("@media (prefers-color-scheme:dark){{{}}}", rules.collect::<String>())
}

#[cfg(test)]
mod tests;
