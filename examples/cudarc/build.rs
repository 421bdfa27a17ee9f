//! Builds the kernels to PTX.

fn main() {
    if let Err(error) = tilepipe_build::build_in_script("kernels") {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}
