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
    let images = read(&PathBuf::from(folder).join(LIST)).map_err(error)?;
    let images = images.iter().map(|Image { ptx, cubins }| {
        let ptx = Literal::string(ptx);
        let cubins = cubins.iter().map(|(architecture, bytes)| {
            let (architecture, bytes) = (Literal::string(architecture), Literal::byte_string(bytes));
            quote!((#architecture, #bytes))
        });
        quote!((#ptx, &[#(#cubins),*]))
    });
    Ok(quote!(&[#(#images),*]))
}

/// PTX, and machine code with its architecture.
struct Image {
    ptx: String,
    cubins: Vec<(String, Vec<u8>)>,
}

/// Reads the list and its files: for each image a line `ptx PATH`, and lines `cubin sm_90 PATH`.
fn read(list: &Path) -> Result<Vec<Image>, String> {
    let missing = |file: &Path, reason: &dyn std::fmt::Display| {
        let file = file.display();
        format!(
            "cannot read `{file}` ({reason}): the crate's build script calls `tilepipe_build::build_in_script`, which makes it"
        )
    };
    let unknown = || missing(list, &"it has an unknown line");
    let text = fs::read_to_string(list).map_err(|reason| missing(list, &reason))?;
    let mut images: Vec<Image> = Vec::new();
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
            _ => return Err(unknown()),
        }
    }
    if images.is_empty() { Err(missing(list, &"it names no PTX")) } else { Ok(images) }
}
