//! Which instances to run.

pub(crate) mod axis;
pub(crate) mod catalog;

use std::fmt::Display;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use tilepipe_runner_cli::{Choice, VariantChoice};

use crate::npy::Reading;
use crate::plan::axis::{Axis, distinct, join};
use crate::plan::catalog::{Kernel, Variant};
use crate::source::Files;
use crate::stdout::counted;
use crate::value::DType;

/// What the command line asks for.
pub struct Request {
    /// Kernel names; none means all.
    pub kernels: Vec<String>,
    /// Element types.
    pub dtypes: Axis<DType>,
    /// Block sizes in threads.
    pub blocks: Axis<u32>,
    /// Stage counts.
    pub stages: Axis<u32>,
    /// Values of other generic arguments; of several for one name any will do, and none means all.
    pub variants: Vec<VariantChoice>,
    /// The files that the inputs are read from: they say how many there are, and of which type and
    /// shape.
    pub files: Option<Files>,
    /// Whether one configuration is wanted: defaults then give one value instead of several.
    pub single: bool,
}

/// One run of one instance.
#[derive(Clone)]
pub struct Configuration {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The instance.
    pub variant: Variant,
    /// What tells it from the kernel's other instances, beside type, block size and stages.
    pub text: String,
}

/// Chooses the configurations that the request names, in the catalog's order.
///
/// # Errors
///
/// An unknown kernel, or a value that a kernel was not built for: with what is allowed.
pub fn plan(catalog: &[Kernel], request: &Request) -> Result<Vec<Configuration>> {
    for name in &request.kernels {
        ensure!(
            catalog.iter().any(|kernel| kernel.name == name),
            "unknown kernel `{name}`; choose one of {}",
            join(catalog.iter().map(|kernel| kernel.name))
        );
    }
    let all = request.kernels.is_empty();
    let mut chosen = Vec::new();
    let mut refusal = None;
    for kernel in catalog.iter().filter(|kernel| all || request.kernels.iter().any(|name| name == kernel.name)) {
        match select(kernel, request) {
            Ok(configurations) => chosen.extend(configurations),
            // A wish of which one of all kernels can meet nothing leaves that kernel out; one that
            // was named must meet all of it.
            Err(error) if all => refusal = refusal.or(Some(error)),
            Err(error) => return Err(error),
        }
    }
    match refusal {
        Some(error) if chosen.is_empty() => Err(error),
        _ if chosen.is_empty() => bail!("this program was built without kernels"),
        _ => Ok(chosen),
    }
}

fn select(kernel: &Kernel, request: &Request) -> Result<Vec<Configuration>> {
    let name = kernel.name;
    let of_files = request.files.as_ref().map(|files| dtype_of_files(kernel, files)).transpose()?;
    let of_files = of_files.map(|dtype| Axis::Given(vec![dtype]));
    let built = with_variants(kernel, &request.variants)?;
    let has_stages = built.iter().any(|variant| variant.stages.is_some());
    if !has_stages {
        check_without_stages(&request.stages, name)?;
    }
    let dtypes = of_files.as_ref().unwrap_or(&request.dtypes);
    let named = !request.kernels.is_empty();
    check(dtypes, built.iter().map(|v| v.dtype), name, named, "element type", "--dtype")?;
    check(&request.blocks, built.iter().map(|v| v.block), name, named, "block size", "--block")?;
    check(&request.stages, built.iter().filter_map(|v| v.stages), name, named, "stage count", "--stages")?;

    // The defaults of one axis are those that there are with the values of the axes before it.
    let (mut chosen, single): (Vec<Variant>, bool) = (Vec::new(), request.single);
    for dtype in dtypes.pick(built.iter().map(|v| v.dtype), single) {
        let of_type: Vec<&Variant> = built.iter().filter(|v| v.dtype == dtype).collect();
        for block in request.blocks.pick(of_type.iter().map(|v| v.block), single) {
            let of_block: Vec<&Variant> = of_type.iter().copied().filter(|v| v.block == block).collect();
            let counts = request.stages.pick(of_block.iter().filter_map(|v| v.stages), single).into_iter().map(Some);
            let counts: Vec<Option<u32>> = if has_stages { counts.collect() } else { vec![None] };
            for count in counts {
                let fitting = of_block.iter().copied().copied().filter(|v| v.stages == count);
                chosen.extend(fitting.take(if single { 1 } else { usize::MAX }));
            }
        }
    }
    ensure!(
        !chosen.is_empty(),
        "kernel `{name}` was not built for {dtypes} with block {} and stages {} together; see --list",
        request.blocks,
        request.stages
    );
    let configuration = |variant| Configuration { kernel: name, variant, text: kernel.text(&variant) };
    Ok(chosen.into_iter().map(configuration).collect())
}

/// The kernel's instances that have the generic arguments asked for.
fn with_variants(kernel: &Kernel, choices: &[VariantChoice]) -> Result<Vec<Variant>> {
    let name = kernel.name;
    let mut built = kernel.instances.clone();
    for VariantChoice { name: argument, .. } in choices {
        ensure!(
            kernel.variant_names().any(|known| known == argument),
            "kernel `{name}` has no generic argument {argument} for --variant; it has {}",
            if kernel.variant_names().next().is_none() { "none".to_owned() } else { join(kernel.variant_names()) }
        );
        let wanted: Vec<&str> =
            choices.iter().filter(|choice| choice.name == *argument).map(|choice| choice.value.as_str()).collect();
        let known = kernel.variant_values(argument);
        if let Some(missing) = wanted.iter().find(|value| !known.contains(value)) {
            bail!("kernel `{name}` was not built for {argument}={missing}; choose among {}", join(known));
        }
        built.retain(|variant| variant.value(argument).is_some_and(|value| wanted.contains(&value)));
    }
    ensure!(!built.is_empty(), "kernel `{name}` was not built for these values of --variant together; see --list");
    Ok(built)
}

/// The type of the files' elements for a kernel that takes so many files of such a shape.
fn dtype_of_files(kernel: &Kernel, files: &Files) -> Result<DType> {
    let (name, kind) = (kernel.name, kernel.kind());
    ensure!(
        !kind.takes_indices(),
        "kernel `{name}` takes indices, which are made beside its other input and not read; leave --input out"
    );
    check_count(name, kind.inputs(), files.paths.len())?;
    ensure!(
        kind.has_inputs_of_one_shape(),
        "kernel `{name}` takes inputs of several shapes, and --input gives files of one; leave it out"
    );
    let reading = files
        .reading(kind.dimensions())
        .with_context(|| other_dimensions(name, kind.dimensions(), &files.paths[0], files.readings[0]))?;
    Ok(reading.dtype)
}

/// Why a kernel that takes arrays of so many dimensions does not take a file's array.
pub fn other_dimensions(kernel: &str, dimensions: usize, path: &Path, held: Reading) -> String {
    let shape = match dimensions {
        1 => "a row, of shape (n,)",
        2 => "a matrix, of shape (height, width)",
        _ => "a batch of matrices, of shape (matrices, height, width)",
    };
    let (path, Reading { dtype, shape: of_file }) = (path.display(), held);
    format!("kernel `{kernel}` takes {shape}, but {path} holds {of_file} of {dtype}; reshape it with numpy.reshape")
}

/// Why a file that holds elements of some types is not taken where `--dtype` asks for others.
pub fn other_types(path: &Path, held: impl Display, asked: &[Choice<DType>]) -> String {
    format!(
        "{} holds {held} elements, but --dtype asks for {}; leave --dtype out, or convert the file with numpy.astype",
        path.display(),
        join(asked)
    )
}

/// Checks that a kernel is given a file for each of its inputs.
pub fn check_count(kernel: &str, inputs: usize, files: usize) -> Result<()> {
    ensure!(
        inputs == files,
        "kernel `{kernel}` takes {}, but --input is given {}; give it once for each",
        counted(inputs, "input"),
        counted(files, "time")
    );
    Ok(())
}

/// Checks that no number of stages is asked for of a kernel that has no choice of them.
pub fn check_without_stages(stages: &Axis<u32>, kernel: &str) -> Result<()> {
    ensure!(!matches!(stages, Axis::Given(_)), "kernel `{kernel}` has a fixed number of stages; leave --stages out");
    Ok(())
}

/// Checks that a kernel was built for each of the values asked for, or if it was not `named` for
/// one of them; `built` may have repetitions.
pub fn check<T: Copy + Ord + Display>(
    axis: &Axis<T>,
    built: impl Iterator<Item = T>,
    kernel: &str,
    named: bool,
    what: &str,
    option: &str,
) -> Result<()> {
    let built = distinct(built);
    let Axis::Given(wanted) = axis else { return Ok(()) };
    match wanted.iter().find(|value| !built.contains(value)) {
        None => Ok(()),
        Some(_) if !named && wanted.iter().any(|value| built.contains(value)) => Ok(()),
        Some(missing) => bail!(
            "kernel `{kernel}` was not built for {what} {missing}; choose among {} with {option}, or add it to the kernel's \
             `instances(..)`",
            join(&built)
        ),
    }
}

/// What `#[kernel]` does with a `Selection`.
#[cfg(test)]
#[path = "../../../device/macros/src/selection.rs"]
mod selection;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::catalog;
    use crate::work::{Shape, Work};
    use tilepipe::launch::Instance;
    use tilepipe_runner_cli::{Cli, DEFAULT_BLOCKS, DEFAULT_DTYPES, DEFAULT_STAGES, Selection};

    fn kernel(name: &'static str, stages: &[Option<u32>]) -> Kernel {
        let instance = &tilepipe_kernels::registry()[0][0];
        let work = Work::of(instance).unwrap();
        let mut instances = Vec::new();
        for dtype in [DType::I32, DType::F32x4] {
            for block in [128, 256] {
                for &stages in stages {
                    instances.push(Variant { instance, dtype, block, stages, work });
                }
            }
        }
        Kernel { name, instances }
    }

    fn catalog() -> [Kernel; 2] {
        let staged = kernel("with_staging_unified", &[Some(1), Some(2), Some(4)]);
        [kernel("with_staging", &[None]), staged]
    }

    fn request() -> Request {
        Request {
            kernels: Vec::new(),
            dtypes: Axis::Default(DEFAULT_DTYPES.to_vec()),
            blocks: Axis::Default(DEFAULT_BLOCKS.to_vec()),
            stages: Axis::Default(DEFAULT_STAGES.to_vec()),
            variants: Vec::new(),
            files: None,
            single: false,
        }
    }

    fn refusal(request: &Request) -> String {
        plan(&catalog(), request).err().map_or_else(String::new, |error| error.to_string())
    }

    /// All kernels of the program.
    fn shipped() -> Vec<Kernel> {
        catalog::kernels(&tilepipe_kernels::registry())
    }

    /// The instances of a kernel that get code for the CPU.
    fn compiled(asked: &str, instances: &'static [Instance]) -> Vec<&'static str> {
        let owned = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
        let generics: Vec<_> = instances.iter().map(|one| one.generics().iter().map(owned).collect()).collect();
        let selected = selection::select(asked, instances[0].kernel(), &generics);
        instances.iter().zip(selected).filter(|(_, one)| *one).map(|(one, _)| one.name()).collect()
    }

    /// The instances of a command line's plan that its selection leaves without code for the CPU,
    /// and how many instances have code.
    fn left_out(line: &str) -> (Vec<&'static str>, usize) {
        let cli = Cli::read("cargo xtask run", line.split_whitespace()).unwrap();
        let asked = Selection::of(&cli).to_string();
        let request = Request {
            kernels: cli.kernels,
            dtypes: Axis::new(&cli.dtype, &DEFAULT_DTYPES),
            blocks: Axis::new(&cli.block, &DEFAULT_BLOCKS),
            stages: Axis::new(&cli.stages, &DEFAULT_STAGES),
            variants: cli.variants,
            files: None,
            single: false,
        };
        let registry = tilepipe_kernels::registry();
        let compiled: Vec<_> = registry.iter().flat_map(|instances| compiled(&asked, instances)).collect();
        let planned = plan(&shipped(), &request).unwrap();
        let names = planned.iter().map(|one| one.variant.instance.name());
        (names.filter(|name| !compiled.contains(name)).collect(), compiled.len())
    }

    #[test]
    fn all_that_a_command_line_runs_on_the_cpu_is_compiled_for_it() {
        let lines = [
            "",
            "--kernel sum",
            "--dtype u8",
            "--dtype bf16,i32 --block 64,128 --stages 3",
            "--stages all",
            "--variant PAD=2",
            "--kernel stencil_2d --variant HALO=4 --dtype all",
            "--kernel with_producer_count --variant C=Reverse --variant E=LoadStore --variant E=CpAsync",
            "--dtype all --block all --stages all",
        ];
        for line in lines {
            assert_eq!(left_out(line).0, [""; 0], "{line}");
        }
        for kernel in tilepipe_runner_cli::KERNELS {
            assert_eq!(left_out(&format!("--kernel {kernel}")).0, [""; 0]);
        }
        let (compiled, run) = (left_out("").1, plan(&shipped(), &request()).unwrap().len());
        assert!(compiled * 3 < run * 4, "{compiled} instances for the default run's {run}");
        assert!(left_out("--kernel with_staging").1 < 10);
    }

    #[test]
    fn all_instances_of_gemm_for_factors_as_they_are_are_compiled_for_the_cpu() {
        for (line, types) in [
            ("--kernel gemm", &["bf16"][..]),
            ("--kernel gemm --dtype f16", &["f16"]),
            ("--kernel gemm --input a.npy --input b.npy", &["bf16", "f16"]),
        ] {
            let cli = Cli::read("cargo xtask run", line.split_whitespace()).unwrap();
            let has = |one: &Instance, name, values: &[&str]| {
                one.generic(name).and_then(|path| path.rsplit("::").next()).is_some_and(|value| values.contains(&value))
            };
            let runs =
                |one: &&Instance| has(one, "T", types) && has(one, "A", &["Along"]) && has(one, "B", &["Across"]);
            let of_kernel = &tilepipe_kernels::gemm::INSTANCES;
            let names: Vec<_> = of_kernel.iter().filter(runs).map(Instance::name).collect();
            assert!(names.len() >= types.len(), "{line}");
            assert_eq!(compiled(&Selection::of(&cli).to_string(), of_kernel), names, "{line}");
        }
    }

    #[test]
    fn defaults_take_some_of_each_kernel() {
        let chosen = plan(&catalog(), &request()).unwrap();
        assert_eq!(chosen.len(), 2 + 4);
        assert!(chosen.iter().all(|one| one.variant.block == 256));
    }

    #[test]
    fn all_takes_everything_and_single_one_of_a_kernel() {
        let (dtypes, blocks, stages) = (Axis::All, Axis::All, Axis::All);
        let everything = Request { dtypes, blocks, stages, ..request() };
        assert_eq!(plan(&catalog(), &everything).unwrap().len(), 4 + 12);
        let single = Request { single: true, ..request() };
        assert_eq!(plan(&catalog(), &single).unwrap().len(), 2);
    }

    #[test]
    fn of_several_types_a_kernel_that_was_not_named_runs_those_that_it_has() {
        let request = |dtypes, kernels| Request {
            dtypes: Axis::Given(dtypes),
            blocks: Axis::All,
            stages: Axis::All,
            kernels,
            ..request()
        };
        let runs = |dtypes| plan(&shipped(), &request(dtypes, vec![])).unwrap().len();
        assert_eq!(runs(vec![DType::F32, DType::F64]), runs(vec![DType::F32]) + runs(vec![DType::F64]));
        let named = plan(&shipped(), &request(vec![DType::F32, DType::F64], vec!["scale_own".to_owned()]));
        assert!(named.err().unwrap().to_string().contains("was not built for element type f64"));
    }

    #[test]
    fn a_stage_count_leaves_out_kernels_without_unless_they_were_named() {
        let mut request = Request { stages: Axis::Given(vec![1]), ..request() };
        let chosen = plan(&catalog(), &request).unwrap();
        assert!(chosen.iter().all(|one| one.kernel == "with_staging_unified"));
        request.kernels = vec!["with_staging".to_owned()];
        assert!(refusal(&request).contains("fixed number of stages"));
    }

    #[test]
    fn values_not_built_for_are_refused_with_those_that_are() {
        let blocks = Axis::Given(vec![96]);
        let message = refusal(&Request { blocks, ..request() });
        assert!(message.contains("96") && message.contains("128, 256"), "{message}");
        let kernels = vec!["nothing".to_owned()];
        let message = refusal(&Request { kernels, ..request() });
        assert!(message.contains("with_staging, with_staging_unified"), "{message}");
    }

    fn named(kernel: &str) -> Request {
        Request { kernels: vec![kernel.to_owned()], ..request() }
    }

    fn variants(choices: &[&str]) -> Vec<VariantChoice> {
        choices.iter().map(|choice| choice.parse().unwrap()).collect()
    }

    #[test]
    fn every_instance_is_run_where_all_are_asked_for() {
        let everything = Request { dtypes: Axis::All, blocks: Axis::All, stages: Axis::All, ..request() };
        let chosen = plan(&shipped(), &everything).unwrap();
        assert_eq!(chosen.len(), tilepipe_kernels::registry().into_iter().flatten().count());
    }

    #[test]
    fn defaults_that_were_not_built_together_give_way() {
        let request = Request { dtypes: Axis::Given(vec![DType::F64]), ..named("dot") };
        let chosen = plan(&shipped(), &request).unwrap();
        let axes: Vec<_> = chosen.iter().map(|one| (one.variant.block, one.variant.stages)).collect();
        assert_eq!(axes, [(128, Some(3))]);
        let stages = Axis::Given(vec![2]);
        let refusal = plan(&shipped(), &Request { stages, ..request }).err().unwrap().to_string();
        assert!(refusal.contains("f64 with block 256, 288 and stages 2 together"), "{refusal}");
    }

    #[test]
    fn a_variant_chooses_among_instances_and_leaves_out_kernels_without() {
        let choose = |kernel: &str, choices: &[&str]| {
            plan(&shipped(), &Request { variants: variants(choices), ..named(kernel) })
        };
        let both = choose("scale_own", &["E=CpAsync", "S=ThreadScope", "S=WarpScope"]).unwrap();
        assert!(
            both.iter().all(|one| one.text.starts_with("E=CpAsync S=") && one.variant.value("S") != Some("BlockScope"))
        );
        assert_eq!(both.len(), 2 * 2);
        let refusal = |kernel, choices: &[&str]| choose(kernel, choices).err().unwrap().to_string();
        assert!(refusal("scale_own", &["LEN=1"]).contains("it has E, S"));
        assert!(refusal("sum", &["LEN=7"]).contains("choose among 256, 1024"));
        assert!(refusal("with_staging_unified", &["C=Reverse", "E=LoadStore"]).contains("together"));
        let all = Request { variants: variants(&["PAD=1"]), ..request() };
        assert!(plan(&shipped(), &all).unwrap().iter().all(|one| one.kernel.starts_with("transpose")));
    }

    #[test]
    fn files_choose_the_kernels_that_take_so_many_of_such_a_shape() {
        let (row, matrix) = (Shape::Row(9), Shape::Matrix { height: 9, width: 4 });
        let files = |paths: usize| {
            let readings =
                vec![Reading { dtype: DType::F32, shape: matrix }, Reading { dtype: DType::F32x4, shape: row }];
            Some(Files { paths: vec!["a.npy".into(); paths], readings })
        };
        let chosen = |paths| plan(&shipped(), &Request { files: files(paths), ..request() }).unwrap();
        for one in chosen(1) {
            let wanted = match one.variant.work.kind.dimensions() {
                1 => DType::F32x4,
                2 => DType::F32,
                more => panic!("{} takes {more} dimensions", one.kernel),
            };
            assert_eq!(one.variant.dtype, wanted, "{}", one.kernel);
        }
        assert!(chosen(1).iter().any(|one| one.kernel == "transpose"));
        assert!(chosen(2).iter().all(|one| one.kernel == "example_kernel"), "`dot` is not built for vectors");
        let refusal = |kernel, files| plan(&shipped(), &Request { files, ..named(kernel) }).err().unwrap().to_string();
        assert!(refusal("dot", files(1)).contains("takes 2 inputs, but --input is given 1 time;"));
        assert!(
            refusal("rms_norm", files(2)).contains("takes inputs of several shapes, and --input gives files of one")
        );
        assert!(refusal("gather", files(1)).contains("takes indices, which are made"));
        assert!(refusal("sum", files(1)).contains("element type f32x4"));
        let rows = files(1).map(|files| Files { readings: vec![files.readings[1]], ..files });
        assert!(refusal("transpose", rows).contains("a matrix, of shape (height, width)"));
        assert!(refusal("batched_transpose", files(1)).contains("of shape (matrices, height, width)"));
    }
}
