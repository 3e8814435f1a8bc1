//! The key of a command's costs: two commands with the same key are one.

use std::fs::File;
use std::io;
use std::path::Path;

use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use super::words::{Words, find};
use super::{CostSource, ForeignCommand};
use crate::error::{Error, Result};
use crate::space::Space;

impl ForeignCommand {
    /// The text by which costs are kept: the command, for people, and a digest of all that they
    /// belong to: its words, the program that is started with its contents, the folder in which it
    /// runs, the origin of the cost, and the space. Of a command that is built the program is
    /// another one for each configuration: that of the build counts.
    pub fn identity(&self, space: &Space) -> Result<String> {
        let named = self.conditions.folder.as_deref().unwrap_or(Path::new("."));
        let folder = named
            .canonicalize()
            .map_err(|error| Error::input(format!("the folder {}: {error}", named.display())))?;
        let first = self.build.as_ref().unwrap_or(&self.run);
        let known = json!({
            "build": self.build.as_ref().map(Words::texts),
            "cost": self.conditions.cost.text(),
            "folder": folder.to_string_lossy(),
            "program": program(first, &folder)?,
            "run": self.run.texts(),
            "space": space.to_json(),
        });
        let digest = Sha256::digest(known.to_string());
        Ok(format!("{}\n{digest:x}", self.run.texts().join(" ")))
    }
}

impl CostSource {
    /// The text that it is parsed from.
    fn text(&self) -> &str {
        match self {
            CostSource::WallTime => "time",
            CostSource::LastNumber => "number",
            CostSource::Pattern(pattern) => pattern.as_str(),
        }
    }
}

/// The program of words, with its path and a digest of its contents; none if its name depends on
/// parameters.
fn program(words: &Words, folder: &Path) -> Result<Json> {
    let Some(name) = words.program() else {
        return Ok(Json::Null);
    };
    let path = find(name, Some(folder))?;
    let mut digest = Sha256::new();
    File::open(&path)
        .and_then(|mut file| io::copy(&mut file, &mut digest))
        .map_err(|error| {
            let message = format!("the program {} cannot be read: {error}", path.display());
            Error::input(message)
                .help("its costs are kept by what is in it: give the right to read")
        })?;
    let digest = format!("{:x}", digest.finalize());
    Ok(json!([path.to_string_lossy(), digest]))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::super::Conditions;
    use super::*;
    use crate::space;

    const SPACE: &str = r#"{"parameters": [{"name": "n", "interval": [1, 8]}]}"#;

    /// A folder with a script of that text.
    fn script(text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), text);
        folder
    }

    fn write(folder: &Path, text: &str) {
        let path = folder.join("a.sh");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn identity(build: Option<&str>, run: &str, folder: &Path, cost: &str, space: &str) -> String {
        let space = space::read(space).unwrap().build().unwrap();
        let conditions = Conditions {
            folder: Some(folder.to_path_buf()),
            cost: ForeignCommand::cost_source(cost).unwrap(),
            ..Conditions::default()
        };
        let names = space.names();
        let command = ForeignCommand::new(build, run, names, names, conditions).unwrap();
        command.identity(&space).unwrap()
    }

    /// Checks: all that costs depend on tells commands apart, and how a space is written does not.
    #[test]
    fn costs_belong_to_what_is_run() {
        let (one, two) = (script("#!/bin/sh\necho $1"), script("#!/bin/sh\necho $1"));
        let of =
            |folder: &tempfile::TempDir| identity(None, "./a.sh {n}", folder.path(), "time", SPACE);
        let own = of(&one);
        assert!(own.starts_with("./a.sh {n}\n"), "{own}");
        assert_eq!(own, of(&one));
        assert_ne!(own, of(&two));
        let others = [
            identity(None, "./a.sh  {n}", one.path(), "number", SPACE),
            identity(None, "./a.sh {n} 1", one.path(), "time", SPACE),
            identity(None, "sh -c './a.sh {n}'", one.path(), "time", SPACE),
            identity(Some("true"), "./a.sh {n}", one.path(), "time", SPACE),
            identity(
                None,
                "./a.sh {n}",
                one.path(),
                "time",
                &SPACE.replace('8', "9"),
            ),
        ];
        for other in others {
            assert_ne!(own, other);
        }
        let spaced = SPACE.replace(',', " ,\n ");
        let same = identity(None, "./a.sh  {n}", one.path(), "time", &spaced);
        assert_eq!(own, same);
        write(one.path(), "#!/bin/sh\necho $1 2");
        assert_ne!(own, of(&one));
    }

    /// Checks: what a build makes is no part of the key, and need not be there before.
    #[test]
    fn what_is_built_is_not_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let of = || identity(Some("make {n}"), "./a.sh", folder.path(), "time", SPACE);
        let before = of();
        write(folder.path(), "#!/bin/sh\necho 1");
        assert_eq!(before, of());
    }
}
