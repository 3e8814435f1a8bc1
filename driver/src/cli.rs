//! The command line of `mdh`.

mod old_names;
#[cfg(test)]
mod vocabulary;

use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use mdh_bench::options::BenchArguments;
use mdh_compiler::cli::{
    AsmArguments, CheckArguments, CheckHow, CompileArguments, EinsumArguments, ExplainArguments,
    RunArguments, ScheduleArguments,
};
use mdh_compiler::error::Error;
use mdh_compiler::output;
use mdh_layouts::cli::{LayoutArguments, MapArguments, TemplateArguments};
use mdh_tuner::programs::options::TuneArguments;

use crate::pages::{CompletionsArguments, ManArguments};

/// Computations as multi-dimensional homomorphisms, from MLIR to numbers.
#[derive(Parser, Debug)]
#[command(
    name = "mdh",
    subcommand_required = true,
    arg_required_else_help = true
)]
#[command(after_help = "Example:\n  mdh run examples/matmul.mlir --check")]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Runs a function of a file and prints shapes, times and digests.
    Run(RunArguments),
    /// Computes a contraction of arrays in NumPy's notation, with any two operators.
    Einsum(Box<EinsumArguments>),
    /// Says of a tensor program what its statements are, and which may run in place.
    Check(CheckArguments),
    /// Prints a file at one stage on its way to machine code.
    Compile(CompileArguments),
    /// Converts a schedule from one spelling to another, or prints a program's.
    Schedule(ScheduleArguments),
    /// Asks a layout where an index stands, draws it, checks it, or prints it as code.
    Layout(LayoutArguments),
    /// Shows how a space of indices becomes blocks and threads of a device, and the waste.
    Map(MapArguments),
    /// Fills a kernel's template with the index expressions of layouts.
    Template(TemplateArguments),
    /// Prints a machine as schedules see it: this one, or one from a file.
    Asm(AsmArguments),
    /// Says what bounds each computation, which schedule it gets and why, and what would gain most.
    Explain(ExplainArguments),
    /// Measures programs and workloads beside others, and beside what the machine can do at most.
    Bench(BenchArguments),
    /// Searches the schedules of a program for the fastest.
    Tune(Box<TuneArguments>),
    /// Prints the completions of this command for a shell.
    Completions(CompletionsArguments),
    /// Prints this command's man page, or writes those of all commands.
    Man(ManArguments),
}

/// The definition of the command line, with the versions of mdh and of LLVM.
pub fn command() -> clap::Command {
    static VERSION: OnceLock<String> = OnceLock::new();
    let version = VERSION.get_or_init(|| {
        format!(
            "{} (LLVM {})",
            env!("CARGO_PKG_VERSION"),
            mdh_jit::version()
        )
    });
    Cli::command().version(version.as_str())
}

/// A command line, the program's name first. Prints help, the version or an error (exit code 2) itself; fails
/// where those cannot be printed.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Cli, Error> {
    read(words).or_else(|found| {
        if found.use_stderr() {
            found.exit()
        }
        output::print_with(|| found.print())?;
        std::process::exit(found.exit_code())
    })
}

/// Reads a command line. Where it has a word too many, what follows `--tuned` or `--json` and is nowhere is meant as
/// a folder or a file: the command says that it is not there, or writes it.
fn read(words: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let parsed = |words: &[OsString]| {
        let matches = command().try_get_matches_from(words);
        matches.and_then(|matches| Cli::from_arg_matches(&matches))
    };
    let is_value = |option: &str, word: &Path| match option {
        "--tuned" => word.is_dir(),
        _ => word
            .extension()
            .is_some_and(|extension| extension == "json"),
    };
    let words = joined(words, is_value);
    parsed(&words).or_else(|error| match error.kind() {
        ErrorKind::UnknownArgument => {
            let is_nowhere =
                |_: &str, word: &Path| !word.to_string_lossy().starts_with('-') && !word.exists();
            let again = parsed(&joined(words.clone(), is_nowhere));
            again.map_err(|_| old_names::explained(command(), &words, error))
        }
        _ => Err(error),
    })
}

/// Joins `--check all` (and its other values) to one word, and so `--tuned DIR` and `--json FILE`, where the word is
/// one: no program is a folder, or ends in `.json`. What else follows these options is no value of them, but the file
/// to run.
fn joined(
    words: impl IntoIterator<Item = OsString>,
    is_value: impl Fn(&str, &Path) -> bool,
) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = Vec::new();
    for word in words {
        let is_value_of = |option: &OsString| match option.to_str() {
            Some("--check") => word.to_str().is_some_and(is_check_value),
            Some(option @ ("--tuned" | "--json")) => is_value(option, Path::new(&word)),
            _ => false,
        };
        match arguments.last_mut() {
            Some(last) if is_value_of(last) => {
                last.push("=");
                last.push(word);
            }
            _ => arguments.push(word),
        }
    }
    arguments
}

/// Returns whether `--check` has that value.
fn is_check_value(word: &str) -> bool {
    CheckHow::from_str(word, false).is_ok()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::str::FromStr;

    use mdh_compiler::cli::{Binding, Range, Stage};

    use super::*;

    fn parsed(line: &str) -> Result<Cli, String> {
        let words = line.split_whitespace().map(OsString::from);
        read(words).map_err(|error| error.render().to_string())
    }

    pub(super) fn run(line: &str) -> RunArguments {
        match parsed(line).unwrap().command {
            Command::Run(arguments) => arguments,
            other => panic!("not a run: {other:?}"),
        }
    }

    fn help(path: &[&str]) -> String {
        let mut command = command().term_width(100);
        command.build();
        let subcommand = path
            .iter()
            .fold(&mut command, |c, name| c.find_subcommand_mut(name).unwrap());
        subcommand.render_help().to_string()
    }

    #[test]
    fn the_definition_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn help_texts() {
        insta::assert_snapshot!("help", help(&[]));
        insta::assert_snapshot!("help_run", help(&["run"]));
        insta::assert_snapshot!("help_compile", help(&["compile"]));
        insta::assert_snapshot!("help_einsum", help(&["einsum"]));
        insta::assert_snapshot!("help_check", help(&["check"]));
        insta::assert_snapshot!("help_schedule", help(&["schedule"]));
        insta::assert_snapshot!("help_layout", help(&["layout"]));
        insta::assert_snapshot!("help_map", help(&["map"]));
        insta::assert_snapshot!("help_template", help(&["template"]));
        insta::assert_snapshot!("help_asm", help(&["asm"]));
        insta::assert_snapshot!("help_explain", help(&["explain"]));
        insta::assert_snapshot!("help_bench", help(&["bench"]));
        insta::assert_snapshot!("help_tune", help(&["tune"]));
        insta::assert_snapshot!("help_completions", help(&["completions"]));
        insta::assert_snapshot!("help_man", help(&["man"]));
    }

    #[test]
    fn the_version_names_llvm() {
        let text = parsed("mdh --version").unwrap_err();
        assert!(
            text.starts_with("mdh ") && text.contains("(LLVM 22."),
            "{text}"
        );
    }

    #[test]
    fn several_values_until_the_next_flag() {
        let run =
            run("mdh run a.mlir --in M.npy v=b.npy n=-5 -7 --out w.npy --size i=8 k=0 --check");
        let binding = |name: Option<&str>, value: &str| Binding {
            name: name.map(str::to_string),
            value: value.to_string(),
        };
        let inputs = [
            binding(None, "M.npy"),
            binding(Some("v"), "b.npy"),
            binding(Some("n"), "-5"),
            binding(None, "-7"),
        ];
        assert_eq!(run.inputs, inputs);
        assert_eq!(run.outputs, [binding(None, "w.npy")]);
        let sizes: Vec<(String, i64)> = run
            .size
            .into_iter()
            .map(|size| (size.dimension, size.size))
            .collect();
        assert_eq!(sizes, [("i".to_string(), 8), ("k".to_string(), 0)]);
        assert!(run.check == Some(CheckHow::Sample) && !run.json.is_wanted());
        assert_eq!((run.repeat.get(), run.random), (1, None));
    }

    #[test]
    fn flags_repeat() {
        let run = run("mdh run a.mlir --in a.npy --in b.npy --size i=1 --size j=2 --repeat 7");
        assert_eq!(
            (run.inputs.len(), run.size.len(), run.repeat.get()),
            (2, 2, 7)
        );
    }

    #[test]
    fn paths_with_equals_signs() {
        let path = Binding::from_str("./a=b.npy").unwrap();
        assert_eq!((path.name, path.value.as_str()), (None, "./a=b.npy"));
    }

    #[test]
    fn stages() {
        for (name, stage) in [("mdh", Stage::Mdh), ("obj", Stage::Obj)] {
            let cli = parsed(&format!("mdh compile a.mlir --emit {name} -o b")).unwrap();
            let Command::Compile(arguments) = cli.command else {
                panic!("not a compile")
            };
            assert_eq!(arguments.emit, stage);
            assert_eq!(arguments.out.file, Some(PathBuf::from("b")));
        }
    }

    #[test]
    fn mistakes() {
        for line in [
            "mdh run a.mlir --size i",
            "mdh run a.mlir --size i=-1",
            "mdh run a.mlir --in M=",
            "mdh run a.mlir --repeat 0",
            "mdh compile a.mlir --emit sass",
            "mdh compile a.mlir",
            "mdh walk",
        ] {
            let name = line.replace([' ', '.', '=', '-'], "_");
            insta::assert_snapshot!(name, parsed(line).unwrap_err());
        }
    }

    #[test]
    fn what_follows_check() {
        let parsed = |line: &str| {
            let run = run(line);
            (run.check, run.file.display().to_string())
        };
        let file = || "a.mlir".to_string();
        assert_eq!(
            parsed("mdh run --check a.mlir"),
            (Some(CheckHow::Sample), file())
        );
        for how in CheckHow::value_variants() {
            let name = how.to_possible_value().unwrap();
            let name = name.get_name();
            for line in [
                format!("mdh run a.mlir --check {name}"),
                format!("mdh run --check={name} a.mlir"),
                format!("mdh run --check {name} a.mlir"),
            ] {
                assert_eq!(parsed(&line), (Some(*how), file()), "{line}");
            }
        }
        assert_eq!(
            parsed("mdh run a.mlir --check --json"),
            (Some(CheckHow::Sample), file())
        );
        assert_eq!(parsed("mdh run a.mlir").0, None);
    }

    /// Checks: `--tuned` is followed by a folder that is there, or by the file to run.
    #[test]
    fn what_follows_tuned() {
        let tuned = |line: &str| run(line).given.tuned;
        assert_eq!(tuned("mdh run a.mlir"), None);
        assert_eq!(tuned("mdh run --tuned a.mlir"), Some(None));
        assert_eq!(
            tuned("mdh run --tuned src a.mlir"),
            Some(Some("src".into()))
        );
        assert_eq!(
            tuned("mdh run --tuned=none a.mlir"),
            Some(Some("none".into()))
        );
        for line in ["mdh run a.mlir --tuned none", "mdh run --tuned none a.mlir"] {
            assert_eq!(tuned(line), Some(Some("none".into())), "{line}");
        }
        assert!(parsed("mdh run --tuned a.mlir b.mlir").is_ok());
        assert!(parsed("mdh run a.mlir --tuned src b.mlir").is_err());
        assert!(parsed("mdh run a.mlir --tuned=src --schedule s.json").is_err());
        assert!(parsed("mdh compile a.mlir --emit asm --tuned --no-schedules").is_err());
    }

    /// Checks: `--json` is followed by a file that ends so, by one that is new, or by the file to run.
    #[test]
    fn what_follows_json() {
        let json = |line: &str| run(line).json.to;
        let file = |name: &str| Some(Some(PathBuf::from(name)));
        assert_eq!(json("mdh run a.mlir"), None);
        for line in [
            "mdh run --json a.mlir",
            "mdh run a.mlir --json",
            "mdh run a.mlir --json --check",
        ] {
            assert_eq!(json(line), Some(None), "{line}");
        }
        for line in [
            "mdh run a.mlir --json b.json",
            "mdh run --json b.json a.mlir",
            "mdh run --json=b.json a.mlir",
        ] {
            assert_eq!(json(line), file("b.json"), "{line}");
        }
        assert_eq!(json("mdh run a.mlir --json none.txt"), file("none.txt"));
        assert!(parsed("mdh run a.mlir --json src").is_err());
    }

    #[test]
    fn old_names_are_refused_with_the_new_ones() {
        for (line, old, new) in [
            (
                "mdh schedule a.mlir --from-db --emit json",
                "--from-db",
                "--tuned",
            ),
            ("mdh schedule a.mlir --to json", "--to", "--emit"),
            ("mdh tune a.mlir --db d", "--db", "--tuned"),
            ("mdh tune a.mlir --report=p.html", "--report", "--html"),
            (
                "mdh compile a.mlir --emit loops --output a",
                "--output",
                "--out",
            ),
            ("mdh layout Row([n]) --assume n=4", "--assume", "--size"),
            ("mdh bench --plot a.svg", "--plot", "--svg"),
            ("mdh bench --packages d", "--packages", "--package"),
        ] {
            let message = parsed(line).unwrap_err();
            let expected = format!("error: found '{old}', which is '{new}' now\n");
            assert!(message.starts_with(&expected), "{line}: {message}");
        }
        let message = parsed("mdh run a.mlir --plot").unwrap_err();
        assert!(!message.contains(" now"), "{message}");
    }

    /// Checks: all commands know all devices, and say which they take.
    #[test]
    fn devices_have_one_list() {
        let refused = parsed("mdh run a.mlir --device h100").unwrap_err();
        let expected = "`mdh run` cannot take this device: expected one of cpu, sim, cuda";
        assert!(refused.contains(expected), "{refused}");
        for line in [
            "mdh compile a.mlir --device h100",
            "mdh compile a.mlir --device sm_90a --emit ptx",
            "mdh explain a.mlir --device sm_90",
            "mdh tune a.mlir --device b200 --package d",
            "mdh bench --device a100 --package d",
            "mdh schedule a.mlir --tuned --device h200 --emit json",
            "mdh map [8] --device h100",
            "mdh asm --device sm_80",
        ] {
            assert!(
                parsed(line).is_ok(),
                "{line}: {}",
                parsed(line).unwrap_err()
            );
        }
        let cli = parsed("mdh compile a.mlir --device h100").unwrap();
        let Command::Compile(arguments) = cli.command else {
            panic!("not a compile")
        };
        assert_eq!(arguments.emit, Stage::Package);
        assert_eq!(arguments.kernel_chip().unwrap().to_string(), "sm_90a");
        let missing = parsed("mdh compile a.mlir --device sim").unwrap_err();
        assert!(missing.contains("--emit <STAGE>"), "{missing}");
    }

    #[test]
    fn ranges() {
        let run = run("mdh run a.mlir --range 0.5..1.5 x=-8..8");
        let range = |name: Option<&str>, low, high| Range {
            name: name.map(str::to_string),
            low,
            high,
        };
        assert_eq!(
            run.ranges,
            [range(None, 0.5, 1.5), range(Some("x"), -8.0, 8.0)]
        );
        for wrong in [
            "1", "1..", "2..1", "1..1", "x=", "0..inf", "NaN..1", "4=0..1",
        ] {
            assert!(wrong.parse::<Range>().is_err(), "{wrong}");
        }
    }
}
