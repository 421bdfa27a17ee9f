//! What `ptxas` reports, summed up for people: one line for each kernel function and matter.

use std::collections::{BTreeMap, BTreeSet};

use super::{KernelReport, PtxasMessage};
use crate::link::{function, instance};

/// The lines about kernels that use local memory, then those with what `ptxas` says.
pub(crate) fn of(report: &[KernelReport], messages: &[PtxasMessage]) -> Vec<String> {
    let mut functions: BTreeMap<&str, Vec<&KernelReport>> = BTreeMap::new();
    for one in report {
        functions.entry(function(&one.kernel)).or_default().push(one);
    }
    let mut lines: Vec<String> = functions.iter().filter_map(|(name, all)| local_memory(name, all)).collect();

    // In the order in which they are said first.
    let mut said: Vec<((&str, String), Vec<&PtxasMessage>)> = Vec::new();
    for one in messages {
        let image = one.image.split('.').next().unwrap_or_default();
        let key = (one.kernel.as_deref().map_or(image, function), shape(one));
        match said.iter_mut().find(|(other, _)| *other == key) {
            Some((_, same)) => same.push(one),
            None => said.push((key, vec![one])),
        }
    }
    lines.extend(said.iter().map(|((name, _), same)| {
        let kernels = same.iter().filter_map(|one| one.kernel.as_deref());
        let all = functions.get(name).map_or(&[][..], Vec::as_slice);
        let who = who(name, kernels, all, same.iter().map(|one| one.arch.as_str()));
        format!("{who}: ptxas: {}", same[0].text)
    }));
    lines
}

/// The line about a kernel function with instances that use local memory, if some do.
fn local_memory(name: &str, all: &[&KernelReport]) -> Option<String> {
    let spilled = |one: &KernelReport| u64::from(one.spill_stores) + u64::from(one.spill_loads);
    let stack = |one: &KernelReport| u64::from(one.stack.max(one.stack_frame));
    let affected: Vec<&KernelReport> = all.iter().copied().filter(|one| stack(one) > 0 || spilled(one) > 0).collect();
    // The first of the worst, in the order of the architectures.
    let worst = |figure: fn(&KernelReport) -> u64| {
        let one = affected.iter().rev().max_by_key(|one| figure(one)).filter(|one| figure(one) > 0)?;
        let place = format!("`{}` on {}", instance(&one.kernel), one.arch);
        Some((*one, place))
    };
    let mut matters = Vec::new();
    if let Some((one, place)) = worst(stack) {
        matters.push(format!("a stack of up to {} bytes a thread in local memory ({place})", stack(one)));
    }
    if let Some((one, place)) = worst(spilled) {
        matters.push(format!(
            "spills of up to {} bytes ({} stored, {} loaded; {place})",
            spilled(one),
            one.spill_stores,
            one.spill_loads
        ));
    }
    let kernels = affected.iter().map(|one| one.kernel.as_str());
    let who = who(name, kernels, all, affected.iter().map(|one| one.arch.as_str()));
    (!matters.is_empty()).then(|| format!("{who}: {}", matters.join(", ")))
}

/// Which instances of a kernel function are meant, and for which architectures: ``kernel `k` (3 of
/// 7 instances, sm_80)``.
fn who<'a>(
    name: &str,
    kernels: impl Iterator<Item = &'a str>,
    all: &[&KernelReport],
    architectures: impl Iterator<Item = &'a str>,
) -> String {
    let (some, mut archs): (BTreeSet<&str>, Vec<&str>) = (kernels.collect(), Vec::new());
    for arch in architectures {
        if !archs.contains(&arch) {
            archs.push(arch);
        }
    }
    let (archs, of) = (archs.join(", "), all.iter().map(|one| &one.kernel).collect::<BTreeSet<_>>().len());
    match (some.len(), of) {
        (0, _) | (_, ..=1) => format!("kernel `{name}` ({archs})"),
        (some, of) => format!("kernel `{name}` ({some} of {of} instances, {archs})"),
    }
}

/// What a message has in common with that about another instance: all but the instance's name and
/// places in its PTX.
fn shape(message: &PtxasMessage) -> String {
    let text = message.kernel.as_deref().map_or(message.text.clone(), |kernel| message.text.replace(kernel, ""));
    let mut shape = String::new();
    for (at, part) in text.split("line ").enumerate() {
        shape.push_str(if at == 0 { part } else { part.trim_start_matches(|c: char| c.is_ascii_digit()) });
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(kernel: &str, arch: &str, stack: u32, spills: [u32; 2]) -> KernelReport {
        KernelReport {
            kernel: kernel.to_string(),
            arch: arch.to_string(),
            stack_frame: stack,
            stack,
            spill_stores: spills[0],
            spill_loads: spills[1],
            ..KernelReport::default()
        }
    }

    fn message(kernel: Option<&str>, image: &str, arch: &str, text: &str) -> PtxasMessage {
        let (image, arch, text) = (image.to_string(), arch.to_string(), text.to_string());
        PtxasMessage { kernel: kernel.map(str::to_string), image, arch, text }
    }

    #[test]
    fn instances_are_summed_up_and_the_worst_is_named() {
        let kernels = [
            report("a$k__128", "sm_80", 0, [0, 0]),
            report("a$k__256", "sm_80", 64, [0, 0]),
            report("a$k__512", "sm_80", 48, [24, 32]),
            report("a$none", "sm_80", 0, [0, 0]),
            report("a$one", "sm_80", 8, [0, 0]),
            report("a$k__128", "sm_90", 0, [0, 0]),
            report("a$k__256", "sm_90", 64, [0, 0]),
            report("a$k__512", "sm_90", 56, [28, 40]),
        ];
        assert_eq!(
            of(&kernels, &[]),
            [
                "kernel `k` (2 of 3 instances, sm_80, sm_90): a stack of up to 64 bytes a thread in local memory (`k__256` on \
                 sm_80), spills of up to 68 bytes (28 stored, 40 loaded; `k__512` on sm_90)",
                "kernel `one` (sm_80): a stack of up to 8 bytes a thread in local memory (`one` on sm_80)",
            ]
        );
    }

    #[test]
    fn a_stack_of_called_functions_counts() {
        let one = KernelReport { stack: 32, ..report("a$k", "sm_80", 0, [0, 0]) };
        assert_eq!(
            of(&[one], &[]),
            ["kernel `k` (sm_80): a stack of up to 32 bytes a thread in local memory (`k` on sm_80)"]
        );
    }

    #[test]
    fn messages_are_one_line_for_each_function_and_matter() {
        let kernels = ["k__128", "k__256", "other"].map(|name| report(&format!("a${name}"), "sm_90a", 0, [0, 0]));
        let injected = |kernel: &str, line: u32| {
            let text = format!(
                "(C7517) warpgroup.wait is injected in around line {line} by compiler in function 'a${kernel}'"
            );
            message(Some(&format!("a${kernel}")), "k", "sm_90a", &text)
        };
        let ignored = message(None, "k.1", "sm_90a", "(C7508) 'setmaxnreg' ignored.");
        let of_other = message(Some("a$other"), "other", "sm_100a", "(C7508) 'setmaxnreg' ignored.");
        let all = [injected("k__128", 50), injected("k__256", 7), ignored.clone(), ignored, of_other];
        assert_eq!(
            of(&kernels, &all),
            [
                "kernel `k` (2 of 2 instances, sm_90a): ptxas: (C7517) warpgroup.wait is injected in around line 50 by compiler in \
                 function 'a$k__128'",
                "kernel `k` (sm_90a): ptxas: (C7508) 'setmaxnreg' ignored.",
                "kernel `other` (sm_100a): ptxas: (C7508) 'setmaxnreg' ignored.",
            ]
        );
        assert!(of(&kernels, &[]).is_empty());
    }
}
