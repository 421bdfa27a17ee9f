//! Which instances of a kernel get code for the CPU: what `TILEPIPE_INSTANCES` says.
//!
//! The value has parts with `;` between them. The first names kernels, with commas between them.
//! Each of the others names a generic argument and values of it, `THREADS=128,256`.
//!
//! The arguments `T`, `THREADS` and `STAGES` narrow one after the other: of the values that occur
//! together with the choices before, the named ones are taken, or all if none of the named ones is
//! among them. Every other argument leaves only instances that have one of the values. Values are
//! compared without their paths and without regard to case.

/// The arguments that never leave a kernel without an instance, in the order in which they narrow.
const NARROWING: [&str; 3] = ["T", "THREADS", "STAGES"];

/// Which of a kernel's instances are asked for, each given by its generic arguments with their
/// values.
pub(crate) fn select(asked: &str, kernel: &str, instances: &[Vec<(String, String)>]) -> Vec<bool> {
    let mut parts = asked.split(';');
    let kernels = parts.next().unwrap_or_default();
    let mut selected = vec![kernels.split(',').any(|name| name == kernel); instances.len()];
    let axes: Vec<(&str, Vec<&str>)> = parts
        .filter_map(|part| part.split_once('='))
        .map(|(name, values)| (name, values.split(',').collect()))
        .collect();
    for (name, values) in axes.iter().filter(|(name, _)| !NARROWING.contains(name)) {
        for (instance, selected) in instances.iter().zip(&mut selected) {
            *selected &= value(instance, name).is_some_and(|value| is_one_of(value, values));
        }
    }
    for (at, narrowing) in NARROWING.iter().enumerate() {
        let Some((name, values)) = axes.iter().find(|(name, _)| name == narrowing) else { continue };
        // Instances are narrowed together that agree in the arguments before.
        let before = |this: usize| NARROWING[..at].iter().map(move |name| value(&instances[this], name));
        let all = 0..instances.len();
        let is_met =
            |this: usize| selected[this] && value(&instances[this], name).is_some_and(|value| is_one_of(value, values));
        let met: Vec<usize> = all.clone().filter(|this| is_met(*this)).collect();
        let is_narrowed = |this: usize| met.iter().any(|other| before(*other).eq(before(this)));
        selected = all.map(|this| selected[this] && (is_met(this) || !is_narrowed(this))).collect();
    }
    selected
}

fn value<'a>(instance: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let (_, value) = instance.iter().find(|(known, _)| known == name)?;
    value.rsplit("::").next()
}

fn is_one_of(value: &str, values: &[&str]) -> bool {
    values.iter().any(|one| one.eq_ignore_ascii_case(value))
}

#[cfg(test)]
mod tests {
    use super::select;

    /// The names of the instances of kernel `k` that are selected.
    fn selected(asked: &str) -> Vec<&'static str> {
        let instances = [
            ("i32 64", [("T", "i32"), ("C", "a::Sum"), ("THREADS", "64"), ("STAGES", "2")]),
            ("i32 128", [("T", "i32"), ("C", "a::Sum"), ("THREADS", "128"), ("STAGES", "2")]),
            ("F32x4 128", [("T", "b::F32x4"), ("C", "a::Max"), ("THREADS", "128"), ("STAGES", "3")]),
            ("u8 32", [("T", "u8"), ("C", "a::Max"), ("THREADS", "32"), ("STAGES", "4")]),
        ];
        let owned =
            |(_, generics): &(_, [(&str, &str); 4])| generics.map(|(name, value)| (name.into(), value.into())).to_vec();
        let selected = select(asked, "k", &instances.iter().map(owned).collect::<Vec<_>>());
        instances.iter().zip(selected).filter(|(_, selected)| *selected).map(|((name, _), _)| *name).collect()
    }

    #[test]
    fn instances_are_selected_by_kernel_and_values() {
        for (asked, expected) in [
            ("", &[][..]),
            ("other", &[]),
            ("other,k", &["i32 64", "i32 128", "F32x4 128", "u8 32"]),
            ("k;T=i32,f32x4", &["i32 64", "i32 128", "F32x4 128"]),
            ("k;T=f64", &["i32 64", "i32 128", "F32x4 128", "u8 32"]),
            // Each type has its own threads to choose from.
            ("k;THREADS=64", &["i32 64", "F32x4 128", "u8 32"]),
            ("k;T=i32;THREADS=64;STAGES=9", &["i32 64"]),
            ("k;C=Max", &["F32x4 128", "u8 32"]),
            ("k;C=Max;T=i32", &["F32x4 128", "u8 32"]),
            ("k;C=Min", &[]),
            ("k;PAD=1", &[]),
        ] {
            assert_eq!(selected(asked), expected, "{asked}");
        }
    }
}
