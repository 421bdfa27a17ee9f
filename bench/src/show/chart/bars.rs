//! Horizontal bars in groups, each with its name and value above it.

use anyhow::Result;
use plotters::prelude::{PathElement, RGBColor, Rectangle, Text};
use plotters::style::Color;
use plotters::style::text_anchor::HPos;

use super::{Area, GRID, INK, LIBRARY, OURS, PEER, RACING, WIDTH, WRONG, svg, text};

/// The height of a group's name.
const NAME: i32 = 24;
/// The height of a bar with the text above it, and of the bar itself.
const BAR: (i32, i32) = (26, 7);
/// The width of a rate, left of which a note stands.
const RATE: i32 = 44;
/// The space between groups.
const SPACE: i32 = 8;
/// The height of the line that says what the dashed line is.
const FOOT: i32 = 22;

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
    pub kind: Kind,
}

/// What a bar stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A kernel of ours.
    Ours,
    /// A kernel on CUDA's own abstractions.
    Library,
    /// A kernel by hand.
    Hand,
    /// A kernel that races.
    Racing,
}

impl Kind {
    /// Returns its colour on a light page.
    pub(super) fn colour(self) -> RGBColor {
        match self {
            Kind::Ours => OURS,
            Kind::Library => LIBRARY,
            Kind::Hand => PEER,
            Kind::Racing => RACING,
        }
    }
}

impl Bars {
    /// Draws the chart.
    ///
    /// # Errors
    ///
    /// None that is known; the library returns them.
    pub fn svg(&self) -> Result<String> {
        let groups: i32 = self.groups.iter().map(Group::height).sum();
        let foot = if self.mark.is_some() { FOOT } else { 0 };
        svg(&self.title, [WIDTH, (groups + foot).max(1) as u32], |area| self.draw(area, groups))
    }

    fn draw(&self, area: &Area<'_>, foot: i32) -> Result<()> {
        if let Some((rate, name)) = &self.mark {
            let x = self.width(*rate);
            for from in (0..foot).step_by(6) {
                area.draw(&PathElement::new(vec![(x, from), (x, from + 3)], GRID))?;
            }
            let text = text(12, false, INK, HPos::Right);
            area.draw(&Text::new(name.clone(), (WIDTH as i32 - 2, foot + FOOT / 2), text))?;
        }
        let mut y = 0;
        for group in &self.groups {
            area.draw(&Text::new(group.name.clone(), (0, y + NAME / 2), text(13, true, INK, HPos::Left)))?;
            for (at, bar) in group.bars.iter().enumerate() {
                self.draw_bar(area, bar, y + NAME + at as i32 * BAR.0)?;
            }
            y += group.height();
        }
        Ok(())
    }

    fn draw_bar(&self, area: &Area<'_>, bar: &Bar, y: i32) -> Result<()> {
        let ours = bar.kind == Kind::Ours;
        area.draw(&Text::new(bar.name.clone(), (0, y + 8), text(12, ours, INK, HPos::Left)))?;
        let rate = bar.rate.filter(|rate| rate.is_finite() && *rate > 0.0);
        let right = WIDTH as i32 - 2;
        match rate {
            Some(rate) => {
                area.draw(&Text::new(format!("{rate:.0}"), (right, y + 8), text(12, ours, INK, HPos::Right)))?;
                area.draw(&Text::new(bar.note.clone(), (right - RATE, y + 8), text(12, false, INK, HPos::Right)))?;
            }
            None => area.draw(&Text::new(bar.note.clone(), (right, y + 8), text(12, true, WRONG, HPos::Right)))?,
        }
        if let Some(rate) = rate {
            let corners = [(0, y + 16), (self.width(rate).max(1), y + 16 + BAR.1)];
            area.draw(&Rectangle::new(corners, bar.kind.colour().filled()))?;
        }
        Ok(())
    }

    fn width(&self, rate: f64) -> i32 {
        let most = if self.most > 0.0 { self.most } else { 1.0 };
        (rate / most * f64::from(WIDTH - 2)).round().clamp(0.0, f64::from(WIDTH - 2)) as i32
    }
}

impl Group {
    fn height(&self) -> i32 {
        NAME + self.bars.len() as i32 * BAR.0 + SPACE
    }
}
