//! Builds the kernels to PTX, where there is a compiler for GPUs.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(without_gpu_kernels)");
    match tilepipe_build::build_in_script("kernels") {
        Ok(artifact) if artifact.absent.is_some() => println!("cargo::rustc-cfg=without_gpu_kernels"),
        Ok(_) => {}
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(1);
        }
    }
}
