//! Tests: an option of one name means the same in every command that has it.

use std::collections::BTreeMap;
use std::path::Path;

use super::command;

/// An option of a command, as its help shows it.
struct Shown {
    command: String,
    /// The name of its value; empty if it takes none.
    value: String,
    /// The first sentence of its help.
    meaning: String,
}

/// Options that differ in a command from what they are in others: the option, the command, and why.
const EXCEPTIONS: [(&str, &str, &str); 16] = [
    ("check", "layout", "a proof is checked, and nothing runs"),
    ("check", "map", "a proof is checked, and nothing runs"),
    ("emit", "layout", "its forms are code"),
    ("emit", "map", "its forms are code"),
    ("emit", "explain", "its forms are spellings"),
    ("emit", "schedule", "its forms are spellings"),
    ("in", "einsum", "an einsum's arguments are its operands"),
    ("out", "run", "there is a file for each result"),
    (
        "schedule",
        "bench",
        "a schedule has a workload and a name there",
    ),
    ("size", "bench", "a dimension may have several there"),
    ("size", "einsum", "an einsum has indices for dimensions"),
    ("size", "layout", "symbols have bounds, too"),
    ("size", "map", "symbols have bounds, too"),
    ("time-limit", "bench", "it is of programs and peers"),
    ("tuned", "bench", "it is for all workloads"),
    ("tuned", "tune", "it is what keeps schedules"),
];

/// The options by name, each with the commands that have it.
fn options() -> BTreeMap<String, Vec<Shown>> {
    let mut command = command();
    command.build();
    let mut options: BTreeMap<String, Vec<Shown>> = BTreeMap::new();
    for command in command.get_subcommands().filter(|c| c.get_name() != "help") {
        let arguments = command.get_arguments().filter(|a| !a.is_hide_set());
        for argument in arguments {
            let Some(name) = argument.get_long().filter(|name| *name != "help") else {
                continue;
            };
            let takes_value = argument.get_action().takes_values();
            let value = argument.get_value_names().filter(|_| takes_value);
            let value: Vec<String> = value
                .into_iter()
                .flatten()
                .map(ToString::to_string)
                .collect();
            let help = argument
                .get_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            let meaning = help.split(". ").next().unwrap_or_default();
            options.entry(name.to_string()).or_default().push(Shown {
                command: command.get_name().to_string(),
                value: value.join(" "),
                meaning: meaning.trim_end_matches('.').to_string(),
            });
        }
    }
    options
}

/// Those that are as in most commands.
fn usual<'s>(name: &str, shown: &'s [Shown]) -> Vec<&'s Shown> {
    let is_usual = |own: &&Shown| {
        let mut exceptions = EXCEPTIONS.iter();
        !exceptions.any(|(option, command, _)| *option == name && *command == own.command)
    };
    shown.iter().filter(is_usual).collect()
}

fn names(shown: &[Shown]) -> Vec<&str> {
    shown.iter().map(|own| own.command.as_str()).collect()
}

#[test]
fn options_by_command() {
    let lines = options().into_iter().map(|(name, shown)| {
        let value = usual(&name, &shown)
            .first()
            .map_or("", |own| own.value.as_str());
        let value = if value.is_empty() {
            String::new()
        } else {
            format!(" {value}")
        };
        format!("--{name}{value}: {}\n", names(&shown).join(" "))
    });
    insta::assert_snapshot!("options_by_command", lines.collect::<String>());
}

#[test]
fn an_option_means_the_same_everywhere() {
    let options = options();
    for (name, shown) in &options {
        let usual = usual(name, shown);
        for pair in usual.windows(2) {
            let text = |own: &Shown| format!("--{name} <{}>: {}", own.value, own.meaning);
            let commands = [&pair[0].command, &pair[1].command];
            assert_eq!(text(pair[0]), text(pair[1]), "{commands:?}");
        }
    }
    for (name, command, _) in EXCEPTIONS {
        let shown = options.get(name).unwrap_or_else(|| panic!("--{name}"));
        let usual = usual(name, shown);
        let special = shown.iter().find(|own| own.command == command);
        let special = special.unwrap_or_else(|| panic!("mdh {command} --{name}"));
        let text = |shown: &Shown| (shown.value.clone(), shown.meaning.clone());
        let is_same = |other: &&Shown| text(other) == text(special);
        assert!(
            !usual.iter().any(is_same),
            "--{name} of {command} is no exception"
        );
    }
}

/// Checks: `docs/commands.md` has the options that several commands have.
#[test]
fn the_page_has_the_shared_options() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = std::fs::read_to_string(root.join("docs/commands.md")).unwrap();
    let options = options().into_iter().filter(|(_, shown)| shown.len() > 1);
    let rows = options.map(|(name, shown)| {
        let first = usual(&name, &shown);
        let value = match first[0].value.as_str() {
            "" => String::new(),
            value => format!(" {}", value.replace('|', "\\|")),
        };
        format!(
            "| `--{name}{value}` | {} | {} |\n",
            first[0].meaning,
            names(&shown).join(", ")
        )
    });
    let table = rows.collect::<String>();
    assert!(
        page.contains(&table),
        "docs/commands.md must have these rows:\n{table}"
    );
}
