//! Which instances to run.

use std::fmt::Display;

use anyhow::{Result, bail, ensure};
use tilepipe_runner::reference::Reference;
use tilepipe_runner::value::DType;

use crate::catalog::{Kernel, Variant};
use crate::cli::Choice;

/// The element types of a run without `--dtype`.
pub const DEFAULT_DTYPES: [DType; 2] = [DType::I32, DType::F32x4];
/// The block sizes of a run without `--block`.
pub const DEFAULT_BLOCKS: [u32; 1] = [256];
/// The stage counts of a run without `--stages`.
pub const DEFAULT_STAGES: [u32; 2] = [2, 4];

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
    /// Whether one configuration is wanted: defaults then give one value instead of several.
    pub single: bool,
}

/// The values asked for along one axis.
pub enum Axis<T> {
    /// Nothing was asked for: these, as far as the kernel was built for them.
    Default(Vec<T>),
    /// All that the kernel was built for.
    All,
    /// Exactly these.
    Given(Vec<T>),
}

impl<T: Copy> Axis<T> {
    /// Reads an option's values; `defaults` stand in when there are none.
    pub fn new(choices: &[Choice<T>], defaults: &[T]) -> Self {
        let values = choices.iter().map(|choice| match choice {
            Choice::All => None,
            Choice::Value(value) => Some(*value),
        });
        match values.collect::<Option<Vec<T>>>() {
            None => Axis::All,
            Some(values) if values.is_empty() => Axis::Default(defaults.to_vec()),
            Some(values) => Axis::Given(values),
        }
    }
}

/// One run: an instance and what it must compute.
#[derive(Clone, Copy)]
pub struct Configuration {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The instance.
    pub variant: Variant,
    /// What it must compute.
    pub reference: Reference,
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
            // A wish that one of all kernels cannot meet leaves that kernel out; one that was named must meet it.
            Err(error) if all => refusal = Some(error),
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
    let built = &kernel.instances;
    let has_stages = built.iter().any(|variant| variant.stages.is_some());
    if let (Axis::Given(_), false) = (&request.stages, has_stages) {
        bail!("kernel `{name}` has a fixed number of stages; leave --stages out");
    }
    let single = request.single;
    let dtypes = values(&request.dtypes, built.iter().map(|v| v.dtype), single, name, "element type", "--dtype")?;
    let blocks = values(&request.blocks, built.iter().map(|v| v.block), single, name, "block size", "--block")?;
    let stages =
        values(&request.stages, built.iter().filter_map(|v| v.stages), single, name, "stage count", "--stages")?;

    let mut configurations = Vec::new();
    for variant in built.iter().filter(|variant| {
        dtypes.contains(&variant.dtype)
            && blocks.contains(&variant.block)
            && variant.stages.is_none_or(|count| stages.contains(&count))
    }) {
        let Some(reference) = Reference::of_kernel(name, variant.block as usize) else {
            bail!("kernel `{name}` has no reference to check it against; add one to the runner's `reference` module");
        };
        configurations.push(Configuration { kernel: name, variant: *variant, reference });
    }
    ensure!(
        !configurations.is_empty(),
        "kernel `{name}` was not built for {} with block {} and stages {} together; see --list",
        join(&dtypes),
        join(&blocks),
        join(&stages)
    );
    Ok(configurations)
}

/// The values of one axis for one kernel, which was built for `built` (with repetitions).
fn values<T: Copy + Ord + Display>(
    axis: &Axis<T>,
    built: impl Iterator<Item = T>,
    single: bool,
    kernel: &str,
    what: &str,
    option: &str,
) -> Result<Vec<T>> {
    let mut built: Vec<T> = built.collect();
    built.sort();
    built.dedup();
    let mut chosen = match axis {
        Axis::All => built,
        Axis::Given(wanted) => {
            if let Some(missing) = wanted.iter().find(|value| !built.contains(value)) {
                bail!(
                    "kernel `{kernel}` was not built for {what} {missing}; choose among {} with {option}, or add it to \
                     the kernel's `instances(..)`",
                    join(&built)
                );
            }
            wanted.clone()
        }
        Axis::Default(wanted) => {
            let mut usable: Vec<T> = wanted.iter().copied().filter(|value| built.contains(value)).collect();
            if usable.is_empty() {
                usable.extend(built.first());
            }
            if single {
                usable.truncate(1);
            }
            usable
        }
    };
    chosen.dedup();
    Ok(chosen)
}

fn join<T: Display>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(name: &'static str, stages: &[Option<u32>]) -> Kernel {
        let instance = &tilepipe_kernels::registry()[0][0];
        let mut instances = Vec::new();
        for dtype in [DType::I32, DType::F32x4] {
            for block in [128, 256] {
                for &stages in stages {
                    instances.push(Variant { instance, dtype, block, stages });
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
            single: false,
        }
    }

    fn refusal(request: &Request) -> String {
        plan(&catalog(), request).err().map_or_else(String::new, |error| error.to_string())
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
}
