//! The kernels that are as their wide forms but for bulk copies, each beside one form in C++: all
//! others that do their work stand beside the wide ones.

use crate::plan::blocks::Blocks::{self, Resident, Tiles};
use crate::plan::catalog::Peer;
use crate::plan::pairings::Pairing;
use crate::plan::tiles;
use crate::plan::wide::{OWN, pairing};
use crate::record::Class;

/// Instances of one of our kernels.
struct Ours {
    kernel: &'static str,
    threads: u32,
    blocks: Blocks,
    /// The generic arguments of each, the stages last.
    generics: &'static [&'static [(&'static str, &'static str)]],
    /// The wide form, and the class of that of its peers, with as many stages, that stands beside
    /// ours: of several the last one.
    wide: &'static str,
    class: Class,
}

/// Those over rows and windows, and in roles.
const OURS: [Ours; 6] = [
    Ours {
        kernel: "moving_average_wide_bulk",
        threads: 256,
        blocks: Tiles,
        generics: &[&[("STAGES", "1")]],
        wide: "moving_average_wide",
        class: Class::Hand,
    },
    Ours {
        kernel: "moving_average_wide_bulk",
        threads: 128,
        blocks: Tiles,
        generics: &[&[("STAGES", "2")]],
        wide: "moving_average_wide",
        class: Class::Hand,
    },
    Ours {
        kernel: "transpose_bulk",
        threads: 256,
        blocks: Tiles,
        generics: &[&[("STAGES", "1")], &[("STAGES", "2")]],
        wide: "transpose_wide",
        class: Class::Plain,
    },
    Ours {
        kernel: "stencil_2d_bulk",
        threads: 256,
        blocks: Tiles,
        generics: &[&[("STAGES", "1")], &[("STAGES", "2")]],
        wide: "stencil_2d_wide",
        class: Class::Plain,
    },
    Ours {
        kernel: "with_specialized_staging_unified_bulk",
        threads: 256,
        blocks: Resident,
        generics: &[&[("C", "GroupSum"), ("STAGES", "2")], &[("C", "GroupSum"), ("STAGES", "4")]],
        wide: "with_specialized_staging_unified_wide",
        class: Class::Hand,
    },
    Ours {
        kernel: "with_specialized_staging_warps_bulk",
        threads: 160,
        blocks: Resident,
        generics: &[&[("C", "GroupSum"), ("STAGES", "2")], &[("C", "GroupSum"), ("STAGES", "4")]],
        wide: "with_specialized_staging_warps_wide",
        class: Class::Hand,
    },
];

/// Returns all of them.
pub fn all() -> Vec<Pairing> {
    let own = ["1", "2"]
        .map(|stages| pairing("scale_own_bulk", vec![("STAGES", stages)], 128, Tiles, vec![OWN.plain.peer()]));
    let wide = tiles::all();
    let of = |ours: &Ours| -> Vec<Pairing> {
        let instances = ours.generics.iter();
        instances.map(|generics| beside(&wide, ours, generics)).collect()
    };
    own.into_iter().chain(OURS.iter().flat_map(of)).collect()
}

/// One instance beside its peer.
fn beside(wide: &[Pairing], ours: &Ours, generics: &[(&'static str, &'static str)]) -> Pairing {
    let stages = generics.last();
    let alike = |one: &&Pairing| one.kernel == ours.wide && one.generics.last() == stages;
    let mut peers = wide.iter().filter(alike).flat_map(|one| one.peers.iter());
    let peer = peers.rfind(|peer| peer.class == ours.class);
    let peers = peer.map(|peer| Peer { wanted: None, ..peer.clone() }).into_iter().collect();
    pairing(ours.kernel, generics.to_vec(), ours.threads, ours.blocks, peers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stands_beside_a_form_of_its_own_division_and_nothing_is_wanted() {
        let named = |kernel: &str| -> Vec<&str> {
            let own = all().into_iter().filter(|one| one.kernel == kernel);
            own.flat_map(|one| one.peers).map(|peer| peer.instance.name()).collect()
        };
        for (kernel, beginning, count) in [
            ("scale_own_bulk", "own_vector_", 2),
            ("moving_average_wide_bulk", "average_bulk_", 2),
            ("transpose_bulk", "transpose_", 2),
            ("stencil_2d_bulk", "stencil_", 2),
            ("with_specialized_staging_unified_bulk", "even_odd_hand_", 2),
            ("with_specialized_staging_warps_bulk", "warps_32_hand_", 2),
        ] {
            let peers = named(kernel);
            assert!(
                peers.len() == count && peers.iter().all(|peer| peer.starts_with(beginning)),
                "{kernel}: {peers:?}"
            );
        }
        assert!(all().iter().flat_map(|one| &one.peers).all(|peer| peer.wanted.is_none()));
    }
}
