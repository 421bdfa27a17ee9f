use super::*;

#[test]
fn a_kernel_for_newer_gpus_is_an_error_that_names_what_it_needs_and_what_the_device_is() {
    let error = Error::NoImage {
        kernel: "copy_bulk",
        needs: "sm_90".to_owned(),
        architecture: 80,
        device: "NVIDIA A100".to_owned(),
    };
    let message = error.to_string();
    assert!(message.starts_with("kernel `copy_bulk` is built for sm_90, and NVIDIA A100 is an sm_80: "), "{message}");
}
