//! From the text of a PTX module to instructions.

use std::collections::HashMap;

use crate::instruction::{
    Compare, Instruction, Op, Operand, Part, Rounding, Shuffle, Space, Special, Type, Way,
};

/// What a module has.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Its kernels, by name.
    pub kernels: HashMap<String, Kernel>,
    /// The chip that it is for: 90 of `sm_90a`.
    pub chip: i32,
    /// Whether it is for that chip only.
    pub is_exact: bool,
}

/// A kernel.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// Bytes of each argument.
    pub parameters: Vec<usize>,
    /// Bytes of shared memory.
    pub shared: usize,
    /// Bytes of each thread's own memory.
    pub local: usize,
    /// How many registers there are, of all kinds.
    pub registers: usize,
    /// The threads of a block, at most.
    pub threads: Option<u64>,
    /// The instructions.
    pub body: Vec<Instruction>,
}

/// Arguments lie one after the other, each in so many bytes.
pub const SLOT: usize = 8;

/// Reads a module; the message of an error names a line. Functions that are no kernels are passed
/// over: kernels have what they need inlined.
pub fn parse(text: &str) -> Result<Module, String> {
    let text = without_comments(text);
    let mut module = Module::default();
    if let Some(target) = directive(&text, ".target") {
        let name = target.split([',', ' ']).next().unwrap_or_default();
        let digits = name.trim_start_matches("sm_");
        let number = digits.trim_end_matches(['a', 'f']);
        module.chip = number.parse().map_err(|_| format!("target '{name}'"))?;
        module.is_exact = number != digits;
    }
    let mut rest = 0;
    while let Some(found) = text[rest..].find(".entry") {
        let start = rest + found;
        let open = start + find(&text[start..], '(')?;
        let close = open + find(&text[open..], ')')?;
        let begin = close + find(&text[close..], '{')?;
        let end = begin + matching(&text[begin..])?;
        let name = text[start + ".entry".len()..open].trim().to_string();
        let mut reader = Reader::default();
        reader.parameters(&text[open + 1..close])?;
        reader.kernel.threads = threads(&text[close..begin]);
        let line = text[..begin].matches('\n').count() as u32 + 1;
        reader.body(&text[begin + 1..end], line)?;
        module.kernels.insert(name, reader.kernel);
        rest = end;
    }
    Ok(module)
}

fn find(text: &str, what: char) -> Result<usize, String> {
    text.find(what).ok_or_else(|| format!("expected '{what}'"))
}

/// The place of the brace that closes the one at the start.
fn matching(text: &str) -> Result<usize, String> {
    let mut depth = 0;
    for (place, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return Ok(place);
        }
    }
    Err("expected '}'".to_string())
}

/// Comments become spaces, so that lines stay where they are.
fn without_comments(text: &str) -> String {
    let lines = text.lines();
    let lines = lines.map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// What stands behind a directive in its line.
fn directive<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = text.lines().map(str::trim);
    lines
        .find_map(|line| line.strip_prefix(name))
        .map(str::trim)
}

/// `.maxntid 16, 16, 1`
fn threads(text: &str) -> Option<u64> {
    let numbers = directive(text, ".maxntid").or_else(|| directive(text, ".reqntid"))?;
    let mut numbers = numbers
        .split(',')
        .map(|number| number.trim().parse::<u64>());
    numbers.try_fold(1, |all, number| Some(all * number.ok()?))
}

/// Reads one kernel.
#[derive(Default)]
struct Reader {
    kernel: Kernel,
    /// What names stand for: registers, arguments, memory.
    names: HashMap<String, Operand>,
    labels: HashMap<String, u32>,
    /// Labels in the order of their numbers, and where they are.
    places: Vec<Option<u32>>,
}

impl Reader {
    /// `.param .u64 .ptr .align 1 f_param_0, ..`
    fn parameters(&mut self, text: &str) -> Result<(), String> {
        for one in text.split(',').map(str::trim).filter(|one| !one.is_empty()) {
            let words: Vec<&str> = one.split_whitespace().collect();
            let ty = words
                .iter()
                .find_map(|word| Type::parse(word.strip_prefix('.')?));
            let (Some(ty), Some(name)) = (ty, words.last()) else {
                return Err(format!("argument '{one}': expected a type and a name"));
            };
            let offset = self.kernel.parameters.len() * SLOT;
            self.kernel.parameters.push(ty.bytes());
            let place = Operand::Immediate(offset as u64);
            self.names.insert(name.to_string(), place);
        }
        Ok(())
    }

    fn body(&mut self, text: &str, first: u32) -> Result<(), String> {
        let mut line = first;
        for statement in text.split_inclusive(';') {
            let leading = statement.len() - statement.trim_start().len();
            line += statement[..leading].matches('\n').count() as u32;
            let read = self.statement(statement, line);
            read.map_err(|error| format!("line {line}: {error}"))?;
            line += statement[leading..].matches('\n').count() as u32;
        }
        for instruction in &mut self.kernel.body {
            for operand in &mut instruction.operands {
                if let Operand::Label(number) = operand {
                    let place = self.places.get(*number as usize).copied().flatten();
                    *number = place.ok_or("a branch to nowhere")?;
                }
            }
        }
        Ok(())
    }

    fn statement(&mut self, text: &str, line: u32) -> Result<(), String> {
        let mut text = text.trim().trim_end_matches(';').trim();
        // Scopes of inlined assembly, whose registers have names of their own.
        text = text.trim_start_matches(['{', '}']).trim_start();
        while let Some((label, rest)) = text.split_once(':') {
            let is_label = label
                .chars()
                .all(|c| c.is_alphanumeric() || "$_".contains(c));
            if !is_label {
                break;
            }
            let number = self.label(label);
            self.places[number as usize] = Some(self.kernel.body.len() as u32);
            text = rest.trim_start();
        }
        match text {
            "" => Ok(()),
            _ if text.starts_with(".reg") => self.registers(text),
            _ if text.starts_with(".shared") || text.starts_with(".local") => self.memory(text),
            _ if text.starts_with(".pragma") || text.starts_with(".loc") => Ok(()),
            _ => {
                let instruction = self.instruction(text, line)?;
                self.kernel.body.push(instruction);
                Ok(())
            }
        }
    }

    fn label(&mut self, name: &str) -> u32 {
        let next = self.labels.len() as u32;
        let number = *self.labels.entry(name.to_string()).or_insert(next);
        if number == next {
            self.places.push(None);
        }
        number
    }

    /// `.reg .b32 %r<154>` or `.reg .pred p`
    fn registers(&mut self, text: &str) -> Result<(), String> {
        let names = text.split_whitespace().skip(2).collect::<String>();
        for name in names.split(',') {
            let (stem, count) = match name.split_once('<') {
                Some((stem, count)) => {
                    let count = count.trim_end_matches('>').parse().ok();
                    (stem, Some(count.ok_or_else(|| format!("'{text}'"))?))
                }
                None => (name, None),
            };
            for n in 0..count.unwrap_or(1u32) {
                let name = match count {
                    Some(_) => format!("{stem}{n}"),
                    None => stem.to_string(),
                };
                let register = Operand::Register(self.kernel.registers as u32);
                self.kernel.registers += 1;
                self.names.insert(name, register);
            }
        }
        Ok(())
    }

    /// `.shared .align 16 .b8 name[2560]`
    fn memory(&mut self, text: &str) -> Result<(), String> {
        let wrong = || format!("'{text}': expected bytes of memory");
        let words: Vec<&str> = text.split_whitespace().collect();
        let align = words.iter().position(|word| *word == ".align");
        let align = align
            .and_then(|n| words.get(n + 1)?.parse().ok())
            .unwrap_or(16usize);
        let (name, count) = words
            .last()
            .and_then(|w| w.split_once('['))
            .ok_or_else(wrong)?;
        let count: usize = count.trim_end_matches(']').parse().map_err(|_| wrong())?;
        let width = words
            .iter()
            .find_map(|word| Type::parse(word.strip_prefix('.')?));
        let bytes = count * width.ok_or_else(wrong)?.bytes();
        let total = match text.starts_with(".shared") {
            true => &mut self.kernel.shared,
            false => &mut self.kernel.local,
        };
        let offset = total.next_multiple_of(align.max(1));
        *total = offset + bytes;
        let place = Operand::Immediate(offset as u64);
        self.names.insert(name.to_string(), place);
        Ok(())
    }

    fn instruction(&mut self, text: &str, line: u32) -> Result<Instruction, String> {
        let (guard, text) = match text.strip_prefix('@') {
            None => (None, text),
            Some(rest) => {
                let (name, rest) = rest
                    .split_once(char::is_whitespace)
                    .ok_or("a guard alone")?;
                let negated = name.starts_with('!');
                match self.names.get(name.trim_start_matches('!')) {
                    Some(Operand::Register(number)) => (Some((*number, negated)), rest.trim()),
                    _ => return Err(format!("guard '{name}' is no register")),
                }
            }
        };
        let (code, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let (op, ty, width) = decode(code).ok_or_else(|| format!("instruction '{code}'"))?;
        let operands = split(rest).into_iter().map(|one| self.operand(one, op));
        Ok(Instruction {
            guard,
            op,
            ty,
            width,
            operands: operands.collect::<Result<_, _>>()?,
            line,
        })
    }

    fn operand(&mut self, text: &str, op: Op) -> Result<Operand, String> {
        if let Some(inside) = text.strip_prefix('{') {
            let inside = inside.trim_end_matches('}').split(',');
            let all = inside.map(|one| self.operand(one.trim(), op));
            return Ok(Operand::Vector(all.collect::<Result<_, _>>()?));
        }
        if let Some(inside) = text.strip_prefix('[') {
            let inside = inside.trim_end_matches(']');
            let (base, offset) = inside.split_once('+').unwrap_or((inside, "0"));
            let offset = offset.trim().parse().map_err(|_| format!("'{text}'"))?;
            let base = self.operand(base.trim(), op)?;
            return Ok(Operand::Address(Box::new(base), offset));
        }
        if let Some((result, predicate)) = text.split_once('|') {
            return match (self.names.get(result), self.names.get(predicate)) {
                (Some(Operand::Register(a)), Some(Operand::Register(b))) => {
                    Ok(Operand::Pair(*a, *b))
                }
                _ => Err(format!("'{text}' is no pair of registers")),
            };
        }
        if text == "_" {
            return Ok(Operand::Nothing);
        }
        if let Some(known) = self.names.get(text) {
            return Ok(known.clone());
        }
        if let Some(special) = special(text) {
            return Ok(Operand::Special(special));
        }
        if let Some(number) = immediate(text) {
            return Ok(Operand::Immediate(number));
        }
        match op {
            Op::Bra => Ok(Operand::Label(self.label(text))),
            _ => Err(format!("operand '{text}'")),
        }
    }
}

/// Operands, separated by commas outside of braces.
fn split(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let (mut depth, mut from) = (0, 0);
    for (place, letter) in text.char_indices() {
        match letter {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ',' if depth == 0 => {
                all.push(text[from..place].trim());
                from = place + 1;
            }
            _ => {}
        }
    }
    let last = text[from..].trim();
    if !last.is_empty() {
        all.push(last);
    }
    all
}

fn special(text: &str) -> Option<Special> {
    if text == "%laneid" {
        return Some(Special::Lane);
    }
    let (name, axis) = text.split_once('.')?;
    let axis = ["x", "y", "z"].iter().position(|known| *known == axis)? as u8;
    Some(match name {
        "%tid" => Special::Thread(axis),
        "%ntid" => Special::Threads(axis),
        "%ctaid" => Special::Block(axis),
        "%nctaid" => Special::Blocks(axis),
        _ => return None,
    })
}

/// A number; of a float, its bits.
fn immediate(text: &str) -> Option<u64> {
    if let Some(bits) = text.strip_prefix("0f") {
        return u32::from_str_radix(bits, 16).ok().map(u64::from);
    }
    if let Some(bits) = text.strip_prefix("0d").or_else(|| text.strip_prefix("0x")) {
        return u64::from_str_radix(bits, 16).ok();
    }
    match text.strip_prefix('-') {
        Some(digits) => digits.parse().ok().map(u64::wrapping_neg),
        None => text.parse().ok(),
    }
}

/// What an instruction's name says.
fn decode(code: &str) -> Option<(Op, Type, u8)> {
    let mut parts = code.split('.').filter(|part| !part.is_empty());
    let base = parts.next()?;
    let rest: Vec<&str> = parts.collect();
    let has = |word: &str| rest.contains(&word);
    let types: Vec<Type> = rest.iter().filter_map(|part| Type::parse(part)).collect();
    let ty = types.first().copied().unwrap_or(Type::B(32));
    let part = match () {
        _ if has("wide") => Part::Wide,
        _ if has("hi") => Part::High,
        _ => Part::Low,
    };
    let space = match () {
        _ if has("global") => Space::Global,
        _ if has("shared") => Space::Shared,
        _ if has("local") => Space::Local,
        _ if has("param") => Space::Param,
        _ => Space::Generic,
    };
    let width = match () {
        _ if has("v2") => 2,
        _ if has("v4") => 4,
        _ => 1,
    };
    let op = match base {
        "mov" => Op::Mov,
        "ld" | "ldu" => Op::Ld(space),
        "st" => Op::St(space),
        "add" => Op::Add,
        "sub" => Op::Sub,
        "mul" => Op::Mul(part),
        "mad" => Op::Mad(part),
        "fma" => Op::Fma,
        "div" => Op::Div,
        "rem" => Op::Rem,
        "min" => Op::Min { nan: has("NaN") },
        "max" => Op::Max { nan: has("NaN") },
        "neg" => Op::Neg,
        "abs" => Op::Abs,
        "and" => Op::And,
        "or" => Op::Or,
        "xor" => Op::Xor,
        "not" => Op::Not,
        "shl" => Op::Shl,
        "shr" => Op::Shr,
        "bfe" => Op::Bfe,
        "clz" => Op::Clz,
        "popc" => Op::Popc,
        "rcp" => Op::Rcp,
        "sqrt" => Op::Sqrt,
        "rsqrt" => Op::Rsqrt,
        "ex2" => Op::Ex2,
        "lg2" => Op::Lg2,
        "copysign" => Op::Copysign,
        "testp" if has("notanumber") => Op::Testp,
        "setp" => {
            let compare = rest.first().and_then(|name| Compare::parse(name))?;
            // `setp.lt.and.f32` combines with a predicate: not known here.
            if rest.len() > 2 && !has("ftz") {
                return None;
            }
            // Of integers, lo and its like are of unsigned ones.
            Op::Setp(compare)
        }
        "selp" => Op::Selp,
        "cvt" => {
            let [_, from] = types[..] else {
                return None;
            };
            let rounding = match () {
                _ if has("rni") => Some(Rounding::Nearest),
                _ if has("rzi") => Some(Rounding::Zero),
                _ if has("rmi") => Some(Rounding::Down),
                _ if has("rpi") => Some(Rounding::Up),
                _ => None,
            };
            if has("rz") || has("rm") || has("rp") {
                return None;
            }
            let saturates = has("sat");
            Op::Cvt {
                from,
                rounding,
                saturates,
            }
        }
        "cvta" => Op::Cvta {
            space,
            from_generic: has("to"),
        },
        "bra" => Op::Bra,
        "bar" if rest == ["sync"] || rest == ["cta", "sync"] => Op::BarSync,
        "barrier" if has("sync") => Op::BarSync,
        "bar" if rest == ["warp", "sync"] => Op::WarpSync,
        "shfl" if has("sync") => Op::Shfl(match () {
            _ if has("bfly") => Shuffle::Butterfly,
            _ if has("up") => Shuffle::Up,
            _ if has("down") => Shuffle::Down,
            _ if has("idx") => Shuffle::Index,
            _ => return None,
        }),
        "cp" if rest.first() == Some(&"async") => copy(&rest[1..])?,
        "mma" if rest.starts_with(&["sync", "aligned", "m16n8k16", "row", "col", "f32"]) => {
            match types[1..] {
                [a, b, Type::F32] if a == b && matches!(a, Type::F16 | Type::BF16) => Op::Mma(a),
                _ => return None,
            }
        }
        "membar" | "fence" => Op::Fence,
        "ret" | "exit" => Op::Ret,
        "trap" => Op::Trap,
        _ => return None,
    };
    Some((op, ty, width))
}

/// `cp.async.cg.shared.global` and what waits for it by groups, behind `cp.async.`
fn copy(words: &[&str]) -> Option<Op> {
    match words {
        ["commit_group"] => Some(Op::CpCommit),
        ["wait_group" | "wait_all"] => Some(Op::CpWait),
        [way, "shared" | "shared::cta", "global", ..] => Some(Op::CpAsync(match *way {
            "ca" => Way::AllLevels,
            "cg" => Way::Global,
            _ => return None,
        })),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADD: &str = "
.version 7.8
.target sm_90a
.visible .entry f(
  .param .u64 .ptr .align 1 f_param_0,
  .param .f32 f_param_1
)
.maxntid 32, 4, 1
{
  .reg .pred %p<2>;
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  .shared .align 16 .b8 tile[40];
  ld.param.b64 %rd1, [f_param_0]; // the array
  mov.u32 %r1, %tid.y;
  setp.gt.u32 %p1, %r1, 2;
  @%p1 bra $L__BB0_2;
  st.global.v2.b32 [%rd1+-8], {%r1, %r2};
$L__BB0_2:
  ret;
}";

    #[test]
    fn a_kernel_is_read() {
        let module = parse(ADD).unwrap();
        assert_eq!((module.chip, module.is_exact), (90, true));
        let kernel = &module.kernels["f"];
        assert_eq!(kernel.parameters, [8, 4]);
        assert_eq!((kernel.shared, kernel.threads), (40, Some(128)));
        assert_eq!((kernel.registers, kernel.body.len()), (8, 6));
        let branch = &kernel.body[3];
        assert_eq!((branch.guard, branch.op), (Some((1, false)), Op::Bra));
        assert_eq!(branch.operands, [Operand::Label(5)]);
        let store = &kernel.body[4];
        assert_eq!((store.op, store.width), (Op::St(Space::Global), 2));
        let address = Operand::Address(Box::new(Operand::Register(6)), -8);
        assert_eq!(store.operands[0], address);
        assert_eq!(store.line, 18);
    }

    #[test]
    fn what_is_not_known_is_named() {
        let error = |old: &str, new: &str| parse(&ADD.replace(old, new)).unwrap_err();
        assert_eq!(
            error("setp.gt", "frob.gt"),
            "line 16: instruction 'frob.gt.u32'"
        );
        assert_eq!(error("%r1, 2;", "%q1, 2;"), "line 16: operand '%q1'");
        assert_eq!(
            error("bra $L__BB0_2", "bra $L__BB0_3"),
            "a branch to nowhere"
        );
    }

    #[test]
    fn copies_that_are_not_waited_for() {
        let op = |code| decode(code).map(|(op, ..)| op);
        let all = "cp.async.ca.shared.global.L2::128B";
        assert_eq!(op(all), Some(Op::CpAsync(Way::AllLevels)));
        let global = "cp.async.cg.shared::cta.global";
        assert_eq!(op(global), Some(Op::CpAsync(Way::Global)));
        assert_eq!(op("cp.async.commit_group"), Some(Op::CpCommit));
        assert_eq!(op("cp.async.wait_group"), Some(Op::CpWait));
        assert_eq!(op("cp.async.wait_all"), Some(Op::CpWait));
        assert_eq!(op("cp.async.mbarrier.arrive.shared.b64"), None);
        assert_eq!(op("cp.async.bulk.wait_group"), None);
    }

    #[test]
    fn numbers() {
        assert_eq!(immediate("-8"), Some(8u64.wrapping_neg()));
        assert_eq!(immediate("0f3F800000"), Some(u64::from(1f32.to_bits())));
        assert_eq!(immediate("0d3FF0000000000000"), Some(1f64.to_bits()));
        assert_eq!(immediate("%r1"), None);
    }
}
