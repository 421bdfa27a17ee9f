//! Attention as a user meets it, on the CPU: NumPy files go in and out, and whatever is wrong is
//! one clear error before anything runs.

use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;
use tilepipe::f16;
use tilepipe_runner::work::Shape;
use tilepipe_runner::{data, npy};

/// Queries and keys of two sequences, heads of both, and the elements of a head.
const QUERIES: usize = 2 * 70;
const KEYS: usize = 2 * 100;
const HEADS: [usize; 2] = [4, 2];
const HEAD: usize = 64;

/// A folder with queries, keys and values, and the path for their attention.
struct Files {
    folder: TempDir,
    given: [PathBuf; 3],
    output: PathBuf,
}

impl Files {
    /// Writes matrices of numbers from -1 to 1, as `f16` has them.
    fn new() -> (Self, [Vec<f32>; 3]) {
        let folder = tempfile::tempdir().unwrap();
        let shapes = [(QUERIES, HEADS[0]), (KEYS, HEADS[1]), (KEYS, HEADS[1])];
        let matrices = [0, 1, 2].map(|at| {
            let (rows, heads) = shapes[at];
            let numbers = data::generate::<f32>(rows * heads * HEAD, at as u64 + 1).unwrap();
            numbers.into_iter().map(|number| f16::from_f32(number / 1000.0).to_f32()).collect::<Vec<_>>()
        });
        let given = ["q.npy", "k.npy", "v.npy"].map(|name| folder.path().join(name));
        for ((path, numbers), (rows, heads)) in given.iter().zip(&matrices).zip(shapes) {
            npy::write(path, numbers, Shape::Matrix { height: rows, width: heads * HEAD }).unwrap();
        }
        let output = folder.path().join("o.npy");
        (Files { folder, given, output }, matrices)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tilepipe-run"));
        command.args(["--device", "cpu", "--kernel", "attention"]);
        for path in &self.given {
            command.arg("--input").arg(path);
        }
        command.arg("--output").arg(&self.output).args(arguments).output().expect("the program starts")
    }

    /// The run must fail with one error that has this part, and write nothing.
    #[track_caller]
    fn fails(&self, arguments: &[&str], part: &str) {
        let output = self.run(arguments);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && message.contains(part), "`{part}` is not in: {message}");
        assert!(!message.contains("panicked") && !self.output.exists(), "{message}");
    }
}

/// A head of a token.
fn of_head(matrix: &[f32], heads: usize, token: usize, head: usize) -> &[f32] {
    &matrix[(token * heads + head) * HEAD..][..HEAD]
}

#[test]
fn attention_of_files_is_that_of_sums_in_f64() {
    let (files, [queries, keys, values]) = Files::new();
    for is_causal in [false, true] {
        let variants = ["--variant", "HEAD=64,SEQUENCES=2", "--dtype", "f16", "--variant"];
        let causal = if is_causal { "CAUSAL=true" } else { "CAUSAL=false" };
        let output = files.run(&[&variants[..], &[causal]].concat());
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
        assert!(printed.contains("│ attention ") && printed.contains(" verified "), "{printed}");
        let found: Vec<f16> = npy::read(&files.output).unwrap();
        assert_eq!(found.len(), queries.len());
        assert_eq!(std::fs::read_dir(&files.folder).unwrap().count(), 4, "nothing else is left");
        for (token, of) in [(0, 0), (69, 3), (70, 1), (139, 2), (100, 0)] {
            let (sequence, query, shared) = (token / 70, token % 70, of / 2);
            let seen = if is_causal { query + 31 } else { 100 };
            let product = |key: usize| {
                let terms = of_head(&queries, 4, token, of).iter().zip(of_head(&keys, 2, sequence * 100 + key, shared));
                terms.map(|(x, y)| f64::from(x * y)).sum::<f64>() / 8.0
            };
            let weights: Vec<f64> = (0..seen).map(|key| product(key).exp()).collect();
            let total: f64 = weights.iter().sum();
            for at in 0..HEAD {
                let value = |key: usize| f64::from(of_head(&values, 2, sequence * 100 + key, shared)[at]);
                let sum = weights.iter().enumerate().map(|(key, weight)| weight / total * value(key)).sum::<f64>();
                let found = found[(token * 4 + of) * HEAD + at].to_f64();
                assert!((found - sum).abs() < 0.002, "token {token}, head {of}: {found} in place of {sum}");
            }
        }
    }
}

#[test]
fn what_is_no_attention_is_one_clear_error() {
    let (files, _) = Files::new();
    files.fails(&["--variant", "HEAD=12"], "12");
    files.fails(&["--variant", "HEAD=0"], "no number above 0");
    files.fails(&["--variant", "SEQUENCES=3"], "3 sequences");
    files.fails(&["--variant", "WINDOW=3"], "no variant WINDOW=3");
    files.fails(&["--block", "256"], "leave --block out");
    files.fails(&["--dtype", "f32"], "f32");
    files.fails(&["--kernel", "sum"], "runs alone");
    files.fails(&["--input", "another.npy"], "takes 3 inputs");
}
