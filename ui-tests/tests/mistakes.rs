//! The table of `docs/mistakes.md` has the first lines of messages as they are.

use std::fs;
use std::path::Path;

#[test]
fn the_table_of_mistakes_has_the_messages_as_they_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("../docs/mistakes.md")).expect("docs/mistakes.md");
    let rows: Vec<Vec<String>> = page
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| |"))
        .map(|line| {
            line.replace("\\|", "\u{1}")
                .trim_matches('|')
                .split('|')
                .map(|cell| cell.trim().replace('\u{1}', "|"))
                .collect()
        })
        .collect();
    assert_eq!(rows.len(), 50, "rows of the table");
    for (nth, row) in rows.iter().enumerate() {
        let [number, _, code, message, place, program] = &row[..] else { panic!("{} columns: {row:?}", row.len()) };
        assert_eq!(*number, (nth + 1).to_string());
        let program = program.trim_matches('`');
        let text = fs::read_to_string(root.join(format!("fail/{program}.stderr")));
        let text = text.unwrap_or_else(|error| panic!("{program}: {error}"));
        let (first, rest) = text.split_once('\n').expect("several lines");
        let (head, said) = first.split_once(": ").expect("`error: ..`");
        let code = code.trim_matches('`');
        assert_eq!(head, if code.is_empty() { "error".to_owned() } else { format!("error[{code}]") }, "{program}");
        let said = said.strip_prefix("evaluation panicked: ").unwrap_or(said);
        match message.strip_suffix(" ..") {
            Some(beginning) => assert!(said.starts_with(beginning), "{program}: {said}"),
            None => assert_eq!(message, said, "{program}"),
        }
        let is_own = rest.lines().next().is_some_and(|line| line.contains(&format!("fail/{program}.rs")));
        assert_eq!(place == "your line", is_own, "{program}: {place}");
    }
}
