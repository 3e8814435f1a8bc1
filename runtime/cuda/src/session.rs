//! A device as compiled code uses it: memory, kernels, and their times.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cudarc::driver::DriverError;
use cudarc::driver::result::{self, event, function, module, stream};
use cudarc::driver::sys::{
    self, CUevent, CUevent_flags, CUfunction, CUfunction_attribute, CUjit_option, CUmodule,
    CUresult, CUstream,
};

use crate::device::Device;
use crate::launch::Launch;
use crate::pool::{Pool, Source};
use crate::{Capability, CudaErrorKind, Error, Result};

/// Limit on the time of kernels between two transfers, unless another one is given.
pub const TIME_LIMIT: Duration = Duration::from_secs(60);
/// Bytes of the driver's assembler's log that are shown.
const LOG: usize = 8192;

/// A device in use.
pub struct Session {
    functions: BTreeMap<String, (CUfunction, u64)>,
    modules: Vec<CUmodule>,
    pool: Pool,
    stream: CUstream,
    time_limit: Duration,
    /// The launches since the host last waited.
    pending: Vec<String>,
    /// Start of the time of these.
    started: Option<CUevent>,
    busy: Duration,
    recorded: Vec<Launch>,
    /// Memory that is freed stays as it is until the end: launches will use it again.
    is_kept: bool,
    /// A kernel did not end: the device is lost, nothing more is asked of it.
    is_lost: bool,
    device: Device,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Session {}

/// The one that compiled code of this process uses.
static OWN: Mutex<Option<Session>> = Mutex::new(None);

impl Session {
    /// Makes a device ready.
    pub fn new(device: Device) -> Result<Session> {
        device.bind()?;
        let stream = stream::create(stream::StreamKind::NonBlocking);
        let stream =
            stream.map_err(|error| Error::from_driver("cuStreamCreate", "for kernels", error))?;
        Ok(Session {
            functions: BTreeMap::new(),
            modules: Vec::new(),
            pool: Pool::default(),
            stream,
            time_limit: TIME_LIMIT,
            pending: Vec::new(),
            started: None,
            busy: Duration::ZERO,
            recorded: Vec::new(),
            is_kept: false,
            is_lost: false,
            device,
        })
    }

    /// Makes it the one that compiled code of this process uses.
    pub fn install(self) {
        *Session::own() = Some(self);
    }

    /// The one that compiled code of this process uses.
    pub fn own() -> MutexGuard<'static, Option<Session>> {
        OWN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Rule: how long kernels may take between two transfers.
    pub fn limit_time(&mut self, limit: Duration) {
        self.time_limit = limit;
    }

    /// Loads kernels: PTX for a chip.
    pub fn load(&mut self, ptx: &str, chip: Capability) -> Result<()> {
        let facts = self.device.facts();
        if !chip.runs_on(facts.capability) {
            let only = if chip.is_exact { "" } else { " or a later one" };
            return Err(Error::new(
                CudaErrorKind::Architecture,
                format!(
                    "the kernels are for {chip}{only}: found '{}', which is {}",
                    facts.name, facts.capability
                ),
            ));
        }
        self.device.bind()?;
        let text = CString::new(ptx).map_err(|_| {
            Error::new(
                CudaErrorKind::Failed,
                "the kernels' PTX has a zero byte: expected text",
            )
        })?;
        let mut log = vec![0u8; LOG];
        let mut options = [
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), LOG as *mut c_void];
        let mut loaded = ptr::null_mut();
        // SAFETY: the text ends with a zero; options and values have the same length.
        let done = unsafe {
            sys::cuModuleLoadDataEx(
                &mut loaded,
                text.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        if let Err(error) = done.result() {
            let said = CStr::from_bytes_until_nul(&log).unwrap_or_default();
            let said = said.to_string_lossy();
            let mut error =
                Error::from_driver("cuModuleLoadDataEx", "to assemble the kernels", error);
            if !said.trim().is_empty() {
                error.message = format!("{}: {}", error.message, said.trim());
            }
            return Err(error);
        }
        self.modules.push(loaded);
        Ok(())
    }

    /// A kernel that was loaded, and the shared memory that it itself has.
    fn function(&mut self, name: &str) -> Result<(CUfunction, u64)> {
        if let Some(known) = self.functions.get(name) {
            return Ok(*known);
        }
        let about = format!("for kernel '{name}'");
        let mut kernel = Err(DriverError(CUresult::CUDA_ERROR_NOT_FOUND));
        for loaded in &self.modules {
            let text = CString::new(name).unwrap_or_default();
            // SAFETY: the module is loaded.
            kernel = unsafe { module::get_function(*loaded, text) };
            if kernel.is_ok() {
                break;
            }
        }
        let function =
            kernel.map_err(|error| Error::from_driver("cuModuleGetFunction", &about, error))?;
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
        // SAFETY: the function is there.
        let shared = unsafe { function::get_function_attribute(function, attribute) };
        let shared =
            shared.map_err(|error| Error::from_driver("cuFuncGetAttribute", &about, error))?;
        let both = (function, shared.max(0) as u64);
        self.functions.insert(name.to_string(), both);
        Ok(both)
    }

    /// Memory of the device.
    pub fn allocate(&mut self, bytes: usize) -> Result<u64> {
        self.device.bind()?;
        let has = self.pool.in_use();
        let address = self.pool.allocate(&mut Memory, bytes);
        address.map_err(|error| match error.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                let facts = self.device.facts();
                Error::new(
                    CudaErrorKind::Memory,
                    format!(
                        "out of device memory: {bytes} bytes were asked for, beside {has} in use; \
                         '{}' has {}",
                        facts.name, facts.memory
                    ),
                )
            }
            _ => Error::from_driver("cuMemAlloc", &format!("for {bytes} bytes"), error),
        })
    }

    /// From now on, memory that is freed is kept for launches that are repeated, and nobody else gets
    /// it.
    pub fn keep_memory(&mut self) {
        self.is_kept = true;
    }

    /// Keeps memory for who asks next: kernels that use it were launched before any that will.
    pub fn free(&mut self, address: u64) -> Result<()> {
        let is_freed = match self.is_kept {
            true => self.pool.after(address).is_some(),
            false => self.pool.release(address),
        };
        match is_freed {
            true => Ok(()),
            false => Err(Error::new(
                CudaErrorKind::Failed,
                "bug: device memory is freed that was not allocated",
            )),
        }
    }

    /// Copies between the host and the device, or within the device.
    ///
    /// # Safety
    /// A side that is the host's has that many bytes.
    pub unsafe fn transfer(&mut self, target: u64, source: u64, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.device.bind()?;
        let sides = [target, source].map(|address| self.pool.after(address));
        if let Some(short) = sides.into_iter().flatten().find(|there| *there < bytes) {
            let message = format!("bug: {bytes} bytes are copied where device memory has {short}");
            return Err(Error::new(CudaErrorKind::Failed, message));
        }
        let about = format!("for {bytes} bytes");
        let [to, from] = sides.map(|side| side.is_some());
        let (call, done) = match (to, from) {
            (true, true) => {
                // SAFETY: both sides have the bytes; the stream orders it with kernels.
                let done = unsafe { result::memcpy_dtod_async(target, source, bytes, self.stream) };
                ("cuMemcpyDtoDAsync", done)
            }
            (true, false) => {
                self.close()?;
                // SAFETY: both sides have the bytes; the copy is waited for.
                let done = unsafe {
                    let host = std::slice::from_raw_parts(source as *const u8, bytes);
                    result::memcpy_htod_async(target, host, self.stream)
                };
                ("cuMemcpyHtoDAsync", done)
            }
            (false, true) => {
                self.wait()?;
                // SAFETY: both sides have the bytes; the copy is waited for below.
                let done = unsafe {
                    let host = std::slice::from_raw_parts_mut(target as *mut u8, bytes);
                    result::memcpy_dtoh_async(host, source, self.stream)
                };
                ("cuMemcpyDtoHAsync", done)
            }
            (false, false) => {
                let message = "bug: memory of the host is copied by the device";
                return Err(Error::new(CudaErrorKind::Failed, message));
            }
        };
        done.map_err(|error| Error::from_driver(call, &about, error))?;
        if !(to && from) {
            // SAFETY: the stream is alive.
            let done = unsafe { stream::synchronize(self.stream) };
            done.map_err(|error| Error::from_driver("cuStreamSynchronize", &about, error))?;
        }
        Ok(())
    }

    /// Launches a kernel, and does not wait for it.
    pub fn launch(&mut self, launch: Launch) -> Result<()> {
        if launch.is_empty() {
            return Ok(());
        }
        if self.is_lost {
            return Err(Error::new(
                CudaErrorKind::Time,
                format!("kernel '{}' waits for one that does not end", launch.name),
            ));
        }
        self.device.bind()?;
        if self.started.is_none() {
            self.started = Some(self.event()?);
        }
        self.enqueue(&launch)?;
        self.pending.push(launch.name.clone());
        self.recorded.push(launch);
        Ok(())
    }

    fn enqueue(&mut self, launch: &Launch) -> Result<()> {
        let (function, shared) = self.function(&launch.name)?;
        launch.check(self.device.facts(), shared)?;
        let about = format!("for kernel '{}'", launch.name);
        let three = |all: [i64; 3]| (all[0] as u32, all[1] as u32, all[2] as u32);
        let mut words = launch.words.clone();
        let mut pointers: Vec<*mut c_void> = words
            .iter_mut()
            .map(|word| ptr::from_mut(word).cast())
            .collect();
        // SAFETY: the arguments are those of the kernel's signature, by the code that was compiled
        // with it; the driver copies them.
        let done = unsafe {
            result::launch_kernel(
                function,
                three(launch.blocks),
                three(launch.threads),
                launch.shared as u32,
                self.stream,
                &mut pointers,
            )
        };
        done.map_err(|error| Error::from_driver("cuLaunchKernel", &about, error))
    }

    /// An event that is recorded now.
    fn event(&self) -> Result<CUevent> {
        let new = event::create(CUevent_flags::CU_EVENT_DEFAULT);
        let new =
            new.map_err(|error| Error::from_driver("cuEventCreate", "to take times", error))?;
        // SAFETY: both are alive.
        let done = unsafe { event::record(new, self.stream) };
        done.map_err(|error| Error::from_driver("cuEventRecord", "to take times", error))?;
        Ok(new)
    }

    /// Waits for what was launched.
    pub fn wait(&mut self) -> Result<()> {
        self.close()?;
        // SAFETY: the stream is alive.
        let done = unsafe { stream::synchronize(self.stream) };
        done.map_err(|error| {
            Error::from_driver("cuStreamSynchronize", "to wait for kernels", error)
        })
    }

    /// Ends the span of time that launches since the last transfer take, and waits for them.
    fn close(&mut self) -> Result<()> {
        let Some(started) = self.started.take() else {
            return Ok(());
        };
        let ended = self.event()?;
        let names = std::mem::take(&mut self.pending);
        let took = self.await_event(&names, ended).and_then(|()| {
            // SAFETY: both events were recorded, and have happened.
            let took = unsafe { event::elapsed(started, ended) };
            took.map_err(|error| Error::from_driver("cuEventElapsedTime", "to take times", error))
        });
        if !self.is_lost {
            for event in [started, ended] {
                // SAFETY: used no more. There is nobody to tell of a failure.
                let _ = unsafe { event::destroy(event) };
            }
        }
        self.busy += Duration::from_secs_f64(f64::from(took?) / 1e3);
        Ok(())
    }

    /// Waits for an event, as long as is allowed.
    fn await_event(&mut self, names: &[String], event: CUevent) -> Result<()> {
        let started = Instant::now();
        let about = || {
            let mut names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
            names.dedup();
            match &names[..] {
                [one] => format!("in kernel {one}"),
                all => format!("in one of the kernels {}", all.join(", ")),
            }
        };
        loop {
            // SAFETY: the event was recorded.
            match unsafe { event::query(event) } {
                Ok(()) => return Ok(()),
                Err(DriverError(CUresult::CUDA_ERROR_NOT_READY)) => {}
                Err(error) => return Err(Error::from_driver("cuEventQuery", &about(), error)),
            }
            let waited = started.elapsed();
            if waited > self.time_limit {
                self.is_lost = true;
                let seconds = self.time_limit.as_secs_f64();
                return Err(Error::new(
                    CudaErrorKind::Time,
                    format!(
                        "the device does not end {}: expected an end within {seconds} seconds",
                        about()
                    ),
                ));
            }
            // Short kernels are waited for without sleep.
            if waited > Duration::from_millis(1) {
                thread::sleep(waited.min(Duration::from_millis(10)) / 10);
            }
        }
    }

    /// The time that kernels took since the last call of this.
    pub fn take_busy(&mut self) -> Duration {
        std::mem::take(&mut self.busy)
    }

    /// The launches since the last call of this.
    pub fn take_launches(&mut self) -> Vec<Launch> {
        std::mem::take(&mut self.recorded)
    }

    /// Launches the same kernels once more, one right after the other, on memory that is where it
    /// was, and measures how long that takes: nothing is moved in between.
    pub fn replay<'l>(
        &mut self,
        launches: impl IntoIterator<Item = &'l Launch>,
    ) -> Result<Duration> {
        self.wait()?;
        self.take_busy();
        self.started = Some(self.event()?);
        for launch in launches {
            self.enqueue(launch)?;
            if self.pending.last() != Some(&launch.name) {
                self.pending.push(launch.name.clone());
            }
        }
        self.wait()?;
        Ok(self.take_busy())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // A device that does not end would be waited for: the process's end frees it.
        if self.is_lost || self.device.bind().is_err() {
            return;
        }
        self.pool.clear(&mut Memory);
        // SAFETY: made once, used no more. There is nobody to tell of a failure.
        unsafe {
            for loaded in self.modules.drain(..) {
                let _ = module::unload(loaded);
            }
            let _ = stream::destroy(self.stream);
        }
    }
}

/// Memory of the thread's device.
struct Memory;

impl Source for Memory {
    type Error = DriverError;

    fn take(&mut self, bytes: usize) -> std::result::Result<u64, DriverError> {
        // SAFETY: a device is bound.
        unsafe { result::malloc_sync(bytes) }
    }

    fn give(&mut self, address: u64) {
        // SAFETY: it was taken, once. There is nobody to tell of a failure.
        let _ = unsafe { result::free_sync(address) };
    }

    fn is_short(error: &DriverError) -> bool {
        error.0 == CUresult::CUDA_ERROR_OUT_OF_MEMORY
    }
}
