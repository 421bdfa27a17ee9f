//! Loaded code and its launch.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::{CString, c_int, c_void};
use std::ptr;
use std::sync::{MutexGuard, PoisonError};

use cudarc::driver::sys::{
    CUdeviceptr, CUfunction, CUfunction_attribute, CUjit_option, CUlaunchAttribute, CUlaunchAttributeID,
    CUlaunchAttributeValue, CUlaunchConfig, CUmodule, CUstream,
};
use tilepipe::launch::{CONTRACT_PREFIX, Contract, Instance};
use tilepipe::panic_record;

use super::context::Context;
use super::context::turn::Turn;
use super::contract;
use super::driver::Status;
use super::image::Image;
use super::loaded::{Function, LoadedImage, Modules, Ready};
use super::memory::{GpuMemory, submit, submit_alone};
use super::queue::{Captures, GpuStream};
use crate::access::Access;
use crate::error::Error;

/// Bytes of dynamic shared memory that a kernel may use without being asked for.
const SHARED_WITHOUT_OPT_IN: usize = 48 << 10;
/// What the name of a constant begins with that says that an entry waits for the kernel before it:
/// its symbol follows. `tilepipe-build` writes both.
const DEPENDENT_PREFIX: &str = "__tilepipe_dependent__";
/// Bytes kept of the driver's compiler log.
const LOG_BYTES: usize = 16 << 10;

/// What a block of a kernel takes of a GPU: [`Device::resources`](crate::Device::resources).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Registers a thread.
    pub registers: u32,
    /// Bytes of local memory a thread: its stack, and registers that did not fit.
    pub local_bytes: u32,
    /// Bytes of shared memory a block.
    pub shared_bytes: usize,
    /// Blocks that fit on a multiprocessor at once.
    pub blocks: u32,
}

impl Context {
    /// Loads an image: the best cubin that runs here, else its PTX through the driver's compiler.
    pub(crate) fn load(&self, image: &Image<'_>) -> Result<(), Error> {
        let mut modules = self.loaded();
        if modules.images.iter().any(|loaded| loaded.ptx == image.ptx) {
            return Ok(());
        }
        if !image.runs_on(self.capability) {
            let needs = image.target();
            modules.missing.extend(image.entries().map(|entry| (entry.to_owned(), needs.to_owned())));
            return Ok(());
        }
        self.enter()?;
        let _relaxed = self.relax()?;
        let cubin = image.cubin_for(self.capability).map(|cubin| self.load_image(cubin));
        let raw = match cubin {
            Some((Status::SUCCESS, raw, _)) => raw,
            // No cubin, or one that this driver cannot read.
            _ => self.compile(image)?,
        };
        if image.ptx.contains(panic_record::SYMBOL) {
            self.checks().read(image.ptx);
            self.set_record(raw)?;
        }
        let place = modules.images.len();
        modules.images.push(LoadedImage { raw, ptx: image.ptx.to_owned() });
        modules.entries.extend(image.entries().map(|entry| (entry.to_owned(), place)));
        // The new image may have an entry of the same symbol.
        modules.functions.clear();
        self.turn().recent_mut().clear();
        Ok(())
    }

    /// Compiles an image's PTX for this GPU.
    fn compile(&self, image: &Image<'_>) -> Result<CUmodule, Error> {
        let Ok(text) = CString::new(image.ptx) else {
            let reason = "its PTX has a zero byte; build it again with tilepipe-build".to_owned();
            return Err(Error::BadModule { path: image.path.clone(), reason });
        };
        match self.load_image(text.as_bytes_with_nul()) {
            (Status::SUCCESS, raw, _) => Ok(raw),
            (Status::UNSUPPORTED_PTX_VERSION, _, _) => Err(Error::PtxTooNew {
                ptx: image.ptx_version().to_owned(),
                driver: self.driver.version(),
                architecture: self.capability.0 * 10 + self.capability.1,
            }),
            (status, _, log) if !status.is_sticky() => Err(Error::Compilation { text: self.driver.text(status), log }),
            (status, raw, _) => self.check("load a module", status).map(|()| raw),
        }
    }

    /// Hands a cubin, or PTX with its final zero, to the driver; returns the error log as well.
    fn load_image(&self, image: &[u8]) -> (Status, CUmodule, String) {
        let mut log = vec![0_u8; LOG_BYTES];
        let mut names =
            [CUjit_option::CU_JIT_ERROR_LOG_BUFFER as c_int, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES as c_int];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), ptr::without_provenance_mut(LOG_BYTES)];
        let mut raw = ptr::null_mut();
        // SAFETY: writes one handle and at most LOG_BYTES of log, both there; the image is whole (a
        // cubin says its own size, PTX ends with a zero); both arrays have the two options.
        let status = unsafe {
            self.driver.module_load(&mut raw, image.as_ptr().cast(), 2, names.as_mut_ptr(), values.as_mut_ptr())
        };
        let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
        (status, raw, String::from_utf8_lossy(&log[..end]).trim().to_owned())
    }

    /// Stores the panic record's device address in the module's global, if it has that global.
    fn set_record(&self, module: CUmodule) -> Result<(), Error> {
        let Ok(name) = CString::new(panic_record::SYMBOL) else {
            return Ok(());
        };
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: writes an address and a size, which are there; the module was just loaded; the
        // name ends with a zero.
        let status = unsafe { self.driver.module_global(&mut address, &mut bytes, module, name.as_ptr()) };
        if status == Status::NOT_FOUND {
            return Ok(());
        }
        self.check("find the panic record's global", status)?;
        let record = self.record_address.to_ne_bytes();
        if bytes != record.len() {
            let reason = format!("its global {} has {bytes} bytes, not 8; build it again", panic_record::SYMBOL);
            return Err(Error::BadModule { path: "the loaded module".into(), reason });
        }
        // SAFETY: the global has 8 bytes, and no kernel of the new module runs yet; the source
        // outlives the call, which copies from pageable memory before it returns, and the wait
        // below.
        let status =
            unsafe { self.driver.copy_to_device(address, record.as_ptr().cast(), record.len(), self.transfer) };
        self.check("store the panic record's address", status)?;
        // SAFETY: the stream lives as long as the context.
        let status = unsafe { self.driver.stream_synchronize(self.transfer) };
        self.check("store the panic record's address", status)
    }

    /// Finds the entry of an instance, and raises its shared memory limit where that is needed.
    fn function(&self, instance: &Instance) -> Result<Function, Error> {
        if let Some(ready) = self.recent(&self.turn(), instance).copied() {
            return Ok(ready);
        }
        let mut modules = self.loaded();
        if let Some(ready) = self.ready(modules.functions.get(instance.symbol()), instance).copied() {
            self.turn().recent_mut().keep(instance.symbol(), ready);
            return Ok(ready);
        }
        // The driver is asked from here on.
        self.enter()?;
        let _relaxed = self.relax()?;
        let Modules { images, entries, functions, missing } = &mut *modules;
        let function = match functions.entry(instance.symbol()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => match self.find(images, entries, instance)? {
                Some(function) => entry.insert(function),
                None => return Err(self.not_found(images, missing, instance)),
            },
        };
        self.prepare(images, function, instance)?;
        // While the modules are held: a load forgets it together with them.
        self.turn().recent_mut().keep(instance.symbol(), *function);
        Ok(*function)
    }

    /// Says whether a launch of an instance asks the driver for nothing but to start it.
    pub(super) fn has_ready(&self, instance: &Instance) -> bool {
        // The turn is over before the modules are locked.
        let is_recent = self.recent(&self.turn(), instance).is_some();
        is_recent || self.ready(self.loaded().functions.get(instance.symbol()), instance).is_some()
    }

    /// The function of an instance, if it is there and [`prepare`](Self::prepare) has nothing to
    /// refuse and nothing to do.
    fn ready<'a>(&self, found: Option<&'a Function>, instance: &Instance) -> Option<&'a Function> {
        found.filter(|function| self.is_ready(function, instance))
    }

    /// The function of an instance, if it is among those that were found to be ready last.
    fn recent<'a>(&self, turn: &'a Turn<'_>, instance: &Instance) -> Option<&'a Function> {
        self.ready(turn.recent().get(instance.symbol()), instance)
    }

    /// Asks the driver for the entry of an instance, if an image has it.
    fn find(
        &self,
        images: &[LoadedImage],
        entries: &HashMap<String, usize>,
        instance: &Instance,
    ) -> Result<Option<Function>, Error> {
        let Some((image, place)) = entries.get(instance.symbol()).and_then(|place| Some((images.get(*place)?, *place)))
        else {
            return Ok(None);
        };
        let Ok(name) = CString::new(instance.symbol()) else {
            return Ok(None);
        };
        let mut raw = ptr::null_mut();
        // SAFETY: writes one handle, which is there; the module is alive; the name ends with a
        // zero.
        let status = unsafe { self.driver.module_function(&mut raw, image.raw, name.as_ptr()) };
        if status == Status::NOT_FOUND {
            return Ok(None);
        }
        self.check("find a kernel in a module", status)?;
        let threads = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
        let shared = CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
        Ok(Some(Function {
            raw,
            image: place,
            static_shared: self.attribute(raw, shared)? as usize,
            threads_limit: self.attribute(raw, threads)?.min(self.threads_limit),
            opted_in: SHARED_WITHOUT_OPT_IN,
            contract: None,
            scratch: 0,
            waits: self.waits(image, instance)?,
        }))
    }

    /// Says whether an entry waits for the kernel before it, and the driver knows such kernels.
    fn waits(&self, image: &LoadedImage, instance: &Instance) -> Result<bool, Error> {
        let constant = self.place(image, &format!("{DEPENDENT_PREFIX}{}", instance.symbol()))?;
        Ok(constant.is_some() && self.driver.has_dependent_launches())
    }

    /// Why no image has the entry of an instance.
    fn not_found(&self, images: &[LoadedImage], missing: &HashMap<String, String>, instance: &Instance) -> Error {
        let kernel = instance.kernel();
        match missing.get(instance.symbol()) {
            Some(needs) => Error::NoImage {
                kernel,
                needs: needs.clone(),
                architecture: self.capability.0 * 10 + self.capability.1,
                device: self.name.clone(),
            },
            None => Error::NotLoaded { kernel, symbol: instance.symbol(), loaded: images.len() },
        }
    }

    /// Says whether [`prepare`](Self::prepare) has nothing to refuse and nothing to do.
    fn is_ready(&self, function: &Function, instance: &Instance) -> bool {
        let dynamic = function.dynamic_shared(instance);
        instance.contract().is_none_or(|ours| function.contract.is_some_and(|theirs| is_same(&ours, &theirs)))
            && function.static_shared.saturating_add(dynamic) <= self.shared_limit
            && (1..=function.threads_limit).contains(&instance.threads())
            && dynamic <= function.opted_in
    }

    /// Checks that an instance may be launched by its entry, and makes the entry ready for it.
    fn prepare(&self, images: &[LoadedImage], function: &mut Function, instance: &Instance) -> Result<(), Error> {
        if let Some(contract) = instance.contract().filter(|contract| function.contract != Some(*contract)) {
            function.scratch = self.check_contract(&images[function.image], instance, &contract)?;
            function.contract = Some(contract);
        }
        let dynamic = function.dynamic_shared(instance);
        let wanted = function.static_shared.saturating_add(dynamic);
        if wanted > self.shared_limit {
            let (limit, device) = (self.shared_limit, self.name.clone());
            return Err(Error::SharedMemory { instance: instance.name(), wanted, limit, device });
        }
        if instance.threads() == 0 || instance.threads() > function.threads_limit {
            return Err(Error::BlockTooLarge {
                instance: instance.name(),
                threads: instance.threads(),
                limit: function.threads_limit,
                device: self.name.clone(),
            });
        }
        if dynamic > function.opted_in {
            let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as c_int;
            // SAFETY: the function is alive; the value is within the device's limit, so the cast
            // keeps it.
            let status = unsafe { self.driver.function_set_attribute(function.raw, attribute, dynamic as c_int) };
            self.check("opt in to more than 48 KiB of shared memory", status)?;
            function.opted_in = dynamic;
        }
        Ok(())
    }

    /// Compares an instance's contract with that of its entry in a module; returns the bytes of
    /// scratch memory that the entry needs.
    fn check_contract(&self, image: &LoadedImage, instance: &Instance, ours: &Contract) -> Result<usize, Error> {
        let kernel = instance.kernel();
        let theirs = self.constant(image, &format!("{CONTRACT_PREFIX}{}", instance.symbol()))?;
        let mut theirs = String::from_utf8_lossy(&theirs.unwrap_or_default()).into_owned();
        let Some(scratch) = contract::take_scratch(&mut theirs) else {
            let difference =
                "the module says nothing of it, as it was not built by this version of tilepipe-build".to_owned();
            return Err(Error::ContractMismatch { kernel, difference });
        };
        match contract::first_difference(instance, &ours.whole(), &theirs) {
            None => Ok(scratch),
            Some(difference) => Err(Error::ContractMismatch { kernel, difference }),
        }
    }

    /// Reads a constant of an image, if it has one of that name.
    fn constant(&self, image: &LoadedImage, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let Some((address, bytes)) = self.place(image, name)? else {
            return Ok(None);
        };
        let mut text = vec![0_u8; bytes];
        // SAFETY: writes as many bytes as the constant and the vector have; the vector lives until
        // the wait below.
        let status = unsafe { self.driver.copy_to_host(text.as_mut_ptr().cast(), address, bytes, self.transfer) };
        self.check("read a constant of a module", status)?;
        // SAFETY: the stream lives as long as the context.
        let status = unsafe { self.driver.stream_synchronize(self.transfer) };
        self.check("read a constant of a module", status)?;
        Ok(Some(text))
    }

    /// Where a constant of an image lies and how many bytes it has, if there is one of that name.
    fn place(&self, image: &LoadedImage, name: &str) -> Result<Option<(CUdeviceptr, usize)>, Error> {
        let (Ok(name), true) = (CString::new(name), image.ptx.contains(name)) else {
            return Ok(None);
        };
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: writes an address and a size, which are there; the module is alive; the name ends
        // with a zero.
        let status = unsafe { self.driver.module_global(&mut address, &mut bytes, image.raw, name.as_ptr()) };
        if status == Status::NOT_FOUND {
            return Ok(None);
        }
        self.check("find a constant of a module", status)?;
        Ok(Some((address, bytes)))
    }

    /// How many blocks of an instance fit on a multiprocessor.
    fn blocks(&self, function: &Function, instance: &Instance) -> Result<u32, Error> {
        let (dynamic, mut blocks) = (function.dynamic_shared(instance), 0);
        // SAFETY: writes one integer, which is there; the function is alive; threads and bytes are
        // within the limits that `function` checks.
        let status = unsafe { self.driver.occupancy(&mut blocks, function.raw, instance.threads() as c_int, dynamic) };
        self.check("ask how many blocks of a kernel fit on a multiprocessor", status)?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    /// How many blocks of an instance run at once.
    pub(crate) fn blocks_at_once(&self, instance: &Instance) -> Result<u32, Error> {
        self.enter()?;
        let function = self.function(instance)?;
        Ok(self.blocks(&function, instance)?.saturating_mul(self.multiprocessors))
    }

    /// What a block of an instance takes, and how many fit on a multiprocessor.
    pub(crate) fn resources(&self, instance: &Instance) -> Result<Resources, Error> {
        self.enter()?;
        let function = self.function(instance)?;
        let dynamic = function.dynamic_shared(instance);
        let blocks = self.blocks(&function, instance)?;
        Ok(Resources {
            registers: self.attribute(function.raw, CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            local_bytes: self.attribute(function.raw, CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            shared_bytes: function.static_shared + dynamic,
            blocks,
        })
    }

    fn attribute(&self, function: CUfunction, attribute: CUfunction_attribute) -> Result<u32, Error> {
        let mut value = 0;
        // SAFETY: writes one integer, which is there; the function was just found.
        let status = unsafe { self.driver.function_attribute(&mut value, attribute as c_int, function) };
        self.check("ask for an attribute of a kernel", status)?;
        Ok(u32::try_from(value).unwrap_or(0))
    }

    fn loaded(&self) -> MutexGuard<'_, Modules> {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says whether two contracts are the same: mostly they are one, and their text is not read.
fn is_same(ours: &Contract, theirs: &Contract) -> bool {
    let is_one = ptr::eq(ours.text, theirs.text)
        && ptr::eq(ours.package, theirs.package)
        && ptr::eq(ours.version, theirs.version);
    is_one || ours == theirs
}

/// Starts a kernel in a stream, after everything that its buffers wait for.
///
/// # Safety
///
/// 0. `parameters` match `instance.parameters()` in number, and at each lie the bytes of a
///    parameter of that kind and element type: all of a constant's, and 32 at least of another.
/// 1. `accesses` name every allocation of this crate's into which an address in `parameters`
///    points, `Write` where the parameter is an output; all belong to the stream's context, and
///    none that is written occurs twice. Other memory into which one points is of that context as
///    well, stays alive until the kernel is done, and is in order: nothing else writes it
///    meanwhile, or uses it if the parameter is an output.
pub(crate) unsafe fn launch<'a>(
    stream: &GpuStream,
    grid: u32,
    instance: &Instance,
    parameters: &mut [*mut c_void],
    accesses: impl Iterator<Item = (&'a GpuMemory, Access)> + Clone,
    captures: Captures,
) -> Result<(), Error> {
    let (context, lane) = (&stream.context, stream.lane());
    let mut turn = context.turn();
    let ready = match context.recent(&turn, instance).map(|function| function.ready(instance)) {
        Some(ready) => ready,
        None => {
            drop(turn);
            stream.refuse_first_in_capture(instance)?;
            let function = context.function(instance)?;
            turn = context.turn();
            function.ready(instance)
        }
    };
    let doing = "launch a kernel";
    let work = || {
        // SAFETY: (0) is passed on to the caller; (1) the stream is alive, and memory stays alive
        // and in order until the kernel is done, since `submit` records it for all of `accesses`,
        // and the caller answers for the rest (obligation 1).
        unsafe { start(context, ready, lane.raw(), grid, instance, parameters) }
    };
    if lane.is_shared() && accesses.clone().next().is_none() {
        // Nothing is recorded, so that nothing has to come in one order with it.
        drop(turn);
        return submit_alone(lane, captures, doing, work);
    }
    submit(&turn, lane, accesses, captures, doing, work, |_| ())
}

/// Starts a kernel in a stream of somebody else's, after that stream's work alone.
///
/// # Safety
///
/// 0. As for [`launch`].
/// 1. `stream` is a stream of the context, or null for its default one, and the memory into which
///    an address in `parameters` points is of that context. It stays until the kernel is done, and
///    nothing else writes it meanwhile, or uses it if the parameter is an output.
pub(crate) unsafe fn launch_in(
    context: &Context,
    stream: CUstream,
    grid: u32,
    instance: &Instance,
    parameters: &mut [*mut c_void],
) -> Result<(), Error> {
    context.enter()?;
    let ready = context.function(instance)?.ready(instance);
    // SAFETY: (0) and (1) are passed on to the caller.
    let status = unsafe { start(context, ready, stream, grid, instance, parameters) };
    context.check("launch a kernel", status)
}

/// Finds the entry of an instance, and the bytes of dynamic shared memory of its blocks. The
/// context is the calling thread's then.
pub(crate) fn entry(context: &Context, instance: &Instance) -> Result<(CUfunction, u32), Error> {
    context.enter()?;
    let ready = context.function(instance)?.ready(instance);
    Ok((ready.raw, ready.shared_bytes))
}

/// Hands a kernel to the driver; `ready` is what the context, which is the calling thread's, has
/// found for `instance`.
///
/// # Safety
///
/// 0. As for [`launch`].
/// 1. The stream is one of the context, and the memory into which an address in `parameters` points
///    stays alive and in order until the kernel is done.
unsafe fn start(
    context: &Context,
    ready: Ready,
    stream: CUstream,
    grid: u32,
    instance: &Instance,
    parameters: &mut [*mut c_void],
) -> Status {
    if ready.waits {
        let mut dependent = CUlaunchAttribute {
            id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            pad: [0; _],
            value: CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
        };
        let launch = CUlaunchConfig {
            gridDimX: grid,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: instance.threads(),
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: ready.shared_bytes,
            hStream: stream,
            attrs: &mut dependent,
            numAttrs: 1,
        };
        // SAFETY: as below; the driver reads the configuration and its attribute before it returns.
        // The kernel waits for the one before it before it touches memory (`Function::waits`),
        // which has waited as well or was no dependent launch: so it waits for all work of the
        // stream, and the memory is in order as it is without.
        return unsafe {
            context.driver.launch_kernel_with(&launch, ready.raw, parameters.as_mut_ptr(), ptr::null_mut())
        };
    }
    // SAFETY: the function is alive (`Modules`, 0), and so is the stream (obligation 1); the driver
    // reads one parameter through each pointer before it returns, as many as the entry has, each of
    // the bytes of its kind and type (obligation 0; the entry is the instance's: `Instance`, 1,
    // whose contract `Context::function` has compared); the kernel uses no memory but that of
    // obligation 1.
    unsafe {
        context.driver.launch_kernel(
            ready.raw,
            grid,
            1,
            1,
            instance.threads(),
            1,
            1,
            ready.shared_bytes,
            stream,
            parameters.as_mut_ptr(),
            ptr::null_mut(),
        )
    }
}
