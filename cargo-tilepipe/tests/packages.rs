//! The crates that users depend on can be packaged, with what a registry shows of them; the others
//! cannot be published by mistake.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The published crates.
const PUBLIC: [&str; 5] = ["cargo-tilepipe", "tilepipe", "tilepipe-build", "tilepipe-host", "tilepipe-macros"];

/// Files without which a crate would be of no use.
const NEEDED: [(&str, &str); 4] = [
    ("cargo-tilepipe", "templates/kernels/src/lib.rs.in"),
    ("cargo-tilepipe", "templates/Cargo.toml.in"),
    ("tilepipe", "src/runtime.ll"),
    ("tilepipe-build", "build.rs"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// What cargo prints in the workspace.
fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn packages() -> BTreeMap<String, Value> {
    let metadata: Value = serde_json::from_str(&cargo(&["metadata", "--no-deps", "--format-version", "1"])).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages.map(|package| (package["name"].as_str().unwrap().to_string(), package.clone())).collect()
}

#[test]
fn the_public_crates_say_what_they_are_and_the_others_are_not_published() {
    let packages = packages();
    for (name, package) in &packages {
        if !PUBLIC.contains(&name.as_str()) {
            assert_eq!(package["publish"], Value::Array(Vec::new()), "{name}: `publish = false` in its manifest");
            continue;
        }
        assert!(package["publish"].is_null(), "{name}");
        assert_eq!(package["documentation"], format!("https://docs.rs/{name}"));
        assert_eq!(package["readme"], "README.md", "{name}");
        for text in ["description", "license"] {
            assert!(package[text].as_str().is_some_and(|text| !text.is_empty()), "{name}: {text}");
        }
        for (list, most) in [("keywords", 5), ("categories", 5)] {
            let count = package[list].as_array().map_or(0, Vec::len);
            assert!((1..=most).contains(&count), "{name}: {count} {list}");
        }
        let targets = package["metadata"]["docs"]["rs"]["targets"].as_array().map_or(0, Vec::len);
        assert!(targets > 0, "{name}: `[package.metadata.docs.rs]` names its targets");
    }
    for name in PUBLIC {
        // A published crate cannot depend on one that is not.
        let package = packages.get(name).unwrap_or_else(|| panic!("{name}"));
        for dependency in package["dependencies"].as_array().unwrap() {
            let of_users = dependency["kind"] != "dev" && !dependency["path"].is_null();
            let other = dependency["name"].as_str().unwrap();
            assert!(!of_users || PUBLIC.contains(&other) && dependency["req"] != "*", "{name} depends on {other}");
        }
    }
}

#[test]
fn the_public_crates_package_with_all_that_they_need() {
    let target = tempfile::tempdir().unwrap();
    let mut arguments = vec!["package", "--offline", "--no-verify", "--allow-dirty", "--target-dir"];
    arguments.push(target.path().to_str().unwrap());
    // Together: each finds the others there, as no registry has them.
    PUBLIC.iter().for_each(|name| arguments.extend(["--package", *name]));
    cargo(&arguments);
    let folder = target.path().join("package");
    let unpacked = |name: &str| folder.join(format!("{name}-{}", env!("CARGO_PKG_VERSION")));
    for name in PUBLIC {
        let archive = unpacked(name).display().to_string() + ".crate";
        assert!(Command::new("tar").arg("xzf").arg(archive).current_dir(&folder).status().unwrap().success(), "{name}");
        let readme = fs::read_to_string(unpacked(name).join("README.md")).unwrap();
        assert!(readme.starts_with(&format!("# {name}\n")), "{name}: {readme}");
        // What leads somewhere in the repository leads nowhere on a registry's page.
        assert!(!readme.contains("]("), "{name}: a link in {readme}");
    }
    for (name, file) in NEEDED {
        assert!(unpacked(name).join(file).symlink_metadata().unwrap().is_file(), "{name}: {file}");
    }
    // The templates are links here, and texts there.
    let template = unpacked("cargo-tilepipe").join("templates/src/main.rs.in");
    let example = fs::read_to_string(root().join("examples/standalone/src/main.rs")).unwrap();
    assert_eq!(fs::read_to_string(template).unwrap(), example);
}
