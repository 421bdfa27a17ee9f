//! Many groups of bars in little room: the groups' names on the left, the contestants' in a legend.

use anyhow::Result;
use plotters::prelude::{PathElement, Rectangle, Text};
use plotters::style::Color;
use plotters::style::text_anchor::HPos;

use super::{Area, Bar, Group, INK, Kind, PEER, WRONG, svg, text};

/// The width of the chart, of the names, and of the rates at the right.
const WIDTHS: [i32; 3] = [760, 330, 50];
/// The height of the legend.
const LEGEND: i32 = 30;
/// The height from bar to bar, and of a bar.
const BAR: (i32, i32) = (13, 10);
/// The space between groups.
const SPACE: i32 = 9;

/// Rates in GB/s.
pub struct Overview<'a> {
    /// What it shows, for those who cannot see it.
    pub title: &'a str,
    /// What the colours stand for.
    pub legend: &'a [(Kind, &'a str)],
    /// A rate that is marked by a dashed line, and what it is.
    pub mark: Option<(f64, &'a str)>,
    /// The bars, whose own names are not shown.
    pub groups: &'a [Group],
}

impl Overview<'_> {
    /// Draws the chart.
    ///
    /// # Errors
    ///
    /// None that is known; the library returns them.
    pub fn svg(&self) -> Result<String> {
        let height = LEGEND + self.groups.iter().map(height).sum::<i32>();
        svg(self.title, [WIDTHS[0] as u32, height as u32], |area| self.draw(area, height))
    }

    fn draw(&self, area: &Area<'_>, bottom: i32) -> Result<()> {
        let rates = self.groups.iter().flat_map(|group| group.bars.iter().filter_map(|bar| bar.rate));
        let most = rates.chain(self.mark.map(|(rate, _)| rate)).filter(|rate| rate.is_finite()).fold(1.0, f64::max);
        let room = WIDTHS[0] - WIDTHS[1] - WIDTHS[2];
        let width = |rate: f64| (rate / most * f64::from(room)).round().clamp(1.0, f64::from(room)) as i32;
        self.draw_legend(area)?;
        let mut y = LEGEND;
        for group in self.groups {
            let middle = y + group.bars.len() as i32 * BAR.0 / 2;
            area.draw(&Text::new(group.name.clone(), (WIDTHS[1] - 10, middle), text(12, false, INK, HPos::Right)))?;
            for (at, bar) in group.bars.iter().enumerate() {
                draw_bar(area, bar, y + at as i32 * BAR.0, width)?;
            }
            y += height(group);
        }
        if let Some((rate, _)) = self.mark {
            let x = WIDTHS[1] + width(rate);
            for from in (LEGEND..bottom).step_by(8) {
                area.draw(&PathElement::new(vec![(x, from), (x, from + 4)], PEER))?;
            }
        }
        Ok(())
    }

    fn draw_legend(&self, area: &Area<'_>) -> Result<()> {
        let mut x = 4;
        let names = self.legend.iter().map(|(kind, name)| (kind.colour(), *name, true));
        let mark = self.mark.map(|(_, name)| (PEER, name, false));
        for (colour, name, is_bar) in names.chain(mark) {
            let (top, bottom) = if is_bar { (6, 16) } else { (11, 12) };
            area.draw(&Rectangle::new([(x, top), (x + 10, bottom)], colour.filled()))?;
            area.draw(&Text::new(name.to_owned(), (x + 16, 11), text(12, false, INK, HPos::Left)))?;
            x += 40 + 7 * name.chars().count() as i32;
        }
        Ok(())
    }
}

fn draw_bar(area: &Area<'_>, bar: &Bar, y: i32, width: impl Fn(f64) -> i32) -> Result<()> {
    let rate = bar.rate.filter(|rate| rate.is_finite() && *rate > 0.0);
    let (value, colour) = rate.map_or_else(|| (bar.note.clone(), WRONG), |rate| (format!("{rate:.0}"), INK));
    if let Some(rate) = rate {
        let corners = [(WIDTHS[1], y), (WIDTHS[1] + width(rate), y + BAR.1)];
        area.draw(&Rectangle::new(corners, bar.kind.colour().filled()))?;
    }
    let text = text(11, bar.kind == Kind::Ours, colour, HPos::Right);
    area.draw(&Text::new(value, (WIDTHS[0] - 2, y + BAR.1 / 2), text))?;
    Ok(())
}

fn height(group: &Group) -> i32 {
    group.bars.len() as i32 * BAR.0 + SPACE
}
