//! `built_files!`: what the crate's build script built, as literals.
//!
//! The files are read here and not by `include_bytes!` in the generated code: there, a macro of
//! that name in the crate itself could supply anything. For the same reason the literals are all
//! that is generated: the `unsafe` call is in a macro of `tilepipe_host`, and no crate can redefine
//! what `$crate` names in it.

use std::path::{Path, PathBuf};
use std::{env, fs};

use proc_macro2::{Literal, Span, TokenStream};
use quote::quote;
use syn::Error;

/// The list of files that `tilepipe_build::build_in_script` leaves in its output folder.
const LIST: &str = "tilepipe-kernels.txt";

/// Expands the macro.
///
/// # Errors
///
/// If there are arguments, or the build script has left no kernels.
pub(crate) fn expand(input: TokenStream) -> syn::Result<TokenStream> {
    let error = |message: String| Error::new(Span::call_site(), message);
    if !input.is_empty() {
        return Err(error(
            "`built_kernels!()` takes no arguments: it is for what the crate's own build script built".into(),
        ));
    }
    let Some(folder) = env::var_os("OUT_DIR") else {
        let message = "this crate has no build script: add a `build.rs` that calls `tilepipe_build::build_in_script`";
        return Err(error(message.into()));
    };
    let Built { images, absent } = read(&PathBuf::from(folder).join(LIST)).map_err(error)?;
    let images = images.iter().map(|Image { ptx, cubins }| {
        let ptx = Literal::string(ptx);
        let cubins = cubins.iter().map(|(architecture, bytes)| {
            let (architecture, bytes) = (Literal::string(architecture), Literal::byte_string(bytes));
            quote!((#architecture, #bytes))
        });
        quote!((#ptx, &[#(#cubins),*]))
    });
    let absent = Literal::string(&absent);
    Ok(quote!((&[#(#images),*], #absent)))
}

/// What the build script left.
#[derive(Debug)]
struct Built {
    images: Vec<Image>,
    /// Why there are no images; empty if there are some.
    absent: String,
}

/// PTX, and machine code with its architecture.
#[derive(Debug)]
struct Image {
    ptx: String,
    cubins: Vec<(String, Vec<u8>)>,
}

/// Reads the list and its files: for each image a line `ptx PATH`, and lines `cubin sm_90 PATH`; or
/// lines `absent WHY`.
fn read(list: &Path) -> Result<Built, String> {
    let missing = |file: &Path, reason: &dyn std::fmt::Display| {
        let file = file.display();
        format!(
            "cannot read `{file}` ({reason}): the crate's build script calls `tilepipe_build::build_in_script`, which makes it"
        )
    };
    let unknown = || missing(list, &"it has an unknown line");
    let text = fs::read_to_string(list).map_err(|reason| missing(list, &reason))?;
    let (mut images, mut absent) = (Vec::<Image>::new(), Vec::new());
    for line in text.lines() {
        let (kind, rest) = line.split_once(' ').ok_or_else(unknown)?;
        match kind {
            "ptx" => {
                let path = Path::new(rest);
                let ptx = fs::read_to_string(path).map_err(|reason| missing(path, &reason))?;
                images.push(Image { ptx, cubins: Vec::new() });
            }
            "cubin" => {
                let (architecture, path) = rest.split_once(' ').ok_or_else(unknown)?;
                let path = Path::new(path);
                let bytes = fs::read(path).map_err(|reason| missing(path, &reason))?;
                images.last_mut().ok_or_else(unknown)?.cubins.push((architecture.to_owned(), bytes));
            }
            "absent" => absent.push(rest),
            _ => return Err(unknown()),
        }
    }
    match (images.is_empty(), absent.is_empty()) {
        (true, true) => Err(missing(list, &"it names no PTX")),
        (false, false) => Err(missing(list, &"it names PTX, and says that there is none")),
        _ => Ok(Built { images, absent: absent.join("\n") }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read of a list with this text, in a folder of the test's own.
    fn read_of(test: &str, text: &str) -> Result<Built, String> {
        let folder = env::temp_dir().join(format!("tilepipe-built-{test}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for (file, content) in [("k.ptx", ".version 7.8"), ("k.sm_90.cubin", "cubin")] {
            fs::write(folder.join(file), content).unwrap();
        }
        let list = folder.join(LIST);
        fs::write(&list, text.replace("DIR", &folder.display().to_string())).unwrap();
        let built = read(&list);
        fs::remove_dir_all(&folder).unwrap();
        built
    }

    #[test]
    fn a_list_has_images_with_their_machine_code() {
        let built = read_of("images", "ptx DIR/k.ptx\ncubin sm_90 DIR/k.sm_90.cubin\n").unwrap();
        let [Image { ptx, cubins }] = &built.images[..] else { panic!("{built:?}") };
        assert_eq!((ptx.as_str(), built.absent.as_str()), (".version 7.8", ""));
        assert_eq!(cubins, &[("sm_90".to_string(), b"cubin".to_vec())]);
    }

    #[test]
    fn a_list_without_images_says_why() {
        let built = read_of("absent", "absent nothing was found:\nabsent - no rustc\n").unwrap();
        assert!(built.images.is_empty());
        assert_eq!(built.absent, "nothing was found:\n- no rustc");
    }

    #[test]
    fn a_list_is_one_or_the_other() {
        for (text, problem) in [
            ("", "it names no PTX"),
            ("absent why\nptx DIR/k.ptx\n", "it names PTX, and says that there is none"),
            ("cubin sm_90 DIR/k.sm_90.cubin\n", "an unknown line"),
            ("more\n", "an unknown line"),
            ("ptx DIR/none.ptx\n", "none.ptx"),
        ] {
            let error = read_of("mixed", text).unwrap_err();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }
}
