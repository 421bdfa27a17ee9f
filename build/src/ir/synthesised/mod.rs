//! Functions of single instructions that the device crate declares and the link step defines: what
//! an instruction has as constants, or how many registers it takes, is in a function's name.

pub(crate) mod products;
pub(crate) mod registers;

use std::collections::BTreeSet;

use super::global_name;

/// The module with those of these functions defined that it declares, and their names; `None` if it
/// declares none.
pub(crate) fn define(module: &str) -> Option<(String, BTreeSet<String>)> {
    if !products::are_in(module) && !registers::are_in(module) {
        return None;
    }
    let (mut text, mut defined) = (String::with_capacity(module.len()), BTreeSet::new());
    let mut definitions = String::new();
    for line in module.lines() {
        let name =
            line.strip_prefix("declare ").and_then(|_| global_name(&line[line.find('@')?..])).map(|(name, _)| name);
        let definition = |name| products::definition(name).or_else(|| registers::definition(name));
        match name.and_then(|name| Some((name, definition(name)?))) {
            Some((name, definition)) => {
                definitions.push_str(&definition);
                defined.insert(name.to_string());
            }
            None => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    text.push_str(&definitions);
    Some((text, defined))
}

#[cfg(test)]
mod tests {
    use super::define;

    #[test]
    fn what_a_module_declares_is_defined() {
        let module = "declare void @tilepipe_product_bf16_n8_mk(ptr noundef, i64 noundef, i64 noundef, i32 noundef) #1\ndeclare void \
                      @tilepipe_product_else(ptr)\ndeclare void @tilepipe_registers_inc_232() #1\n";
        let (text, names) = define(module).expect("it has such functions");
        assert_eq!(
            names.into_iter().collect::<Vec<_>>(),
            ["tilepipe_product_bf16_n8_mk", "tilepipe_registers_inc_232"]
        );
        let call = "  %r = call { float, float, float, float } asm sideeffect \"{ .reg .pred p; setp.ne.b32 p, $10, 0; \
                    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, $8, $9, p, 1, 1, 1, 0; }\", \
                    \"=f,=f,=f,=f,0,1,2,3,l,l,r,~{memory}\"(float %v0, float %v1, float %v2, float %v3, i64 %a, i64 %b, i32 %add)";
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1 + 1 + 2 * 4 + 1 + 2 * 4 + 2 + 4, "{text}");
        assert_eq!(lines[0], "declare void @tilepipe_product_else(ptr)");
        assert_eq!(lines[10], call);
        assert_eq!(
            lines[11..13],
            ["  %e0 = extractvalue { float, float, float, float } %r, 0", "  store float %e0, ptr %p0, align 4"]
        );
        assert_eq!(lines[22], "  call void asm sideeffect \"setmaxnreg.inc.sync.aligned.u32 232;\", \"~{memory}\"()");
        assert!(define("declare void @tilepipe_tensor_copy_2d(ptr)\n").is_none());
    }
}
