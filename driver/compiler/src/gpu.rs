//! `--device cuda`: an NVIDIA GPU that runs a program's kernels.

use std::num::NonZeroU32;
use std::time::Duration;

use mdh_arrays::Times;
use mdh_cuda::{Capability, Device, Session};
use melior::Context;
use melior::ir::Module;

use crate::error::Result;
use crate::ptx;
use crate::report::Kernels;

/// A GPU that was made ready for the code of this process. Dropping it frees its memory.
pub struct Gpu {
    name: String,
    chip: Capability,
}

impl Gpu {
    /// Makes the device of that number ready; kernels may take so long between two transfers.
    pub fn open(number: u32, limit: Duration) -> Result<Gpu> {
        let device = Device::open(number)?;
        let facts = device.facts();
        let (name, chip) = (facts.name.clone(), facts.capability);
        let mut session = Session::new(device)?;
        session.limit_time(limit);
        session.install();
        Ok(Gpu { name, chip })
    }

    /// Assembles and loads the kernels that a module launches.
    pub fn load(&self, context: &Context, module: &Module) -> Result<()> {
        let kernels = ptx::kernels_of(context, module, self.chip)?;
        match kernels {
            None => Ok(()),
            Some(text) => self.with(|session| session.load(&text, self.chip).map(drop)),
        }
    }

    /// Measures the launches since the device was made ready, of which each of `runs` runs launched
    /// the same.
    pub fn finish(self, runs: NonZeroU32) -> Result<Kernels> {
        self.with(|session| {
            let sequence = session.take_launches();
            let launches = &sequence[..sequence.len() / runs.get() as usize];
            let times = (0..runs.get()).map(|_| session.replay(launches));
            let times = times.collect::<mdh_cuda::Result<Vec<Duration>>>()?;
            Ok(Kernels {
                device: self.name.clone(),
                launches: launches.len(),
                time_ms: Times::new(times)
                    .unwrap_or_else(|| panic!("there are {runs} runs"))
                    .into(),
            })
        })
    }

    fn with<T>(&self, code: impl FnOnce(&mut Session) -> mdh_cuda::Result<T>) -> Result<T> {
        Ok(Session::with(code)?)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        Session::end_all();
    }
}
