//! From the text of a PTX module to instructions.

use std::collections::HashMap;
use std::sync::Arc;

use crate::address_space::CONSTANTS;
use crate::decode::{Decoded, decode};
use crate::instruction::{Instruction, Op, Operand, Special};
use crate::variables::{Constants, immediate, matching, outside, variable};

/// A module.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Its kernels, by name.
    pub kernels: HashMap<String, Kernel>,
    /// The chip that it is for: 90 of `sm_90a`.
    pub chip: i32,
    /// True if it is for that chip only.
    pub is_exact: bool,
}

/// A kernel.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// Bytes of each argument.
    pub parameters: Vec<usize>,
    /// Bytes of shared memory, behind which that of a launch lies.
    pub shared: usize,
    /// Constants of the whole module.
    pub constants: Arc<[u8]>,
    /// Bytes of each thread's own memory.
    pub local: usize,
    /// Number of registers, of all kinds.
    pub registers: usize,
    /// The threads of a block along each axis, if the kernel says so.
    pub shape: Option<[u32; 3]>,
    /// True if a block may have fewer, but not more in all.
    pub may_be_smaller: bool,
    /// The instructions.
    pub body: Vec<Instruction>,
}

/// Arguments lie one after the other, each in a multiple of so many bytes.
const SLOT: usize = 8;

impl Kernel {
    /// Returns the offset of each argument among all of them, and the end.
    pub fn offsets(&self) -> Vec<usize> {
        let mut offsets = vec![0];
        for bytes in &self.parameters {
            let last = offsets.last().copied().unwrap_or(0);
            offsets.push(last + bytes.next_multiple_of(SLOT));
        }
        offsets
    }
}

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
    let around = outside(&text)?;
    let constants = Constants::new(&around)?;
    let bytes: Arc<[u8]> = constants.bytes.into();
    let mut rest = 0;
    while let Some(found) = text[rest..].find(".entry") {
        let start = rest + found;
        let open = start + find(&text[start..], '(')?;
        let close = open + find(&text[open..], ')')?;
        let begin = close + find(&text[close..], '{')?;
        let end = begin + matching(&text[begin..])?;
        let name = text[start + ".entry".len()..open].trim().to_string();
        let mut reader = Reader::default();
        reader.kernel.constants = bytes.clone();
        for (name, offset) in &constants.names {
            let place = Operand::Immediate(CONSTANTS + *offset as u64);
            reader.names.insert(name.clone(), place);
        }
        let body = &text[begin + 1..end];
        reader.shared(&around, body)?;
        reader.parameters(&text[open + 1..close])?;
        reader.kernel.shape = shape(&text[close..begin], ".reqntid");
        if reader.kernel.shape.is_none() {
            reader.kernel.shape = shape(&text[close..begin], ".maxntid");
            reader.kernel.may_be_smaller = true;
        }
        let line = text[..begin].matches('\n').count() as u32 + 1;
        reader.body(body, line)?;
        module.kernels.insert(name, reader.kernel);
        rest = end;
    }
    Ok(module)
}

fn find(text: &str, what: char) -> Result<usize, String> {
    text.find(what).ok_or_else(|| format!("expected '{what}'"))
}

/// Comments become spaces, so that lines stay where they are.
fn without_comments(text: &str) -> String {
    let lines = text.lines();
    let lines = lines.map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the rest of the line behind a directive.
fn directive<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = text.lines().map(str::trim);
    lines
        .find_map(|line| line.strip_prefix(name))
        .map(str::trim)
}

/// `.maxntid 16, 16, 1`
fn shape(text: &str, name: &str) -> Option<[u32; 3]> {
    let mut shape = [1; 3];
    let numbers = directive(text, name)?.split(',');
    for (extent, number) in shape.iter_mut().zip(numbers) {
        *extent = number.trim().parse().ok()?;
    }
    Some(shape)
}

/// Reads one kernel.
#[derive(Default)]
struct Reader {
    kernel: Kernel,
    /// Meanings of names: registers, arguments, memory.
    names: HashMap<String, Operand>,
    labels: HashMap<String, u32>,
    /// Labels in the order of their numbers, and where they are.
    places: Vec<Option<u32>>,
}

impl Reader {
    /// `.param .u64 .ptr .align 1 f_param_0, .param .align 2 .b8 f_param_1[2]`
    fn parameters(&mut self, text: &str) -> Result<(), String> {
        let mut offset = 0;
        for one in text.split(',').map(str::trim).filter(|one| !one.is_empty()) {
            let (name, bytes) = variable(one)
                .ok_or_else(|| format!("argument '{one}': expected a type and a name"))?;
            self.kernel.parameters.push(bytes);
            self.names.insert(name, Operand::Immediate(offset as u64));
            offset += bytes.next_multiple_of(SLOT);
        }
        Ok(())
    }

    /// Memory of the block: of the module, of the kernel, and behind it what a launch adds.
    fn shared(&mut self, around: &str, body: &str) -> Result<(), String> {
        let lines = around.lines().chain(body.lines()).map(str::trim);
        let (added, own): (Vec<&str>, Vec<&str>) = lines
            .filter(|line| line.starts_with(".shared") || line.starts_with(".extern .shared"))
            .partition(|line| line.starts_with(".extern"));
        let mut lines = own.into_iter().chain(added);
        lines.try_for_each(|line| self.memory(line.trim_end_matches(';')))
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
                let targets = match operand {
                    Operand::Vector(parts) => &mut parts[..],
                    single => std::slice::from_mut(single),
                };
                for target in targets {
                    if let Operand::Label(number) = target {
                        let place = self.places.get(*number as usize).copied().flatten();
                        *number = place.ok_or("a branch to nowhere")?;
                    }
                }
            }
        }
        Ok(())
    }

    fn statement(&mut self, statement: &str, first: u32) -> Result<(), String> {
        let statement = statement.trim().trim_end_matches(';');
        let mut text = statement.trim_end();
        // Scopes of inlined assembly, whose registers have names of their own.
        text = text.trim_start_matches(|c: char| "{}".contains(c) || c.is_whitespace());
        let mut last = "";
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
            last = label;
        }
        match text {
            "" => Ok(()),
            _ if text.starts_with(".branchtargets") => {
                let targets = split(text.trim_start_matches(".branchtargets")).into_iter();
                let targets = targets.map(|one| Operand::Label(self.label(one))).collect();
                self.names
                    .insert(last.to_string(), Operand::Vector(targets));
                Ok(())
            }
            _ if text.starts_with(".reg") => self.registers(text),
            // They are known from the start.
            _ if text.starts_with(".shared") => Ok(()),
            _ if text.starts_with(".local") => self.memory(text),
            _ if text.starts_with(".pragma") || text.starts_with(".loc") => Ok(()),
            _ => {
                let before = &statement[..text.as_ptr() as usize - statement.as_ptr() as usize];
                let line = first + before.matches('\n').count() as u32;
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

    /// `.shared .align 16 .b8 name[2560]`, `.shared .align 4 .b32 name`
    fn memory(&mut self, text: &str) -> Result<(), String> {
        let (name, bytes) =
            variable(text).ok_or_else(|| format!("'{text}': expected bytes of memory"))?;
        let words: Vec<&str> = text.split_whitespace().collect();
        let align = words.iter().position(|word| *word == ".align");
        let align = align
            .and_then(|n| words.get(n + 1)?.parse().ok())
            .unwrap_or(16usize);
        let total = match words.contains(&".local") {
            false => &mut self.kernel.shared,
            true => &mut self.kernel.local,
        };
        let offset = total.next_multiple_of(align.max(1));
        *total = offset + bytes;
        self.names.insert(name, Operand::Immediate(offset as u64));
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
        let texts = split(rest);
        let Decoded { op, ty, width } = decode(code, texts.len()).ok_or_else(|| {
            let count = texts.len();
            format!("instruction '{code}' with {count} operands is not known to this interpreter")
        })?;
        let operands = texts.into_iter().map(|one| self.operand(one, op));
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        check(op, width, &operands).map_err(|why| format!("instruction '{text}': {why}"))?;
        Ok(Instruction {
            guard,
            op,
            ty,
            width,
            operands,
            line,
            name: code.to_string(),
        })
    }

    fn operand(&mut self, text: &str, op: Op) -> Result<Operand, String> {
        if let Some(inside) = text.strip_prefix('{') {
            let inside = inside.trim_end_matches('}').split(',');
            let operands = inside.map(|one| self.operand(one.trim(), op));
            return Ok(Operand::Vector(operands.collect::<Result<_, _>>()?));
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
    let mut operands = Vec::new();
    let (mut depth, mut from) = (0, 0);
    for (place, letter) in text.char_indices() {
        match letter {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ',' if depth == 0 => {
                operands.push(text[from..place].trim());
                from = place + 1;
            }
            _ => {}
        }
    }
    let last = text[from..].trim();
    if !last.is_empty() {
        operands.push(last);
    }
    operands
}

/// Returns whether the operands are such as the operation takes, as far as it would not be done otherwise.
fn check(op: Op, width: u8, operands: &[Operand]) -> Result<(), &'static str> {
    let parts = |n: usize| match operands.get(n) {
        Some(Operand::Vector(parts)) => parts.len(),
        _ => 1,
    };
    let is_address = |n: usize| matches!(operands.get(n), Some(Operand::Address(..)));
    let is_number = |n: usize| matches!(operands.get(n), Some(Operand::Immediate(_)));
    match op {
        Op::Mma(_) if [0, 1, 2, 3].map(parts) != [4, 4, 2, 4] => {
            Err("expected 4, 4, 2 and 4 registers")
        }
        Op::Ld(_) if !is_address(1) || parts(0) != width.into() => {
            Err("expected registers, an address")
        }
        Op::St(_) if !is_address(0) || parts(1) != width.into() => {
            Err("expected an address, registers")
        }
        Op::CpAsync(_) if !is_address(0) || !is_address(1) => Err("expected two addresses"),
        Op::Brx if !matches!(operands.get(1), Some(Operand::Vector(_))) => {
            Err("expected a register, a list of targets that stands before")
        }
        Op::BarSync if !is_number(0) => Err("expected the number of a barrier"),
        _ => Ok(()),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instruction::Space;

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
    fn scopes_that_follow_each_other_are_read() {
        let halves = "{ .reg .b16 tmp; mov.b32 {%rs1, tmp}, %r1; }\n\t";
        let registers = ".reg .b64 %rd<3>;\n\t.reg .b16 %rs<2>;\n\t";
        let text = ADD.replace(".reg .b64 %rd<3>;", &format!("{registers}{halves}{halves}"));
        let kernel = &parse(&text).unwrap().kernels["f"];
        let both: Vec<Op> = kernel.body[..2].iter().map(|i| i.op).collect();
        assert_eq!(both, [Op::Mov, Op::Mov]);
        assert_eq!(kernel.body.len(), 8);
    }

    #[test]
    fn a_kernel_is_read() {
        let module = parse(ADD).unwrap();
        assert_eq!((module.chip, module.is_exact), (90, true));
        let kernel = &module.kernels["f"];
        assert_eq!(kernel.parameters, [8, 4]);
        assert_eq!((kernel.shared, kernel.shape), (40, Some([32, 4, 1])));
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
            "line 16: instruction 'frob.gt.u32' with 3 operands is not known to this interpreter"
        );
        assert_eq!(error("%r1, 2;", "%q1, 2;"), "line 16: operand '%q1'");
        assert_eq!(
            error("bra $L__BB0_2", "bra $L__BB0_3"),
            "a branch to nowhere"
        );
    }

    #[test]
    fn memory_of_all_kinds() {
        let text = ADD
            .replace(
                ".param .f32 f_param_1",
                ".param .align 2 .b8 f_param_1[2],\n .param .b8 f_param_2[12]",
            )
            .replace(
                ".shared .align 16 .b8 tile[40];",
                ".shared .align 4 .b32 one;\n .local .align 8 .b8 own[2][8];",
            )
            .replace(
                ".visible",
                ".extern .shared .align 16 .b8 rest[];\n.visible",
            );
        let module = parse(&text).unwrap();
        let kernel = &module.kernels["f"];
        assert_eq!(kernel.parameters, [8, 2, 12]);
        assert_eq!(kernel.offsets(), [0, 8, 16, 32]);
        assert_eq!((kernel.shared, kernel.local), (16, 16));
    }

    #[test]
    fn numbers() {
        assert_eq!(immediate("-8"), Some(8u64.wrapping_neg()));
        assert_eq!(immediate("0f3F800000"), Some(u64::from(1f32.to_bits())));
        assert_eq!(immediate("0d3FF0000000000000"), Some(1f64.to_bits()));
        assert_eq!(immediate("0x3340U"), Some(0x3340));
        assert_eq!(immediate("%r1"), None);
    }
}
