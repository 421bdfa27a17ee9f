//! Looking and installing, with tools that only say what they are.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::{FOLDER, cache_of, find, install};
use crate::Error;

/// Puts a toolchain into a folder whose programs print their versions. A shell writes them: a file
/// that this process has open could not be run while another thread of it starts a program.
fn fake(dir: &Path) -> Vec<String> {
    let script = r#"
        set -e
        mkdir -p root/usr/bin root/usr/lib/llvm-22/bin root/usr/lib/rustlib/src/rust/library/core cuda/nvidia/cu13/bin
        tool() { printf '#!/bin/sh\n%s\n' "$2" > "$1"; chmod 755 "$1"; }
        tool root/usr/bin/rustc 'echo "LLVM version: 22.1.0"'
        for name in llvm-link opt llc; do tool root/usr/lib/llvm-22/bin/$name 'echo "LLVM version 22.1.0"'; done
        tool cuda/nvidia/cu13/bin/ptxas 'echo "release 13.0, V13.0.88"'
    "#;
    std::fs::create_dir_all(dir).unwrap();
    assert!(Command::new("sh").args(["-c", script]).current_dir(dir).status().unwrap().success());
    vec!["fake.deb".to_string()]
}

#[test]
fn the_users_folder_is_in_the_cache() {
    let of = |xdg: &str, home: &str| {
        let value = |text: &str| Some(OsString::from(text)).filter(|text| !text.is_empty());
        cache_of(value(xdg), value(home))
    };
    assert_eq!(of("/x", "/h"), Some(PathBuf::from("/x/tilepipe/toolchain")));
    assert_eq!(of("", "/h"), Some(PathBuf::from("/h/.cache/tilepipe/toolchain")));
    assert_eq!(of("relative", "/h"), of("", "/h"));
    assert_eq!(of("", ""), None);
}

#[test]
fn places_are_looked_at_in_the_documented_order() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, cache) = (dir.path().join(FOLDER), dir.path().join("cache/tilepipe/toolchain"));
    let nothing = || Err("it lacks everything".to_string());
    let look = || find::first(nothing(), Some(&folder), Some(&cache));

    let tried = look().unwrap_err().to_string();
    let places = ["- the active Rust toolchain: it lacks everything", &format!("- `{}`", folder.display())];
    let at = places.map(|place| tried.find(place).unwrap_or_else(|| panic!("{place}: {tried}")));
    let last = tried.find(&format!("- `{}`: there is no such folder", cache.display())).expect(&tried);
    assert!(at[0] < at[1] && at[1] < last, "{tried}");
    let tried = find::first(nothing(), None, None).unwrap_err().to_string();
    assert!(
        tried.contains("no target folder is known") && tried.contains("neither XDG_CACHE_HOME nor HOME"),
        "{tried}"
    );

    fake(&cache);
    assert!(look().unwrap().origin().contains("cache/tilepipe/toolchain"));
    fake(&folder);
    assert!(look().unwrap().origin().contains(FOLDER), "the target folder comes first");
    let other = dir.path().join("active");
    fake(&other);
    let active = find::installed(&other).unwrap();
    assert!(find::first(Ok(active), Some(&folder), Some(&cache)).unwrap().origin().contains("active"));
}

#[test]
fn two_installations_into_one_folder_make_it_once() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("cache/toolchain");
    // What an interrupted installation leaves.
    std::fs::create_dir_all(target.with_extension("partial").join("root")).unwrap();
    let unpacked = AtomicU32::new(0);
    let ended = |steps: &[String]| steps.last().cloned().unwrap_or_default();
    let install = || {
        let mut steps = Vec::new();
        let made = install::install_by(&target, &mut |step| steps.push(step.to_string()), &mut |partial, progress| {
            unpacked.fetch_add(1, Ordering::SeqCst);
            progress("unpacking");
            let files = fake(partial);
            std::thread::sleep(Duration::from_millis(100));
            Ok(files)
        });
        (made.map(|toolchain| toolchain.cuda_version()), ended(&steps))
    };
    let all = std::thread::scope(|scope| {
        let threads = [(); 3].map(|()| scope.spawn(install));
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!(unpacked.load(Ordering::SeqCst), 1);
    let mut last: Vec<String> = all
        .into_iter()
        .map(|(made, step)| (made.unwrap(), step))
        .map(|(cuda, step)| {
            assert_eq!(cuda, (13, 0));
            step
        })
        .collect();
    last.sort();
    let already = "the GPU toolchain is already installed";
    assert_eq!(last, ["checking the tools", already, already]);
    assert!(!target.with_extension("partial").exists());
    assert!(std::fs::read_to_string(target.join("manifest.txt")).unwrap().starts_with("fake.deb\n"));
}

#[test]
fn what_was_unpacked_and_is_incomplete_gets_no_name() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("toolchain");
    let made = install::install_by(&target, &mut |_| {}, &mut |_, _| Ok(Vec::new()));
    assert!(matches!(made, Err(Error::Install { .. })), "{made:?}");
    assert!(!target.exists());
}
