//! Many groups of bars in little room: the groups' names on the left, the contestants' in a legend.

use super::bars::{Bar, Group, description};
use super::palette::{Colour, SOFT, WRONG, style};
use super::svg::{Font, Side, Svg, width};
use crate::record::Class;

/// The width of the chart, of the names, and of the rates at the right.
const WIDTHS: [f64; 3] = [760.0, 330.0, 50.0];
/// The height of a line of the legend, and the space below it.
const LEGEND: [f64; 2] = [20.0, 10.0];
/// The height from bar to bar, and of a bar.
const BAR: [f64; 2] = [13.0, 10.0];
/// The size of the text of names.
const SIZE: f64 = 12.0;
/// The space between groups.
const SPACE: f64 = 9.0;

/// Rates in GB/s.
pub struct Overview<'a> {
    /// What it shows, for those who cannot see it.
    pub title: &'a str,
    /// What the colours stand for; those of which there is no bar are left out.
    pub legend: &'a [(Class, &'a str)],
    /// A rate that is marked by a dashed line, and what it is.
    pub mark: Option<(f64, &'a str)>,
    /// The bars, whose own names are not shown.
    pub groups: &'a [Group],
}

impl Overview<'_> {
    /// Draws the chart.
    pub fn svg(&self) -> String {
        let legend = self.legend();
        let top = legend.last().map_or(0.0, |entry| entry.place[1]) + LEGEND[0] + LEGEND[1];
        let bottom = top + self.groups.iter().map(height).sum::<f64>();
        let rates = self.groups.iter().flat_map(|group| group.bars.iter().filter_map(|bar| bar.rate));
        let most = rates.chain(self.mark.map(|(rate, _)| rate)).filter(|rate| rate.is_finite()).fold(1.0, f64::max);
        let room = WIDTHS[0] - WIDTHS[1] - WIDTHS[2];
        let length = |rate: f64| (rate / most * room).clamp(1.0, room);
        let mut svg = Svg::new(WIDTHS[0], bottom);
        legend.iter().for_each(|entry| entry.draw(&mut svg));
        let mut y = top;
        for group in self.groups {
            let middle = y + group.bars.len() as f64 * BAR[0] / 2.0;
            svg.text(&group.name, [WIDTHS[1] - 10.0, middle], Font::new(SIZE).side(Side::End));
            for (at, bar) in group.bars.iter().enumerate() {
                draw_bar(&mut svg, bar, y + at as f64 * BAR[0], length);
            }
            y += height(group);
        }
        if let Some((rate, _)) = self.mark {
            let x = WIDTHS[1] + length(rate);
            svg.line([x, top], [x, bottom], SOFT, 1.0, Some("4 4"));
        }
        svg.finish(self.title, &description(self.groups), false)
    }

    /// What stands for what, in as many lines as it takes.
    fn legend(&self) -> Vec<Entry<'_>> {
        let bars = || self.groups.iter().flat_map(|group| &group.bars);
        let shown = self.legend.iter().filter(|(class, _)| bars().any(|bar| bar.class == *class));
        let solid = shown.map(|(class, name)| (Mark::Bar(style(*class).colour), *name));
        let races = bars().any(|bar| bar.races).then_some((Mark::Outline, "races"));
        let line = self.mark.map(|(_, name)| (Mark::Dashes, name));
        let [mut x, mut y] = [4.0, 0.0];
        let place = |(mark, name)| {
            let needed = 16.0 + width(name, SIZE);
            if x > 4.0 && x + needed > WIDTHS[0] {
                (x, y) = (4.0, y + LEGEND[0]);
            }
            let place = [x, y];
            x += needed + 16.0;
            Entry { mark, name, place }
        };
        solid.chain(races).chain(line).map(place).collect()
    }
}

/// An entry of the legend with its corner.
struct Entry<'a> {
    mark: Mark,
    name: &'a str,
    place: [f64; 2],
}

enum Mark {
    Bar(Colour),
    Outline,
    Dashes,
}

impl Entry<'_> {
    fn draw(&self, svg: &mut Svg) {
        let [x, middle] = [self.place[0], self.place[1] + LEGEND[0] / 2.0];
        match self.mark {
            Mark::Bar(colour) => svg.bar([x, middle - 5.0], [10.0, 10.0], colour, false),
            Mark::Outline => svg.bar([x, middle - 5.0], [10.0, 10.0], SOFT, true),
            Mark::Dashes => svg.line([x, middle], [x + 12.0, middle], SOFT, 1.0, Some("4 4")),
        }
        svg.text(self.name, [x + 16.0, middle], Font::new(SIZE));
    }
}

fn draw_bar(svg: &mut Svg, bar: &Bar, y: f64, length: impl Fn(f64) -> f64) {
    let font = Font::new(11.0).bold(bar.class == Class::Tilepipe).side(Side::End);
    let place = [WIDTHS[0] - 2.0, y + BAR[1] / 2.0];
    match bar.rate.filter(|rate| rate.is_finite() && *rate > 0.0) {
        Some(rate) => {
            svg.bar([WIDTHS[1], y], [length(rate), BAR[1]], style(bar.class).colour, bar.races);
            svg.text(&format!("{rate:.0}"), place, font);
        }
        None => svg.text(&bar.note, place, font.colour(WRONG)),
    }
}

fn height(group: &Group) -> f64 {
    group.bars.len() as f64 * BAR[0] + SPACE
}
