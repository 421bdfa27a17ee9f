//! `peers/build.sh` says which programs and libraries have built the peers: in a toolkit whose
//! `nvcc` preprocesses with the C++ compiler of this machine, and compiles nothing.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// What `nvcc --version` and `ptxas --version` end with.
fn says(version: &str) -> String {
    format!("echo 'Built on Wed_Aug_20, V8'\necho 'Cuda compilation tools, release 13.0, V{version}'")
}

/// A file of the toolkit, or of another folder.
fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A shell script, made by a process of its own: a file that this one writes may still be open for
/// it in a program that another test is just starting, and then cannot be run ("Text file busy").
fn program(path: &Path, script: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let make = "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$2\" && chmod 755 \"$2\"";
    let made = Command::new("sh").args(["-c", make, "sh", script]).arg(path).status().unwrap();
    assert!(made.success(), "{}", path.display());
}

/// Makes a toolkit of programs, with `headers` by path and text.
fn toolkit(folder: &Path, headers: &[(&str, &str)]) {
    // `nvcc -E .. SOURCE` preprocesses, and any other call makes what comes after `-o`.
    let nvcc = format!(
        "case \"$1\" in\n--version) {}; exit ;;\n-E) shift ;;\n*) while [ \"$1\" != -o ]; do shift; done; : >\"$2\"; exit ;;\nesac\n\
         for word; do shift; case \"$word\" in -std=* | -arch=*) ;; *) set -- \"$@\" \"$word\" ;; esac; done\n\
         for source; do :; done\n\
         exec cc -E -x c++ -std=c++17 -I \"$(dirname \"$0\")/../include\" \\
         -isystem \"$(dirname \"$0\")/../include/cccl\" \"$source\"",
        says("13.0.90").replace('\n', "; ")
    );
    program(&folder.join("bin/nvcc"), &nvcc);
    program(&folder.join("bin/ptxas"), &says("13.0.91"));
    for (name, text) in headers {
        write(&folder.join("include").join(name), text);
    }
}

/// The lines that `build.sh` writes with the toolkit; `None` without a C++ preprocessor.
fn versions(headers: &[(&str, &str)], others: &[&str]) -> Option<Vec<String>> {
    let has = |arguments: &[&str]| Command::new("cc").args(arguments).stdin(Stdio::null()).output();
    if !has(&["-E", "-x", "c++", "-"]).is_ok_and(|output| output.status.success()) {
        println!("skipped: there is no `cc` that preprocesses C++");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    toolkit(folder.path(), headers);
    for other in others {
        write(&folder.path().join(other), "");
    }
    let built = folder.path().join("built");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/build.sh");
    let output = Command::new(script)
        .arg(&built)
        .env("NVCC", folder.path().join("bin/nvcc"))
        .env("CUDA_HOME", folder.path())
        .env("PYTHON", "no-python")
        .output()
        .unwrap();
    assert!(output.status.success() && built.join("peers.ptx").exists(), "{output:?}");
    assert!(!built.join("versions.cu").exists());
    Some(fs::read_to_string(built.join("versions.txt")).unwrap().lines().map(str::to_owned).collect())
}

const CUBLAS: &str = "#define CUBLAS_VER_MAJOR 13\n#define CUBLAS_VER_MINOR 1\n#define CUBLAS_VER_PATCH 0\n";

#[test]
fn all_versions_are_found() {
    let cublas = format!("{CUBLAS}#define CUBLAS_VER_BUILD 3\n");
    let headers = [("cuda/version", "#define CCCL_VERSION 3000002\n"), ("cublasLt.h", &cublas)];
    let Some(lines) = versions(&headers, &["lib64/libcublasLt.so.13"]) else { return };
    assert_eq!(lines, ["nvcc 13.0.90", "ptxas 13.0.91", "CCCL 3.0.2", "cublasLt 13.1.0.3"]);
}

#[test]
fn an_older_cccl_has_its_version_in_another_header() {
    for (name, text, version) in [
        ("cuda/std/version", "#define _CCCL_VERSION 2008001\n", "CCCL 2.8.1"),
        ("cub/version.cuh", "#define CUB_VERSION 200302\n", "CCCL 2.3.2"),
        ("cuda/version", "#define CCCL_VERSION 3012010\n", "CCCL 3.12.10"),
    ] {
        let Some(lines) = versions(&[(name, text)], &[]) else { return };
        assert_eq!(lines, ["nvcc 13.0.90", "ptxas 13.0.91", version]);
    }
}

#[test]
fn headers_of_cccl_in_a_folder_of_system_headers_say_their_version() {
    // As CUDA 13 installs them: `cuda/version` includes the header that has the number.
    let headers =
        [("cccl/cuda/version", "#include <version.h>\n"), ("cccl/version.h", "#define CCCL_VERSION 3000002\n")];
    let Some(lines) = versions(&headers, &[]) else { return };
    assert_eq!(lines, ["nvcc 13.0.90", "ptxas 13.0.91", "CCCL 3.0.2"]);
}

#[test]
fn what_cannot_be_found_out_has_no_line() {
    // A header of cublasLt that lacks a number, and none of CCCL.
    let Some(lines) = versions(&[("cublasLt.h", CUBLAS)], &["lib64/libcublasLt.so.13"]) else { return };
    assert_eq!(lines, ["nvcc 13.0.90", "ptxas 13.0.91"]);
    // A header of cublasLt without the library: it is not built.
    let Some(lines) = versions(&[("cublasLt.h", CUBLAS), ("cuda/version", "\n")], &[]) else { return };
    assert_eq!(lines, ["nvcc 13.0.90", "ptxas 13.0.91"]);
}
