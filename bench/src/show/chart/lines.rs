//! One line for each kernel of a sweep.

use super::WIDTH;
use super::legend::Legend;
use super::palette::{GRID, INK, Style, styles};
use super::svg::{Font, Side, Svg, width};
use crate::record::{Line, Point, Sweep};
use crate::show::table;

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

/// Draws the rates of a sweep; `None` where no point has a time.
pub fn lines(sweep: &Sweep) -> Option<String> {
    let points = || sweep.lines.iter().flat_map(|line| line.points.iter().filter_map(at));
    let most = points().map(|[_, rate]| rate).reduce(f64::max)?;
    // A ratio is as long anywhere on the chart where sizes are compared.
    let least = points().map(|[_, rate]| rate).filter(|rate| *rate > 0.0).reduce(f64::min);
    let rates = Rates { least: least.filter(|_| sweep.unit == "bytes"), most: if most > 0.0 { most } else { 1.0 } };
    let axis = Axis::of(sweep.places(), &sweep.unit);
    let styles = styles(sweep.lines.iter().map(|line| line.name.as_str()));
    let names = sweep.lines.iter().map(|line| line.name.as_str());
    let legend = Legend::new(names.zip(styles.iter().copied()), WIDTH);
    let plot = Plot { axis: &axis, rates, top: legend.height + MARGINS[2] };
    let mut svg = Svg::new(WIDTH, plot.bottom() + MARGINS[3]);
    legend.draw(&mut svg, [0.0, 0.0]);
    plot.draw_axes(&mut svg, sweep);
    // The first one is ours, and lies on top.
    for (line, style) in sweep.lines.iter().zip(styles).rev() {
        plot.draw(&mut svg, line, style);
    }
    Some(svg.finish(&sweep.title, &description(sweep), true))
}

/// Where and how fast, if there is a time.
fn at(point: &Point) -> Option<[f64; 2]> {
    let rate = point.timing.as_ref()?.gigabytes_per_second;
    (rate.is_finite() && point.x.is_finite()).then_some([point.x, rate])
}

/// The figures of all lines in words.
fn description(sweep: &Sweep) -> String {
    let of_point = |point: &Point| {
        let x = quantity(point.x, &sweep.unit);
        at(point).map_or_else(|| format!("none at {x}"), |[_, rate]| format!("{rate:.0} at {x}"))
    };
    let of_line = |line: &Line| {
        let points: Vec<String> = line.points.iter().map(of_point).collect();
        format!("{}, GB/s by {}: {}.", line.name, sweep.axis, points.join(", "))
    };
    sweep.lines.iter().map(of_line).collect::<Vec<_>>().join(" ")
}

/// The axis of rates. It doubles where it has a least rate, and begins at 0 where it has none.
#[derive(Clone, Copy)]
struct Rates {
    least: Option<f64>,
    most: f64,
}

impl Rates {
    /// How far up a rate is, from 0 to about 1.
    fn share(&self, rate: f64) -> f64 {
        let Some((from, to)) = self.least.map(|least| (least / 1.2, self.most * 1.2)) else {
            return rate / (self.most * 1.08);
        };
        (rate.max(from) / from).ln() / (to / from).ln()
    }

    /// The rates that have names.
    fn named(&self) -> Vec<f64> {
        let Some(least) = self.least else {
            let step = round_up(self.most / RATES);
            return (0..).map(|nth| f64::from(nth) * step).take_while(|rate| *rate <= self.most * 1.08).collect();
        };
        let decades = least.log10().floor() as i32..=self.most.log10().ceil() as i32;
        let of = |parts: &[f64]| -> Vec<f64> {
            let all = decades.clone().flat_map(|ten| parts.iter().map(move |part| part * 10_f64.powi(ten)));
            all.filter(|rate| (least / 1.2..=self.most * 1.2).contains(rate)).collect()
        };
        let (few, more) = (of(&[1.0]), of(&[1.0, 2.0, 5.0]));
        match (few.len(), more.len()) {
            (5.., _) => few,
            (_, 3..) => more,
            _ => of(&[1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0]),
        }
    }
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
    rates: Rates,
    top: f64,
}

impl Plot<'_> {
    const SIDES: [f64; 2] = [MARGINS[0], WIDTH - MARGINS[1]];

    fn bottom(&self) -> f64 {
        self.top + HEIGHT
    }

    fn y(&self, rate: f64) -> f64 {
        self.bottom() - self.rates.share(rate) * HEIGHT
    }

    fn draw_axes(&self, svg: &mut Svg, sweep: &Sweep) {
        let ([left, right], font) = (Self::SIDES, Font::new(SIZE));
        for rate in self.rates.named() {
            let y = self.y(rate);
            svg.line([left, y], [right, y], GRID, 1.0, None);
            // Multiples of a tenth are not exact.
            let rate = (rate * 1e6).round() / 1e6;
            svg.text(&format!("{rate}"), [left - 6.0, y], font.side(Side::End));
        }
        for (x, name) in self.axis.named(Self::SIDES) {
            svg.line([x, self.bottom()], [x, self.bottom() + 4.0], INK, 1.0, None);
            svg.text(&name, [x, self.bottom() + 13.0], font.side(Side::Middle));
        }
        svg.line([left, self.bottom()], [right, self.bottom()], INK, 1.0, None);
        svg.text("GB/s", [0.0, self.top - 14.0], font);
        let below = self.bottom() + 31.0;
        svg.text(&table::axis(sweep), [f64::midpoint(left, right), below], font.side(Side::Middle));
    }

    fn draw(&self, svg: &mut Svg, line: &Line, style: Style) {
        for run in runs(line) {
            let points: Vec<[f64; 2]> =
                run.iter().map(|[x, rate]| [self.axis.pixel(*x, Self::SIDES), self.y(*rate)]).collect();
            svg.path(&points, style);
            points.iter().for_each(|point| svg.marker(*point, 3.5, style));
        }
    }
}

/// A line as parts without gaps: a point that has no time ends one.
fn runs(line: &Line) -> Vec<Vec<[f64; 2]>> {
    let points: Vec<Option<[f64; 2]>> = line.points.iter().map(at).collect();
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
        let sizes = Rates { least: Some(10.0), most: 4000.0 };
        let step = |from, to| sizes.share(to) - sizes.share(from);
        assert!((step(20.0, 40.0) - step(1000.0, 2000.0)).abs() < 1e-12);
        assert!(sizes.share(10.0) > 0.0 && sizes.share(4000.0) < 1.0);
        assert_eq!(sizes.named(), [10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0]);
        assert_eq!(Rates { least: Some(1500.0), most: 3900.0 }.named(), [1500.0, 2000.0, 3000.0, 4000.0]);
        let others = Rates { least: None, most: 4000.0 };
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
    fn a_missing_point_ends_a_line() {
        let line = &crate::record::tests::example().sweeps[0].lines[0];
        let runs: Vec<Vec<f64>> = runs(line).iter().map(|run| run.iter().map(|at| at[0]).collect()).collect();
        assert_eq!(runs, [[1024.0], [1_048_576.0]]);
    }
}
