//! One line for each kernel of a sweep.

use std::ops::Range;

use anyhow::Result;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::{ChartBuilder, Circle, LineSeries, PathElement, RGBColor, Text};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, ShapeStyle, TRANSPARENT};

use super::{Area, GRID, INK, LIBRARY, OLIVE, OURS, PEER, PINK, PURPLE, RACING, WIDTH, svg, text};
use crate::record::{Line, Point, Sweep};
use crate::show::table;

/// The height of the chart without its legend.
const HEIGHT: u32 = 280;
/// The height of a line of the legend.
const ENTRY: u32 = 18;
/// The most places that the axis names.
const NAMED: usize = 7;
/// An axis that spans so much doubles from place to place instead of adding.
const DOUBLING: f64 = 16.0;

/// Our line first.
const COLOURS: [RGBColor; 7] = [OURS, LIBRARY, RACING, PURPLE, PINK, OLIVE, PEER];

/// Draws the rates of a sweep; `None` where no point has a time.
///
/// # Errors
///
/// None that is known; the library returns them.
pub fn lines(sweep: &Sweep) -> Result<Option<String>> {
    let axis = Axis::of(sweep.places(), &sweep.unit);
    let rates = sweep.lines.iter().flat_map(|line| line.points.iter().filter_map(rate));
    let Some(most) = rates.reduce(f64::max) else { return Ok(None) };
    let legend = ENTRY * sweep.lines.len() as u32;
    svg(&sweep.title, [WIDTH, HEIGHT + legend], |area| {
        let (above, below) = area.split_vertically(legend);
        draw_legend(&above, sweep)?;
        draw_lines(&below, sweep, axis, most)
    })
    .map(Some)
}

/// The axis of what varies.
#[derive(Clone)]
struct Axis {
    places: Vec<f64>,
    unit: String,
    /// The least place above 0 where the axis doubles.
    doubling_from: Option<f64>,
}

impl Axis {
    fn of(places: Vec<f64>, unit: &str) -> Axis {
        let positive = places.iter().copied().find(|x| *x > 0.0);
        let doubles = places.first().is_some_and(|least| *least >= 0.0);
        let is_wide = |least: &f64| places.last().is_some_and(|most| most / least >= DOUBLING);
        let doubling_from = positive.filter(|least| doubles && is_wide(least));
        Axis { places, unit: unit.to_owned(), doubling_from }
    }

    /// How far along a place is. 0 has no logarithm: it stands one step before the least place.
    fn at(&self, x: f64) -> f64 {
        match self.doubling_from {
            Some(least) if x <= 0.0 => least.log2() - 1.0,
            Some(_) => x.log2(),
            None => x,
        }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, x: &f64, (left, right): (i32, i32)) -> i32 {
        let Range { start, end } = self.range();
        let (from, to) = (self.at(start), self.at(end));
        let share = if to > from { 0.03 + 0.94 * (self.at(*x) - from) / (to - from) } else { 0.5 };
        left + (share * f64::from(right - left)).round() as i32
    }

    /// The places that have names: all, or every second, third, ..
    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        let step = self.places.len().div_ceil(NAMED).max(1);
        self.places.iter().copied().step_by(step).collect()
    }

    fn range(&self) -> Range<f64> {
        let place = |x: Option<&f64>| x.copied().unwrap_or(0.0);
        place(self.places.first())..place(self.places.last())
    }
}

impl ValueFormatter<f64> for Axis {
    fn format(x: &f64) -> String {
        x.to_string()
    }

    fn format_ext(&self, x: &f64) -> String {
        quantity(*x, &self.unit)
    }
}

/// A number, shorter where it is one of many bytes.
fn quantity(x: f64, unit: &str) -> String {
    let units = [(f64::from(1 << 30), "Gi"), (f64::from(1 << 20), "Mi"), (1024.0, "Ki")];
    match units.iter().find(|(one, _)| unit == "bytes" && x >= *one && x % one == 0.0) {
        Some((one, prefix)) => format!("{} {prefix}B", x / one),
        None => format!("{x}"),
    }
}

fn rate(point: &Point) -> Option<f64> {
    let rate = point.timing.as_ref()?.gigabytes_per_second;
    (rate.is_finite() && point.x.is_finite()).then_some(rate)
}

fn colour(number: usize) -> RGBColor {
    COLOURS[number % COLOURS.len()]
}

fn draw_legend(area: &Area<'_>, sweep: &Sweep) -> Result<()> {
    for (number, line) in sweep.lines.iter().enumerate() {
        let y = (number as u32 * ENTRY + ENTRY / 2) as i32;
        let stroke = ShapeStyle { color: colour(number).to_rgba(), filled: true, stroke_width: 3 };
        area.draw(&PathElement::new(vec![(4, y), (22, y)], stroke))?;
        area.draw(&Text::new(line.name.clone(), (30, y), text(12, false, INK, HPos::Left)))?;
    }
    Ok(())
}

fn draw_lines(area: &Area<'_>, sweep: &Sweep, axis: Axis, most: f64) -> Result<()> {
    let top = if most > 0.0 { most * 1.08 } else { 1.0 };
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .margin_right(20)
        .x_label_area_size(40)
        .y_label_area_size(54)
        .build_cartesian_2d(axis, 0.0..top)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style(text(12, false, INK, HPos::Left))
        .axis_desc_style(text(12, false, INK, HPos::Left))
        .x_desc(table::axis(sweep))
        .y_desc("GB/s")
        .y_labels(6)
        .y_label_formatter(&|rate| format!("{rate:.0}"))
        .draw()?;
    for (number, line) in sweep.lines.iter().enumerate() {
        let colour = colour(number);
        for run in runs(line) {
            chart.draw_series(LineSeries::new(run.iter().copied(), colour.stroke_width(2)))?;
            chart.draw_series(run.iter().map(|at| Circle::new(*at, 3, colour.filled())))?;
        }
    }
    Ok(())
}

/// A line as parts without gaps: a point that has no time ends one.
fn runs(line: &Line) -> Vec<Vec<(f64, f64)>> {
    let points: Vec<Option<(f64, f64)>> =
        line.points.iter().map(|point| rate(point).map(|rate| (point.x, rate))).collect();
    points
        .split(Option::is_none)
        .map(|run| run.iter().copied().flatten().collect::<Vec<_>>())
        .filter(|run| !run.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use plotters::coord::ranged1d::BoldPoints;

    use super::*;

    fn axis(places: &[f64]) -> Axis {
        Axis::of(places.to_vec(), "")
    }

    #[test]
    fn an_axis_doubles_where_it_spans_much_and_takes_zero() {
        let along = |places: &[f64]| places.iter().map(|x| axis(places).at(*x)).collect::<Vec<_>>();
        assert_eq!(along(&[1.0, 2.0, 4.0]), [1.0, 2.0, 4.0]);
        assert_eq!(along(&[2.0, 8.0, 64.0]), [1.0, 3.0, 6.0]);
        assert_eq!(along(&[0.0, 1.0, 256.0]), [-1.0, 0.0, 8.0]);
        assert_eq!(along(&[-1.0, 1.0, 256.0]), [-1.0, 1.0, 256.0]);
    }

    #[test]
    fn places_lie_within_the_chart_and_not_too_many_have_names() {
        let powers: Vec<f64> = (0..20).map(|power| f64::from(1 << power)).collect();
        assert_eq!(axis(&powers).key_points(BoldPoints(9)), [1.0, 8.0, 64.0, 512.0, 4096.0, 32768.0, 262_144.0]);
        let pixels: Vec<i32> = [0.0, 1.0, 32.0].map(|x| axis(&[0.0, 1.0, 32.0]).map(&x, (100, 200))).to_vec();
        assert_eq!(pixels, [103, 119, 197]);
        assert_eq!(axis(&[5.0]).map(&5.0, (100, 200)), 150);
    }

    #[test]
    fn bytes_have_short_names() {
        let name = |x| quantity(x, "bytes");
        assert_eq!((name(512.0).as_str(), name(4096.0).as_str()), ("512", "4 KiB"));
        assert_eq!((name(1e9).as_str(), name(f64::from(1 << 30)).as_str()), ("1000000000", "1 GiB"));
        assert_eq!(quantity(4096.0, ""), "4096");
    }

    #[test]
    fn a_missing_point_ends_a_line() {
        let line = &crate::record::tests::example().sweeps[0].lines[0];
        let runs: Vec<Vec<f64>> = runs(line).iter().map(|run| run.iter().map(|at| at.0).collect()).collect();
        assert_eq!(runs, [[1024.0], [1_048_576.0]]);
    }
}
