//! The index of a thread as code.

use mdh_algebra::index::emit::{self, EmitError, Function, Width};
use mdh_algebra::index::{Expr, Facts, Name};
use mdh_algebra::mapping::{Back, Discard, Launch};

use crate::cli::{Bits, MapCode};
use crate::map_command::simplified;
use mdh_compiler::error::{Error, Result};

/// Functions of a thread's place, and of the space's symbols behind it.
struct Functions {
    inputs: Vec<Name>,
    facts: Facts,
    /// Names and results: the index, then the conditions.
    all: Vec<(String, Vec<Expr>)>,
}

/// The index, and whether there is one.
pub fn code(launch: &Launch, code: MapCode, discard: Discard, bits: Bits) -> Result<String> {
    let functions = Functions::new(launch, discard);
    let emitted = functions.all.iter().map(|(name, outputs)| Function {
        name,
        inputs: &functions.inputs,
        outputs,
        facts: &functions.facts,
    });
    let emitted: Vec<Function> = emitted.collect();
    let wrong = |e: EmitError| {
        let help = "give bounds of symbols, such as --size n=1..4096";
        Error::input(e.to_string()).help(help)
    };
    let width = match bits {
        Bits::B32 => Width::Bits32,
        Bits::B64 => Width::Bits64,
    };
    match code {
        MapCode::Text => Ok(emitted
            .iter()
            .map(|f| format!("{}:\n{}", f.name, emit::text(f)))
            .collect()),
        MapCode::Mlir => {
            let texts = emitted.iter().map(|f| emit::mlir(f).map_err(wrong));
            Ok(texts.collect::<Result<Vec<String>>>()?.concat())
        }
        MapCode::C => {
            let text = emit::c(&emitted, width).map_err(wrong)?;
            Ok(text + &functions.entry(launch, discard, bits))
        }
    }
}

impl Functions {
    fn new(launch: &Launch, discard: Discard) -> Functions {
        let Back { index, exits } = simplified(launch);
        let mut inputs = launch.names();
        inputs.extend(launch.mapping().symbols());
        let mut outputs = vec![("map_index".to_string(), index)];
        match discard {
            Discard::Branching => {
                let exits = exits.into_iter().enumerate();
                outputs.extend(exits.map(|(n, exit)| (format!("map_stays_{n}"), vec![exit])));
            }
            Discard::Branchless => {
                let back = Back {
                    index: vec![],
                    exits,
                };
                let operative = back.operative().map(|o| vec![o]);
                outputs.extend(operative.map(|o| ("map_operative".to_string(), o)));
            }
        }
        let facts = launch.facts();
        Functions {
            inputs,
            facts,
            all: outputs,
        }
    }

    /// Returns the function that a kernel calls.
    fn entry(&self, launch: &Launch, discard: Discard, bits: Bits) -> String {
        let ty = match bits {
            Bits::B32 => "int32_t",
            Bits::B64 => "int64_t",
        };
        let arguments = self.inputs.join(", ");
        let mut parameters: Vec<String> = self.inputs.iter().map(|n| format!("{ty} {n}")).collect();
        parameters.push(format!("{ty} *index"));
        let index = match self.all[0].1.len() {
            0 => String::new(),
            1 => format!("  index[0] = map_index({arguments});\n"),
            _ => format!("  map_index({arguments}, index);\n"),
        };
        let conditions = self.all[1..].iter();
        let mut conditions = conditions.map(|(name, _)| format!("{name}({arguments})"));
        let body = match discard {
            Discard::Branching => {
                let exits = conditions.map(|call| format!("  if (!{call}) return 0;\n"));
                format!("{}{index}  return 1;\n", exits.collect::<String>())
            }
            Discard::Branchless => {
                let operative = conditions
                    .next_back()
                    .map_or("1".to_string(), |call| call + " != 0");
                format!("{index}  return {operative};\n")
            }
        };
        let list = |sizes: Vec<Expr>| {
            let mut sizes: Vec<String> = sizes.iter().map(Expr::to_string).collect();
            sizes.resize(3, "1".to_string());
            sizes.join(", ")
        };
        let (blocks, block) = (list(launch.blocks()), list(launch.block()));
        format!(
            "/* The index of a thread, and 1; 0 if it has none.\n   Launched with dim3({blocks}), \
             dim3({block}). */\nMDH_FUNCTION int map({}) {{\n{body}}}\n",
            parameters.join(", ")
        )
    }
}
