//! What else a user weighs: launches and compilations, as the page's tables.

use maud::{Markup, html};

use crate::record::costs::Costs;
use crate::show::costs::{ABOUT_COMPILE, ABOUT_LAUNCHES, COMPILE, LAUNCHES, compile_texts, launch_texts, place};

/// Returns the section; nothing where nothing is on record.
pub fn section(costs: &Costs) -> Markup {
    html! {
        @if !costs.is_empty() {
            section {
                h2 { "What else a user weighs" }
                @if !costs.launches.is_empty() {
                    h3 { "A launch" }
                    p { (ABOUT_LAUNCHES) }
                    (table(&LAUNCHES, launch_texts(costs).iter().map(|row| row.as_slice()), 1))
                }
                @if let Some(compile) = &costs.compile {
                    h3 { "Compiling a kernel" }
                    p { (ABOUT_COMPILE) }
                    p.soft { "Measured on " (place(compile)) "." }
                    (table(&COMPILE, compile_texts(compile).iter().map(|row| row.as_slice()), 2))
                }
            }
        }
    }
}

/// A table whose first cells are names.
fn table<'a>(headings: &[&str], rows: impl Iterator<Item = &'a [String]>, names: usize) -> Markup {
    html! {
        div.wide { table {
            thead { tr { @for name in headings { th { (name) } } } }
            tbody { @for row in rows { tr {
                @for cell in &row[..names] { td { (cell) } }
                @for cell in &row[names..] { td.number { (cell) } }
            } } }
        } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::costs::tests::example;

    #[test]
    fn both_parts_are_shown_where_they_are_on_record() {
        let of = |costs: &Costs| section(costs).into_string();
        let text = of(&example());
        assert!(text.contains("<td>one input</td>") && text.contains("<td>a sum &amp; more</td>"), "{text}");
        assert!(text.contains("<td class=\"number\">26</td>") && text.contains("a CPU, 2 cores (shared)"), "{text}");
        let without = of(&Costs { compile: None, ..example() });
        assert!(without.contains("A launch") && !without.contains("Compiling a kernel"), "{without}");
        assert_eq!(of(&Costs::default()), "");
    }
}
