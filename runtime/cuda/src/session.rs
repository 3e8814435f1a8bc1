//! A device as compiled code uses it: memory, kernels, and their times.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cudarc::driver::DriverError;
use cudarc::driver::result::{self, event, stream};
use cudarc::driver::sys::{
    CUevent, CUevent_flags, CUevent_wait_flags, CUfunction, CUresult, CUstream,
};

use crate::device::Device;
use crate::kernels::{self, Kernels};
use crate::launch::Launch;
use crate::pool::{Pool, Source};
use crate::{Capability, CudaErrorKind, Error, Result};

/// Limit on the time of kernels between two transfers, unless another one is given.
pub const TIME_LIMIT: Duration = Duration::from_secs(60);

/// A device in use.
pub struct Session {
    modules: BTreeMap<usize, Kernels>,
    /// The module whose kernels are launched; any, if none is chosen.
    chosen: Option<usize>,
    pool: Pool,
    /// The stream in use.
    stream: CUstream,
    own_stream: CUstream,
    /// The end, on its stream, of the last [visit](crate::Visitor) that had memory of the pool.
    fence: Option<CUevent>,
    /// Memory of the pool was asked for since the visit began.
    is_pool_used: bool,
    /// Visits wait here for the one before.
    turn: Arc<Mutex<()>>,
    /// Launches are noted, and their times taken.
    is_measured: bool,
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

/// Those of this process, by the numbers of their devices.
static SESSIONS: Mutex<BTreeMap<u32, Session>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// The device that code which is called on this thread uses.
    static DEVICE: Cell<Option<u32>> = const { Cell::new(None) };
}

/// The sessions of this process.
fn sessions() -> MutexGuard<'static, BTreeMap<u32, Session>> {
    SESSIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// Makes a device ready.
    pub fn new(device: Device) -> Result<Session> {
        device.bind()?;
        let stream = stream::create(stream::StreamKind::NonBlocking);
        let stream =
            stream.map_err(|error| Error::from_driver("cuStreamCreate", "for kernels", error))?;
        Ok(Session {
            modules: BTreeMap::new(),
            chosen: None,
            pool: Pool::default(),
            stream,
            own_stream: stream,
            fence: None,
            is_pool_used: false,
            turn: Arc::default(),
            is_measured: true,
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

    /// Makes it the one of its device that compiled code of this process uses.
    pub fn install(self) {
        sessions().insert(self.device.number(), self);
    }

    /// Ends all that were [installed](Session::install).
    pub fn end_all() {
        sessions().clear();
    }

    /// Does something with the session that this thread's code uses: that of the device which a visit is of, else the
    /// only one. Fails if there is none.
    pub fn with<T>(code: impl FnOnce(&mut Session) -> Result<T>) -> Result<T> {
        let mut sessions = sessions();
        let session = match DEVICE.get() {
            Some(device) => sessions.get_mut(&device),
            None => sessions.values_mut().next(),
        };
        match session {
            Some(session) => code(session),
            None => Err(Error::new(
                CudaErrorKind::NoDevice,
                "bug: no device was made ready for compiled code",
            )),
        }
    }

    /// The same with the session of a device, which is made ready if it is not yet: for visits, which are not measured.
    pub(crate) fn visited<T>(
        device: u32,
        code: impl FnOnce(&mut Session) -> Result<T>,
    ) -> Result<T> {
        let mut sessions = sessions();
        if let Some(session) = sessions.get_mut(&device) {
            return code(session);
        }
        let mut session = Session::new(Device::open(device)?)?;
        session.is_measured = false;
        code(sessions.entry(device).or_insert(session))
    }

    /// The handle of the stream that is its own.
    pub(crate) fn own_stream(&self) -> u64 {
        self.own_stream.expose_provenance() as u64
    }

    /// The turn of those who visit this device, one after the other.
    pub(crate) fn turn(&self) -> Arc<Mutex<()>> {
        Arc::clone(&self.turn)
    }

    /// Begins a visit of this thread: launches are of these kernels, on a stream; the own one if none is given.
    pub(crate) fn enter(&mut self, kernels: Option<usize>, stream: Option<u64>) -> Result<()> {
        self.device.bind()?;
        let stream = stream.map_or(self.own_stream, |handle| {
            ptr::with_exposed_provenance_mut(handle as usize)
        });
        // Also on the same stream: another one may have its handle by now.
        if let Some(event) = self.fence {
            let flags = CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
            // SAFETY: the event was recorded; who visits keeps the stream alive.
            let done = unsafe { stream::wait_event(stream, event, flags) };
            done.map_err(|error| {
                Error::from_driver("cuStreamWaitEvent", "for memory of another stream", error)
            })?;
        }
        (self.chosen, self.stream, self.is_pool_used) = (kernels, stream, false);
        DEVICE.set(Some(self.device.number()));
        Ok(())
    }

    /// Ends a visit, after what it launched if `waits` is true.
    pub(crate) fn leave(&mut self, waits: bool) -> Result<()> {
        DEVICE.set(None);
        let stream = std::mem::replace(&mut self.stream, self.own_stream);
        self.chosen = None;
        if waits {
            // SAFETY: the stream is alive.
            let done = unsafe { stream::synchronize(stream) };
            return done.map_err(|error| {
                Error::from_driver("cuStreamSynchronize", "to wait for kernels", error)
            });
        }
        if !self.is_pool_used {
            return Ok(());
        }
        let event = match self.fence {
            Some(event) => event,
            None => {
                let new = event::create(CUevent_flags::CU_EVENT_DISABLE_TIMING);
                new.map_err(|error| Error::from_driver("cuEventCreate", "to order streams", error))?
            }
        };
        // SAFETY: both are alive.
        let done = unsafe { event::record(event, stream) };
        self.fence = Some(event);
        done.map_err(|error| Error::from_driver("cuEventRecord", "to order streams", error))
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Rule: how long kernels may take between two transfers.
    pub fn limit_time(&mut self, limit: Duration) {
        self.time_limit = limit;
    }

    /// Loads kernels: PTX for a chip. Gives the number under which they can be chosen for a visit.
    pub fn load(&mut self, ptx: &str, chip: Capability) -> Result<usize> {
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
        let kernels = Kernels::load(ptx)?;
        let number = self.modules.keys().next_back().map_or(0, |last| last + 1);
        self.modules.insert(number, kernels);
        Ok(number)
    }

    /// Unloads kernels that were launched for the last time.
    pub(crate) fn unload(&mut self, number: usize) {
        if let Some(kernels) = self.modules.remove(&number)
            && self.device.bind().is_ok()
        {
            kernels.unload();
        }
    }

    /// A kernel that was loaded, and the shared memory that it itself has.
    fn function(&mut self, name: &str) -> Result<(CUfunction, u64)> {
        let chosen = self.chosen;
        let is_chosen = |number: &usize| chosen.is_none_or(|chosen| chosen == *number);
        let modules = self.modules.iter_mut();
        let candidates =
            modules.filter_map(|(number, kernels)| is_chosen(number).then_some(kernels));
        kernels::find(candidates, name)
    }

    /// Memory of the device.
    pub fn allocate(&mut self, bytes: usize) -> Result<u64> {
        self.device.bind()?;
        self.is_pool_used = true;
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
        if !self.is_measured {
            return self.enqueue(&launch);
        }
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
            let modules = std::mem::take(&mut self.modules);
            modules.into_values().for_each(Kernels::unload);
            if let Some(event) = self.fence {
                let _ = event::destroy(event);
            }
            let _ = stream::destroy(self.own_stream);
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
