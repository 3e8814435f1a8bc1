//! Host of a command: the machine that its code runs on, and the schedules that were tuned.
//!
//! The program makes it once and passes it to commands, which tell passes of the machine. Nothing here asks for
//! either: the tuner measures with this compiler, which so cannot depend on the tuner's database.

use mdh_schedule::asm::Asm;

use crate::error::{Error, Result};
use crate::tuned::Find;

/// Machine and tuned schedules.
pub struct Host {
    /// The machine that passes are told of.
    pub machine: Asm,
    /// Access to schedules that were tuned; none for a program that keeps none.
    pub tuned: Option<&'static Find>,
}

impl Host {
    /// The machine of this process, without schedules that were tuned.
    ///
    /// # Errors
    /// If the file that `MDH_ASM` names describes no machine.
    pub fn this() -> Result<Host> {
        Ok(Host {
            machine: mdh_machine::this().map_err(Error::input)?,
            tuned: None,
        })
    }

    /// The same with schedules that were tuned.
    pub fn with_tuned(find: &'static Find) -> Result<Host> {
        let tuned = Some(find);
        Ok(Host {
            tuned,
            ..Host::this()?
        })
    }
}
