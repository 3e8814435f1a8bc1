//! Options that mean the same in every command that has them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use mdh_schedule::asm::Asm;
use mdh_schedule::gpu::Gpu;

use crate::devices::{self, DeviceParser, Devices, NamedDevice};
use crate::error::Result;
use crate::output;
use crate::remarks::Filter;

/// The machine that something is for, which may be another one than this.
#[derive(Args, Clone, Debug, Default)]
pub struct MachineOptions {
    /// The device that it runs on, or is made for. 'cpu' is this machine's processor, 'cuda' an NVIDIA GPU like an
    /// H100; the name of a GPU or of a chip (sm_80, sm_90a) says which one.
    #[arg(long, value_name = "DEVICE", value_parser = DeviceParser(Devices::Modelled))]
    pub device: Option<NamedDevice>,
    /// The machine that is meant: a file as `mdh asm --json` writes it, or a name. Names are those of devices (cpu,
    /// h100), and opencl, multi_cuda, cluster_multi_cuda.
    #[arg(long, value_name = "FILE|NAME", conflicts_with = "device")]
    pub asm: Option<String>,
}

impl MachineOptions {
    /// The name of the option that is given, if one is.
    pub fn option(&self) -> Option<&'static str> {
        let device = self.device.map(|_| "--device");
        device.or(self.asm.as_ref().map(|_| "--asm"))
    }

    /// The device, which `--asm` may name too; `None` if it is a machine in a file, or none is named.
    pub fn named(&self) -> Option<NamedDevice> {
        let by_asm = self.asm.as_deref().and_then(|name| name.parse().ok());
        self.device.or(by_asm)
    }

    /// The GPU that is named, by facts that are known of it.
    ///
    /// # Errors
    /// If no facts are known of a GPU with that chip.
    pub fn gpu(&self) -> Result<Option<Gpu>> {
        self.named().map_or(Ok(None), NamedDevice::facts)
    }

    /// The machine that is named; this one if none is.
    ///
    /// # Errors
    /// If a file is not there, or describes no machine.
    pub fn asm(&self, this: &Asm) -> Result<Asm> {
        if let Some(name) = &self.asm {
            return devices::machine(name);
        }
        let gpu = self.gpu()?;
        Ok(gpu.map_or_else(|| this.clone(), |gpu| gpu.asm()))
    }
}

/// JSON in the place of text, or beside it in a file.
#[derive(Args, Clone, Debug, Default)]
pub struct Json {
    /// Prints JSON instead of text, or writes it to a file, beside the text.
    #[arg(
        id = "json",
        long = "json",
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true
    )]
    pub to: Option<Option<PathBuf>>,
    /// The lines that the file has by now.
    #[arg(skip)]
    lines: Arc<Mutex<String>>,
}

impl Json {
    /// Returns whether it is wanted.
    pub fn is_wanted(&self) -> bool {
        self.to.is_some()
    }

    /// Returns whether it is printed, in the place of text.
    pub fn is_printed(&self) -> bool {
        self.to == Some(None)
    }

    /// The file that it goes to, if it does.
    pub fn file(&self) -> Option<&Path> {
        self.to.as_ref()?.as_deref()
    }

    /// Fails if the file cannot be written: to be asked before a long computation.
    ///
    /// # Errors
    /// Of the system, for that file.
    pub fn check(&self) -> Result<()> {
        self.file().map_or(Ok(()), output::check_writable)
    }

    /// Prints a text, unless JSON is printed in its place.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn print(&self, text: impl AsRef<[u8]>) -> Result<()> {
        match self.is_printed() {
            true => Ok(()),
            false => output::print(text),
        }
    }

    /// Prints or writes the JSON, if it is wanted.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn write(&self, json: impl FnOnce() -> String) -> Result<()> {
        match &self.to {
            None => Ok(()),
            Some(file) => {
                let path = file.as_deref().unwrap_or(Path::new("-"));
                output::write(path, json().as_bytes())
            }
        }
    }

    /// Adds a line of JSON, if it is wanted: it is printed, or the file is written again with all lines so far.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn add_line(&self, line: impl FnOnce() -> String) -> Result<()> {
        let Some(path) = self.file() else {
            return self.write(line);
        };
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push_str(&line());
        output::write(path, lines.as_bytes())
    }

    /// Prints a text, and the JSON, of which one or both are wanted.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn print_either(
        &self,
        text: impl FnOnce() -> String,
        json: impl FnOnce() -> String,
    ) -> Result<()> {
        self.check()?;
        if !self.is_printed() {
            output::print(text())?;
        }
        self.write(json)
    }
}

/// Remarks of passes, which are shown if they are asked for.
#[derive(Args, Clone, Debug, Default)]
pub struct Remarks {
    /// Shows the remarks of passes, which say what they have left alone, and why: of passes in whose names a regular
    /// expression occurs, such as vectorize, or of all.
    #[arg(
        id = "remarks",
        long = "remarks",
        value_name = "FILTER",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ".*"
    )]
    pub filter: Option<Filter>,
}

/// The file that a command writes.
#[derive(Args, Clone, Debug, Default)]
pub struct OutFile {
    /// The file to write. It is standard output if none is named.
    #[arg(id = "out", short = 'o', long = "out", value_name = "FILE")]
    pub file: Option<PathBuf>,
}

impl OutFile {
    /// A path, `-` for standard output.
    pub fn path(&self) -> &Path {
        self.file.as_deref().unwrap_or(Path::new("-"))
    }

    /// Fails if it cannot be written: to be asked before a long computation.
    ///
    /// # Errors
    /// Of the system, for that file.
    pub fn check(&self) -> Result<()> {
        output::check_writable(self.path())
    }

    /// Writes it.
    ///
    /// # Errors
    /// If that fails; then there is no such file, or the one that was there.
    pub fn write(&self, bytes: impl AsRef<[u8]>) -> Result<()> {
        output::write(self.path(), bytes.as_ref())
    }
}
