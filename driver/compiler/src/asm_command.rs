//! `mdh asm`: a machine, as schedules see it.

use mdh_schedule::asm::{Asm, AsmLayer, Core, Limit, Memory, MemoryKind};

use crate::cli::AsmArguments;
use crate::error::{Error, Result};

/// Runs the command.
pub fn run(arguments: &AsmArguments) -> Result<()> {
    let this = mdh_machine::this().map_err(Error::input)?;
    let asm = arguments.machine.asm(&this)?;
    let json = || asm.to_json() + "\n";
    arguments.json.print_either(|| text(&asm), json)
}

/// One line for each layer and each limit, in columns.
fn text(asm: &Asm) -> String {
    let names = asm.layers.iter().map(|layer| layer.name().chars().count());
    let width = names.max().unwrap_or(0);
    let layers = asm.layers.iter().map(|layer| {
        let (kind, facts) = match layer {
            AsmLayer::Memory(memory) => ("memory", of_memory(memory)),
            AsmLayer::Core(core) => ("core", of_core(core)),
        };
        let line = format!("  {:width$}  {kind:6}  {}", layer.name(), facts.join(", "));
        format!("{}\n", line.trim_end())
    });
    let limit = |limit: &Limit| {
        let layers = limit.layers.join(" x ");
        format!("  {}: {layers} at most {}\n", limit.what, limit.at_most)
    };
    let limits = asm.limits.iter().map(limit);
    format!("{}\n", asm.name) + &layers.chain(limits).collect::<String>()
}

fn of_memory(memory: &Memory) -> Vec<String> {
    let mut facts: Vec<String> = memory.capacity.map(size).into_iter().collect();
    if memory.kind == MemoryKind::Cache {
        facts.push("cache".to_string());
    }
    facts
}

fn of_core(core: &Core) -> Vec<String> {
    let mut facts = Vec::new();
    facts.extend(core.count.map(|count| format!("{count} of them")));
    facts.extend(core.width.map(|width| format!("{} wide", size(width))));
    if !core.features.is_empty() {
        facts.push(format!("with {}", core.features.join(" and ")));
    }
    if !core.extents.is_empty() {
        let extents: Vec<String> = core.extents.iter().map(u64::to_string).collect();
        facts.push(format!("at most {}", extents.join(" x ")));
    }
    let regions = core.combine_in.iter().map(|place| match place.at_most {
        Some(parts) => format!("{} (at most {parts})", place.region),
        None => place.region.clone(),
    });
    let regions: Vec<String> = regions.collect();
    if !regions.is_empty() {
        facts.push(format!("combine in {}", regions.join(" or ")));
    }
    facts
}

/// Bytes in the largest unit that leaves no rest.
fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let mut whole = units
        .iter()
        .filter(|(shift, _)| bytes.is_multiple_of(1 << shift));
    match whole.next() {
        Some((shift, unit)) if bytes > 0 => format!("{} {unit}", bytes >> shift),
        _ => format!("{bytes} bytes"),
    }
}
