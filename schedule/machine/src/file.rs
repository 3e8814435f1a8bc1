//! Machines in files: JSON, as `mdh asm --json` writes it.

use std::fmt;
use std::path::Path;

use mdh_schedule::asm::Asm;

/// A mistake in the text of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// The text is no JSON, or has other fields than a machine.
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// Found and expected.
        message: String,
    },
    /// The machine is not well formed: everything that is wrong with it.
    Findings(Vec<String>),
}

/// Reads a machine from its text.
pub fn parse(text: &str) -> Result<Asm, Mistake> {
    let asm: Asm = serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let end = message.rfind(" at line ").unwrap_or(message.len());
        Mistake::Syntax {
            line: error.line().max(1),
            column: error.column().max(1),
            message: message[..end].to_string(),
        }
    })?;
    let findings = asm.check();
    match findings.is_empty() {
        true => Ok(asm),
        false => Err(Mistake::Findings(findings)),
    }
}

/// Reads a machine from a file; errors name the file and the place in it.
pub fn read(path: &Path) -> Result<Asm, String> {
    let name = path.display();
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| format!("cannot read '{name}': {error}"))?;
    parse(&text).map_err(|mistake| match mistake {
        Mistake::Syntax { .. } => format!("{name}:{mistake}"),
        Mistake::Findings(_) => format!("'{name}': {mistake}"),
    })
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mistake::Syntax {
                line,
                column,
                message,
            } => write!(f, "{line}:{column}: {message}"),
            Mistake::Findings(findings) => f.write_str(&findings.join("\n  ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_have_their_place() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let said = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            let name = file.path().display().to_string();
            read(file.path()).unwrap_err().replace(&name, "FILE")
        };
        assert_eq!(
            said("{\"name\": \"m\",\n \"layers\": 3}"),
            "FILE:2:12: invalid type: integer `3`, expected a sequence"
        );
        assert_eq!(
            said(r#"{"name": "m", "layers": [{"memory": {"name": "M", "capacity": 0}}]}"#),
            "'FILE': ASM 'm': layer 'M' has a capacity of 0 bytes, expected some"
        );
    }
}
