//! `mdh layout`: a layout, asked and drawn.

use std::fmt::Write;

use mdh_algebra::amounts::counted;
use mdh_algebra::index::emit::{self, Argument, EmitError, Function, Width};
use mdh_algebra::index::lex::{Cursor, SyntaxError};
use mdh_algebra::index::parse::{Scope, expr, expression};
use mdh_algebra::index::simplify::{Operations, simplify};
use mdh_algebra::index::{Expr, Facts, IndexProgram, Interval, Name, Node};
use mdh_algebra::layout::{self, Answer, Layout, parse};

use crate::cli::{Assumed, Bits, Code, LayoutArguments};
use crate::layout_access::{self, Access};
use crate::layout_picture;
use crate::layout_wrapper;
use mdh_compiler::error::{Error, Result};
use mdh_compiler::output;

/// So many elements are shown at most.
pub const SHOWN: i64 = 1 << 14;

/// Runs the command. What is asked for is printed in this order, each answer behind what leads to
/// it, so that the last line is the last answer.
pub fn run(arguments: &LayoutArguments) -> Result<()> {
    arguments.out.check()?;
    arguments.json.check()?;
    let layout = read(arguments)?;
    if let Some(path) = &arguments.svg {
        output::write(path, layout_picture::svg(&layout)?.as_bytes())?;
    }
    let answers = answers(&layout, arguments)?;
    let answer = arguments.check.then(|| layout.answer());
    let mut text: String = answers.iter().map(|(_, text)| text.as_str()).collect();
    let nothing = text.is_empty() && arguments.svg.is_none();
    if nothing && !arguments.check {
        text += &summary(&layout);
    }
    if answer == Some(&Answer::Proved) {
        text += "proved\n";
    }
    if !arguments.json.is_printed() {
        arguments.out.write(text)?;
    }
    let json = || json(&layout, &answers, answer);
    arguments.json.write(json)?;
    match answer {
        None | Some(Answer::Proved) => Ok(()),
        Some(answer) => Err(Error::check(answer.to_string())),
    }
}

/// The answers to what is asked, each with its name.
fn answers(layout: &Layout, arguments: &LayoutArguments) -> Result<Vec<(&'static str, String)>> {
    let mut answers = Vec::new();
    if arguments.table {
        answers.push(("table", table(layout)?));
    }
    if let Some(banks) = &arguments.banks {
        let access = Access {
            banks: *banks,
            element: arguments.element.map_or(banks.bytes, i64::from),
            index: arguments.access.as_deref(),
        };
        answers.push(("access", layout_access::report(layout, &access)?));
    }
    if let Some(code) = arguments.emit {
        answers.push(("code", emit_code(layout, code, arguments)?));
    }
    // In Triton's code index and offset stand already.
    if arguments.emit != Some(Code::Triton) {
        let asked = Asked::new(layout, arguments)?;
        if let Some(index) = &asked.index {
            answers.push(("offset", apply(layout, index, &asked.facts)?));
        }
        if let Some(offset) = &asked.offset {
            answers.push(("index", inv(layout, offset, &asked.facts)?));
        }
    }
    Ok(answers)
}

/// The layout and the answers as one object. An answer is a number, or a list of numbers, where it is one.
fn json(layout: &Layout, answers: &[(&str, String)], answer: Option<&Answer>) -> String {
    let mut object = serde_json::Map::new();
    object.insert("layout".into(), layout.to_string().into());
    for (name, text) in answers {
        let rows = || text.lines().map(|row| numbers(row.split_whitespace()));
        let value = match *name {
            "table" => rows().collect(),
            "offset" => numbers([text.trim()].into_iter()).and_then(|list| list.get(0).cloned()),
            "index" => numbers(text.trim().split(',')),
            _ => None,
        };
        let value = value.unwrap_or_else(|| text.trim_end().into());
        object.insert((*name).into(), value);
    }
    if let Some(answer) = answer {
        object.insert("bijection".into(), answer.to_string().into());
    }
    format!("{:#}\n", serde_json::Value::Object(object))
}

/// A list of numbers, if all of these are some.
fn numbers<'t>(words: impl Iterator<Item = &'t str>) -> Option<serde_json::Value> {
    let numbers: std::result::Result<Vec<i64>, _> = words.map(str::parse).collect();
    numbers.ok().map(Into::into)
}

/// The layout with what is assumed of its symbols.
fn read(arguments: &LayoutArguments) -> Result<Layout> {
    let (mut facts, mut values) = (Facts::new(), Vec::new());
    for assumed in &arguments.size {
        let interval = interval(assumed);
        facts.within(&assumed.symbol, interval);
        if let Some(number) = interval.constant() {
            values.push((Name::from(assumed.symbol.as_str()), number));
        }
    }
    let source = &arguments.layout;
    // Some layouts are none before their sizes are numbers.
    let layout = parse::layout_of(source, &facts, &values);
    let layout = layout.map_err(|e| Error::input(e.in_source(source)))?;
    let is_named = |name: &Name| {
        let mut words = source.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|word| word == &**name)
    };
    let bound = values.iter().map(|(name, _)| name);
    let bound: Vec<&Name> = bound.filter(|name| is_named(name)).collect();
    let asked = symbols_asked(arguments);
    for assumed in &arguments.size {
        let mut symbols = bound.iter().copied().chain(&asked);
        let is_known = symbols.any(|name| **name == *assumed.symbol);
        if !is_known && !layout.symbols().iter().any(|s| **s == *assumed.symbol) {
            let open = layout.symbols();
            let known = open.iter().chain(bound.iter().copied()).chain(&asked);
            let known: Vec<String> = known.map(|s| format!("'{s}'")).collect();
            let known = match known.is_empty() {
                true => "the layout has no symbols".to_string(),
                false => format!("expected {}", known.join(", ")),
            };
            return Err(Error::usage(format!(
                "found --size of '{}', but {known}",
                assumed.symbol
            )));
        }
    }
    Ok(layout)
}

fn interval(assumed: &Assumed) -> Interval {
    let max = assumed.max.map_or(i128::MAX, i128::from);
    Interval::new(assumed.min.into(), max)
}

/// The symbols of the index and of the offset that are asked for, as far as they are expressions.
fn symbols_asked(arguments: &LayoutArguments) -> Vec<Name> {
    let texts = arguments.apply.iter().chain(&arguments.inv);
    let lists = texts.filter_map(|text| {
        let mut cursor = Cursor::new(&format!("({text})")).ok()?;
        let exprs = cursor.list(["(", ")"], |c| expr(c, &Scope::default()));
        exprs.ok()
    });
    lists.flatten().flat_map(|e| e.symbols()).collect()
}

/// Describes a layout: its normal spelling, its functions, and whether it is a bijection.
fn summary(layout: &Layout) -> String {
    let (apply, inv) = functions(layout);
    let mut text = format!("{layout}\n");
    for (what, named) in [("apply", &apply), ("inv", &inv)] {
        let operations = Operations::new(&named.outputs);
        let _ = writeln!(text, "{what}({}), {operations}:", named.inputs.join(", "));
        let lines = emit::text(&named.function(what));
        lines
            .lines()
            .for_each(|line| text += &format!("  {line}\n"));
    }
    if let Ok(cute) = layout.to_cute() {
        let _ = writeln!(text, "shape:stride {cute}");
    }
    text + &format!("{}\n", layout.answer())
}

struct Named {
    inputs: Vec<Name>,
    outputs: Vec<Expr>,
    facts: Facts,
}

impl Named {
    /// The results for these inputs: simplified for any first, of which an index that lies in the
    /// view is one, then for what is known of these.
    fn at(&self, name: &str, given: &[Expr], facts: &Facts) -> String {
        let value = |symbol: &str| {
            let at = self.inputs.iter().position(|input| &**input == symbol)?;
            Some(given[at].clone())
        };
        let outputs: Vec<Expr> = self.outputs.iter().map(|e| e.substitute(&value)).collect();
        emit::text(&Function {
            name,
            inputs: &[],
            outputs: &simplify(facts, &outputs),
            facts,
        })
    }

    fn function<'a>(&'a self, name: &'a str) -> Function<'a> {
        Function {
            name,
            inputs: &self.inputs,
            outputs: &self.outputs,
            facts: &self.facts,
        }
    }
}

/// `apply`, with the mask behind the offset if there is one, and `inv`, both simplified.
fn functions(layout: &Layout) -> (Named, Named) {
    let inputs = layout.index_names();
    let index: Vec<Expr> = inputs.iter().map(|n| Expr::symbol(n)).collect();
    let facts = layout.facts_of_index(&inputs);
    let mut outputs = vec![layout.apply(&index)];
    outputs.extend(layout.mask(&index));
    let apply = Named {
        outputs: simplify(&facts, &outputs),
        inputs,
        facts,
    };
    let x = layout.offset_name();
    let facts = layout.facts_of_offset(&x);
    let outputs = simplify(&facts, &layout.inv(&Expr::symbol(&x)));
    let inputs = vec![x];
    let inv = Named {
        inputs,
        outputs,
        facts,
    };
    (apply, inv)
}

fn table(layout: &Layout) -> Result<String> {
    let rows = grid(layout)?;
    let offsets: Vec<Vec<i64>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| cell.offset).collect())
        .collect();
    let largest = offsets.iter().flatten().max().copied().unwrap_or(0);
    let width = largest.to_string().len();
    let line = |row: &Vec<i64>| {
        let cells: Vec<String> = row.iter().map(|o| format!("{o:width$}")).collect();
        cells.join(" ") + "\n"
    };
    Ok(offsets.iter().map(line).collect())
}

/// An element as it is drawn.
pub struct Cell {
    /// Its offset.
    pub offset: i64,
    /// True if it is none of the padding.
    pub meant: bool,
}

/// All elements as a matrix: rows and columns if the view has two dimensions, over all levels of
/// tiles; else the last dimension is along the rows.
pub fn grid(layout: &Layout) -> Result<Vec<Vec<Cell>>> {
    let (program, sizes) = compiled(layout)?;
    let total: i64 = sizes.iter().product();
    if total > SHOWN {
        return Err(Error::input(format!(
            "the layout has {total} elements, and at most {SHOWN} are shown"
        )));
    }
    let matrix = layout.view().iter().all(|level| level.len() == 2);
    let place = |index: &[i64]| match matrix {
        true => (along(&sizes, index, 0, 2), along(&sizes, index, 1, 2)),
        false => {
            let (last, rest) = (sizes.len() - 1, &index[..sizes.len() - 1]);
            (along(&sizes[..last], rest, 0, 1), index[last])
        }
    };
    let mut cells = Vec::new();
    let mut index = vec![0; sizes.len()];
    for _ in 0..total {
        let values = program
            .run(&index)
            .map_err(|e| Error::input(e.to_string()))?;
        let (offset, meant) = (values[0], values.get(1).is_none_or(|m| *m != 0));
        cells.push((place(&index), Cell { offset, meant }));
        for (i, n) in index.iter_mut().zip(&sizes).rev() {
            *i = (*i + 1) % n;
            if *i != 0 {
                break;
            }
        }
    }
    cells.sort_by_key(|(place, _)| *place);
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for ((_, column), cell) in cells {
        match rows.last_mut() {
            Some(row) if column != 0 => row.push(cell),
            _ => rows.push(vec![cell]),
        }
    }
    Ok(rows)
}

/// Every `step`-th dimension from `first` on, as one.
fn along(sizes: &[i64], index: &[i64], first: usize, step: usize) -> i64 {
    let pairs = sizes.iter().zip(index).skip(first).step_by(step);
    pairs.fold(0, |flat, (n, i)| flat * n + i)
}

/// Offset and mask of an index, and the view's sizes.
pub fn compiled(layout: &Layout) -> Result<(IndexProgram, Vec<i64>)> {
    let Some(sizes) = layout.numbers() else {
        let symbols: Vec<String> = layout.symbols().iter().map(|s| format!("{s}=8")).collect();
        return Err(
            Error::input("the layout's sizes are symbols, expected numbers")
                .help(format!("give them with --size {}", symbols.join(" "))),
        );
    };
    let inputs = layout.index_names();
    let index: Vec<Expr> = inputs.iter().map(|n| Expr::symbol(n)).collect();
    let mut outputs = vec![layout.apply(&index)];
    outputs.extend(layout.mask(&index));
    Ok((IndexProgram::with_inputs(&inputs, &outputs), sizes))
}

/// Questions to a layout.
struct Asked {
    index: Option<Vec<Expr>>,
    offset: Option<Expr>,
    /// Facts about the symbols, those of the questions too.
    facts: Facts,
}

impl Asked {
    fn new(layout: &Layout, arguments: &LayoutArguments) -> Result<Asked> {
        let index = arguments.apply.as_ref();
        let mut index = index.map(|text| index_of(layout, text)).transpose()?;
        let offset = arguments.inv.as_ref();
        let mut offset = offset.map(|text| offset_of(text)).transpose()?;
        let mut facts = layout.facts().clone();
        for assumed in &arguments.size {
            facts.within(&assumed.symbol, interval(assumed));
        }
        let pairs = index.iter_mut().flatten().zip(layout.dims());
        for (e, size) in pairs.chain(offset.iter_mut().zip([layout.size()])) {
            *e = e.substitute(&|name| {
                let number = facts.interval(name).constant()?;
                Some(Expr::constant(number))
            });
            if let Node::Symbol(name) = e.node() {
                facts.index(name, &size);
            }
        }
        for e in index.iter_mut().flatten().chain(&mut offset) {
            let open = layout::divisors(e, &facts).map_err(Error::usage)?;
            if let [condition, ..] = &open[..] {
                return Err(Error::usage(format!(
                    "'{e}' divides by what may be 0 or less, expected {condition}; --size bounds symbols"
                )));
            }
            if e.symbols().is_empty() && e.as_constant().is_none() {
                let value = IndexProgram::new(std::slice::from_ref(e)).run(&[]);
                let value = value.map_err(|error| Error::usage(format!("'{e}': {error}")))?;
                *e = Expr::constant(value[0]);
            }
        }
        Ok(Asked {
            index,
            offset,
            facts,
        })
    }
}

fn apply(layout: &Layout, index: &[Expr], facts: &Facts) -> Result<String> {
    let numbers: Option<Vec<i64>> = index.iter().map(Expr::as_constant).collect();
    if let (Some(numbers), Some(_)) = (numbers, layout.numbers()) {
        let offset = layout.apply_at(&numbers).map_err(Error::input)?;
        let mask = layout.mask(index).and_then(|m| m.as_constant());
        let padding = if mask == Some(0) { " (padding)" } else { "" };
        return Ok(format!("{offset}{padding}\n"));
    }
    let (apply, _) = functions(layout);
    Ok(apply.at("apply", index, facts))
}

fn inv(layout: &Layout, offset: &Expr, facts: &Facts) -> Result<String> {
    if let (Some(offset), Some(_)) = (offset.as_constant(), layout.numbers()) {
        let index = layout.inv_at(offset).map_err(Error::input)?;
        let index: Vec<String> = index.iter().map(i64::to_string).collect();
        return Ok(index.join(",") + "\n");
    }
    let (_, inv) = functions(layout);
    Ok(inv.at("inv", std::slice::from_ref(offset), facts))
}

/// The components of an index: expressions with commas between.
fn index_of(layout: &Layout, text: &str) -> Result<Vec<Expr>> {
    let wrong = |e: SyntaxError| Error::usage(e.in_source(text));
    let mut cursor = Cursor::new(text).map_err(wrong)?;
    let mut index = Vec::new();
    loop {
        index.push(expr(&mut cursor, &Scope::default()).map_err(wrong)?);
        if !cursor.take(",") {
            break;
        }
    }
    cursor.end().map_err(wrong)?;
    let (found, expected) = (index.len(), layout.dims().len());
    match found == expected {
        true => Ok(index),
        false => Err(Error::usage(format!(
            "the index '{text}' has {}, expected {expected}, one for each size of the view",
            counted(found, "component")
        ))),
    }
}

fn offset_of(text: &str) -> Result<Expr> {
    expression(text, &Scope::default()).map_err(|e| Error::usage(e.in_source(text)))
}

fn emit_code(layout: &Layout, code: Code, arguments: &LayoutArguments) -> Result<String> {
    let (apply, inv) = functions(layout);
    let width = match arguments.bits {
        Bits::B32 => Width::Bits32,
        Bits::B64 => Width::Bits64,
    };
    let (forward, backward) = (apply.function("layout_apply"), inv.function("layout_inv"));
    let wrong = |e: EmitError| {
        let help = "give bounds of symbols, such as --size n=1..4096";
        Error::input(e.to_string()).help(help)
    };
    match code {
        Code::Text => Ok(emit::text(&forward) + &emit::text(&backward)),
        Code::Cute => {
            let cute = layout.to_cute().map_err(Error::input)?;
            Ok(format!("{cute}\n"))
        }
        Code::C => emit::c(&[forward, backward], width).map_err(wrong),
        Code::Wrapper => {
            let (before, class) = layout_wrapper::class(layout, "Layout", width).map_err(wrong)?;
            Ok(before.concat() + &class)
        }
        Code::Mlir => {
            let texts = [forward, backward].map(|f| emit::mlir(&f));
            let [forward, backward] = texts;
            Ok(forward.map_err(wrong)? + &backward.map_err(wrong)?)
        }
        Code::Triton => {
            let (index, offset) = (&arguments.apply, &arguments.inv);
            let mut code = String::new();
            if index.is_some() || offset.is_none() {
                let given = match index {
                    Some(text) => slices(layout, text)?,
                    None => vec![Argument::Name; apply.inputs.len()],
                };
                code += &emit::triton(&forward, &given, width).map_err(wrong)?;
            }
            if offset.is_some() || index.is_none() {
                let given = offset.clone().map_or(Argument::Name, Argument::Text);
                code += &emit::triton(&backward, &[given], width).map_err(wrong)?;
            }
            Ok(code)
        }
    }
}

/// The components of a Triton index: Python expressions, or ':' for all of a dimension.
fn slices(layout: &Layout, text: &str) -> Result<Vec<Argument>> {
    let dims = layout.dims();
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() != dims.len() {
        return Err(Error::usage(format!(
            "the index '{text}' has {}, expected {}, one for each size of the view",
            counted(parts.len(), "component"),
            dims.len()
        )));
    }
    let arguments = parts.iter().zip(dims).map(|(part, size)| match *part {
        ":" => Argument::Slice(size),
        part => Argument::Text(part.to_string()),
    });
    Ok(arguments.collect())
}
