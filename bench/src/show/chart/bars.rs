//! Horizontal bars in groups, each with its name and value above it.

use super::WIDTH;
use super::palette::{GRID, SOFT, WRONG, style};
use super::svg::{Font, Side, Svg, width, wrapped};
use crate::record::Class;

/// The sizes of a group's name and of other text.
const SIZES: [f64; 2] = [13.0, 12.0];
/// How wide a text is in a bold face, most of all its digits, over the same text in a plain one.
const BOLD: f64 = 1.15;
/// The height of a line of text.
const LINE: f64 = 15.0;
/// The height of a bar, and of it with the space above and below.
const BAR: [f64; 2] = [7.0, 16.0];
/// The width of a rate, left of which a note stands.
const RATE: f64 = 40.0;
/// The space between groups.
const SPACE: f64 = 10.0;
/// The height of the line that says what the dashed line is.
const FOOT: f64 = 22.0;

/// A chart of rates in GB/s.
pub struct Bars {
    /// What it shows.
    pub title: String,
    /// The rate at the right end, which charts that are compared have in common.
    pub most: f64,
    /// A rate that is marked by a dashed line, and what it is.
    pub mark: Option<(f64, String)>,
    /// The bars.
    pub groups: Vec<Group>,
}

/// Bars that are compared with each other.
pub struct Group {
    /// What they have in common.
    pub name: String,
    /// One for each contestant.
    pub bars: Vec<Bar>,
}

/// One contestant.
pub struct Bar {
    /// Its name.
    pub name: String,
    /// Its rate; none if its results are wrong, and then it has no bar.
    pub rate: Option<f64>,
    /// What stands beside the rate.
    pub note: String,
    /// What it is.
    pub class: Class,
    /// Whether it races: its bar is an outline.
    pub races: bool,
}

impl Bars {
    /// Draws the chart.
    pub fn svg(&self) -> String {
        let foot: f64 = self.groups.iter().map(Group::height).sum();
        let mut svg = Svg::new(WIDTH, foot + if self.mark.is_some() { FOOT } else { 0.0 });
        if let Some((rate, name)) = &self.mark {
            let x = self.length(*rate);
            svg.line([x, 0.0], [x, foot], GRID, 1.0, Some("3 3"));
            svg.text(name, [WIDTH, foot + FOOT / 2.0], Font::new(SIZES[1]).colour(SOFT).side(Side::End));
        }
        let mut y = 0.0;
        for group in &self.groups {
            for line in group.lines() {
                svg.text(&line, [0.0, y + LINE / 2.0], Font::new(SIZES[0]).bold(true));
                y += LINE;
            }
            y += 4.0;
            for bar in &group.bars {
                self.draw_bar(&mut svg, bar, y);
                y += bar.height();
            }
            y += SPACE;
        }
        svg.finish(&self.title, &description(&self.groups), false)
    }

    fn draw_bar(&self, svg: &mut Svg, bar: &Bar, mut y: f64) {
        let ours = bar.class == Class::Tilepipe;
        let (first, font) = (y + LINE / 2.0, Font::new(SIZES[1]).bold(ours));
        for line in bar.lines() {
            svg.text(&line, [0.0, y + LINE / 2.0], font);
            y += LINE;
        }
        let Some(rate) = bar.right_rate() else {
            svg.text(&bar.note, [WIDTH, first], font.bold(true).colour(WRONG).side(Side::End));
            return;
        };
        svg.text(&format!("{rate:.0}"), [WIDTH, first], font.side(Side::End));
        svg.text(&bar.note, [WIDTH - RATE, first], Font::new(SIZES[1]).colour(SOFT).side(Side::End));
        svg.bar([0.0, y + 2.0], [self.length(rate).max(1.0), BAR[0]], style(bar.class).colour, bar.races);
    }

    fn length(&self, rate: f64) -> f64 {
        let most = if self.most > 0.0 { self.most } else { 1.0 };
        (rate / most * WIDTH).clamp(0.0, WIDTH)
    }
}

impl Group {
    fn lines(&self) -> Vec<String> {
        wrapped(&self.name, WIDTH / BOLD, SIZES[0])
    }

    fn height(&self) -> f64 {
        self.lines().len() as f64 * LINE + 4.0 + self.bars.iter().map(Bar::height).sum::<f64>() + SPACE
    }
}

impl Bar {
    fn right_rate(&self) -> Option<f64> {
        self.rate.filter(|rate| rate.is_finite() && *rate > 0.0)
    }

    fn lines(&self) -> Vec<String> {
        let beside = RATE + width(&self.note, SIZES[1]) + 10.0;
        let bold = if self.class == Class::Tilepipe { BOLD } else { 1.0 };
        wrapped(&self.name, (WIDTH - beside) / bold, SIZES[1])
    }

    fn height(&self) -> f64 {
        self.lines().len() as f64 * LINE + BAR[1]
    }
}

/// The figures of all bars in words.
fn description(groups: &[Group]) -> String {
    let of_bar = |bar: &Bar| match bar.right_rate() {
        Some(rate) if bar.note.is_empty() => format!("{} {rate:.0} GB/s", bar.name),
        Some(rate) => format!("{} {rate:.0} GB/s ({})", bar.name, bar.note),
        None => format!("{} {}", bar.name, bar.note),
    };
    let of_group =
        |group: &Group| format!("{}: {}.", group.name, group.bars.iter().map(of_bar).collect::<Vec<_>>().join("; "));
    groups.iter().map(of_group).collect::<Vec<_>>().join(" ")
}
