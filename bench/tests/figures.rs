//! The figures of `docs/performance.md`: every paragraph and table with a figure names its records
//! in a comment before it, and every figure is one of theirs. So is each figure of the guide whose
//! paragraph has such a comment.
//!
//! ```text
//! <!-- figures: bench/results/DAY/bench.json bench/results/DAY/more.txt -->
//! <!-- figures of sum, dot: bench/results/DAY/bench.json -->
//! <!-- all figures: bench/results/DAY/bench.json -->
//! ```
//!
//! A figure is a number with a decimal point, or a whole one before a unit of time, `GB/s`,
//! instructions or registers; not in code, and not in a link's target. Percents, other counts and
//! other whole numbers are not compared, unless the comment says that all of a table's figures are:
//! then they are all numbers after its first column.
//!
//! In a table of kernels (`bench.json`) a row's figures are those of its own kernel, and in one of
//! small sizes, whose rows begin as `| 64 KiB | three times each element |`, those of its own size
//! and task; rows of engines begin as `| 16 KiB | 2 stages, 132 blocks |`, and have those of that
//! place of the sweeps over engines. In other rows and in paragraphs they are those of the kernels
//! that the comment names, of the sweeps and of all small sizes. Of a text they are any of its
//! numbers, without a spread in parentheses.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// The page on which every figure needs a record.
const PAGE: &str = "docs/performance.md";
/// One on which other numbers stand, too.
const GUIDE: &str = "docs/guide/pipeline.md";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Paragraphs and tables whose figures are compared with no record: how each begins, and why.
const WITHOUT: [(&str, &str); 2] = [
    ("The copy alone takes as long as", "what the report works out of the table before it, which names the record"),
    (
        "Rounds fall into two groups",
        "differences and ratios of rounds of launches.txt, which the table before it names",
    ),
];

/// A paragraph or table, and the records that a comment before it names, if one does.
struct Block<'a> {
    records: Vec<&'a str>,
    /// Whether all numbers of a table are figures.
    all: bool,
    /// The kernels that the comment names.
    kernels: Vec<&'a str>,
    /// With their numbers, from 1.
    lines: Vec<(usize, &'a str)>,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let new = || Block { records: Vec::new(), all: false, kernels: Vec::new(), lines: Vec::new() };
    let mut blocks = vec![new()];
    for (index, line) in page.lines().enumerate() {
        let last = blocks.last_mut().unwrap();
        let comment = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->")).unwrap_or_default();
        let (all, comment) = comment.strip_prefix("all ").map_or((false, comment), |rest| (true, rest));
        if let Some(names) = comment.strip_prefix("figures") {
            let (kernels, records) = names.split_once(": ").unwrap_or_else(|| panic!("{PAGE}:{}: {line}", index + 1));
            let kernels = kernels.strip_prefix(" of ").map_or_else(Vec::new, |names| names.split(", ").collect());
            blocks.push(Block { records: records.split(' ').collect(), all, kernels, lines: Vec::new() });
        } else if !line.trim().is_empty() {
            last.lines.push((index + 1, line));
        } else if !last.lines.is_empty() {
            // Else a table stands apart from the comment before it.
            blocks.push(new());
        }
    }
    blocks
}

/// What a whole number is a figure before.
const UNITS: [&str; 8] = ["ms", "us", "ns", "s", "GB/s", "machine", "instructions", "registers"];

/// The figures of a line as they are written: not those of code, and not those of a link's target.
fn written(line: &str) -> Vec<&str> {
    let (mut found, mut code, mut rest) = (Vec::new(), false, line);
    while let Some(first) = rest.chars().next() {
        if first == '`' {
            code = !code;
        }
        let link = rest.strip_prefix("](").and_then(|target| target.split_once(')'));
        // A number in a word, such as the second part of `sm_90`, is none.
        let word =
            rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_').len();
        if let (false, Some((_, after))) = (code, link) {
            rest = after;
        } else if word > 0 {
            let number = rest[..word].trim_end_matches('.');
            let digits = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let unit = rest[word..]
                .strip_prefix(' ')
                .and_then(|after| after.split([' ', ',', '.', ';', ':', ')', '*']).next());
            let is_whole = digits && !number.contains('.') && unit.is_some_and(|unit| UNITS.contains(&unit));
            if !code && (is_whole || digits && number.matches('.').count() == 1) {
                found.push(number);
            }
            rest = &rest[word..];
        } else {
            rest = &rest[first.len_utf8()..];
        }
    }
    found
}

impl<'a> Block<'a> {
    /// The figures of a line as they are written.
    fn written(&self, line: &'a str) -> Vec<&'a str> {
        let Some((_, cells)) = line.strip_prefix("| ").and_then(|row| row.split_once(" | ")).filter(|_| self.all)
        else {
            return written(line);
        };
        let digits = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
        cells.split(['|', ' ', ',', '(', ')']).filter(digits).collect()
    }
}

/// Whether a number is printed like this with as many decimals, as it is or, as times are, in a
/// unit a thousand times as large or as small.
fn prints(number: f64, written: &str) -> bool {
    let places = written.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    [number, number / 1000.0, number * 1000.0].iter().any(|number| format!("{number:.places$}") == written)
}

/// The numbers of a text, without a spread such as `(0.5..0.6)`. Of `2m50.9s` it is 170.9.
fn numbers(text: &str) -> Vec<f64> {
    let mut found = Vec::new();
    for (at, part) in text.split('(').enumerate() {
        let (inside, after) = part.split_once(')').filter(|_| at > 0).unwrap_or(("", part));
        let inside = if inside.contains("..") { "" } else { inside };
        for word in [inside, after].into_iter().flat_map(str::split_whitespace) {
            let seconds = word.split_once('m').and_then(|(minutes, rest)| {
                let (seconds, _) = rest.split_once('s')?;
                Some(60.0 * minutes.parse::<f64>().ok()? + seconds.parse::<f64>().ok()?)
            });
            let parts = word.split(|c: char| !c.is_ascii_digit() && c != '.');
            found.extend(parts.filter_map(|part| part.trim_matches('.').parse::<f64>().ok()).chain(seconds));
        }
    }
    found
}

/// The first two cells of a row that begins with a kernel, as in "`sum`, 4 stages | `i32`".
fn kernel_of(line: &str) -> Option<(&str, &str, &str)> {
    let mut cells = line.strip_prefix("| `")?.split(" | ");
    let (kernel, more) = cells.next()?.split_once('`')?;
    let element = cells.next()?;
    (element.starts_with('`') || element == "16 bytes").then_some((kernel, more, element))
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

/// The figures of a timing: milliseconds, and GB/s.
fn timing(of: &Value) -> [Option<f64>; 2] {
    [of["timing"]["milliseconds"]["median"].as_f64(), of["timing"]["gigabytes_per_second"].as_f64()]
}

/// The registers of a contestant.
fn registers(of: &Value) -> Option<f64> {
    of["resources"]["registers"].as_f64()
}

/// The figures of a comparison: those of ours and of the peers, the ratios to these, and what
/// was wanted of them.
fn figures(comparison: &Value) -> Vec<f64> {
    let peers = comparison["peers"].as_array().into_iter().flatten();
    let of_peers = peers.flat_map(|peer| {
        [timing(peer).as_slice(), &[peer["ratio"]["median"].as_f64(), peer["wanted"].as_f64(), registers(peer)]]
            .concat()
    });
    timing(comparison).into_iter().chain([registers(comparison)]).chain(of_peers).flatten().collect()
}

/// The elements of a list in a record; none where it is missing.
fn list<'a>(of: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    of[name].as_array().into_iter().flatten()
}

/// The small sizes that a line may speak of: those of its size and task if it is a row that begins
/// with them, as in "| 64 KiB | sum |", and all if it is not.
fn sizes<'a>(record: &'a Value, line: &str) -> Vec<&'a Value> {
    let all = record["sizes"].as_array().map_or(&[][..], Vec::as_slice).iter();
    let mut cells = line.strip_prefix("| ").unwrap_or_default().split(" | ");
    let bytes = cells.next().and_then(|size| {
        let (number, unit) = size.split_once(' ')?;
        let log2 = [("KiB", 10), ("MiB", 20)].into_iter().find(|(name, _)| *name == unit)?.1;
        Some(number.parse::<u64>().ok()? << log2)
    });
    let Some(bytes) = bytes else { return all.collect() };
    let task = cells.next().unwrap_or_default();
    all.filter(|one| one["bytes"].as_u64() == Some(bytes) && one["task"].as_str() == Some(task)).collect()
}

/// The figures of a small size: microseconds of the fastest of ours and of the fastest other, the
/// ratio, and its interval.
fn of_size(one: &Value) -> Vec<f64> {
    let times = [&one["ours"]["microseconds"], &one["other"]["microseconds"], &one["ratio"]["median"]];
    let interval = one["interval"].as_array().into_iter().flatten();
    times.into_iter().chain(interval).filter_map(Value::as_f64).collect()
}

/// The figures of a row of engines: of each kernel at its place milliseconds and GB/s, and how many
/// times as fast the copy engine is. None where the row is no such one.
fn of_engines(record: &Value, line: &str) -> Option<Vec<f64>> {
    let mut cells = line.strip_prefix("| ")?.split(" | ");
    let tile: f64 = cells.next()?.strip_suffix(" KiB")?.parse().ok()?;
    let title = format!("Engines, {}: size of a tile", cells.next()?);
    let sweep = list(record, "sweeps").find(|sweep| sweep["title"].as_str() == Some(&title))?;
    let at = |line: &Value| list(line, "points").find(|point| point["x"].as_f64() == Some(tile)).map(timing);
    let own = list(sweep, "lines").find(|line| line["name"].as_str() == Some("tilepipe, Bulk")).and_then(at);
    let of_line = |[milliseconds, rate]: [Option<f64>; 2]| {
        let ratio = milliseconds.zip(own.and_then(|own| own[0])).map(|(other, own)| other / own);
        [milliseconds, rate, ratio]
    };
    Some(list(sweep, "lines").filter_map(at).flat_map(of_line).flatten().collect())
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

    /// The figures that a line may have, of a block with these kernels.
    fn allows(&self, line: &str, kernels: &[&str]) -> Vec<f64> {
        match (self, kernel_of(line)) {
            (Record::Text(numbers), _) => numbers.clone(),
            (Record::Comparison(record), Some(kernel)) => {
                comparisons(record, kernel).into_iter().flat_map(figures).collect()
            }
            (Record::Comparison(record), None) => {
                if let Some(found) = of_engines(record, line) {
                    return found;
                }
                let is_named = |one: &&Value| one["kernel"].as_str().is_some_and(|kernel| kernels.contains(&kernel));
                let of_kernels = list(record, "comparisons").filter(is_named).flat_map(figures);
                let lines = list(record, "sweeps").flat_map(|sweep| list(sweep, "lines"));
                let of_sweeps = lines.flat_map(|line| list(line, "points")).flat_map(timing).flatten();
                let of_sizes = sizes(record, line).into_iter().flat_map(of_size);
                of_kernels
                    .chain(of_sweeps)
                    .chain(of_sizes)
                    .chain(numbers(&record["copy"].to_string()))
                    .chain(compilers(record))
                    .collect()
            }
        }
    }
}

/// What compilers took and made (`compile.json`): medians of seconds, and ratios of those to
/// machine code to ours, by task.
fn compilers(record: &Value) -> Vec<f64> {
    let median = |of: &Value, name: &str| {
        let mut seconds: Vec<f64> = list(of, name).filter_map(Value::as_f64).collect();
        seconds.sort_by(f64::total_cmp);
        seconds.get(seconds.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let of_task = |task: &Value| {
        let ours = median(&task["contestants"][0], "code_seconds");
        let of_one = |one: &Value| {
            let code = median(one, "code_seconds");
            let made = ["ptx_bytes", "code_bytes", "cubin_bytes", "registers"].map(|name| one[name].as_f64());
            made.into_iter().flatten().chain([median(one, "ptx_seconds"), code, code / ours]).collect::<Vec<f64>>()
        };
        list(task, "contestants").flat_map(of_one).collect::<Vec<f64>>()
    };
    list(record, "tasks").flat_map(of_task).collect()
}

#[test]
fn every_figure_is_one_of_the_records_that_its_paragraph_names() {
    let [page, guide] = [PAGE, GUIDE].map(|name| fs::read_to_string(root().join(name)).unwrap());
    let (mut checked, mut strange, mut without) = (0, Vec::new(), Vec::new());
    let of_guide: Vec<Block<'_>> = blocks(&guide).into_iter().filter(|block| !block.records.is_empty()).collect();
    assert!(!of_guide.is_empty(), "{GUIDE} has no figures");
    let of_guide = of_guide.into_iter().map(|block| (GUIDE, block));
    for (page, block) in blocks(&page).into_iter().map(|block| (PAGE, block)).chain(of_guide) {
        let Some((first, begins)) = block.lines.first() else {
            assert!(block.records.is_empty(), "a comment of figures with nothing after it: {:?}", block.records);
            continue;
        };
        let figures: usize = block.lines.iter().map(|(_, line)| block.written(line).len()).sum();
        if block.records.is_empty() {
            let excused = WITHOUT.iter().position(|(start, _)| begins.starts_with(start));
            without.extend(excused.filter(|_| figures > 0));
            if figures > 0 && excused.is_none() {
                strange.push(format!("{page}:{first}: {figures} figures, and no comment names their records"));
            }
            continue;
        }
        let records: Vec<Record> = block.records.iter().map(|name| Record::read(name)).collect();
        for (number, line) in &block.lines {
            let figures: Vec<f64> = records.iter().flat_map(|record| record.allows(line, &block.kernels)).collect();
            for written in block.written(line) {
                checked += 1;
                if !figures.iter().any(|figure| prints(*figure, written)) {
                    strange.push(format!("{page}:{number}: {written} is no figure of {:?}", block.records));
                }
            }
        }
    }
    let stale: Vec<&str> = (0..WITHOUT.len()).filter(|at| !without.contains(at)).map(|at| WITHOUT[at].0).collect();
    assert!(strange.is_empty() && stale.is_empty(), "{}\nno such paragraph: {stale:?}", strange.join("\n"));
    assert!(checked > 300, "{checked} figures were compared");
}

#[test]
fn figures_are_found_outside_of_code_and_links() {
    assert_eq!(written("takes 0.5255, 1.0 and 42 ms ([`a 0.1`](b/1.5.txt)) in 2.25."), ["0.5255", "1.0", "42", "2.25"]);
    assert_eq!(written("| `i32` | 0.600 | 3580 | 84 % | 1.1.2 | sm_9.0 |"), ["0.600"]);
    assert_eq!(written("51 machine instructions, 8 warps and 30 registers."), ["51", "30"]);
    assert_eq!(written("27 s, **3937 GB/s**; 4 stages of 2^24, 12 us."), ["27", "3937", "12"]);
}

#[test]
fn a_block_has_the_comment_before_it_and_no_other() {
    let page = "# A\n\n<!-- figures of sum, dot: a.json b.txt -->\n\n| 0.1 |\n| 0.2 |\n\nText 0.3.\n<!-- figures: c.txt -->\nMore.";
    let found: Vec<_> =
        blocks(page).iter().map(|one| (one.records.len(), one.kernels.len(), one.lines.len())).collect();
    assert_eq!(found, [(0, 0, 1), (0, 0, 0), (2, 2, 2), (0, 0, 1), (1, 0, 1)]);
    let page = "<!-- all figures: a.json -->\n| `sum`, 2 stages | `i32` | 24 | 1.5 (30) | by 8 |";
    assert_eq!(blocks(page)[1].written(page.lines().last().unwrap()), ["24", "1.5", "30", "8"]);
}

#[test]
fn a_paragraph_is_compared_with_the_kernels_that_its_comment_names() {
    let one = |kernel: &str, median: f64| serde_json::json!({ "kernel": kernel, "timing": { "milliseconds": { "median": median } } });
    let points = serde_json::json!([{ "points": [{ "timing": { "milliseconds": { "median": 3.5 } } }] }]);
    let record = Record::Comparison(serde_json::json!({
        "comparisons": [one("sum", 1.5), one("dot", 2.5)], "sweeps": [{ "lines": points }],
    }));
    assert_eq!(record.allows("as text", &["dot"]), [2.5, 3.5]);
    assert_eq!(record.allows("| a table |", &[]), [3.5]);
    let task = serde_json::json!({ "tasks": [{ "contestants": [
        { "ptx_seconds": [3.0, 1.0, 2.0], "code_seconds": [4.0] }, { "registers": 24, "ptx_seconds": [5.0], "code_seconds": [6.0] },
    ] }] });
    assert_eq!(Record::Comparison(task).allows("as text", &[]), [2.0, 4.0, 1.0, 24.0, 5.0, 6.0, 1.5]);
}

#[test]
fn a_figure_is_compared_with_as_many_decimals_as_it_is_written_with() {
    assert!(prints(0.52551, "0.526") && prints(0.52551, "0.5255") && !prints(0.52551, "0.525"));
    assert!(prints(0.0066, "6.6") && prints(541.9, "0.542") && !prints(541.9, "5.419"));
    assert_eq!(numbers("0.5011 ms (0.5001..0.5025)  4285 GB/s"), [0.5011, 4285.0]);
    assert_eq!(numbers("real 2m50.9s (27.7 s)"), [2.0, 50.9, 170.9, 27.7]);
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

#[test]
fn a_row_of_engines_is_compared_with_its_tile_stages_and_blocks() {
    let line = |name: &str, milliseconds: f64| {
        let point = |x: f64, factor: f64| serde_json::json!({ "x": x, "timing": { "milliseconds": { "median": milliseconds * factor } } });
        serde_json::json!({ "name": name, "points": [point(2.0, 1.0), point(16.0, 0.5)] })
    };
    let sweep = |shape: &str, factor: f64| {
        let lines = [line("tilepipe, Bulk", 2.0 * factor), line("tilepipe, CpAsync", 3.0 * factor)];
        serde_json::json!({ "title": format!("Engines, {shape}: size of a tile"), "lines": lines })
    };
    let sweeps = [sweep("2 stages, 132 blocks", 1.0), sweep("2 stages, resident blocks", 8.0)];
    let record = Record::Comparison(serde_json::json!({ "sweeps": sweeps }));
    assert_eq!(record.allows("| 2 KiB | 2 stages, 132 blocks | 2.0 | 1.5 |", &[]), [2.0, 1.0, 3.0, 1.5]);
    assert_eq!(record.allows("| 16 KiB | 2 stages, 132 blocks | 1.0 |", &[]), [1.0, 1.0, 1.5, 1.5]);
    assert_eq!(record.allows("| 2 KiB | 2 stages, resident blocks | 16.0 |", &[]), [16.0, 1.0, 24.0, 1.5]);
    assert_eq!(record.allows("| 4 KiB | 2 stages, 132 blocks | 2.0 |", &[]), [0.0; 0]);
    assert_eq!(record.allows("| 2 KiB | sum |", &[]).len(), 8, "a row of another kind");
}

#[test]
fn a_row_of_a_small_size_is_compared_with_its_size_and_task_and_a_text_with_all() {
    let one = |task: &str, bytes: u64, ours: f64| {
        serde_json::json!({
            "task": task, "bytes": bytes, "ours": { "microseconds": ours }, "other": { "microseconds": 1.5 },
            "ratio": { "median": 0.75 }, "interval": [0.74, 0.76],
        })
    };
    let record = Record::Comparison(serde_json::json!({ "copy": { "median": 0.5 }, "sizes": [
        one("sum", 64 << 10, 2.0), one("sum", 1 << 20, 4.0), one("triple", 64 << 10, 8.0),
    ] }));
    let of_one = |ours: f64| vec![ours, 1.5, 0.75, 0.74, 0.76, 0.5];
    assert_eq!(record.allows("| 64 KiB | sum | 2.0 | 1.5 | 0.75 |", &[]), of_one(2.0));
    assert_eq!(record.allows("| 1 MiB | sum | 4.0 |", &[]), of_one(4.0));
    assert_eq!(record.allows("| 64 KiB | triple | 8.0 |", &[]), of_one(8.0));
    assert_eq!(record.allows("| 4 MiB | sum | 4.0 |", &[]), [0.5]);
    let of_text = record.allows("It takes 2.0 us for 64 KiB and 4.0 for 1 MiB.", &[]);
    assert!([2.0, 4.0, 8.0].iter().all(|figure| of_text.contains(figure)) && of_text.len() == 16, "{of_text:?}");
    let without = Record::Comparison(serde_json::json!({ "copy": { "median": 0.5 } }));
    assert_eq!(without.allows("| 64 KiB | sum |", &[]), [0.5]);
}
