//! Charts as SVG, for light and dark pages.
//!
//! Colours are drawn as for a light page; a style in each chart replaces them on a dark one, also
//! where the chart stands alone.

mod bars;
mod dots;
mod legend;
mod lines;
mod palette;
mod svg;

pub use bars::{Bar, Bars, Group};
pub use dots::{TITLE as DOTS_TITLE, Width, dots};
pub use lines::{Chart, Curve, Scale, lines};
pub use palette::{name as class_name, style as class_style};

/// The width of a chart of a page in pixels: that of a phone, so that its text is read there.
const WIDTH: f64 = 358.0;

#[cfg(test)]
mod tests;
