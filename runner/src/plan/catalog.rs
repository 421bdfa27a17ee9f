//! The kernels that this program was built with, seen by their generic arguments.

use crate::dtype;
use crate::value::DType;
use crate::work::{Kind, Work};
use tilepipe::launch::Instance;

/// The generic arguments with an option of their own: `--dtype`, `--block`, `--stages`.
const OWN_OPTIONS: [&str; 3] = ["T", "THREADS", "STAGES"];

/// One kernel and its instances.
pub struct Kernel {
    /// The kernel function's name.
    pub name: &'static str,
    /// Its instances in the order of its attribute, at least one.
    pub instances: Vec<Variant>,
}

/// One instance with its generic arguments read.
#[derive(Clone, Copy)]
pub struct Variant {
    /// What the launcher needs.
    pub instance: &'static Instance,
    /// The element type.
    pub dtype: DType,
    /// Threads a block.
    pub block: u32,
    /// Pipeline stages, for a kernel that has a choice of them.
    pub stages: Option<u32>,
    /// What it computes.
    pub work: Work,
}

impl Kernel {
    /// What its instances take.
    pub fn kind(&self) -> Kind {
        self.instances[0].work.kind
    }

    /// The names of the generic arguments that `--variant` chooses.
    pub fn variant_names(&self) -> impl Iterator<Item = &'static str> {
        let names = self.instances[0].instance.generics().iter().map(|(name, _)| *name);
        names.filter(|name| !OWN_OPTIONS.contains(name))
    }

    /// The distinct values of one of them, in the order of its attribute.
    pub fn variant_values(&self, name: &str) -> Vec<&'static str> {
        let mut values = Vec::new();
        for value in self.instances.iter().filter_map(|variant| variant.value(name)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }

    /// What tells one of its instances from the others, beside what has an option of its own:
    /// `E=CpAsync S=WarpScope`.
    pub fn text(&self, variant: &Variant) -> String {
        let telling = self.variant_names().filter(|name| self.variant_values(name).len() > 1);
        let texts: Vec<String> = telling.filter_map(|name| Some(format!("{name}={}", variant.value(name)?))).collect();
        texts.join(" ")
    }
}

impl Variant {
    /// The value of the generic argument `name`, without the path to it.
    pub fn value(&self, name: &str) -> Option<&'static str> {
        self.instance.generic(name).and_then(|path| path.rsplit("::").next())
    }
}

/// Returns all kernels of a registry, in its order.
pub fn kernels(registry: &[&'static [Instance]]) -> Vec<Kernel> {
    registry
        .iter()
        .filter_map(|instances| {
            let name = instances.first()?.kernel();
            let instances: Vec<Variant> = instances.iter().filter_map(read).collect();
            (!instances.is_empty()).then_some(Kernel { name, instances })
        })
        .collect()
}

/// Reads an instance's generic arguments; `None` if it computes something that has no reference, or
/// elements that this program does not know.
fn read(instance: &'static Instance) -> Option<Variant> {
    Some(Variant {
        instance,
        dtype: dtype::of_instance(instance)?,
        block: instance.threads(),
        stages: instance.generic("STAGES").and_then(|value| value.parse().ok()),
        work: Work::of(instance)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_instance_of_the_registry_is_left_out() {
        let known: usize = kernels(&tilepipe_kernels::registry()).iter().map(|kernel| kernel.instances.len()).sum();
        assert_eq!(known, tilepipe_kernels::registry().into_iter().flatten().count());
    }

    #[test]
    fn an_instance_is_named_by_the_other_generic_arguments_that_vary() {
        let kernels = kernels(&tilepipe_kernels::registry());
        let stencil = kernels.iter().find(|kernel| kernel.name == "stencil_2d").unwrap();
        assert_eq!(stencil.variant_names().collect::<Vec<_>>(), ["ROWS", "COLUMNS", "HALO"]);
        assert_eq!(stencil.variant_values("HALO"), ["1", "4", "2"]);
        assert_eq!(stencil.text(&stencil.instances[0]), "ROWS=16 COLUMNS=64 HALO=1");
        let staging = kernels.iter().find(|kernel| kernel.name == "with_staging").unwrap();
        assert_eq!(staging.text(&staging.instances[0]), "", "all are `C=NeighbourSum`");
    }
}
