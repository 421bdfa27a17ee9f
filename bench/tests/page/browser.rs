//! A page in a headless Chromium: how wide it was, what it has, and what [`MEASURE`] finds in it.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// What measures the page; it is added to a copy.
const MEASURE: &str = include_str!("measure.js");

/// After so long the browser hangs.
const MOST: Duration = Duration::from_secs(120);

/// What was measured of a page.
#[derive(Debug)]
pub struct Measured {
    /// Charts, texts in charts, points and bars that are shown.
    pub counts: [u64; 4],
    /// What lies on one another or is cut off.
    pub findings: Vec<String>,
}

/// Opens a page in a window so many pixels wide. A frame has any width; a window of its own has a
/// least one.
pub fn open(page: &str, width: u32) -> Measured {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let (before, after) = page.rsplit_once("</body>").expect("a page has a body");
    write("page.html", &format!("{before}<script>{MEASURE}</script></body>{after}"));
    let frame = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><pre id=\"findings\">nothing</pre>\
         <script>addEventListener('message', (event) => {{ findings.textContent = event.data }})</script>\
         <iframe src=\"page.html\" style=\"border: 0; width: {width}px; height: 800px\"></iframe>"
    );
    write("frame.html", &frame);
    let dumped = dumped(folder.path());
    let text = dumped
        .split_once("<pre id=\"findings\">")
        .and_then(|(_, rest)| rest.split_once("</pre>"))
        .map(|(text, _)| text);
    let text = text.unwrap_or_else(|| panic!("no findings in {dumped}"));
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}").replace("&amp;", "&");
    let measured: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(measured["width"], width, "the window's width");
    let findings = measured["findings"].as_array().unwrap().iter().map(|finding| finding.as_str().unwrap().to_owned());
    Measured { counts: [0, 1, 2, 3].map(|nth| measured["counts"][nth].as_u64().unwrap()), findings: findings.collect() }
}

/// The document of `frame.html` after the scripts of both pages have run.
fn dumped(folder: &Path) -> String {
    let program = std::env::var_os("CHROMIUM").expect("the variable CHROMIUM names no browser");
    let file = |name: &str| File::create(folder.join(name)).unwrap();
    let mut browser = Command::new(&program)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
        .args(["--window-size=1400,1000", "--virtual-time-budget=10000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", folder.join("frame.html").display()))
        .stdin(Stdio::null())
        .stdout(file("dom"))
        .stderr(file("log"))
        .spawn()
        .unwrap_or_else(|error| panic!("cannot start {}: {error}", program.display()));
    let start = Instant::now();
    let status = loop {
        if let Some(status) = browser.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > MOST {
            browser.kill().unwrap();
            browser.wait().unwrap();
            panic!("{} hangs", program.display());
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let read = |name: &str| String::from_utf8_lossy(&fs::read(folder.join(name)).unwrap()).into_owned();
    assert!(status.success(), "{status}: {}", read("log"));
    read("dom")
}
