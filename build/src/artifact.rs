//! What a build leaves behind.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::assemble::Assembled;
use crate::assemble::ptxas::Said;
use crate::compile::cache;
use crate::report::{KernelReport, PtxasMessage, warnings};

/// The built kernels: images with PTX and machine code for each architecture, and what they cost.
///
/// The files lie in one folder, `<crate>.<kernel>.ptx`, `<crate>.<kernel>.<arch>.cubin`,
/// `<crate>.<kernel>.ll`, `report.json` ([`Artifact::report`]) and `messages.json`
/// ([`Artifact::messages`]), from which `tilepipe_host::Module::read` loads them. A kernel function
/// with more than 32 instances has several images, `<crate>.<kernel>.0` and so on.
#[derive(Debug, Clone)]
pub struct Artifact {
    /// The images, by their names.
    pub images: Vec<Image>,
    /// What each kernel uses on each architecture, ordered by architecture as requested, then by
    /// image.
    pub report: Vec<KernelReport>,
    /// What else `ptxas` says, in the same order: warnings, and whatever costs performance. A build
    /// from what was kept has them too.
    ///
    /// [`Artifact::warnings`] sums both up.
    pub messages: Vec<PtxasMessage>,
    /// Whether everything was up to date and nothing was linked or assembled.
    pub fresh: bool,
    /// Why there are no kernels: [`build_in_script`](crate::build_in_script) found no device
    /// compiler on this machine. None in what a [`Builder`](crate::Builder) returns.
    pub absent: Option<String>,
}

/// Some of the crate's kernels, which are loaded together.
#[derive(Debug, Clone)]
pub struct Image {
    /// The name, which no other image of the crate has: that of the kernel function.
    pub name: String,
    /// The least architecture that its kernels run on, such as `sm_80`: that of the build, or a
    /// newer one whose instructions they have. One that ends with `a` is for that architecture
    /// alone.
    pub target: String,
    /// The PTX for that architecture, as text. Machine code for `sm_90` and newer is assembled from
    /// this text with other waits at mbarriers; see
    /// [`Builder::target_cpu`](crate::Builder::target_cpu).
    pub ptx: PathBuf,
    /// The optimised LLVM IR that the PTX was made of, as text.
    pub ir: PathBuf,
    /// The machine code, in the order of the requested architectures; none for those that it does
    /// not run on. Where `sm_90` is requested, kernels for `sm_90a` have machine code for that.
    pub cubins: Vec<Cubin>,
}

/// The machine code of one architecture.
#[derive(Debug, Clone)]
pub struct Cubin {
    /// The architecture, such as `sm_90`.
    pub arch: String,
    /// The file.
    pub path: PathBuf,
}

impl Artifact {
    /// That of a machine without a device compiler.
    pub(crate) fn without_kernels(why: String) -> Artifact {
        Artifact { images: Vec::new(), report: Vec::new(), messages: Vec::new(), fresh: false, absent: Some(why) }
    }

    /// What costs performance or was not done as asked, one line for each kernel function and
    /// matter: kernels with a stack in local memory or spilled registers, with the figures of the
    /// worst instance, and everything else that `ptxas` warns of.
    ///
    /// [`build_in_script`](crate::build_in_script) has cargo print them.
    pub fn warnings(&self) -> Vec<String> {
        warnings::of(&self.report, &self.messages)
    }

    /// The PTX of all images, one after the other.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a file cannot be read.
    pub fn ptx(&self) -> Result<String, Error> {
        Self::texts(self.images.iter().map(|image| &image.ptx))
    }

    /// The optimised LLVM IR of all images, one after the other.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a file cannot be read.
    pub fn ir(&self) -> Result<String, Error> {
        Self::texts(self.images.iter().map(|image| &image.ir))
    }

    fn texts<'a>(mut paths: impl Iterator<Item = &'a PathBuf>) -> Result<String, Error> {
        paths.try_fold(String::new(), |all, path| {
            Ok(all + &std::fs::read_to_string(path).map_err(Error::io("read", path))?)
        })
    }

    /// Writes the list of files that `tilepipe_host::built_kernels!()` embeds,
    /// `tilepipe-kernels.txt`: for each image a line `ptx PATH`, and a line `cubin sm_90 PATH` for
    /// each architecture. Where kernels are [`absent`](Artifact::absent) it has lines `absent WHY`
    /// instead. `folder` is the output folder of the crate's build script, where the macro looks
    /// for it.
    ///
    /// The file is replaced only if its content changes.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be written or the working folder is gone.
    pub fn write_list(&self, folder: &Path) -> Result<(), Error> {
        Artifact::write_list_of(std::slice::from_ref(self), folder)
    }

    /// As [`Artifact::write_list`], of the files of several.
    pub(crate) fn write_list_of(artifacts: &[Artifact], folder: &Path) -> Result<(), Error> {
        let path = &folder.join(LIST);
        let mut text = String::new();
        for line in artifacts.iter().flat_map(|one| &one.absent).flat_map(|why| why.lines()) {
            text.push_str(&format!("absent {line}\n"));
        }
        for image in artifacts.iter().flat_map(|one| &one.images) {
            text.push_str(&format!("ptx {}\n", absolute(&image.ptx)?.display()));
            for cubin in &image.cubins {
                text.push_str(&format!("cubin {} {}\n", cubin.arch, absolute(&cubin.path)?.display()));
            }
        }
        if std::fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
            return Ok(());
        }
        cache::write_atomically(path, text.as_bytes())
    }
}

/// An artifact's files in its folder.
pub(crate) struct OutputFiles<'a> {
    folder: &'a Path,
    /// The crate's name.
    name: &'a str,
}

/// What the folder says about itself.
#[derive(Serialize, Deserialize)]
struct Manifest {
    /// Everything that the files depend on.
    key: String,
    images: Vec<Entry>,
    /// A hash of each file's content.
    files: BTreeMap<String, String>,
}

/// What the folder says of an image.
#[derive(Serialize, Deserialize)]
struct Entry {
    name: String,
    target: String,
    architectures: Vec<String>,
}

impl<'a> OutputFiles<'a> {
    pub(crate) fn new(folder: &'a Path, name: &'a str) -> Self {
        OutputFiles { folder, name }
    }

    /// The artifact that is there, if it was built with this key and every file is as it was
    /// written.
    pub(crate) fn existing(&self, key: &str) -> Option<Artifact> {
        let manifest: Manifest = serde_json::from_slice(&std::fs::read(self.manifest()).ok()?).ok()?;
        if manifest.key != key {
            return None;
        }
        let is_whole = |(name, hash): (&String, &String)| {
            std::fs::read(self.folder.join(name)).is_ok_and(|content| cache::hash(&content) == *hash)
        };
        if !manifest.files.par_iter().all(is_whole) {
            return None;
        }
        let report = serde_json::from_slice(&std::fs::read(self.folder.join(REPORT)).ok()?).ok()?;
        let messages = serde_json::from_slice(&std::fs::read(self.folder.join(MESSAGES)).ok()?).ok()?;
        let images = manifest.images.iter().map(|image| self.image(image));
        Some(Artifact { images: images.collect(), report, messages, fresh: true, absent: None })
    }

    /// Replaces the artifact that is there by another one.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub(crate) fn replace(&self, images: &[Assembled], said: Said, key: &str) -> Result<Artifact, Error> {
        // Until the new manifest is written, a crash leaves none, and the next build starts over.
        let _ = std::fs::remove_file(self.manifest());
        let mut files = BTreeMap::new();
        let mut write = |path: &Path, content: &[u8]| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.insert(name, cache::hash(content));
            cache::write_atomically(path, content)
        };
        let mut placed = Vec::new();
        let mut entries = Vec::new();
        for assembled in images {
            let entry = Entry {
                name: assembled.name.clone(),
                target: assembled.target.clone(),
                architectures: assembled.cubins.iter().map(|cubin| cubin.arch.clone()).collect(),
            };
            let image = self.image(&entry);
            entries.push(entry);
            write(&image.ptx, assembled.ptx.as_bytes())?;
            write(&image.ir, assembled.ir.as_bytes())?;
            for (cubin, made) in image.cubins.iter().zip(&assembled.cubins) {
                write(&cubin.path, &made.code)?;
            }
            placed.push(image);
        }
        let json = |error: serde_json::Error| Error::io("write", self.folder)(error.into());
        write(&self.folder.join(REPORT), &serde_json::to_vec_pretty(&said.kernels).map_err(json)?)?;
        write(&self.folder.join(MESSAGES), &serde_json::to_vec_pretty(&said.messages).map_err(json)?)?;
        self.remove_all_but(&files)?;
        let manifest = Manifest { key: key.to_string(), images: entries, files };
        cache::write_atomically(&self.manifest(), &serde_json::to_vec_pretty(&manifest).map_err(json)?)?;
        Ok(Artifact { images: placed, report: said.kernels, messages: said.messages, fresh: false, absent: None })
    }

    /// Removes what an earlier build of the crate has left: a kernel that is no more must not be
    /// loaded.
    fn remove_all_but(&self, files: &BTreeMap<String, String>) -> Result<(), Error> {
        let read = std::fs::read_dir(self.folder).map_err(Error::io("read", self.folder))?;
        for entry in read.flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let ours = name.strip_prefix(self.name).is_some_and(|rest| rest.starts_with('.'));
            if ours && !files.contains_key(&name) && path.is_file() {
                std::fs::remove_file(&path).map_err(Error::io("remove", &path))?;
            }
        }
        Ok(())
    }

    fn image(&self, entry: &Entry) -> Image {
        let Entry { name, target, architectures } = entry;
        let file = |extension: &str| self.folder.join(format!("{}.{name}.{extension}", self.name));
        let cubin = |arch: &String| Cubin { arch: arch.clone(), path: file(&format!("{arch}.cubin")) };
        Image {
            name: name.clone(),
            target: target.clone(),
            ptx: file("ptx"),
            ir: file("ll"),
            cubins: architectures.iter().map(cubin).collect(),
        }
    }

    fn manifest(&self) -> PathBuf {
        self.folder.join(format!("{}.manifest.json", self.name))
    }
}

/// The name of the list of what kernels use.
const REPORT: &str = "report.json";
/// The name of the list of what else `ptxas` said.
const MESSAGES: &str = "messages.json";

/// The list's name: the device crate's macro `built_files` reads it.
const LIST: &str = "tilepipe-kernels.txt";

/// A path that means the same wherever the list is read.
fn absolute(path: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(path).map_err(Error::io("find", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::MachineCode;

    #[test]
    fn the_list_names_ptx_and_machine_code() {
        let dir = tempfile::tempdir().unwrap();
        let files = OutputFiles::new(dir.path(), "k");
        let images = [("one", &["sm_90", "sm_100a"][..]), ("two.0", &["sm_90a"])].map(|(name, architectures)| {
            let architectures = architectures.iter().map(ToString::to_string).collect();
            files.image(&Entry { name: name.to_string(), target: "sm_80".to_string(), architectures })
        });
        let images = images.to_vec();
        let artifact = Artifact { images, report: Vec::new(), messages: Vec::new(), fresh: false, absent: None };
        artifact.write_list(dir.path()).unwrap();
        let folder = dir.path().display().to_string();
        let text = std::fs::read_to_string(dir.path().join("tilepipe-kernels.txt")).unwrap().replace(&folder, "F");
        assert_eq!(
            text,
            "ptx F/k.one.ptx\ncubin sm_90 F/k.one.sm_90.cubin\ncubin sm_100a F/k.one.sm_100a.cubin\n\
             ptx F/k.two.0.ptx\ncubin sm_90a F/k.two.0.sm_90a.cubin\n"
        );
    }

    #[test]
    fn a_list_without_kernels_says_why() {
        let dir = tempfile::tempdir().unwrap();
        Artifact::without_kernels("nothing was found:\n- no rustc".to_string()).write_list(dir.path()).unwrap();
        let text = std::fs::read_to_string(dir.path().join(LIST)).unwrap();
        assert_eq!(text, "absent nothing was found:\nabsent - no rustc\n");
    }

    fn assembled(name: &str) -> Assembled {
        let cubins = vec![MachineCode { arch: "sm_80".to_string(), code: b"cubin".to_vec(), said: Said::default() }];
        let [ir, ptx, target] = ["ir", "ptx", "sm_80"].map(str::to_string);
        Assembled { name: name.to_string(), target, ir, ptx, cubins }
    }

    #[test]
    fn an_artifact_is_up_to_date_while_key_and_files_are() {
        let dir = tempfile::tempdir().unwrap();
        let files = OutputFiles::new(dir.path(), "k");
        let message = PtxasMessage {
            kernel: Some("k$one".to_string()),
            image: "one".to_string(),
            arch: "sm_80".to_string(),
            text: "said".to_string(),
        };
        let said = Said { kernels: vec![KernelReport::default()], messages: vec![message.clone()] };
        let write = |names: &[&str]| {
            let images: Vec<Assembled> = names.iter().map(|name| assembled(name)).collect();
            files.replace(&images, said.clone(), "key").unwrap()
        };
        assert!(files.existing("key").is_none());
        let artifact = write(&["one", "two"]);
        assert!(!artifact.fresh);
        let again = files.existing("key").unwrap();
        assert!(again.fresh && again.images.len() == 2);
        assert_eq!((again.report, again.messages), (vec![KernelReport::default()], vec![message]));
        assert!(files.existing("other").is_none());
        for file in [
            &artifact.images[1].ptx,
            &artifact.images[0].cubins[0].path,
            &dir.path().join(REPORT),
            &dir.path().join(MESSAGES),
        ] {
            std::fs::write(file, "edited").unwrap();
            assert!(files.existing("key").is_none(), "{} was edited", file.display());
            std::fs::remove_file(file).unwrap();
            assert!(files.existing("key").is_none(), "{} is gone", file.display());
            write(&["one", "two"]);
        }
        std::fs::write(dir.path().join("other.two.ptx"), "of another crate").unwrap();
        write(&["one"]);
        assert!(!artifact.images[1].ptx.exists(), "the kernel is no more");
        assert!(dir.path().join("other.two.ptx").exists());
    }
}
