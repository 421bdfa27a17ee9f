//! The figures of `docs/performance.md`: where a comment names records, every decimal of the
//! paragraph or table after it is one of theirs.
//!
//! ```text
//! <!-- figures: bench/results/DAY/bench.json bench/results/DAY/more.txt -->
//! ```
//!
//! In a table of kernels (`bench.json`) a row's figures are those of its own kernel. Of a text
//! they are any of its numbers, without a spread in parentheses.

use std::fs;
use std::path::Path;

use serde_json::Value;

const PAGE: &str = "docs/performance.md";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A paragraph or table, and the records that a comment before it names.
struct Block<'a> {
    records: Vec<&'a str>,
    /// With their numbers, from 1.
    lines: Vec<(usize, &'a str)>,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut open = false;
    for (index, line) in page.lines().enumerate() {
        if let Some(names) = line.strip_prefix("<!-- figures: ").and_then(|rest| rest.strip_suffix(" -->")) {
            blocks.push(Block { records: names.split(' ').collect(), lines: Vec::new() });
            open = true;
        } else if line.trim().is_empty() {
            // A table may stand apart from what leads to it.
            open &= blocks.last().is_some_and(|block| block.lines.is_empty());
        } else if open {
            blocks.last_mut().unwrap().lines.push((index + 1, line));
        }
    }
    blocks
}

/// The decimals of a line as they are written: not those of code, and not those of a link's target.
fn decimals(line: &str) -> Vec<&str> {
    let (mut found, mut code, mut rest) = (Vec::new(), false, line);
    while let Some(first) = rest.chars().next() {
        if first == '`' {
            code = !code;
        }
        let link = rest.strip_prefix("](").and_then(|target| target.split_once(')'));
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        if let (false, Some((_, after))) = (code, link) {
            rest = after;
        } else if first.is_ascii_digit() {
            let number = rest[..digits].trim_end_matches('.');
            if !code && number.matches('.').count() == 1 {
                found.push(number);
            }
            rest = &rest[digits..];
        } else {
            rest = &rest[first.len_utf8()..];
        }
    }
    found
}

/// Whether a number is printed like this with as many decimals.
fn prints(number: f64, written: &str) -> bool {
    let places = written.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    format!("{number:.places$}") == written
}

/// The numbers of a text: medians, and not the spread in parentheses after them.
fn numbers(text: &str) -> Vec<f64> {
    let mut depth = 0;
    let outside = |c: char| {
        depth += i32::from(c == '(');
        let inside = depth > 0;
        depth -= i32::from(c == ')');
        if inside { ' ' } else { c }
    };
    let text: String = text.chars().map(outside).collect();
    let parts = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    parts.filter_map(|part| part.trim_matches('.').parse().ok()).collect()
}

/// The first two cells of a row that begins with a kernel, as in "`sum`, 4 stages | `i32`".
fn kernel_of(line: &str) -> Option<(&str, &str, &str)> {
    let mut cells = line.strip_prefix("| `")?.split(" | ");
    let (kernel, more) = cells.next()?.split_once('`')?;
    Some((kernel, more, cells.next()?))
}

/// The comparisons of a row's kernel: those of its element, its stages, blocks and scope.
fn comparisons<'a>(record: &'a Value, (kernel, more, element): (&str, &str, &str)) -> Vec<&'a Value> {
    let asked = |what: &str| {
        let part = more.split(", ").find_map(|part| part.strip_suffix(what));
        part.map(|value| value.trim().to_owned())
    };
    let (stages, grid) = (asked(" stages"), asked(" blocks").map_or(4096, |blocks| blocks.parse().unwrap()));
    let scope = asked(" scope").map(|scope| format!("{}{}Scope", scope[..1].to_uppercase(), &scope[1..]));
    let element = if element == "16 bytes" { "x4" } else { element.trim_matches('`') };
    let fits = |one: &&Value| {
        let text = |key: &str| one[key].as_str().unwrap_or_default();
        text("kernel") == kernel
            && text("dtype").ends_with(element)
            && stages.as_ref().is_none_or(|stages| text("stages") == stages)
            && one["grid"].as_u64() == Some(grid)
            && scope.as_ref().is_none_or(|scope| text("symbol").contains(scope))
    };
    record["comparisons"].as_array().unwrap().iter().filter(fits).collect()
}

/// The figures of a comparison: milliseconds, and ratios to the peers.
fn figures(comparison: &Value) -> Vec<f64> {
    let ratios = comparison["peers"].as_array().unwrap().iter().map(|peer| &peer["ratio"]["median"]);
    ratios.chain([&comparison["timing"]["milliseconds"]["median"]]).filter_map(Value::as_f64).collect()
}

/// What a record says.
enum Record {
    /// A comparison.
    Comparison(Value),
    /// A text's numbers.
    Text(Vec<f64>),
}

impl Record {
    fn read(name: &str) -> Record {
        let text = fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        if !name.ends_with(".json") {
            return Record::Text(numbers(&text));
        }
        Record::Comparison(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}")))
    }

    /// The figures that a line may have.
    fn allows(&self, line: &str) -> Vec<f64> {
        match (self, kernel_of(line)) {
            (Record::Text(numbers), _) => numbers.clone(),
            (Record::Comparison(record), Some(kernel)) => {
                comparisons(record, kernel).into_iter().flat_map(figures).collect()
            }
            (Record::Comparison(record), None) => numbers(&record["copy"].to_string()),
        }
    }
}

#[test]
fn every_decimal_after_a_comment_is_a_figure_of_its_records() {
    let page = fs::read_to_string(root().join(PAGE)).unwrap();
    let (mut checked, mut strange) = (0, Vec::new());
    for block in blocks(&page) {
        assert!(!block.lines.is_empty(), "a comment of figures with nothing after it: {:?}", block.records);
        let records: Vec<Record> = block.records.iter().map(|name| Record::read(name)).collect();
        for (number, line) in &block.lines {
            let figures: Vec<f64> = records.iter().flat_map(|record| record.allows(line)).collect();
            for written in decimals(line) {
                checked += 1;
                if !figures.iter().any(|figure| prints(*figure, written)) {
                    strange.push(format!("{PAGE}:{number}: {written} is no figure of {:?}", block.records));
                }
            }
        }
    }
    assert!(strange.is_empty(), "{}", strange.join("\n"));
    assert!(checked > 150, "{checked} figures were compared");
}

#[test]
fn decimals_are_found_outside_of_code_and_links() {
    assert_eq!(decimals("takes 0.5255, 1.0 and 42 ms ([`a 0.1`](b/1.5.txt)) in 2.25."), ["0.5255", "1.0", "2.25"]);
    assert_eq!(decimals("| `i32` | 0.600 | 3580 | 84 % | 1.1.2 |"), ["0.600"]);
}

#[test]
fn a_figure_is_compared_with_as_many_decimals_as_it_is_written_with() {
    assert!(prints(0.52551, "0.526") && prints(0.52551, "0.5255") && !prints(0.52551, "0.525"));
    assert_eq!(numbers("0.5011 ms (0.5001..0.5025)  4285 GB/s"), [0.5011, 4285.0]);
}

#[test]
fn a_row_is_compared_with_its_own_kernel() {
    let one = |symbol: &str, stages: &str, grid: u32, ratio: f64| {
        serde_json::json!({
            "kernel": "scale_own", "symbol": symbol, "dtype": "i32", "stages": stages, "grid": grid,
            "timing": { "milliseconds": { "median": 0.5 } }, "peers": [{ "ratio": { "median": ratio } }],
        })
    };
    let record = serde_json::json!({ "comparisons": [
        one("scale_own__ThreadScope", "2", 4096, 1.25),
        one("scale_own__WarpScope", "2", 4096, 1.5),
        one("scale_own__WarpScope", "4", 4096, 1.75),
        one("scale_own__WarpScope", "4", 512, 2.25),
    ] });
    let found = |line: &str| {
        let of_row = comparisons(&record, kernel_of(line).unwrap());
        of_row.into_iter().flat_map(figures).filter(|figure| *figure != 0.5).collect::<Vec<_>>()
    };
    assert_eq!(found("| `scale_own`, thread scope, 2 stages | `i32` | 0.5 |"), [1.25]);
    assert_eq!(found("| `scale_own`, warp scope, 4 stages | `i32` | 0.5 |"), [1.75]);
    assert_eq!(found("| `scale_own`, warp scope, 4 stages, 512 blocks | `i32` | 0.5 |"), [2.25]);
    assert_eq!(found("| `scale_own` | 16 bytes | 0.5 |"), [0.0; 0]);
}
