//! Devices by the names that users give them: one list for all commands, in `--device`, `--chip` and `--asm`.
//!
//! | name | what it is |
//! |------|------------|
//! | `cpu` | this machine's processor |
//! | `sim` | the simulator of a GPU |
//! | `cuda` | an NVIDIA GPU: this machine's, or where none is needed, one like an H100 |
//! | `a100`, `h100`, .. | a GPU whose facts are known ([`Gpu::ALL`]), and whose chip is (`CHIPS_OF_GPUS`) |
//! | `sm_80`, `sm_90a`, .. | a chip that there is code for |

use std::path::Path;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
pub use mdh_cuda::Capability;
use mdh_machine::Mistake;
use mdh_passes::pipelines::Target;
use mdh_schedule::asm::Asm;
use mdh_schedule::gpu::Gpu;

use crate::diagnostics::error_in;
use crate::error::{Error, Result};
use crate::source::Source;

/// The chip that code is for, if nothing else is said.
const CHIP: Capability = Capability {
    major: 9,
    minor: 0,
    is_exact: false,
};

/// The chips of the GPUs of [`Gpu::ALL`], by all that they have.
const CHIPS_OF_GPUS: [(&str, &str); 4] = [
    ("a100", "sm_80"),
    ("h100", "sm_90a"),
    ("h200", "sm_90a"),
    ("b200", "sm_100a"),
];

/// The GPU whose facts `cuda` has where none is at hand.
const USUAL_GPU: &str = "h100";

/// The chips that LLVM has code for, from the first on whose warps exchange values as kernels do
/// (`shfl.sync`).
const CHIPS: [(u32, u32); 15] = [
    (7, 0),
    (7, 2),
    (7, 5),
    (8, 0),
    (8, 6),
    (8, 7),
    (8, 8),
    (8, 9),
    (9, 0),
    (10, 0),
    (10, 1),
    (10, 3),
    (11, 0),
    (12, 0),
    (12, 1),
];
/// The first of them with code that is for no later one (`sm_90a`).
const FIRST_EXACT: (u32, u32) = (9, 0);

/// Device of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// This machine's processor.
    Cpu,
    /// The simulator of a GPU.
    Sim,
    /// An NVIDIA GPU of this machine.
    Cuda,
}

impl From<Device> for Target {
    fn from(device: Device) -> Target {
        match device {
            Device::Cpu => Target::Cpu,
            Device::Sim => Target::Sim,
            Device::Cuda => Target::Cuda,
        }
    }
}

/// A device as it is named.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NamedDevice {
    /// This machine's processor.
    Cpu,
    /// The simulator of a GPU.
    Sim,
    /// An NVIDIA GPU, whichever it is.
    Cuda,
    /// A GPU whose facts are known.
    Gpu(Gpu),
    /// A GPU of which the chip is known.
    Chip(Capability),
}

impl NamedDevice {
    /// The device that runs code for it.
    pub fn target(self) -> Device {
        match self {
            NamedDevice::Cpu => Device::Cpu,
            NamedDevice::Sim => Device::Sim,
            NamedDevice::Cuda | NamedDevice::Gpu(_) | NamedDevice::Chip(_) => Device::Cuda,
        }
    }

    /// Returns whether it is an NVIDIA GPU.
    pub fn is_gpu(self) -> bool {
        self.target() == Device::Cuda
    }

    /// Its chip, if the name says which one that is.
    pub fn chip(self) -> Option<Capability> {
        match self {
            NamedDevice::Gpu(gpu) => chip_of_gpu(gpu.name),
            NamedDevice::Chip(chip) => Some(chip),
            NamedDevice::Cpu | NamedDevice::Sim | NamedDevice::Cuda => None,
        }
    }

    /// The GPU whose facts stand for it; `None` if it is none.
    ///
    /// # Errors
    /// If no facts are known of a GPU with such a chip.
    pub fn facts(self) -> Result<Option<Gpu>> {
        let chip = match self {
            NamedDevice::Cpu | NamedDevice::Sim => return Ok(None),
            NamedDevice::Gpu(gpu) => return Ok(Some(gpu)),
            NamedDevice::Cuda => return Ok(Gpu::named(USUAL_GPU)),
            NamedDevice::Chip(chip) => chip,
        };
        let number = |chip: Capability| (chip.major, chip.minor);
        let has_chip = |gpu: &Gpu| chip_of_gpu(gpu.name).map(number) == Some(number(chip));
        let gpu = Gpu::ALL.into_iter().find(has_chip);
        gpu.map(Some).ok_or_else(|| {
            let known = CHIPS_OF_GPUS.map(|(gpu, chip)| format!("{gpu} ({chip})"));
            Error::usage(format!(
                "--device: found '{chip}', and no facts of a GPU with this chip are known: expected one of {}",
                known.join(", ")
            ))
        })
    }
}

impl From<Device> for NamedDevice {
    fn from(device: Device) -> NamedDevice {
        match device {
            Device::Cpu => NamedDevice::Cpu,
            Device::Sim => NamedDevice::Sim,
            Device::Cuda => NamedDevice::Cuda,
        }
    }
}

impl FromStr for NamedDevice {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<NamedDevice, String> {
        match text {
            "cpu" => return Ok(NamedDevice::Cpu),
            "sim" => return Ok(NamedDevice::Sim),
            "cuda" => return Ok(NamedDevice::Cuda),
            _ => {}
        }
        if let Some(gpu) = Gpu::named(text) {
            return Ok(NamedDevice::Gpu(gpu));
        }
        if text.starts_with("sm_") {
            return known_chip(text).map(NamedDevice::Chip);
        }
        Err(format!("expected one of {}", names().join(", ")))
    }
}

/// Any chip, where names are listed.
const ANY_CHIP: &str = "a chip such as sm_90a";

/// The names of devices.
fn names() -> Vec<&'static str> {
    let gpus = Gpu::ALL.iter().map(|gpu| gpu.name);
    ["cpu", "sim", "cuda"]
        .into_iter()
        .chain(gpus)
        .chain([ANY_CHIP])
        .collect()
}

/// The chip that a command names, by its capability or by a GPU that has it, or that of the device that it names.
///
/// # Errors
/// If there is no such chip, or both are named, and differ.
pub fn chip(device: Option<NamedDevice>, named: Option<&str>) -> Result<Capability> {
    let of_device = device.and_then(NamedDevice::chip);
    let wrong = |reason| Error::usage(format!("--chip: {reason}"));
    let chip = match named {
        None => return Ok(of_device.unwrap_or(CHIP)),
        Some(gpu) if Gpu::named(gpu).is_some() => chip_of_gpu(gpu).unwrap_or(CHIP),
        Some(text) => known_chip(text).map_err(wrong)?,
    };
    match of_device {
        Some(other) if other != chip => Err(wrong(format!(
            "found {chip}, and a device whose chip is {other}: expected one of them"
        ))),
        _ => Ok(chip),
    }
}

/// The chip of a GPU of [`Gpu::ALL`].
fn chip_of_gpu(name: &str) -> Option<Capability> {
    let mut chips = CHIPS_OF_GPUS.iter();
    let (_, chip) = chips.find(|(gpu, _)| *gpu == name)?;
    chip.parse().ok()
}

/// A chip that there is code for.
fn known_chip(text: &str) -> std::result::Result<Capability, String> {
    let chip: Capability = text.parse().map_err(|wrong| {
        let gpus = Gpu::ALL.map(|gpu| gpu.name);
        format!("{wrong}, or a GPU: {}", gpus.join(", "))
    })?;
    let number = (chip.major, chip.minor);
    if CHIPS.contains(&number) && (!chip.is_exact || number >= FIRST_EXACT) {
        return Ok(chip);
    }
    let names = CHIPS.map(|(major, minor)| {
        let letter = if (major, minor) < FIRST_EXACT {
            ""
        } else {
            "[a]"
        };
        format!("sm_{major}{minor}{letter}")
    });
    Err(format!(
        "found '{text}', which there is no code for: expected one of {}",
        names.join(", ")
    ))
}

/// The machine of `--asm`: a device by its name, another one that comes with mdh, or one in a file.
///
/// # Errors
/// If there is no such file, or it describes no machine.
pub fn machine(name: &str) -> Result<Asm> {
    match name.parse() {
        Ok(NamedDevice::Cpu) => return mdh_machine::this().map_err(Error::input),
        Ok(NamedDevice::Sim | NamedDevice::Cuda) => return builtin("cuda"),
        Ok(device) => {
            let gpu = device.facts()?;
            return gpu.map_or_else(|| builtin("cuda"), |gpu| Ok(gpu.asm()));
        }
        Err(_) => {}
    }
    if let Some(asm) = Asm::builtin(name) {
        return Ok(asm);
    }
    let path = Path::new(name);
    read(path).map_err(|error| match path.exists() {
        true => error,
        false => error.help(format!(
            "--asm takes a file as `mdh asm --json` writes it, or a name: {}",
            machine_names().join(", ")
        )),
    })
}

/// Reads a machine from JSON; everything that is wrong with it is in the error.
fn read(path: &Path) -> Result<Asm> {
    let source = Source::read(path)?;
    mdh_machine::parse(source.text()).map_err(|mistake| match &mistake {
        Mistake::Syntax {
            line,
            column,
            message,
        } => error_in(&source, *line, *column, message),
        Mistake::Findings(_) => Error::input(format!("'{}': {mistake}", source.name())),
    })
}

fn builtin(name: &str) -> Result<Asm> {
    Asm::builtin(name).ok_or_else(|| Error::bug(format!("there is no machine '{name}'")))
}

/// The names that `--asm` knows.
fn machine_names() -> Vec<String> {
    let mut names: Vec<String> = Asm::builtins().into_iter().map(|asm| asm.name).collect();
    names.extend(Gpu::ALL.map(|gpu| gpu.name.to_string()));
    names
}

/// Devices that a command takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Devices {
    /// Those that run code here: the processor, the simulator, this machine's GPU.
    Here,
    /// All of them.
    All,
    /// The processor, and GPUs, of which none need be here.
    Modelled,
}

impl Devices {
    fn has(self, device: NamedDevice) -> bool {
        match (self, device) {
            (Devices::Here, NamedDevice::Gpu(_) | NamedDevice::Chip(_)) => false,
            (Devices::Modelled, NamedDevice::Sim) => false,
            (Devices::Here | Devices::All | Devices::Modelled, _) => true,
        }
    }

    /// The names of these devices.
    fn names(self) -> impl Iterator<Item = &'static str> {
        let has = move |name: &&str| name.parse().map_or(true, |device| self.has(device));
        let names = names().into_iter().filter(has);
        names.filter(move |name| self != Devices::Here || *name != ANY_CHIP)
    }

    /// Those of them that are words.
    fn words(self) -> impl Iterator<Item = &'static str> {
        self.names().filter(|name| *name != ANY_CHIP)
    }
}

/// Parser of a device, for a command that takes some of them. All commands know all names, and say of others in the
/// same words that they do not take them.
#[derive(Clone, Copy, Debug)]
pub struct DeviceParser(pub Devices);

impl DeviceParser {
    /// For a command that runs code on this machine.
    pub fn here() -> impl TypedValueParser<Value = Device> {
        DeviceParser(Devices::Here).map(NamedDevice::target)
    }
}

impl TypedValueParser for DeviceParser {
    type Value = NamedDevice;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> std::result::Result<NamedDevice, clap::Error> {
        let (taken, name) = (self.0, command.get_name().to_string());
        let text = value.to_string_lossy();
        let is_known = text.starts_with("sm_") || text.parse::<NamedDevice>().is_ok();
        if !is_known {
            // It says what is like it.
            let names = PossibleValuesParser::new(taken.words());
            names.parse_ref(command, argument, value)?;
        }
        let read = move |text: &str| match text.parse::<NamedDevice>() {
            Ok(device) if !taken.has(device) => {
                let names: Vec<&str> = taken.names().collect();
                Err(format!(
                    "`mdh {name}` cannot take this device: expected one of {}",
                    names.join(", ")
                ))
            }
            read => read,
        };
        read.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.words().map(PossibleValue::new)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> NamedDevice {
        text.parse().unwrap()
    }

    #[test]
    fn every_gpu_has_a_chip_that_there_is_code_for() {
        for gpu in Gpu::ALL {
            let chip = named(gpu.name).chip().unwrap();
            assert_eq!(known_chip(&chip.to_string()), Ok(chip), "{}", gpu.name);
            let facts = NamedDevice::Chip(chip).facts().unwrap().unwrap();
            assert_eq!(chip_of_gpu(facts.name), Some(chip));
        }
        assert!(Gpu::named(USUAL_GPU).is_some());
    }

    #[test]
    fn a_chip_is_named_by_a_gpu_too() {
        let text = |device: Option<&str>, name: Option<&str>| {
            chip(device.map(named), name).map(|chip| chip.to_string())
        };
        for (device, name, expected) in [
            (None, None, "sm_90"),
            (None, Some("h100"), "sm_90a"),
            (None, Some("sm_80"), "sm_80"),
            (Some("cuda"), None, "sm_90"),
            (Some("b200"), None, "sm_100a"),
            (Some("sm_86"), None, "sm_86"),
            (Some("h200"), Some("h100"), "sm_90a"),
        ] {
            assert_eq!(text(device, name).unwrap(), expected);
        }
        let message = |result: Result<String>| result.unwrap_err().to_string();
        assert!(message(text(Some("a100"), Some("h100"))).contains("found sm_90a"));
        assert!(message(text(None, Some("sm_61"))).contains("no code for"));
    }

    #[test]
    fn chips_without_facts_are_refused() {
        assert_eq!(named("sm_90").facts().unwrap().unwrap().name, "h100");
        let message = named("sm_86").facts().unwrap_err().to_string();
        assert!(message.contains("a100 (sm_80)"), "{message}");
    }

    #[test]
    fn machines_have_the_names_of_devices() {
        let h100 = Gpu::named("h100").unwrap().asm();
        assert_eq!(machine("h100").unwrap(), h100);
        assert_eq!(machine("sm_90").unwrap(), h100);
        assert_eq!(machine("cuda").unwrap(), Asm::builtin("cuda").unwrap());
        assert_eq!(machine("opencl").unwrap(), Asm::builtin("opencl").unwrap());
        let message = machine("nowhere.json").unwrap_err().to_string();
        assert!(message.contains("cannot read 'nowhere.json'"), "{message}");
    }

    #[test]
    fn commands_take_some_devices() {
        let names = |taken: Devices| taken.names().collect::<Vec<_>>().join(" ");
        assert_eq!(names(Devices::Here), "cpu sim cuda");
        let gpus = "a100 h100 h200 b200 a chip such as sm_90a";
        assert_eq!(names(Devices::Modelled), format!("cpu cuda {gpus}"));
        assert_eq!(names(Devices::All), format!("cpu sim cuda {gpus}"));
    }
}
