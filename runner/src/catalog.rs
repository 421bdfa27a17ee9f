//! The kernels that this program was built with, seen by their generic arguments.

use tilepipe::launch::Instance;
use tilepipe_runner::value::DType;

/// One kernel and the instances whose `compute` is the default.
pub struct Kernel {
    /// The kernel function's name.
    pub name: &'static str,
    /// Its instances in the order of its attribute.
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
}

/// Returns all kernels, in the registry's order.
pub fn kernels() -> Vec<Kernel> {
    tilepipe_kernels::registry()
        .into_iter()
        .filter_map(|instances| {
            let name = instances.first()?.kernel();
            Some(Kernel { name, instances: instances.iter().filter_map(read).collect() })
        })
        .collect()
}

/// Reads an instance's generic arguments; `None` if it computes something that has no reference, or elements that this
/// program does not know.
fn read(instance: &'static Instance) -> Option<Variant> {
    let compute = instance.generic("C").and_then(|path| path.rsplit("::").next());
    if compute.is_some_and(|name| name != "NeighbourSum") {
        return None;
    }
    Some(Variant {
        instance,
        dtype: instance.generic("T")?.rsplit("::").next()?.parse().ok()?,
        block: instance.threads(),
        stages: instance.generic("STAGES").and_then(|value| value.parse().ok()),
    })
}
