//! Builds the kernels to PTX, where there is a compiler for GPUs.

/// The kernels of attention and of its gradient; `.cargo/config.toml` names them for the CPU.
const ATTENTION: [&str; 6] = [
    "attention",
    "attention_row_products",
    "attention_queries_gradient",
    "attention_keys_gradient",
    "attention_keys_gradient_alone",
    "attention_values_gradient",
];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(without_gpu_kernels)");
    // Its own kernels, and attention's.
    let crates = [("kernels", &[][..]), ("../../kernels", &ATTENTION)];
    match tilepipe_build::build_all_in_script(crates) {
        Ok([artifact, _]) if artifact.absent.is_some() => println!("cargo::rustc-cfg=without_gpu_kernels"),
        Ok(_) => {}
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(1);
        }
    }
}
