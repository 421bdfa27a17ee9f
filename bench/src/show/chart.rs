//! Charts as SVG, for light and dark pages.
//!
//! Colours are drawn as for a light page; a style in each chart replaces them on a dark one, also
//! where the chart stands alone.

mod bars;
mod lines;
mod overview;

pub use bars::{Bar, Bars, Group, Kind};
pub use lines::lines;
pub use overview::Overview;

use anyhow::{Context, Result};
use maud::html;
use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, IntoDrawingArea, RGBColor, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, TextStyle};

/// The width of a chart of a page in pixels: that of a phone, so that its text is read there.
const WIDTH: u32 = 440;

/// What plotters divides a font's size by when it writes it.
const PLOTTERS_SIZE: f64 = 1.24;

/// Text and axes.
const INK: RGBColor = RGBColor(0x1F, 0x23, 0x28);
/// Lines of the grid.
const GRID: RGBColor = RGBColor(0xD8, 0xDE, 0xE4);
/// Our kernels.
const OURS: RGBColor = RGBColor(0x0B, 0x69, 0xDA);
/// Peers.
const PEER: RGBColor = RGBColor(0x8C, 0x95, 0x9F);
/// Peers of the CUDA libraries, where they are told from kernels by hand.
const LIBRARY: RGBColor = RGBColor(0x2D, 0x9D, 0x78);
/// Peers that race.
const RACING: RGBColor = RGBColor(0xC8, 0x64, 0x0A);
/// Wrong results.
const WRONG: RGBColor = RGBColor(0xCF, 0x22, 0x2E);
/// Further lines of a chart.
const PURPLE: RGBColor = RGBColor(0x82, 0x50, 0xDF);
/// Further lines of a chart.
const OLIVE: RGBColor = RGBColor(0x7D, 0x7A, 0x12);
/// Further lines of a chart.
const PINK: RGBColor = RGBColor(0xBF, 0x39, 0x89);

/// Each colour on a light page, and what takes its place on a dark one.
const DARK: [(RGBColor, &str); 10] = [
    (INK, "#E6EDF3"),
    (GRID, "#30363D"),
    (OURS, "#58A6FF"),
    (PEER, "#7D8590"),
    (LIBRARY, "#4AC39B"),
    (RACING, "#F0883E"),
    (WRONG, "#FF7B72"),
    (PURPLE, "#B78CFF"),
    (OLIVE, "#C4C04A"),
    (PINK, "#F778BA"),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws a chart of this width and height. Its title is for those who cannot see it.
fn svg(title: &str, [width, height]: [u32; 2], draw: impl FnOnce(&Area<'_>) -> Result<()>) -> Result<String> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (width, height)).into_drawing_area();
        draw(&area)?;
        area.present().context("cannot finish a chart")?;
    }
    let open = text.find('>').context("a chart has no beginning")? + 1;
    let title = html! { title { (title) } }.into_string();
    text.insert_str(open, &format!("\n{title}\n<style>{}</style>", style()));
    Ok(text)
}

/// Rules that replace the colours on a dark page. They stand above the attributes that plotters
/// writes.
fn style() -> String {
    let rules = DARK.iter().map(|(light, dark)| {
        let light = format!("#{:02X}{:02X}{:02X}", light.0, light.1, light.2);
        format!("[fill=\"{light}\"]{{fill:{dark}}}[stroke=\"{light}\"]{{stroke:{dark}}}")
    });
    format!("@media (prefers-color-scheme:dark){{{}}}", rules.collect::<String>())
}

/// Text of this size in pixels; it begins, ends or is centred at its place.
fn text(size: u32, bold: bool, colour: RGBColor, side: HPos) -> TextStyle<'static> {
    let style = if bold { FontStyle::Bold } else { FontStyle::Normal };
    let font = FontDesc::new(FontFamily::SansSerif, f64::from(size) * PLOTTERS_SIZE, style);
    TextStyle { font, color: colour.to_backend_color(), pos: Pos::new(side, VPos::Center) }
}

#[cfg(test)]
mod tests;
