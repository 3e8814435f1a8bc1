//! Calls for a program that has the device for itself: on arrays in its memory, on its stream.
//!
//! ```text
//! Visitor::new(device, PTX) --call(stream)--> kernels in order behind what the stream has to do
//! ```
//!
//! Nothing is waited for, and nothing measured. Memory that a call needs for itself is of the session's pool, which
//! all streams share: a call on another stream starts behind the one before.

use std::sync::PoisonError;

use cudarc::driver::result::ctx;

use crate::{Capability, Error, Facts, Result, Session};

/// Kernels that a program calls.
#[derive(Debug)]
pub struct Visitor {
    device: u32,
    /// None of a program without kernels.
    kernels: Option<usize>,
}

impl Visitor {
    /// Loads kernels, PTX for a chip, on the device of that number, counted from 0.
    pub fn new(device: u32, ptx: Option<&str>, chip: Capability) -> Result<Visitor> {
        let _current = Current::keep()?;
        let load = |session: &mut Session| ptx.map(|ptx| session.load(ptx, chip)).transpose();
        let kernels = Session::visited(device, load)?;
        Ok(Visitor { device, kernels })
    }

    /// The facts about a device.
    pub fn facts(device: u32) -> Result<Facts> {
        let _current = Current::keep()?;
        Session::visited(device, |session| Ok(session.device().facts().clone()))
    }

    /// The handle of the stream on which calls run that are given none.
    pub fn stream(device: u32) -> Result<u64> {
        let _current = Current::keep()?;
        Session::visited(device, |session| Ok(session.own_stream()))
    }

    /// Calls code that launches the kernels: on a stream, which goes on meanwhile; without one, on a stream of its own,
    /// which is waited for.
    pub fn call<T>(&self, stream: Option<u64>, code: impl FnOnce() -> T) -> Result<T> {
        let _current = Current::keep()?;
        let turn = Session::visited(self.device, |session| Ok(session.turn()))?;
        let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
        Session::visited(self.device, |session| session.enter(self.kernels, stream))?;
        let visit = Visit {
            device: self.device,
            waits: stream.is_none(),
        };
        let result = code();
        visit.end()?;
        Ok(result)
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        let (Some(kernels), Ok(_current)) = (self.kernels, Current::keep()) else {
            return;
        };
        // There is nobody to tell of a failure.
        let _ = Session::visited(self.device, |session| {
            session.unload(kernels);
            Ok(())
        });
    }
}

/// A visit, which ends even if its code unwinds.
struct Visit {
    device: u32,
    waits: bool,
}

impl Visit {
    fn end(self) -> Result<()> {
        let result = self.leave();
        std::mem::forget(self);
        result
    }

    fn leave(&self) -> Result<()> {
        Session::visited(self.device, |session| session.leave(self.waits))
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let _ = self.leave();
    }
}

/// The program's choice of a device for this thread, which is as it was in the end.
struct Current(Option<cudarc::driver::sys::CUcontext>);

impl Current {
    fn keep() -> Result<Current> {
        if !crate::device::is_driver_there() {
            return Ok(Current(None));
        }
        match ctx::get_current() {
            Ok(context) => Ok(Current(context)),
            // The driver was not started yet: nobody has chosen.
            Err(error) if error.0 == cudarc::driver::sys::CUresult::CUDA_ERROR_NOT_INITIALIZED => {
                Ok(Current(None))
            }
            Err(error) => Err(Error::from_driver("cuCtxGetCurrent", "for a call", error)),
        }
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        if let Some(context) = self.0 {
            // SAFETY: it was the current one. There is nobody to tell of a failure.
            let _ = unsafe { ctx::set_current(context) };
        }
    }
}
