//! The versions of the programs that built what is measured.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What `peers/build.sh` writes beside the peers: a name and a version in each line.
const OF_PEERS: &str = "versions.txt";
/// What `cargo xtask bundle` and `cargo xtask bench` write beside our kernels: all that the
/// toolchain's programs say of their versions.
const OF_KERNELS: &str = "toolchain.txt";

/// Reads the versions that lie in the folders of our kernels and of the peers. A file that is not
/// there has none.
pub fn read(kernels: &Path, peers: &Path) -> BTreeMap<String, String> {
    let text = |folder: &Path, name| fs::read_to_string(folder.join(name)).unwrap_or_default();
    let mut versions = of_peers(&text(peers, OF_PEERS));
    versions.extend(of_toolchain(&text(kernels, OF_KERNELS)));
    versions
}

/// Takes lines such as `nvcc 13.0.88` apart.
fn of_peers(text: &str) -> BTreeMap<String, String> {
    let pairs = text.lines().filter_map(|line| line.trim().rsplit_once(' '));
    pairs.map(|(name, version)| (name.trim().to_owned(), version.to_owned())).collect()
}

/// Finds the versions in what `rustc -vV`, `opt --version` and `ptxas --version` print.
fn of_toolchain(text: &str) -> BTreeMap<String, String> {
    let word = |text: &str| text.split_whitespace().next().map(str::to_owned);
    let rest = |mark: &str| text.lines().find_map(|line| Some(line.split_once(mark)?.1));
    // LLVM is the one whose tools make PTX; that of rustc, `LLVM version: 22.1.8`, has its major.
    let found = [
        ("rustc", rest("release: ").and_then(word)),
        ("LLVM", rest("LLVM version ").and_then(word)),
        ("ptxas of ours", rest("Cuda compilation tools, ").and_then(|line| word(line.split_once(", V")?.1))),
    ];
    found.into_iter().filter_map(|(name, version)| Some((name.to_owned(), version?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLCHAIN: &str = "rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)\nbinary: rustc\n\
        host: x86_64-unknown-linux-gnu\nrelease: 1.96.0\nLLVM version: 22.1.7\nDebian LLVM version 22.1.8\n  Optimized build.\n\
        ptxas: NVIDIA (R) Ptx optimizing assembler\nCuda compilation tools, release 13.0, V13.0.88\n\
        Build cuda_13.0.r13.0/compiler.36424714_0\n";

    #[test]
    fn both_files_are_read_and_may_be_missing() {
        let folder = tempfile::tempdir().unwrap();
        let [kernels, peers] = ["ptx", "built"].map(|name| folder.path().join(name));
        assert!(read(&kernels, &peers).is_empty());
        fs::create_dir(&peers).unwrap();
        fs::write(peers.join(OF_PEERS), "nvcc 13.0.90\nptxas 13.0.90\nCCCL 3.0.2\n").unwrap();
        assert_eq!(read(&kernels, &peers).len(), 3);
        fs::create_dir(&kernels).unwrap();
        fs::write(kernels.join(OF_KERNELS), TOOLCHAIN).unwrap();
        let all: Vec<String> =
            read(&kernels, &peers).into_iter().map(|(name, version)| format!("{name} {version}")).collect();
        let expected =
            ["CCCL 3.0.2", "LLVM 22.1.8", "nvcc 13.0.90", "ptxas 13.0.90", "ptxas of ours 13.0.88", "rustc 1.96.0"];
        assert_eq!(all, expected);
    }

    #[test]
    fn a_toolchain_that_says_something_else_has_no_versions() {
        assert!(of_toolchain("").is_empty() && of_toolchain("release:\nA build, V2\n").is_empty());
        assert_eq!(of_peers("nvcc\n\na b 1\n"), [("a b".to_owned(), "1".to_owned())].into());
    }
}
