//! A line for each task: how many times as fast as the best other form everybody is.

use super::WIDTH;
use super::legend::Legend;
use super::palette::{BAND, GRID, INK, SOFT, Style, WRONG, name, style};
use super::svg::{Font, Side, Svg, width, wrapped};
use crate::record::Class;
use crate::show::tasks::{Task, times, with_interval};

/// What the chart shows, for those who cannot see it.
pub const TITLE: &str = "How many times as fast as the best other form each contestant is, task by task";

/// The sizes of names, of the axis and of what is beyond its end.
const SIZES: [f64; 3] = [12.0, 11.0, 10.0];
/// The height of a line of text.
const LINE: f64 = 15.0;
/// The height in which one point stands, and half a point's width.
const LANE: [f64; 2] = [13.0, 6.0];
/// The space between tasks.
const SPACE: f64 = 7.0;
/// The height of the axis.
const AXIS: f64 = 36.0;
/// The height of what is said below.
const FOOT: f64 = 22.0;
/// The least ratio on the axis; what is slower stands at the end with an arrow and its number.
const LEAST: f64 = 0.6;
/// The right end of the axis is where the fastest is, but not before the first nor beyond the
/// second of these.
const MOST: [f64; 2] = [1.15, 2.0];
/// The ratios that may have names.
const NAMED: [f64; 11] = [0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.6, 1.8, 2.0];

/// For which screens a chart is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Names beside the points.
    Wide,
    /// Names beside the points, on a page that is as wide as a column of text.
    Column,
    /// Names above the points.
    Narrow,
}

/// Draws the tasks.
pub fn dots(tasks: &[Task<'_>], for_screen: Width) -> String {
    let layout = Layout::of(tasks, for_screen);
    let entries = legend(tasks);
    let legend = Legend::new(entries.iter().map(|class| (name(*class), style(*class))), layout.width);
    let placed: Vec<Line<'_, '_>> = tasks.iter().map(|task| Line::of(task, &layout)).collect();
    let top = legend.height + AXIS;
    let bottom = top + placed.iter().map(|line| line.height).sum::<f64>();
    let mut svg = Svg::new(layout.width, bottom + FOOT);
    legend.draw(&mut svg, [0.0, 0.0]);
    let mut y = top;
    for line in &placed {
        if line.task.is_below() {
            svg.band([0.0, y], [layout.width, line.height], BAND);
        }
        svg.line([0.0, y], [layout.width, y], GRID, 0.5, None);
        y += line.height;
    }
    layout.draw_axis(&mut svg, legend.height);
    let mut y = top;
    for line in &placed {
        line.draw(&mut svg, &layout, y);
        y += line.height;
    }
    svg.text(foot(tasks), [0.0, bottom + FOOT / 2.0], Font::new(SIZES[1]).colour(SOFT));
    svg.finish(TITLE, &description(tasks), false)
}

/// What is said of the intervals.
fn foot(tasks: &[Task<'_>]) -> &'static str {
    let ratios = || tasks.iter().filter_map(|task| task.ratio);
    if ratios().all(|ratio| ratio.interval.is_none()) {
        "No intervals: this record has no samples."
    } else if ratios().all(|ratio| ratio.interval.is_some()) {
        "Bar: where our ratio lies with 95 % confidence."
    } else {
        "Bar: 95 % confidence; none where samples are missing."
    }
}

/// The classes that have a point, ours first.
fn legend(tasks: &[Task<'_>]) -> Vec<Class> {
    let others = tasks.iter().flat_map(|task| task.others.iter().map(|other| other.class));
    let mut classes: Vec<Class> = others.chain([Class::Tilepipe]).collect();
    classes.sort();
    classes.dedup();
    classes
}

/// All figures in words.
fn description(tasks: &[Task<'_>]) -> String {
    let of_task = |task: &Task<'_>| {
        let best = task.others.first().map_or("", |other| other.peer.name.as_str());
        let ours = match (task.ours, task.ratio) {
            (None, _) => "ours is wrong".to_owned(),
            (_, None) => "no other form".to_owned(),
            (_, Some(ratio)) => {
                let interval = ratio.interval.map_or("", |_| ", with 95 % confidence in parentheses");
                format!("ours {} times as fast as {best}{interval}", with_interval(ratio.value, ratio.interval))
            }
        };
        let others = task.others.iter().skip(1);
        let others: String = others.map(|other| format!("; {} {}", other.peer.name, times(other.speed))).collect();
        let twin =
            task.twin.map_or_else(String::new, |twin| format!("; twin in unsafe Rust over ours {}", times(twin.value)));
        format!("{}: {ours}{others}{twin}.", task.name)
    };
    tasks.iter().map(of_task).collect::<Vec<_>>().join(" ")
}

/// Where things stand.
struct Layout {
    for_screen: Width,
    width: f64,
    /// The left and the right end of the axis.
    plot: [f64; 2],
    /// The ratio at its right end.
    most: f64,
    /// Where our ratio ends, and the twin's.
    columns: [f64; 2],
}

impl Layout {
    fn of(tasks: &[Task<'_>], for_screen: Width) -> Layout {
        let ends =
            tasks.iter().filter_map(|task| task.ratio).map(|ratio| ratio.interval.map_or(ratio.value, |ends| ends[1]));
        let most =
            ends.fold(MOST[0], |most, end| if end.is_finite() { most.max(end * 1.02) } else { most }).min(MOST[1]);
        match for_screen {
            Width::Wide => Layout { for_screen, width: 1080.0, plot: [330.0, 940.0], most, columns: [1010.0, 1076.0] },
            Width::Column => Layout { for_screen, width: 700.0, plot: [236.0, 586.0], most, columns: [642.0, 696.0] },
            Width::Narrow => Layout {
                for_screen,
                width: WIDTH,
                plot: [8.0, WIDTH - 8.0],
                most,
                columns: [WIDTH - 62.0, WIDTH - 2.0],
            },
        }
    }

    /// Whether names stand beside the points.
    fn is_beside(&self) -> bool {
        self.for_screen != Width::Narrow
    }

    /// Where a ratio is that is not beyond an end of the axis. A ratio is as long anywhere on it.
    fn x(&self, ratio: f64) -> f64 {
        let share = (ratio.clamp(LEAST, self.most) / LEAST).ln() / (self.most / LEAST).ln();
        self.plot[0] + share * (self.plot[1] - self.plot[0])
    }

    fn named(&self) -> impl Iterator<Item = f64> {
        NAMED.into_iter().filter(|ratio| *ratio <= self.most)
    }

    /// Draws the part of the grid between two heights.
    fn draw_grid(&self, svg: &mut Svg, [top, bottom]: [f64; 2]) {
        for ratio in self.named() {
            let (colour, thick) = if ratio == 1.0 { (INK, 1.5) } else { (GRID, 1.0) };
            svg.line([self.x(ratio), top], [self.x(ratio), bottom], colour, thick, None);
        }
    }

    fn draw_axis(&self, svg: &mut Svg, top: f64) {
        let font = Font::new(SIZES[1]);
        let [first, second] = [top + LINE / 2.0 + 2.0, top + AXIS - LINE / 2.0 - 2.0];
        svg.text("times as fast as the best other form", [self.plot[0], first], font.colour(SOFT));
        let mut free = f64::NEG_INFINITY;
        for ratio in self.named() {
            let (x, text) = (self.x(ratio), format!("{ratio:.1}"));
            let half = width(&text, SIZES[1]) / 2.0;
            // The name of 1 has its room before others do.
            let is_one = ratio == 1.0;
            let near_one = !is_one && (x - self.x(1.0)).abs() < 2.0 * half + 4.0;
            if x - half > free && !near_one {
                svg.text(&text, [x.clamp(half, self.width - half), second], font.bold(is_one).side(Side::Middle));
                free = x + half + 4.0;
            }
        }
        let headings = if self.is_beside() { second } else { first };
        for (x, heading) in self.columns.into_iter().zip(["ours", "twin"]) {
            svg.text(heading, [x, headings], font.colour(SOFT).side(Side::End));
        }
    }
}

/// A task with the places of all that is drawn of it.
struct Line<'t, 'a> {
    task: &'t Task<'a>,
    name: Vec<String>,
    lanes: usize,
    height: f64,
    points: Vec<Point>,
}

/// A contestant's point.
struct Point {
    style: Style,
    /// Its middle.
    x: f64,
    lane: usize,
    /// The ends of its interval.
    bar: Option<[f64; 2]>,
    /// Whether it is beyond the left end or the right end of the axis, and what is written there.
    beyond: Option<(Side, String)>,
}

impl<'t, 'a> Line<'t, 'a> {
    fn of(task: &'t Task<'a>, layout: &Layout) -> Line<'t, 'a> {
        let mut points: Vec<Point> = Vec::new();
        let mut taken: Vec<Vec<[f64; 2]>> = Vec::new();
        let ours = task.ratio.map(|ratio| (Class::Tilepipe, ratio.value, ratio.interval));
        let others = task.others.iter().map(|other| (other.class, other.speed, None));
        for (class, ratio, interval) in ours.into_iter().chain(others) {
            let (mut point, extent) = Point::of(class, ratio, interval, layout);
            let is_free = |lane: &Vec<[f64; 2]>| lane.iter().all(|[from, to]| extent[1] < *from || *to < extent[0]);
            point.lane = taken.iter().position(is_free).unwrap_or(taken.len());
            if point.lane == taken.len() {
                taken.push(Vec::new());
            }
            taken[point.lane].push(extent);
            points.push(point);
        }
        let lanes = taken.len().max(1);
        let (room, below) = if layout.is_beside() {
            (layout.plot[0] - 16.0, 0.0)
        } else {
            (layout.columns[0] - 62.0, lanes as f64 * LANE[0])
        };
        let name = wrapped(&task.name, room, SIZES[0]);
        let beside = if below == 0.0 { lanes as f64 * LANE[0] } else { 0.0 };
        let height = (name.len() as f64 * LINE).max(beside) + below + SPACE;
        Line { task, name, lanes, height, points }
    }

    fn draw(&self, svg: &mut Svg, layout: &Layout, top: f64) {
        let below = self.task.is_below();
        let beside = layout.is_beside();
        let font = Font::new(SIZES[0]).colour(if below { WRONG } else { INK }).bold(below);
        let from = if beside { (self.height - self.name.len() as f64 * LINE) / 2.0 } else { SPACE / 2.0 };
        for (at, line) in self.name.iter().enumerate() {
            svg.text(line, [4.0, top + from + (at as f64 + 0.5) * LINE], font);
        }
        let middle = if beside { top + self.height / 2.0 } else { top + from + LINE / 2.0 };
        let value = match (self.task.ours, self.task.ratio) {
            (None, _) => "WRONG".to_owned(),
            (Some(_), None) => "alone".to_owned(),
            (Some(_), Some(ratio)) => times(ratio.value),
        };
        svg.text(&value, [layout.columns[0], middle], font.bold(true).side(Side::End));
        if let Some(twin) = self.task.twin {
            svg.text(&times(twin.value), [layout.columns[1], middle], Font::new(SIZES[0]).colour(SOFT).side(Side::End));
        }
        let lanes = if beside {
            top + (self.height - self.lanes as f64 * LANE[0]) / 2.0
        } else {
            top + from + self.name.len() as f64 * LINE
        };
        let grid = if beside { [top, top + self.height] } else { [lanes, lanes + self.lanes as f64 * LANE[0]] };
        layout.draw_grid(svg, grid);
        for point in &self.points {
            point.draw(svg, lanes + (point.lane as f64 + 0.5) * LANE[0]);
        }
    }
}

impl Point {
    /// Returns it in the first lane, and how far it reaches to the left and to the right.
    fn of(class: Class, ratio: f64, interval: Option<[f64; 2]>, layout: &Layout) -> (Point, [f64; 2]) {
        let [left, right] = layout.plot;
        let text = times(ratio);
        let room = LANE[1] * 2.0 + 10.0 + width(&text, SIZES[2]);
        let style = style(class);
        if !(LEAST..=layout.most).contains(&ratio) {
            let (side, x, extent) = if ratio > layout.most {
                (Side::End, right - 10.0 - LANE[1], [right - room, right])
            } else {
                (Side::Start, left + 10.0 + LANE[1], [left, left + room])
            };
            return (Point { style, x, lane: 0, bar: None, beyond: Some((side, text)) }, extent);
        }
        let x = layout.x(ratio);
        let bar = interval.map(|ends| ends.map(|end| layout.x(end)));
        let [from, to] = bar.unwrap_or([x, x]);
        let extent = [from.min(x - LANE[1]), to.max(x + LANE[1])];
        (Point { style, x, lane: 0, bar, beyond: None }, extent)
    }

    fn draw(&self, svg: &mut Svg, y: f64) {
        if let Some([from, to]) = self.bar {
            svg.line([from, y], [to, y], self.style.colour, 2.0, None);
            for end in [from, to] {
                // Higher than the point, which may hide the rest of a narrow one.
                svg.line([end, y - 6.5], [end, y + 6.5], self.style.colour, 1.5, None);
            }
        }
        if let Some((side, text)) = &self.beyond {
            let outwards = if *side == Side::End { 1.0 } else { -1.0 };
            let [near, far] = [self.x + outwards * (LANE[1] + 1.0), self.x + outwards * (LANE[1] + 9.0)];
            svg.line([near, y], [far, y], self.style.colour, 1.5, None);
            for turn in [-3.0, 3.0] {
                svg.line([far - outwards * 3.5, y + turn], [far, y], self.style.colour, 1.5, None);
            }
            svg.text(text, [self.x - outwards * (LANE[1] + 2.0), y], Font::new(SIZES[2]).side(*side));
        }
        svg.marker([self.x, y], 4.5, self.style);
    }
}
