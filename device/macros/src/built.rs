//! `built_files!`: what the crate's build script built, as literals.
//!
//! The files are read here and not by `include_bytes!` in the generated code: there a macro of that name of the crate's own could
//! put anything. For the same reason the literals are all that is generated: the `unsafe` call stands in a macro of `tilepipe_host`, whose
//! `$crate` no crate can put anything behind.

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
    let Built { ptx, cubins } = read(&PathBuf::from(folder).join(LIST)).map_err(error)?;
    let ptx = Literal::string(&ptx);
    let cubins = cubins.iter().map(|(architecture, bytes)| {
        let (architecture, bytes) = (Literal::u32_unsuffixed(*architecture), Literal::byte_string(bytes));
        quote!((#architecture, #bytes))
    });
    Ok(quote!((#ptx, &[#(#cubins),*])))
}

/// PTX, and machine code with its architecture.
struct Built {
    ptx: String,
    cubins: Vec<(u32, Vec<u8>)>,
}

/// Reads the list and its files: a line `ptx PATH`, and lines `cubin 90 PATH`.
fn read(list: &Path) -> Result<Built, String> {
    let missing = |file: &Path, reason: &dyn std::fmt::Display| {
        let file = file.display();
        format!(
            "cannot read `{file}` ({reason}): the crate's build script calls `tilepipe_build::build_in_script`, which makes it"
        )
    };
    let text = fs::read_to_string(list).map_err(|reason| missing(list, &reason))?;
    let mut built = Built { ptx: String::new(), cubins: Vec::new() };
    for line in text.lines() {
        let mut words = line.splitn(2, ' ');
        match (words.next(), words.next()) {
            (Some("ptx"), Some(path)) => {
                let path = Path::new(path);
                built.ptx = fs::read_to_string(path).map_err(|reason| missing(path, &reason))?;
            }
            (Some("cubin"), Some(rest)) => {
                let (architecture, path) =
                    rest.split_once(' ').ok_or_else(|| missing(list, &"it has an unknown line"))?;
                let architecture = architecture.parse().map_err(|reason| missing(list, &reason))?;
                let path = Path::new(path);
                built.cubins.push((architecture, fs::read(path).map_err(|reason| missing(path, &reason))?));
            }
            _ => return Err(missing(list, &"it has an unknown line")),
        }
    }
    if built.ptx.is_empty() { Err(missing(list, &"it names no PTX")) } else { Ok(built) }
}
