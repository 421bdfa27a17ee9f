//! The workspace's test targets, as cargo knows them.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process;

/// The package whose programs must not compile.
pub const UI_TESTS: &str = "tilepipe-ui-tests";
/// The name of the test targets that need a GPU.
pub const GPU: &str = "gpu";
/// The name of the test targets that build workspaces outside of the repository.
pub const STANDALONE: &str = "standalone";
/// The name of the test target that opens pages in a browser.
pub const PAGE: &str = "page";

/// An integration test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestTarget {
    /// Its package.
    pub package: String,
    /// Its own name.
    pub name: String,
}

/// Returns all integration tests of the workspace.
///
/// # Errors
///
/// If cargo cannot read the workspace.
pub fn all() -> Result<Vec<TestTarget>> {
    let mut found = Vec::new();
    for package in packages()? {
        for target in package["targets"].as_array().into_iter().flatten() {
            let is_test = target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "test"));
            if let (true, Some(package), Some(name)) = (is_test, package["name"].as_str(), target["name"].as_str()) {
                found.push(TestTarget { package: package.to_owned(), name: name.to_owned() });
            }
        }
    }
    Ok(found)
}

/// Returns the packages none of whose targets has tests, as their manifests say. `cargo test --lib`
/// would compile their libraries once more nevertheless.
///
/// # Errors
///
/// If cargo cannot read the workspace.
pub fn without_tests() -> Result<Vec<String>> {
    let has_tests = |package: &Value| {
        let mut targets = package["targets"].as_array().into_iter().flatten();
        targets.any(|target| target["test"].as_bool() == Some(true))
    };
    let named = packages()?.into_iter().filter(|package| !has_tests(package));
    Ok(named.filter_map(|package| package["name"].as_str().map(str::to_owned)).collect())
}

/// The workspace's packages as cargo describes them.
fn packages() -> Result<Vec<Value>> {
    let text = process::capture(&mut process::cargo(["metadata", "--format-version", "1", "--no-deps"]))?;
    let metadata: Value = serde_json::from_str(&text).context("cargo metadata is not JSON")?;
    Ok(metadata["packages"].as_array().cloned().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_kernels_alone_have_no_tests() {
        let without = without_tests().unwrap();
        for (package, expected) in [("tilepipe-kernels", true), ("tilepipe-test-kernels", true), ("tilepipe", false)] {
            assert_eq!(without.iter().any(|name| name == package), expected, "{package}: {without:?}");
        }
    }
}
