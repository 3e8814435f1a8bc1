//! Loops and branches, which carry tensors of one type.

use super::{Loops, compute, parts, statement};
use crate::choices::Choices;
use crate::print::code::list;

/// A tensor that is carried, and whether it holds something.
type Carried = (String, bool);

/// Adds a loop or a branch; what it leaves can be read by later ones.
pub fn add(c: &mut Choices, loops: &mut Loops) {
    loops.depth += 1;
    let count = 1 + c.weighted("carried", &[30, 50, 20]);
    // Each part is an iteration.
    let has_points = !loops.like.shape.contains(&0);
    let has_parts = has_points && loops.like.shape[0] <= compute::LARGE;
    match c.weighted("flow", &[40, 14, 18, 16, 12]) {
        0 => {
            let initial = initial(c, loops, count);
            for_loop(c, loops, &initial);
        }
        1 => while_loop(c, loops, count),
        3 if has_parts => filling(c, loops),
        4 => between_writes(c, loops, count),
        _ => branch(c, loops, count),
    }
    loops.depth -= 1;
}

/// Makes a block's own part of the program: its arguments, statements and what it carries out.
fn block(
    c: &mut Choices,
    loops: &mut Loops,
    (name, most): (&str, u64),
    arguments: &[Carried],
    wanted: &[bool],
) -> Vec<Carried> {
    let (values, undefined) = (loops.maker.values.len(), loops.undefined.len());
    let (indices, written) = (loops.indices.len(), loops.written.len());
    for (argument, is_defined) in arguments {
        let value = loops.tensor(argument.clone());
        match is_defined {
            true => loops.maker.values.push(value),
            false => loops.undefined.push(value),
        }
    }
    let carried = c.scope(name, |c| {
        for n in 0..c.below("statements", most + 1) {
            c.scope(format!("s{n}"), |c| {
                if c.keep() {
                    statement(c, loops);
                }
            });
        }
        if arguments.len() == wanted.len() && c.chance("exchanged", 35) {
            return exchanged(loops, arguments, wanted);
        }
        let carried = wanted.iter().enumerate();
        let carried = carried.map(|(n, wanted)| {
            c.scope(format!("y{n}"), |c| {
                carried_out(c, loops, arguments, *wanted)
            })
        });
        carried.collect()
    });
    loops.maker.values.truncate(values);
    loops.undefined.truncate(undefined);
    loops.indices.truncate(indices);
    loops.written.truncate(written);
    carried
}

/// Carries each tensor out at the next place, where all hold something or nothing, else at its own, as it is
/// at the end.
fn exchanged(loops: &Loops, arguments: &[Carried], wanted: &[bool]) -> Vec<Carried> {
    let count = arguments.len();
    let is_alike = wanted.iter().all(|w| *w == wanted[0]);
    let from = |n: usize| if is_alike { (n + 1) % count } else { n };
    let carried = |n: usize| {
        let (name, is_defined) = &arguments[from(n)];
        let latest = loops.latest(name);
        let is_defined = *is_defined || latest != *name;
        (latest, is_defined)
    };
    (0..count).map(carried).collect()
}

/// Chooses what is carried out at a place: an argument, or any other tensor. It holds something where it must.
fn carried_out(
    c: &mut Choices,
    loops: &mut Loops,
    arguments: &[Carried],
    is_defined: bool,
) -> Carried {
    let usable: Vec<&Carried> = arguments.iter().filter(|a| a.1 || !is_defined).collect();
    if !usable.is_empty() && c.chance("argument", 40) {
        return usable[c.below("number", usable.len() as u64) as usize].clone();
    }
    let undefined = loops.undefined.len() as u64;
    if !is_defined && undefined > 0 && c.chance("undefined", 25) {
        let number = c.below("which", undefined) as usize;
        return (loops.undefined[number].name.clone(), false);
    }
    (loops.defined(c), true)
}

fn keep(loops: &mut Loops, left: &[String], is_defined: impl Fn(usize) -> bool) {
    for (n, name) in left.iter().enumerate() {
        let value = loops.tensor(name.clone());
        match is_defined(n) {
            true => loops.maker.values.push(value),
            false => loops.undefined.push(value),
        }
    }
}

fn initial(c: &mut Choices, loops: &mut Loops, count: usize) -> Vec<Carried> {
    (0..count)
        .map(|n| c.scope(format!("i{n}"), |c| loops.destination(c)))
        .collect()
}

fn index(loops: &mut Loops, number: u64) -> String {
    loops.maker.constant(number as i64, "index")
}

/// The number of iterations: known, or an argument.
fn trips(c: &mut Choices, loops: &mut Loops) -> (String, Option<u64>) {
    let count = [1, 2, 3, 0, 4][c.weighted("trips", &[25, 30, 25, 10, 10])];
    match c.chance("given", 50) {
        true => (loops.index_argument(count), None),
        false => (index(loops, count), Some(count)),
    }
}

fn names(carried: &[Carried]) -> String {
    list(carried.iter().map(|(name, _)| name))
}

/// Arguments for what is carried in, and what says so: `%a = %b, ..`.
fn arguments(loops: &mut Loops, initial: &[Carried]) -> (Vec<Carried>, String) {
    let arguments: Vec<Carried> = initial.iter().map(|i| (loops.maker.name(), i.1)).collect();
    let pairs = arguments.iter().zip(initial);
    let pairs = list(pairs.map(|(a, i)| format!("{} = {}", a.0, i.0)));
    (arguments, pairs)
}

fn types(loops: &Loops, count: usize) -> String {
    list(vec![loops.ty(); count])
}

fn for_loop(c: &mut Choices, loops: &mut Loops, initial: &[Carried]) {
    let count = initial.len();
    let (upper, known) = trips(c, loops);
    let (lower, step) = (index(loops, 0), index(loops, 1));
    let (head, left) = loops.maker.results(count);
    let (arguments, pairs) = arguments(loops, initial);
    let induction = loops.maker.name();
    let ty = types(loops, count);
    loops.line(&format!(
        "{head}scf.for {induction} = {lower} to {upper} step {step} iter_args({pairs}) -> ({ty}) {{"
    ));
    loops.indices.push(induction.clone());
    let wanted: Vec<bool> = initial.iter().map(|i| i.1).collect();
    let carried = block(c, loops, ("body", 3), &arguments, &wanted);
    loops.indices.pop();
    asserted(c, loops, &induction, &upper);
    loops.line(&format!("scf.yield {} : {ty}", names(&carried)));
    loops.line("}");
    let runs = known > Some(0);
    keep(loops, &left, |n| carried[n].1 && (initial[n].1 || runs));
}

/// A loop that starts from what was computed into an undefined tensor, which is written again behind it: what the
/// loop leaves may be in its memory.
fn between_writes(c: &mut Choices, loops: &mut Loops, count: usize) {
    let undefined = loops.empty(c);
    let start = c.scope("start", |c| {
        compute::into(c, loops, (undefined.clone(), false))
    });
    let mut carried = initial(c, loops, count);
    carried[0] = (start, true);
    for_loop(c, loops, &carried);
    c.scope("again", |c| compute::into(c, loops, (undefined, false)));
}

/// A loop that fills an undefined tensor, of which each iteration writes the next part.
fn filling(c: &mut Choices, loops: &mut Loops) {
    let initial = loops.empty(c);
    let upper = match loops.sizes.first() {
        Some(size) => size.clone(),
        None => index(loops, loops.like.shape[0] as u64),
    };
    let (lower, step) = (index(loops, 0), index(loops, 1));
    let [left, argument, induction] = [(); 3].map(|()| loops.maker.name());
    let ty = loops.ty();
    loops.line(&format!(
        "{left} = scf.for {induction} = {lower} to {upper} step {step} iter_args({argument} = {initial}) -> ({ty}) {{"
    ));
    loops.indices.push(induction.clone());
    let carried = loops.tensor(argument.clone());
    loops.undefined.push(carried);
    let source = block(c, loops, ("body", 3), &[], &[true]);
    loops.undefined.pop();
    loops.indices.pop();
    asserted(c, loops, &induction, &upper);
    let part = parts::taken(c, loops, &source[0].0, &induction, 1);
    let text = parts::put(loops, &part, &argument, &induction);
    let filled = loops.maker.put(&text);
    loops.line(&format!("scf.yield {filled} : {ty}"));
    loops.line("}");
    keep(loops, &[left], |_| true);
}

/// Now and then, an assertion that holds: it keeps a loop whose results are of no use.
fn asserted(c: &mut Choices, loops: &mut Loops, induction: &str, upper: &str) {
    if c.chance("asserted", 30) {
        let text = format!("arith.cmpi slt, {induction}, {upper} : index");
        let holds = loops.maker.put(&text);
        loops.line(&format!("cf.assert {holds}, \"an iteration too many\""));
    }
}

fn while_loop(c: &mut Choices, loops: &mut Loops, count: usize) {
    let initial = initial(c, loops, count);
    let (upper, _) = trips(c, loops);
    let (zero, one) = (index(loops, 0), index(loops, 1));
    let (head, left) = loops.maker.results(count + 1);
    let ty = types(loops, count);
    let (before, pairs) = arguments(loops, &initial);
    let [number, more, next] = [(); 3].map(|()| loops.maker.name());
    let is_last = c.chance("last", 20);
    loops.line(&format!(
        "{head}scf.while ({number} = {zero}, {pairs}) : (index, {ty}) -> ({}) {{",
        with_index("index", &ty, is_last)
    ));
    let wanted: Vec<bool> = initial.iter().map(|i| i.1).collect();
    let most = if c.chance("before", 30) { 1 } else { 0 };
    // Mostly each in its place.
    let handed = match most == 0 && c.chance("same", 70) {
        true => before,
        false => block(c, loops, ("before", most), &before, &wanted),
    };
    loops.line(&format!(
        "{more} = arith.cmpi slt, {number}, {upper} : index"
    ));
    loops.line(&format!(
        "scf.condition({more}) {} : {}",
        with_index(&number, &names(&handed), is_last),
        with_index("index", &ty, is_last)
    ));
    let arguments: Vec<Carried> = handed.iter().map(|h| (loops.maker.name(), h.1)).collect();
    let typed = arguments.iter();
    let typed: Vec<String> = typed.map(|a| format!("{}: {}", a.0, loops.ty())).collect();
    let number = loops.maker.name();
    loops.line("} do {");
    let typed = with_index(&format!("{number}: index"), &list(&typed), is_last);
    loops.line(&format!("^bb0({typed}):"));
    loops.indices.push(number.clone());
    let carried = block(c, loops, ("after", 3), &arguments, &wanted);
    loops.indices.pop();
    loops.line(&format!("{next} = arith.addi {number}, {one} : index"));
    loops.line(&format!(
        "scf.yield {next}, {} : index, {ty}",
        names(&carried)
    ));
    loops.line("}");
    let left = if is_last { &left[..count] } else { &left[1..] };
    keep(loops, left, |n| handed[n].1);
}

/// A list with something about the number of the iteration, in front or at the end.
fn with_index(index: &str, list: &str, is_last: bool) -> String {
    match is_last {
        true => format!("{list}, {index}"),
        false => format!("{index}, {list}"),
    }
}

fn branch(c: &mut Choices, loops: &mut Loops, count: usize) {
    let condition = condition(c, loops);
    let (head, left) = loops.maker.results(count);
    let ty = types(loops, count);
    loops.line(&format!("{head}scf.if {condition} -> ({ty}) {{"));
    let wanted: Vec<bool> = (0..count)
        .map(|n| c.scope(format!("w{n}"), |c| !c.chance("undefined", 10)))
        .collect();
    let then = block(c, loops, ("then", 2), &[], &wanted);
    loops.line(&format!("scf.yield {} : {ty}", names(&then)));
    loops.line("} else {");
    let other = block(c, loops, ("else", 2), &[], &wanted);
    loops.line(&format!("scf.yield {} : {ty}", names(&other)));
    loops.line("}");
    keep(loops, &left, |n| then[n].1 && other[n].1);
}

/// A condition: an argument, or one that changes with a loop around.
pub fn condition(c: &mut Choices, loops: &mut Loops) -> String {
    let count = loops.indices.len() as u64;
    if count == 0 || c.chance("given", 30) {
        let value = c.below("condition", 2);
        return loops.maker.scalar_argument("c", "i1", value);
    }
    let compared = loops.indices[c.below("of", count) as usize].clone();
    let place = index(loops, c.below("place", 3));
    let how = c.pick("how", &["eq", "sgt", "ne"]);
    let text = format!("arith.cmpi {how}, {compared}, {place} : index");
    loops.maker.put(&text)
}
