//! Which kernel of ours is compared with which peers, and what is wanted of it.

use anyhow::{Context, Result, bail};
use tilepipe::launch::Instance;
use tilepipe_host::Device;
use tilepipe_runner::value::DType;
use tilepipe_runner::work::Work;

use crate::plan::blocks::Blocks;
use crate::plan::pairings::{self, Pairing};
use crate::plan::peers;
use crate::plan::{bulk, tiles, wide};
use crate::record::Class;

/// One kernel of ours and the peers that do the same work.
pub struct Comparison {
    /// The element type.
    pub dtype: DType,
    /// Blocks of ours, and of each peer that names no others.
    pub blocks: Blocks,
    /// What all must compute.
    pub work: Work,
    /// Our kernel.
    pub ours: &'static Instance,
    /// The others.
    pub peers: Vec<Peer>,
}

/// A peer, and how our kernel should fare against it.
#[derive(Clone)]
pub struct Peer {
    /// What it is, for people.
    pub name: &'static str,
    /// Its description.
    pub instance: Instance,
    /// The least ratio of its time to ours; `None` where it is only information.
    pub wanted: Option<f64>,
    /// Whether it is known to race: it is timed although some of its results may be wrong, and they
    /// are counted.
    pub racing: bool,
    /// What it is, which fixes its colour.
    pub class: Class,
    /// Its blocks; none where they are those of our kernel.
    pub blocks: Option<Blocks>,
    /// Elements of one of its tiles.
    pub tile: usize,
}

/// What the generic arguments of our kernels are where a pairing does not name them.
const DEFAULTS: [(&str, &str); 2] = [("C", "NeighbourSum"), ("E", "CpAsync")];

/// The name of a twin in unsafe Rust.
const UNSAFE: &str = "unsafe Rust";
/// As fast, within the noise.
const AS_FAST: f64 = 0.98;

/// Returns all comparisons, those of one element type and work one after another.
///
/// # Errors
///
/// All instances that are to be measured and are not among our kernels, by name.
pub fn comparisons() -> Result<Vec<Comparison>> {
    resolved(pairings::all())
}

/// Returns the candidates for the fastest C++ of any shape, task by task.
///
/// # Errors
///
/// As for [`comparisons`].
pub fn candidates() -> Result<Vec<Comparison>> {
    let all = [wide::candidates(), tiles::candidates(), bulk::tensor::candidates()];
    resolved(all.into_iter().flatten().collect())
}

/// Returns what says what the fence between the proxies costs.
///
/// # Errors
///
/// As for [`comparisons`].
pub fn fences() -> Result<Vec<Comparison>> {
    resolved(bulk::engines::fences())
}

fn resolved(pairings: Vec<Pairing>) -> Result<Vec<Comparison>> {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for pairing in pairings {
        match pairing.resolve() {
            Ok(comparison) => found.push(comparison),
            Err(error) => missing.push(error.to_string()),
        }
    }
    if missing.is_empty() { Ok(found) } else { bail!(missing.join("; ")) }
}

impl Pairing {
    /// Finds our instance, and what it computes.
    ///
    /// # Errors
    ///
    /// If none or several of our kernel's instances fit.
    pub fn resolve(self) -> Result<Comparison> {
        let fitting: Vec<&'static Instance> =
            tilepipe_kernels::registry().into_iter().flatten().filter(|instance| self.fits(instance)).collect();
        let Pairing { kernel, dtype, generics, blocks, threads, peers } = self;
        let named: String = generics.iter().map(|(name, value)| format!(", {name}={value}")).collect();
        match fitting[..] {
            [ours] => {
                let work = Work::of(ours).with_context(|| format!("{} has no reference", ours.name()))?;
                Ok(Comparison { dtype, blocks, work, ours, peers })
            }
            [] => bail!("kernel `{kernel}` is not built for T={dtype}, THREADS={threads}{named}; add the instance"),
            _ => bail!(
                "{} instances of kernel `{kernel}` have T={dtype}, THREADS={threads}{named}; name more of its generic \
                 arguments in the pairing",
                fitting.len()
            ),
        }
    }

    /// Whether an instance is the one that is meant: a generic argument that neither the pairing
    /// nor [`DEFAULTS`] name may be anything.
    fn fits(&self, instance: &Instance) -> bool {
        let last = |path: &'static str| path.rsplit("::").next().unwrap_or(path);
        // A kernel without `T` is for one type only.
        let of_first_view = || instance.parameters().next().map(|(_, info)| (info.element_name)());
        let element = instance.generic("T").or_else(of_first_view);
        let is_named = |name: &str| self.generics.iter().any(|(named, _)| *named == name);
        instance.kernel() == self.kernel
            && instance.threads() == self.threads
            && element.is_some_and(|path| last(path).parse() == Ok(self.dtype))
            && self.generics.iter().all(|(name, value)| instance.generic(name).is_some_and(|path| last(path) == *value))
            && DEFAULTS
                .iter()
                .filter(|(name, _)| !is_named(name))
                .all(|(name, value)| instance.generic(name).is_none_or(|path| last(path) == *value))
    }
}

impl Comparison {
    /// Returns the blocks of our kernel and of each peer for so many elements.
    ///
    /// # Errors
    ///
    /// As for [`Blocks::number`].
    pub fn grids(&self, device: &Device, elements: usize) -> Result<Vec<u32>> {
        let ours = self.blocks.number(device, self.ours, elements.div_ceil(self.work.portion()))?;
        let of_peer = |peer: &Peer| match peer.blocks {
            Some(blocks) => blocks.number(device, &peer.instance, elements.div_ceil(peer.tile)),
            None => Ok(ours),
        };
        std::iter::once(Ok(ours)).chain(self.peers.iter().map(of_peer)).collect()
    }

    /// Adds our kernel's twin in unsafe Rust, if it has one, to the others.
    pub fn with_unsafe_twin(mut self) -> Comparison {
        let twin = peers::unsafe_twin(self.ours);
        self.peers.extend(twin.map(|instance| Peer {
            class: Class::UnsafeRust,
            wanted: Some(AS_FAST),
            ..pairings::peer(UNSAFE, instance)
        }));
        self
    }
}

#[cfg(test)]
mod tests {
    use std::any::TypeId;

    use tilepipe::I32x4;
    use tilepipe::launch::ParameterKind;
    use tilepipe_runner::work::Kind;

    use super::*;
    use crate::ceilings;
    use crate::plan::sweeps;

    fn described(instance: &Instance) -> Vec<(ParameterKind, TypeId)> {
        instance.parameters().map(|(_, info)| (info.kind, (info.element)())).collect()
    }

    #[test]
    fn every_kernel_exists_with_the_parameters_of_its_work() {
        for comparison in comparisons().unwrap() {
            let wanted = parameters(comparison.dtype, comparison.work);
            assert_eq!(described(comparison.ours), wanted, "{}", comparison.ours.name());
            assert!(comparison.peers.iter().all(|peer| peer.tile > 0 && peer.instance.threads() <= 512));
        }
    }

    #[test]
    fn every_peer_has_the_parameters_of_its_work() {
        for comparison in comparisons().unwrap().into_iter().chain(candidates().unwrap()) {
            assert!(!comparison.peers.is_empty(), "{} has nothing to be compared with", comparison.ours.name());
            for peer in &comparison.peers {
                let wanted = parameters(comparison.dtype, comparison.work);
                assert_eq!(described(&peer.instance), wanted, "{}", peer.instance.name());
            }
        }
    }

    macro_rules! measured {
        ($($kernel:ident { computes: $kind:ident, instances: $instances:expr, measured: $measured:expr })*) => {
            const MEASURED: [(&str, bool); tilepipe_kernel_registry::COUNT] = [$((stringify!($kernel), $measured)),*];
        };
    }
    tilepipe_kernel_registry::with_kernels!(measured);

    #[test]
    fn the_kernels_that_are_measured_are_those_whose_rows_say_so() {
        let mut found = [sweeps::kernels(), ceilings::kernels()].concat();
        found.extend(pairings::all().iter().map(|pairing| pairing.kernel));
        for (kernel, measured) in MEASURED {
            assert_eq!(
                found.contains(&kernel),
                measured,
                "{kernel}: its row in kernels/registry, and what is measured"
            );
        }
    }

    fn parameters(dtype: DType, work: Work) -> Vec<(ParameterKind, TypeId)> {
        let of = |dtype| match dtype {
            DType::I32 => TypeId::of::<i32>(),
            DType::U8 => TypeId::of::<u8>(),
            DType::U32 => TypeId::of::<u32>(),
            DType::U64 => TypeId::of::<u64>(),
            DType::F32 => TypeId::of::<f32>(),
            _ => TypeId::of::<I32x4>(),
        };
        let mut all = vec![(ParameterKind::Input, of(dtype)); work.kind.inputs()];
        if work.kind == Kind::Convolution {
            all.push((ParameterKind::Constant, TypeId::of::<[i32; peers::TAPS]>()));
        }
        let output = if work.kind.writes_counts() { ParameterKind::Reduction } else { ParameterKind::Output };
        all.push((output, of(work.kind.output_type(dtype))));
        all
    }

    #[test]
    fn the_peers_that_race_are_those_in_thread_scope_that_read_what_others_copied() {
        for pairing in pairings::all() {
            for peer in pairing.peers {
                assert_eq!(peer.racing, peer.instance.name().starts_with("thread_scope_"), "{}", peer.instance.name());
                assert!(!peer.racing || peer.wanted.is_none(), "nothing can be wanted against a kernel that is wrong");
            }
        }
    }

    fn refusal(kernel: &'static str, generics: Vec<(&'static str, &'static str)>) -> String {
        let (threads, peers) = (peers::THREADS, Vec::new());
        let pairing = Pairing { kernel, dtype: DType::I32, generics, blocks: Blocks::Of(1), threads, peers };
        pairing.resolve().err().map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn an_instance_that_is_missing_is_named() {
        let message = refusal("no_such_kernel", vec![("S", "ThreadScope"), ("STAGES", "2")]);
        assert_eq!(
            message,
            "kernel `no_such_kernel` is not built for T=i32, THREADS=256, S=ThreadScope, STAGES=2; add the instance"
        );
        assert!(refusal("with_staging_unified", vec![("STAGES", "9")]).contains("STAGES=9"));
        assert_eq!(
            refusal("with_staging_unified", vec![("STAGES", "3")]),
            "",
            "it takes `NeighbourSum`, not `Reverse`"
        );
    }

    #[test]
    fn a_pairing_that_fits_several_instances_is_refused() {
        let message = refusal("with_staging_unified", Vec::new());
        assert!(message.contains("8 instances") && message.contains("name more"), "{message}");
    }
}
