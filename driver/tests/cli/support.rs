//! Sessions: files and commands in a directory of their own, and the text of all that happened.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The command under test.
pub const MDH: &str = env!("CARGO_BIN_EXE_mdh");

/// A program that does not end, and changes memory in each iteration.
pub const ENDLESS: &str = "
func.func @f(%x: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : i32
  %again = arith.constant true
  scf.while : () -> () {
    %y = memref.atomic_rmw addi %c1, %x[%c0] : (i32, memref<1xi32>) -> i32
    scf.condition(%again)
  } do {
    scf.yield
  }
  return
}
";

/// A session, and what it has shown so far.
pub struct Session {
    directory: TempDir,
    text: String,
}

impl Session {
    /// An empty directory.
    pub fn new() -> Session {
        Session {
            directory: tempfile::tempdir().unwrap(),
            text: String::new(),
        }
    }

    /// A path in the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The names in the directory, hidden ones too.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Writes a file.
    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> &Session {
        std::fs::write(self.path(name), contents).unwrap();
        self
    }

    /// Writes an array of a NumPy type: `npy("a.npy", "<f4", "(2, 3)", &bytes)`.
    pub fn npy(&self, name: &str, descr: &str, shape: &str, data: &[u8]) -> &Session {
        self.file(name, npy(descr, "False", shape, data))
    }

    /// Writes an array of f32.
    pub fn f32s(&self, name: &str, shape: &str, values: &[f32]) -> &Session {
        let data: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.npy(name, "<f4", shape, &data)
    }

    /// The values of an array of f32 that a command wrote.
    pub fn read_f32s(&self, name: &str) -> Vec<f32> {
        let data = self.read(name);
        let values = data.chunks_exact(4);
        values
            .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
            .collect()
    }

    /// The bytes of an array that a command wrote, behind its header.
    pub fn read(&self, name: &str) -> Vec<u8> {
        let file = std::fs::read(self.path(name)).unwrap();
        let header = usize::from(u16::from_le_bytes([file[8], file[9]]));
        file[10 + header..].to_vec()
    }

    /// A command to be run in the directory.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.directory.path())
            .env("NO_COLOR", "1")
            .env("MDH_PROGRESS", "off")
            .stdin(Stdio::null());
        command
    }

    /// Runs `mdh` with arguments, separated by blanks.
    pub fn mdh(&mut self, line: &str) -> &mut Session {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        self.mdh_with(&arguments)
    }

    /// Runs `mdh` with arguments.
    pub fn mdh_with(&mut self, arguments: &[&str]) -> &mut Session {
        let output = self.output(arguments);
        self.show(&arguments.join(" "), &output);
        self
    }

    /// Returns the output of `mdh`, without a note of it.
    pub fn output(&self, arguments: &[&str]) -> Output {
        self.command(MDH).args(arguments).output().unwrap()
    }

    /// Writes a program to `a.mlir` and runs it.
    pub fn run(&mut self, program: &str, arguments: &str) -> &mut Session {
        let program = program.trim_start_matches('\n');
        self.file("a.mlir", program);
        self.mdh(&format!("run a.mlir {arguments}"))
    }

    /// Runs a shell command in which `$MDH` is the command under test.
    pub fn shell(&mut self, line: &str) -> &mut Session {
        let output = self
            .command("bash")
            .env("MDH", MDH)
            .args(["-c", line])
            .output()
            .unwrap();
        self.show_command(line, &output);
        self
    }

    /// A remark of the test's own.
    pub fn say(&mut self, text: &str) -> &mut Session {
        writeln!(self.text, "# {text}\n").unwrap();
        self
    }

    fn show(&mut self, arguments: &str, output: &Output) {
        self.show_command(format!("mdh {arguments}").trim_end(), output);
    }

    fn show_command(&mut self, line: &str, output: &Output) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let shown = text(&output.stdout) + &text(&output.stderr);
        let directory = self.directory.path().display().to_string();
        let shown = shown.replace(&directory, "DIRECTORY");
        writeln!(self.text, "$ {}", shortened(line)).unwrap();
        for line in shown.lines() {
            writeln!(self.text, "{}", stable(line).trim_end()).unwrap();
        }
        match output.status.code() {
            Some(0) => {}
            Some(code) => writeln!(self.text, "-> {code}").unwrap(),
            None => writeln!(self.text, "-> {}", output.status).unwrap(),
        }
        self.text.push('\n');
    }

    /// All that was shown.
    pub fn text(&self) -> &str {
        self.text.trim_end()
    }
}

/// An array's file.
pub fn npy(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let descr = match descr.starts_with('[') {
        true => descr.to_string(),
        false => format!("'{descr}'"),
    };
    let header = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    let start: &[u8] = b"\x93NUMPY\x01\x00";
    [start, &length, header.as_bytes(), data].concat()
}

/// The repository's examples.
pub fn example(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    root.join("examples")
        .join(format!("{name}.mlir"))
        .display()
        .to_string()
}

/// A line without what differs from run to run and from machine to machine.
fn stable(line: &str) -> String {
    for start in ["  time   ", "  speed  "] {
        if line.starts_with(start) {
            return format!("{start}...");
        }
    }
    // Sums of floats depend on the width of the machine's vectors.
    if let Some((value, _)) = line
        .rsplit_once("  ")
        .filter(|_| line.starts_with("  out "))
    {
        let ty = value.trim_end();
        if ["f16", "f32", "f64"]
            .iter()
            .any(|float| ty.ends_with(float))
        {
            return format!("{ty}  ...");
        }
    }
    let (before, after) = (" are needed, ", " are available");
    match line.split_once(before) {
        Some((needed, rest)) if rest.ends_with(after) => format!("{needed}{before}...{after}"),
        _ => shortened(line),
    }
}

/// A line of reasonable length.
fn shortened(line: &str) -> String {
    match line.char_indices().nth(400) {
        Some((end, _)) => format!("{} [and so on]", &line[..end]),
        None => line.to_string(),
    }
}
