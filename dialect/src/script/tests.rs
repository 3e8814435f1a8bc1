//! Random schedules through scripts: read, and applied to a computation.

use crate::ops;
use mdh_algebra::random::Random;
use mdh_schedule::random_schedule::{machine, random_schedule};
use melior::Context;
use melior::ir::Module;

use super::*;
use crate::context;
use crate::ffi::{mdhParseModule, string_ref};
use crate::schedule;
use crate::translate::{self, Depth};

const PROGRAM: &str = "\
func.func @f(%M: memref<5x6xf32>, %v: memref<6xf32>, %w: memref<5xf32>, %s: memref<f32>) {
  mdh.compute (i = 5, k = 6)
    out_view(w = %w[i] : memref<5xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(M = %M[i, k] : memref<5x6xf32>, %v[k] : memref<6xf32>)
  mdh.compute (i = 5)
    out_view(s = %s[] : memref<f32>)
    md_hom(id, (pw(addf)))
    inp_view(w = %w[i] : memref<5xf32>)
  return
}
";

fn parse<'c>(context: &'c Context, text: &str) -> Module<'c> {
    let text = format!("{text}\0");
    let source = string_ref(&text[..text.len() - 1]);
    // SAFETY: the text ends in a null byte and outlives the call; the module is ours.
    let module = unsafe {
        let name = string_ref("test");
        Module::from_option_raw(mdhParseModule(context.to_raw(), source, name, true))
    };
    module.unwrap_or_else(|| panic!("{text}"))
}

fn operation<'c>(module: &Module<'c>) -> Op<'c> {
    // SAFETY: the tests keep the module.
    unsafe { ir::op_from_raw(module.as_operation().to_raw()) }
}

/// `read(write(s)) = s`, and applied to computations with other schedules the script gives s.
#[test]
fn schedules_survive() {
    let context = context::program_context();
    let program = parse(&context, PROGRAM);
    let computations = schedule::computations(operation(&program));
    let as_data = translate::compute(computations[0], Depth::Signatures).unwrap();
    let mut random = Random::new(7);
    for n in 0..300 {
        let mut drawn = || {
            let asm = machine(&mut random);
            random_schedule(&mut random, &as_data, &asm)
        };
        let plans = match n % 2 {
            0 => Plans::One(Box::new(drawn())),
            _ => Plans::Several([("w".into(), drawn()), ("1".into(), drawn())].into()),
        };
        // The schedules keep no constraints.
        let text = write(&plans).replace(ops::transform::MDH_LOWER, "// ");
        let module = parse(&context, &text);
        let sequence = main(operation(&module)).unwrap();
        let read_back = read(sequence).map_err(|findings| findings[0].message.clone());
        assert_eq!(read_back.as_ref(), Ok(&plans), "{text}");
        apply(sequence, operation(&module), operation(&program)).unwrap();
        let schedules = computations.iter().map(|op| schedule::read(*op).unwrap());
        let schedules: Vec<Schedule> = schedules.flatten().collect();
        let expected = match plans {
            Plans::One(plan) => vec![(*plan).clone(), *plan],
            Plans::Several(plans) => vec![plans["w"].clone(), plans["1"].clone()],
        };
        assert_eq!(schedules, expected, "{text}");
    }
}

/// Names that are no words, and entries that only an edit of the whole schedule can express.
#[test]
fn odd_names_survive() {
    let context = context::program_context();
    for text in [
        "layers = [\"a b\" {\"\\\"\": *, \"ä\\\\\": 2}, \"*\" {\"3\": 4}], inputs = {\"x.y\": {}}",
        "layers = [core {i: 2}, core {i: 3}, core {\"\": 1}], tails = {\"\": mask}",
        "inputs = {\"\": {scalar: \"\"}, in: {stage: {at.i: layout}}}, asm = \"\"",
        "",
    ] {
        let plans = Plans::One(Box::new(text.parse().unwrap()));
        let module = parse(&context, &write(&plans));
        let read_back = read(main(operation(&module)).unwrap());
        assert_eq!(read_back.map_err(|f| f[0].message.clone()), Ok(plans));
    }
}

fn refused(lines: &str) -> Vec<String> {
    let context = context::program_context();
    let text = format!(
        "module attributes {{transform.with_named_sequence}} {{\n\
         transform.named_sequence @__transform_main(%root: !transform.any_op) {{\n\
         {lines}\ntransform.yield\n}}\n}}"
    );
    let module = parse(&context, &text);
    let outcome = read(main(operation(&module)).unwrap());
    let findings = outcome.err().unwrap_or_default();
    findings.into_iter().map(|f| f.message).collect()
}

/// Checks: what a script does that only a program decides.
#[test]
fn what_depends_on_a_program_is_refused() {
    let any = "!transform.any_op";
    let match_all = format!(
        "%c = transform.structured.match ops{{[\"mdh.compute\"]}} in %root : ({any}) -> {any}\n"
    );
    assert_eq!(
        refused(&format!("transform.mdh.asm %root cpu : {any}")),
        [
            "changes what only a program decides: expected a handle of transform.mdh.match, or \
             of transform.structured.match of mdh.compute"
        ]
    );
    assert_eq!(
        refused(&format!(
            "{match_all}%p = transform.num_associations %c : ({any}) -> !transform.param<i64>\n\
             transform.mdh.parts %c main {{i: %p}} : {any}, !transform.param<i64>"
        )),
        [
            "has a parameter that only a program decides: expected one of \
             transform.param.constant or transform.tune.knob"
        ]
    );
    assert_eq!(
        refused(&format!(
            "{match_all}transform.foreach %c : {any} {{\n^bb0(%each: {any}):\n\
             transform.mdh.asm %each cpu : {any}\n}}"
        )),
        [
            "stands inside of another operation, which only a program decides: expected it in \
             the sequence itself, or --schedule with a program"
        ]
    );
    assert_eq!(
        refused(&format!(
            "{match_all}transform.mdh.asm %c cpu : {any}\n\
             %y = transform.mdh.match y in %root : ({any}) -> {any}\n\
             transform.mdh.asm %y cpu : {any}"
        )),
        [
            "changes the schedules of all computations and of single ones: expected one of the \
             two"
        ]
    );
    // Parts of all are single ones.
    assert_eq!(
        refused(&format!(
            "{match_all}%d:2 = transform.split_handle %c : ({any}) -> ({any}, {any})\n\
             transform.mdh.asm %d#1 cpu : {any}"
        )),
        [""; 0]
    );
}
