//! Installs a toolchain for real. Ignored by default, since it downloads 160 MB;
//! `cargo xtask setup` does the same.

use tilepipe_build::toolchain;

#[test]
#[ignore = "downloads 160 MB"]
fn an_installed_toolchain_is_found_and_not_installed_twice() {
    let target = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dir = target.path().join(toolchain::FOLDER);
    // What an interrupted installation leaves.
    std::fs::create_dir_all(dir.with_extension("partial").join("root/usr/bin")).unwrap();

    let mut steps = Vec::new();
    let installed = toolchain::install(&dir, &mut |step| {
        println!("{step}");
        steps.push(step.to_string());
    });
    println!("{}", installed.unwrap().versions());
    assert!(steps.len() > 5 && !dir.with_extension("partial").exists());
    assert!(dir.join("manifest.txt").is_file());

    let mut again = Vec::new();
    toolchain::install(&dir, &mut |step| again.push(step.to_string())).unwrap();
    assert_eq!(again, ["the GPU toolchain is already installed"]);
    assert!(toolchain::find(Some(target.path())).is_ok());
}
