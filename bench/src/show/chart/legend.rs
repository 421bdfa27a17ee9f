//! Which mark is whose.

use super::palette::Style;
use super::svg::{Font, Svg, width, wrapped};

/// The size of the text.
const SIZE: f64 = 12.0;
/// The height of a line.
const LINE: f64 = 18.0;
/// The room of a mark, and between two entries.
const MARK: [f64; 2] = [14.0, 16.0];

/// Names with their marks, one after another, in as many lines as it takes.
pub struct Legend {
    entries: Vec<Entry>,
    /// The height of all lines.
    pub height: f64,
}

/// A name with its place, from the legend's own corner.
struct Entry {
    /// Several lines where it is longer than one.
    lines: Vec<String>,
    style: Style,
    place: [f64; 2],
}

impl Legend {
    /// Places the entries in lines of at most this width.
    pub fn new<'a>(entries: impl IntoIterator<Item = (&'a str, Style)>, room: f64) -> Legend {
        let (mut placed, mut x, mut y) = (Vec::new(), 0.0, 0.0);
        for (name, style) in entries {
            let lines = wrapped(name, room - MARK[0], SIZE);
            let needed = MARK[0] + lines.iter().map(|line| width(line, SIZE)).fold(0.0, f64::max);
            if x > 0.0 && x + needed > room {
                (x, y) = (0.0, y + LINE);
            }
            let below = (lines.len() - 1) as f64 * LINE;
            placed.push(Entry { lines, style, place: [x, y] });
            (x, y) = (x + needed + MARK[1], y + below);
        }
        Legend { height: if placed.is_empty() { 0.0 } else { y + LINE }, entries: placed }
    }

    /// Draws it with its corner at this place.
    pub fn draw(&self, svg: &mut Svg, [left, top]: [f64; 2]) {
        for Entry { lines, style, place: [x, y] } in &self.entries {
            let first = top + y + LINE / 2.0;
            svg.marker([left + x + 5.0, first], 4.0, *style);
            for (nth, line) in lines.iter().enumerate() {
                svg.text(line, [left + x + MARK[0], first + nth as f64 * LINE], Font::new(SIZE));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::palette::FURTHER;
    use super::*;

    #[test]
    fn entries_stand_side_by_side_and_longer_ones_below() {
        let places = |names: &[&str]| {
            let legend = Legend::new(names.iter().map(|name| (*name, FURTHER[0])), 200.0);
            (
                legend.entries.iter().map(|entry| (entry.place[0] > 0.0, entry.place[1])).collect::<Vec<_>>(),
                legend.height,
            )
        };
        assert_eq!(places(&[]), (vec![], 0.0));
        assert_eq!(places(&["one", "two"]), (vec![(false, 0.0), (true, 0.0)], LINE));
        let long = "a name that is longer than one of these lines is";
        assert_eq!(places(&["one", long, "two"]), (vec![(false, 0.0), (false, LINE), (false, 4.0 * LINE)], 5.0 * LINE));
    }
}
