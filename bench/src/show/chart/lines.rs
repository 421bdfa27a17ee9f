//! A line for each kernel of a sweep, or for each kind of contestant over sizes.

use super::WIDTH;
use super::legend::Legend;
use super::palette::{GRID, INK, Style, styles};
use super::svg::{Font, Side, Svg, width};
use crate::record::{Line, Point, Sweep};
use crate::show::table::with_unit;

/// The height of what the lines are drawn in.
const HEIGHT: f64 = 220.0;
/// The room left of it, right of it, above it and below it.
const MARGINS: [f64; 4] = [44.0, 14.0, 26.0, 42.0];
/// The size of the axes' text.
const SIZE: f64 = 11.0;
/// An axis that spans so much doubles from place to place instead of adding.
const DOUBLING: f64 = 16.0;
/// About how many rates the axis names.
const RATES: f64 = 5.0;

/// What a chart of lines shows.
pub struct Chart<'a> {
    /// What it shows, for people.
    pub title: &'a str,
    /// What varies, and its unit; empty where it is a count that `axis` names.
    pub axis: &'a str,
    /// The unit.
    pub unit: &'a str,
    /// What is drawn, with its unit.
    pub quantity: &'a str,
    /// Its digits after the point, in words.
    pub digits: usize,
    /// How long it is on the chart.
    pub scale: Scale,
    /// The lines, of which the first lies on top.
    pub curves: Vec<Curve>,
}

/// A line of a chart.
pub struct Curve {
    /// Whose it is.
    pub name: String,
    /// How it is drawn.
    pub style: Style,
    /// Places with what is drawn there; none ends a line.
    pub points: Vec<(f64, Option<f64>)>,
}

/// How a quantity becomes a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// It adds, from 0 on.
    FromZero,
    /// It doubles from step to step, so that a ratio is as long anywhere.
    Doubling,
    /// It adds, from a little below the least one on.
    Near,
}

/// Draws the rates of a sweep; `None` where no point has a time.
pub fn lines(sweep: &Sweep) -> Option<String> {
    let styles = styles(sweep.lines.iter().map(|line| line.name.as_str()));
    let rate = |point: &Point| Some(point.timing.as_ref()?.gigabytes_per_second);
    let curve = |(line, style): (&Line, Style)| Curve {
        name: line.name.clone(),
        style,
        points: line.points.iter().map(|point| (point.x, rate(point))).collect(),
    };
    let chart = Chart {
        title: &sweep.title,
        axis: &sweep.axis,
        unit: &sweep.unit,
        quantity: "GB/s",
        digits: 0,
        // A ratio is as long anywhere on the chart where sizes are compared.
        scale: if sweep.unit == "bytes" { Scale::Doubling } else { Scale::FromZero },
        curves: sweep.lines.iter().zip(styles).map(curve).collect(),
    };
    chart.svg()
}

impl Chart<'_> {
    /// Draws it; `None` where there is no point.
    pub fn svg(&self) -> Option<String> {
        let points = || self.curves.iter().flat_map(|curve| curve.points.iter().filter_map(at));
        let most = points().map(|[_, value]| value).reduce(f64::max)?;
        let least = points().map(|[_, value]| value).filter(|value| *value > 0.0).reduce(f64::min);
        let most = if most > 0.0 { most } else { 1.0 };
        let values = Values { scale: self.scale, least: least.unwrap_or(most), most };
        let axis = Axis::of(self.places(), self.unit);
        let legend = Legend::new(self.curves.iter().map(|curve| (curve.name.as_str(), curve.style)), WIDTH);
        let plot = Plot { axis: &axis, values, top: legend.height + MARGINS[2] };
        let mut svg = Svg::new(WIDTH, plot.bottom() + MARGINS[3]);
        legend.draw(&mut svg, [0.0, 0.0]);
        plot.draw_axes(&mut svg, self);
        for curve in self.curves.iter().rev() {
            plot.draw(&mut svg, curve);
        }
        Some(svg.finish(self.title, &self.description(), true))
    }

    /// The places of all lines, rising, each once.
    fn places(&self) -> Vec<f64> {
        let all = self.curves.iter().flat_map(|curve| curve.points.iter().map(|(x, _)| *x));
        let mut places: Vec<f64> = all.filter(|x| x.is_finite()).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        places
    }

    /// The figures of all lines in words.
    fn description(&self) -> String {
        let of_point = |point: &(f64, Option<f64>)| {
            let (x, digits) = (quantity(point.0, self.unit), self.digits);
            at(point).map_or_else(|| format!("none at {x}"), |[_, value]| format!("{value:.digits$} at {x}"))
        };
        let of_curve = |curve: &Curve| {
            let points: Vec<String> = curve.points.iter().map(of_point).collect();
            format!("{}, {} by {}: {}.", curve.name, self.quantity, self.axis, points.join(", "))
        };
        self.curves.iter().map(of_curve).collect::<Vec<_>>().join(" ")
    }
}

/// Where and how much, if both can be drawn.
fn at((x, value): &(f64, Option<f64>)) -> Option<[f64; 2]> {
    value.filter(|value| value.is_finite() && x.is_finite()).map(|value| [*x, value])
}

/// The axis of what is drawn.
#[derive(Clone, Copy)]
struct Values {
    scale: Scale,
    least: f64,
    most: f64,
}

impl Values {
    /// The ends of an axis that does not begin at 0.
    fn near(&self) -> [f64; 2] {
        let room = ((self.most - self.least) * 0.08).max(self.most * 0.005);
        [self.least - room, self.most + room]
    }

    /// How far up a value is, from 0 to about 1.
    fn share(&self, value: f64) -> f64 {
        match self.scale {
            Scale::FromZero => value / (self.most * 1.08),
            Scale::Doubling => {
                let (from, to) = (self.least / 1.2, self.most * 1.2);
                (value.max(from) / from).ln() / (to / from).ln()
            }
            Scale::Near => {
                let [from, to] = self.near();
                (value - from) / (to - from)
            }
        }
    }

    /// The values that have names.
    fn named(&self) -> Vec<f64> {
        match self.scale {
            Scale::FromZero => multiples(0.0, self.most * 1.08, round_up(self.most / RATES)),
            Scale::Near => {
                let [from, to] = self.near();
                multiples(from, to, round_up((to - from) / RATES))
            }
            Scale::Doubling => self.doubling(),
        }
    }

    fn doubling(&self) -> Vec<f64> {
        let (from, to) = (self.least / 1.2, self.most * 1.2);
        let decades = self.least.log10().floor() as i32..=self.most.log10().ceil() as i32;
        let of = |parts: &[f64]| -> Vec<f64> {
            let all = decades.clone().flat_map(|ten| parts.iter().map(move |part| part * 10_f64.powi(ten)));
            all.filter(|rate| (from..=to).contains(rate)).collect()
        };
        let (few, more) = (of(&[1.0]), of(&[1.0, 2.0, 5.0]));
        match (few.len(), more.len()) {
            (5.., _) => few,
            (_, 3..) => more,
            _ => of(&[1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0]),
        }
    }
}

/// The multiples of a step between two values.
fn multiples(from: f64, to: f64, step: f64) -> Vec<f64> {
    let first = (from / step).ceil();
    (0..).map(|nth| (first + f64::from(nth)) * step).take_while(|value| *value <= to).collect()
}

/// 1, 2 or 5 times a power of ten that is at least this.
fn round_up(value: f64) -> f64 {
    let ten = 10_f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|part| part * ten).into_iter().find(|step| *step >= value).unwrap_or(value)
}

/// The axis of what varies.
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
        let is_wide = |least: &f64| unit == "bytes" || places.last().is_some_and(|most| most / least >= DOUBLING);
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

    /// Where between two pixels a place is.
    fn pixel(&self, x: f64, [left, right]: [f64; 2]) -> f64 {
        let end = |x: Option<&f64>| self.at(x.copied().unwrap_or(0.0));
        let (from, to) = (end(self.places.first()), end(self.places.last()));
        let share = if to > from { 0.03 + 0.94 * ((self.at(x) - from) / (to - from)) } else { 0.5 };
        left + share * (right - left)
    }

    /// The places that have names: as many as have room, each with its name.
    fn named(&self, pixels: [f64; 2]) -> Vec<(f64, String)> {
        let (mut named, mut free): (Vec<(f64, String)>, f64) = (Vec::new(), f64::NEG_INFINITY);
        for x in &self.places {
            let (middle, name) = (self.pixel(*x, pixels), quantity(*x, &self.unit));
            let half = width(&name, SIZE) / 2.0;
            if middle - half > free && middle + half <= WIDTH {
                free = middle + half + 4.0;
                named.push((middle, name));
            }
        }
        named
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

/// What the lines are drawn in.
struct Plot<'a> {
    axis: &'a Axis,
    values: Values,
    top: f64,
}

impl Plot<'_> {
    const SIDES: [f64; 2] = [MARGINS[0], WIDTH - MARGINS[1]];

    fn bottom(&self) -> f64 {
        self.top + HEIGHT
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom() - self.values.share(value) * HEIGHT
    }

    fn draw_axes(&self, svg: &mut Svg, chart: &Chart<'_>) {
        let ([left, right], font) = (Self::SIDES, Font::new(SIZE));
        for value in self.values.named() {
            let y = self.y(value);
            svg.line([left, y], [right, y], GRID, 1.0, None);
            // Multiples of a tenth are not exact.
            let value = (value * 1e6).round() / 1e6;
            svg.text(&format!("{value}"), [left - 6.0, y], font.side(Side::End));
        }
        for (x, name) in self.axis.named(Self::SIDES) {
            svg.line([x, self.bottom()], [x, self.bottom() + 4.0], INK, 1.0, None);
            svg.text(&name, [x, self.bottom() + 13.0], font.side(Side::Middle));
        }
        svg.line([left, self.bottom()], [right, self.bottom()], INK, 1.0, None);
        svg.text(chart.quantity, [0.0, self.top - 14.0], font);
        let below = self.bottom() + 31.0;
        svg.text(&with_unit(chart.axis, chart.unit), [f64::midpoint(left, right), below], font.side(Side::Middle));
    }

    fn draw(&self, svg: &mut Svg, curve: &Curve) {
        for run in runs(&curve.points) {
            let points: Vec<[f64; 2]> =
                run.iter().map(|[x, value]| [self.axis.pixel(*x, Self::SIDES), self.y(*value)]).collect();
            svg.path(&points, curve.style);
            points.iter().for_each(|point| svg.marker(*point, 3.5, curve.style));
        }
    }
}

/// A line as parts without gaps: a point that has no value ends one.
fn runs(points: &[(f64, Option<f64>)]) -> Vec<Vec<[f64; 2]>> {
    let points: Vec<Option<[f64; 2]>> = points.iter().map(at).collect();
    points
        .split(Option::is_none)
        .map(|run| run.iter().copied().flatten().collect::<Vec<_>>())
        .filter(|run| !run.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(places: &[f64]) -> Axis {
        Axis::of(places.to_vec(), "")
    }

    #[test]
    fn an_axis_doubles_where_it_spans_much_or_counts_bytes_and_takes_zero() {
        let along = |places: &[f64]| places.iter().map(|x| axis(places).at(*x)).collect::<Vec<_>>();
        assert_eq!(along(&[1.0, 2.0, 4.0]), [1.0, 2.0, 4.0]);
        assert_eq!(Axis::of(vec![1.0, 2.0, 4.0], "bytes").at(4.0), 2.0);
        assert_eq!(along(&[2.0, 8.0, 64.0]), [1.0, 3.0, 6.0]);
        assert_eq!(along(&[0.0, 1.0, 256.0]), [-1.0, 0.0, 8.0]);
        assert_eq!(along(&[-1.0, 1.0, 256.0]), [-1.0, 1.0, 256.0]);
    }

    #[test]
    fn places_lie_within_the_chart_and_names_beside_one_another() {
        let powers: Vec<f64> = (0..20).map(|power| f64::from(1 << power)).collect();
        let named = axis(&powers).named([44.0, 344.0]);
        assert!((4..=12).contains(&named.len()) && named[0].1 == "1", "{named:?}");
        for pair in named.windows(2) {
            let half = |name: &String| width(name, SIZE) / 2.0;
            assert!(pair[0].0 + half(&pair[0].1) < pair[1].0 - half(&pair[1].1), "{named:?}");
        }
        let pixels = [0.0, 1.0, 32.0].map(|x| axis(&[0.0, 1.0, 32.0]).pixel(x, [100.0, 200.0]).round());
        assert_eq!(pixels, [103.0, 119.0, 197.0]);
        assert_eq!(axis(&[5.0]).pixel(5.0, [100.0, 200.0]), 150.0);
    }

    #[test]
    fn rates_of_sizes_double_and_others_begin_at_zero() {
        let of = |scale, least, most| Values { scale, least, most };
        let sizes = of(Scale::Doubling, 10.0, 4000.0);
        let step = |from, to| sizes.share(to) - sizes.share(from);
        assert!((step(20.0, 40.0) - step(1000.0, 2000.0)).abs() < 1e-12);
        assert!(sizes.share(10.0) > 0.0 && sizes.share(4000.0) < 1.0);
        assert_eq!(sizes.named(), [10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0]);
        assert_eq!(of(Scale::Doubling, 1500.0, 3900.0).named(), [1500.0, 2000.0, 3000.0, 4000.0]);
        let others = of(Scale::FromZero, 1500.0, 4000.0);
        assert_eq!((others.share(0.0), others.named()), (0.0, vec![0.0, 1000.0, 2000.0, 3000.0, 4000.0]));
    }

    #[test]
    fn bytes_have_short_names() {
        let name = |x| quantity(x, "bytes");
        assert_eq!((name(512.0).as_str(), name(4096.0).as_str()), ("512", "4 KiB"));
        assert_eq!((name(1e9).as_str(), name(f64::from(1 << 30)).as_str()), ("1000000000", "1 GiB"));
        assert_eq!(quantity(4096.0, ""), "4096");
    }

    #[test]
    fn values_near_one_another_fill_the_chart() {
        let near = Values { scale: Scale::Near, least: 0.94, most: 1.0 };
        assert!(near.share(0.94) > 0.0 && near.share(0.94) < 0.1 && near.share(1.0) > 0.9 && near.share(1.0) < 1.0);
        let named: Vec<String> = near.named().iter().map(|value| format!("{value:.2}")).collect();
        assert_eq!(named, ["0.94", "0.96", "0.98", "1.00"]);
        // All the same: there is room above and below.
        let same = Values { scale: Scale::Near, least: 1.0, most: 1.0 };
        assert!((same.share(1.0) - 0.5).abs() < 1e-9 && !same.named().is_empty());
    }

    #[test]
    fn a_missing_point_ends_a_line() {
        let points = [(1024.0, Some(2.0)), (65536.0, None), (1_048_576.0, Some(1.0)), (2e6, Some(f64::NAN))];
        let runs: Vec<Vec<f64>> = runs(&points).iter().map(|run| run.iter().map(|at| at[0]).collect()).collect();
        assert_eq!(runs, [[1024.0], [1_048_576.0]]);
    }
}
