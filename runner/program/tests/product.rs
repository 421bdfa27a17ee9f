//! A matrix product as a user meets it, on the CPU: NumPy files go in and out, results are verified
//! within a bound, and whatever is wrong is one clear error before anything runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use tilepipe::{bf16, f16};
use tilepipe_runner::value::Value;
use tilepipe_runner::work::Shape;
use tilepipe_runner::{data, npy};

/// Rows, terms and columns: more than a tile of each, and neither is a multiple of one.
const EXTENTS: [usize; 3] = [133, 70, 261];

/// A folder with two factors, and the path for their product.
struct Files {
    folder: TempDir,
    left: PathBuf,
    right: PathBuf,
    output: PathBuf,
}

impl Files {
    /// Writes factors of [`EXTENTS`].
    fn new<L: Value, R: Value>(left: &[L], right: &[R]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [left_path, right_path, output] = ["a.npy", "b.npy", "d.npy"].map(|name| folder.path().join(name));
        let [rows, deep, columns] = EXTENTS;
        npy::write(&left_path, left, Shape::Matrix { height: rows, width: deep }).unwrap();
        npy::write(&right_path, right, Shape::Matrix { height: deep, width: columns }).unwrap();
        Files { folder, left: left_path, right: right_path, output }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let paths = [&self.left, &self.right, &self.output].map(|path| path.to_str().unwrap());
        run(&[&["--input", paths[0], "--input", paths[1], "--output", paths[2]], arguments].concat())
    }

    /// The run must succeed; returns what was printed, and the product.
    #[track_caller]
    fn product<T: Value>(&self, arguments: &[&str]) -> (String, Vec<T>) {
        let printed = verified(self.run(arguments));
        let [rows, _, columns] = EXTENTS;
        let shape = npy::describe(&self.output).unwrap()[0].shape;
        assert_eq!(shape, Shape::Matrix { height: rows, width: columns });
        assert_eq!(std::fs::read_dir(&self.folder).unwrap().count(), 3, "nothing else is left");
        (printed, npy::read(&self.output).unwrap())
    }

    /// The run must fail and write nothing.
    #[track_caller]
    fn fails(&self, arguments: &[&str], parts: &[&str]) {
        refused(self.run(arguments), parts);
        assert!(!self.output.exists());
    }
}

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilepipe-run"));
    command.args(["--device", "cpu", "--kernel", "gemm"]).args(arguments);
    command.output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn verified(output: Output) -> String {
    let printed = text(&output.stdout);
    assert!(output.status.success(), "{printed}{}", text(&output.stderr));
    assert!(printed.contains("│ gemm ") && printed.ends_with("0 differ, 0 failed, 0 not run\n"), "{printed}");
    printed
}

/// The run must have failed with one error that has every one of `parts`, before it has said on
/// which device it runs.
#[track_caller]
fn refused(output: Output, parts: &[&str]) {
    let message = text(&output.stderr);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(1), ""), "{message}");
    assert!(!message.contains("panicked") && message.matches("error:").count() == 1, "{message}");
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

/// The left and the right factor, of numbers from -1 to 1 that `rounded` makes others.
fn factors(rounded: impl Fn(f32) -> f32) -> [Vec<f32>; 2] {
    let [rows, deep, columns] = EXTENTS;
    [(rows * deep, 1), (deep * columns, 2)].map(|(elements, seed)| {
        data::generate::<f32>(elements, seed).unwrap().into_iter().map(|value| rounded(value / 1000.0)).collect()
    })
}

/// Each sum of products, beside the sum of their magnitudes, row after row.
fn sums(left: &[f32], right: &[f32]) -> Vec<[f64; 2]> {
    let [rows, deep, columns] = EXTENTS;
    let term = |row, column, k| f64::from(left[row * deep + k]) * f64::from(right[k * columns + column]);
    let sum = |row, column| (0..deep).map(|k| term(row, column, k)).fold([0.0, 0.0], |[s, m], t| [s + t, m + t.abs()]);
    (0..rows * columns).map(|index| sum(index / columns, index % columns)).collect()
}

#[test]
fn a_product_of_whole_numbers_is_exact_in_each_type_under_each_schedule() {
    let [left, right] = factors(f32::round);
    let files = Files::new(&left, &right);
    let expected: Vec<f32> = sums(&left, &right).into_iter().map(|[sum, _]| sum as f32).collect();
    assert!(expected.contains(&-9.0) && expected.contains(&9.0), "there is something to compare");
    for schedule in ["eager", "lazy", "random:5"] {
        let (printed, product) = files.product::<f32>(&["--schedule", schedule]);
        assert!(printed.contains(&format!("schedule {schedule}")) && printed.contains(" bf16 "), "{printed}");
        assert!(printed.contains(" 133 x 70 ") && !printed.contains("checked"), "{printed}");
        assert_eq!(product, expected, "{schedule}");
    }
    let (printed, product) = files.product::<f16>(&["--dtype", "f16", "--block", "384"]);
    assert!(printed.contains(" f16 "), "{printed}");
    assert_eq!(product.into_iter().map(f32::from).collect::<Vec<_>>(), expected);
}

#[test]
fn factors_and_product_are_rounded_once_each() {
    let [left, right] = factors(|value| value);
    let rounded = [&left, &right].map(|factor| factor.iter().map(|value| bf16::from_f32(*value).to_f32()).collect());
    let [rounded_left, rounded_right]: [Vec<f32>; 2] = rounded;
    assert!(left != rounded_left && right != rounded_right);
    let (_, product) = Files::new(&left, &right).product::<f32>(&[]);
    for (found, [sum, magnitudes]) in product.iter().zip(sums(&rounded_left, &rounded_right)) {
        // The bound of the guide, and half a unit in the last of 8 places.
        let bound = EXTENTS[1] as f64 * 2_f64.powi(-23) * magnitudes + sum.abs() * 2_f64.powi(-8);
        assert!((f64::from(*found) - sum).abs() <= bound, "{found} is not {sum} (+- {bound})");
        assert_eq!(bf16::from_f32(*found).to_f32(), *found, "it is a `bf16`");
    }
}

#[test]
fn files_of_f16_are_taken_as_they_are() {
    let [left, right] = factors(f32::round);
    let halves = |factor: &[f32]| factor.iter().map(|value| f16::from_f32(*value)).collect::<Vec<_>>();
    let expected: Vec<f16> = sums(&left, &right).into_iter().map(|[sum, _]| f16::from_f64(sum)).collect();
    for files in [Files::new(&halves(&left), &halves(&right)), Files::new(&left, &halves(&right))] {
        for arguments in [&[][..], &["--dtype", "f16"], &["--dtype", "all"]] {
            let (printed, product) = files.product::<f16>(arguments);
            assert!(printed.contains(" f16 ") && product == expected, "{arguments:?}: {printed}");
            std::fs::remove_file(&files.output).unwrap();
        }
        files.fails(&["--dtype", "bf16"], &["holds f16", "--dtype asks for bf16", "numpy.astype"]);
    }
}

#[test]
fn without_files_square_matrices_are_multiplied() {
    let printed = verified(run(&["--elements", "3000", "--dtype", "all"]));
    assert!(printed.contains(" f16 ") && printed.contains(" bf16 ") && printed.contains(" 54 x 54 "), "{printed}");
    assert!(printed.contains("2 configurations: 2 verified"), "{printed}");
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("d.npy");
    verified(run(&["--elements", "1", "--output", output.to_str().unwrap()]));
    assert_eq!(npy::read::<f32>(&output).unwrap().len(), 1);
    refused(run(&["--elements", "2^63"]), &["overflow the address space", "--elements"]);
    refused(run(&["--elements", "2^50"]), &["MiB", "--elements"]);
}

#[test]
fn files_that_are_no_factors_are_refused() {
    let [left, right] = factors(f32::round);
    let files = Files::new(&left, &right);
    let [left, right] = [&files.left, &files.right].map(|path| path.to_str().unwrap());
    refused(run(&["--input", left]), &["`gemm` takes 2 inputs", "given 1 time;"]);
    refused(run(&["--input", left, "--input", right, "--input", right]), &["2 inputs", "given 3 times"]);
    refused(
        run(&["--input", right, "--input", left]),
        &["b.npy and", "a.npy: no product of a 70 x 261 matrix and a 133 x 70 one", "as many columns as"],
    );
    let third = files.folder.path().join("c.npy");
    let with = |path: &Path| run(&["--input", left, "--input", path.to_str().unwrap()]);
    for (shape, text) in [
        (Shape::Row(120), "120 of f32"),
        (Shape::Batch { matrices: 2, height: 3, width: 20 }, "2 x 3 x 20 of f32"),
        (Shape::Batch { matrices: 10, height: 3, width: 4 }, "10 x 3 x 4 of f32"),
    ] {
        npy::write(&third, &[0.0_f32; 120], shape).unwrap();
        refused(with(&third), &["`gemm` takes a matrix", "c.npy holds", text, "numpy.reshape"]);
    }
    npy::write(&third, &[0.0_f64; 140], Shape::Matrix { height: 70, width: 2 }).unwrap();
    refused(with(&third), &["c.npy holds an array of dtype f64 and shape 70 x 2", "kernels take f32 and f16 here"]);
    refused(with(&files.folder.path().join("none.npy")), &["cannot read", "none.npy"]);
    refused(with(&files.folder.path().join("a.png")), &["a picture, which only --kernel blur takes"]);
}

#[test]
fn options_of_which_there_is_no_choice_are_refused() {
    let [left, right] = factors(f32::round);
    let files = Files::new(&left, &right);
    files.fails(&["--dtype", "f32"], &["element type f32", "f16, bf16 with --dtype"]);
    files.fails(&["--block", "256"], &["block size 256", "384 with --block"]);
    files.fails(&["--stages", "4"], &["fixed number of stages", "--stages"]);
    files.fails(&["--variant", "COLUMNS=128"], &["the tiles that suit the matrices", "--variant"]);
    files.fails(&["--kernel", "sum"], &["`gemm` runs alone"]);
    files.fails(&["--dtype", "all"], &["one configuration, but 2 are selected", "--dtype"]);
    let left = files.left.to_str().unwrap();
    refused(run(&["--input", left, "--input", left, "--output", left]), &["no product of a 133 x 70 matrix"]);
    let right = files.right.to_str().unwrap();
    refused(run(&["--input", left, "--input", right, "--output", right]), &["the file that --input names"]);
    let folder = files.folder.path().to_str().unwrap();
    refused(run(&["--input", left, "--input", right, "--output", folder]), &["it is a folder", "nothing was run"]);
}

#[test]
fn what_cannot_be_run_is_refused_before_kernels_are_built() {
    let asked = |arguments: &[&str]| run(&[&["--print-architecture"], arguments].concat());
    assert_eq!(asked(&[]).status.code(), Some(3), "the CPU has no architecture");
    refused(asked(&["--stages", "4"]), &["fixed number of stages"]);
}
