//! Builds operations from [`Parts`].

use crate::ops;
use melior::Context;
use melior::ir::attribute::{
    ArrayAttribute, DenseI32ArrayAttribute, DenseI64ArrayAttribute, StringAttribute,
};
use melior::ir::operation::{Operation, OperationBuilder};
use melior::ir::{Attribute, Identifier, Location, Region, RegionLike, Type, ValueLike};

use crate::index_function;
use crate::ir::{self, Op, Val};
use crate::parts::{Bound, BufferPart, CarryPart, Laws, Parts, Threads, dynamic};
use crate::read;
use crate::types::{self, BufferKind, DYNAMIC};

/// Collects an operation's operands and attributes.
struct Writer<'c> {
    context: &'c Context,
    operands: Vec<Val<'c>>,
    segments: Vec<i32>,
    attributes: Vec<(Identifier<'c>, Attribute<'c>)>,
}

impl<'c> Writer<'c> {
    fn new(context: &'c Context) -> Self {
        Writer {
            context,
            operands: Vec::new(),
            segments: Vec::new(),
            attributes: Vec::new(),
        }
    }

    fn segment(&mut self, values: impl IntoIterator<Item = Val<'c>>) {
        let before = self.operands.len();
        self.operands.extend(values);
        self.segments.push((self.operands.len() - before) as i32);
    }

    fn set(&mut self, name: &str, attribute: Attribute<'c>) {
        self.attributes
            .push((Identifier::new(self.context, name), attribute));
    }

    fn set_array(&mut self, name: &str, elements: &[Attribute<'c>]) {
        self.set(name, ArrayAttribute::new(self.context, elements).into());
    }

    fn set_integers(&mut self, name: &str, numbers: &[i64]) {
        self.set(
            name,
            DenseI64ArrayAttribute::new(self.context, numbers).into(),
        );
    }

    fn set_strings<'s>(&mut self, name: &str, texts: impl Iterator<Item = &'s str>) {
        let context = self.context;
        let texts: Vec<_> = texts
            .map(|t| StringAttribute::new(context, t).into())
            .collect();
        self.set_array(name, &texts);
    }

    fn set_buffers(&mut self, buffers: &[&BufferPart<'c>], dims: usize) {
        let context = self.context;
        self.set_strings("names", buffers.iter().map(|b| b.name.as_str()));
        let maps: Vec<Attribute> = buffers
            .iter()
            .map(|buffer| {
                let accesses = buffer.accesses.iter();
                let maps: Vec<_> = accesses
                    .map(|a| index_function::to_map(context, dims, a))
                    .collect();
                ArrayAttribute::new(context, &maps).into()
            })
            .collect();
        self.set_array("maps", &maps);
        let origins: Vec<Attribute> = buffers
            .iter()
            .map(|buffer| {
                let constants: Vec<i64> = buffer.origin.iter().map(|o| constant(*o)).collect();
                DenseI64ArrayAttribute::new(context, &constants).into()
            })
            .collect();
        self.set_array("static_origins", &origins);
    }

    fn set_domain(&mut self, parts: &Parts<'c>) {
        self.set_strings("dims", parts.dims.iter().map(|d| d.name.as_str()));
        let bounds = parts
            .dims
            .iter()
            .flat_map(|d| [d.lower, d.upper, d.step, d.width]);
        let constants: Vec<i64> = bounds.map(constant).collect();
        self.set_integers("static_bounds", &constants);
    }

    fn set_pads(&mut self, inputs: &[BufferPart<'c>]) {
        let context = self.context;
        let pads: Vec<_> = inputs
            .iter()
            .map(|b| b.pad.unwrap_or_else(|| Attribute::unit(context)))
            .collect();
        self.set_array("pads", &pads);
    }

    fn set_outputs(&mut self, parts: &Parts<'c>) {
        let components: Vec<i64> = parts
            .outputs
            .iter()
            .flat_map(|b| &b.components)
            .map(|c| *c as i64)
            .collect();
        self.set_integers("components", &components);
        let numbers = |of: fn(&CarryPart) -> i64| parts.carries.iter().map(of).collect::<Vec<_>>();
        self.set_integers("carry_dims", &numbers(|c| c.dim as i64));
        self.set_integers("carry_valids", &numbers(|c| i64::from(c.valid.is_some())));
        self.set_integers(
            "carry_has_outs",
            &numbers(|c| i64::from(!c.outgoing.is_empty())),
        );
    }

    fn set_laws(&mut self, laws: &Laws<'c>) {
        for (name, declared) in [
            ("commutative", laws.commutative),
            ("associative", laws.associative),
        ] {
            if declared {
                self.set(name, Attribute::unit(self.context));
            }
        }
        if let Some(neutral) = &laws.neutral {
            self.set_array("neutral", neutral);
        }
    }

    fn set_threads(&mut self, threads: &Threads) {
        for (name, value) in shares(self.context, threads) {
            if let Some(value) = value {
                self.set(name, value);
            }
        }
    }

    fn finish(
        mut self,
        name: &str,
        location: Location<'c>,
        results: &[Type<'c>],
        regions: Vec<Region<'c>>,
    ) -> Operation<'c> {
        let segments = DenseI32ArrayAttribute::new(self.context, &self.segments);
        self.set("operandSegmentSizes", segments.into());
        OperationBuilder::new(name, location)
            .add_operands(&self.operands)
            .add_attributes(&self.attributes)
            .add_results(results)
            .add_regions_vec(regions)
            .build()
            .unwrap_or_else(|error| panic!("{name} has no inferred results: {error}"))
    }
}

fn constant(bound: Bound) -> i64 {
    bound.known().unwrap_or(DYNAMIC)
}

fn origins<'c>(buffers: &[&BufferPart<'c>]) -> Vec<Val<'c>> {
    dynamic(buffers.iter().flat_map(|b| b.origin.iter().copied()))
}

fn values<'c, 'p>(buffers: impl IntoIterator<Item = &'p BufferPart<'c>>) -> Vec<Val<'c>>
where
    'c: 'p,
{
    buffers.into_iter().map(|b| b.value).collect()
}

/// The results of an operation that writes these buffers: one for each tensor.
pub fn result_types<'c>(parts: &Parts<'c>) -> Vec<Type<'c>> {
    parts
        .destinations()
        .map(|b| b.value.r#type())
        .filter(|ty| types::buffer_type(*ty).is_some_and(|t| t.kind == BufferKind::Tensor))
        .collect()
}

/// An `mdh.compute`; `combiner` is empty where the operator is built in.
pub fn compute<'c>(
    context: &'c Context,
    location: Location<'c>,
    parts: &Parts<'c>,
    scalar: Region<'c>,
    combiner: Region<'c>,
) -> Operation<'c> {
    let mut writer = Writer::new(context);
    let buffers: Vec<_> = parts.buffers().collect();
    writer.segment(values(&parts.inputs));
    writer.segment(values(&parts.outputs));
    writer.segment(values(parts.carries.iter().flat_map(|c| &c.outgoing)));
    writer.segment(values(parts.carries.iter().flat_map(|c| &c.incoming)));
    writer.segment(parts.carries.iter().filter_map(|c| c.valid));
    writer.segment(parts.dynamic_bounds());
    writer.segment(origins(&buffers));
    writer.set_domain(parts);
    writer.set_array("combine", &parts.combine);
    writer.set_buffers(&buffers, parts.dims.len());
    writer.set_pads(&parts.inputs);
    writer.set_outputs(parts);
    writer.set_laws(&parts.laws);
    if parts.in_place && parts.reads_what_it_writes() {
        writer.set("in_place", Attribute::unit(context));
    }
    writer.set_threads(&parts.threads);
    let mut regions = vec![scalar];
    if combiner.first_block().is_some() {
        regions.push(combiner);
    }
    writer.finish(ops::mdh::COMPUTE, location, &result_types(parts), regions)
}

/// Gives the first output of an `mdh.compute` another name; no schedule has the one before.
pub fn name_output(op: Op, name: &str) {
    let inputs = ir::integers(op, "operandSegmentSizes").first().copied();
    let inputs = usize::try_from(inputs.unwrap_or_default()).unwrap_or_default();
    let context = ir::context_of(op);
    let mut names = ir::array(op, "names");
    if let Some(own) = names.get_mut(inputs) {
        *own = StringAttribute::new(context, name).into();
        ir::set_attribute(op, "names", ArrayAttribute::new(context, &names).into());
    }
}

/// Changes the work of a GPU's threads on an `mdh.compute`.
pub fn share(op: Op, change: impl FnOnce(&mut Threads)) {
    let mut threads = read::threads(op).unwrap_or_default();
    change(&mut threads);
    let context = ir::context_of(op);
    for (name, value) in shares(context, &threads) {
        match value {
            Some(value) => ir::set_attribute(op, name, value),
            None => ir::remove_attribute(op, name),
        }
    }
}

/// The attributes of what threads do.
fn shares<'c>(
    context: &'c Context,
    threads: &Threads,
) -> [(&'static str, Option<Attribute<'c>>); 4] {
    let unit = |is_so: bool| is_so.then(|| Attribute::unit(context));
    let pair = |names: &Option<[String; 2]>| {
        let names = names.as_ref()?;
        let names = [0, 1].map(|n| StringAttribute::new(context, &names[n]).into());
        Some(ArrayAttribute::new(context, &names).into())
    };
    [
        ("cooperative", unit(threads.cooperative)),
        ("asynchronous", unit(threads.asynchronous)),
        ("matrix", pair(&threads.matrix)),
        ("lanes", pair(&threads.lanes)),
    ]
}

/// An `mdh.inp_view` of the parts' domain and inputs.
pub fn inp_view<'c>(
    context: &'c Context,
    location: Location<'c>,
    parts: &Parts<'c>,
    result: Type<'c>,
) -> Operation<'c> {
    let mut writer = Writer::new(context);
    let buffers: Vec<_> = parts.inputs.iter().collect();
    writer.segment(values(&parts.inputs));
    writer.segment(parts.dynamic_bounds());
    writer.segment(origins(&buffers));
    writer.set_domain(parts);
    writer.set_buffers(&buffers, parts.dims.len());
    writer.set_pads(&parts.inputs);
    writer.finish(ops::mdh::INP_VIEW, location, &[result], Vec::new())
}

/// An `mdh.out_view` of the parts' outputs and carries.
pub fn out_view<'c>(
    context: &'c Context,
    location: Location<'c>,
    parts: &Parts<'c>,
    source: Val<'c>,
) -> Operation<'c> {
    let mut writer = Writer::new(context);
    let buffers: Vec<_> = parts.buffers().skip(parts.inputs.len()).collect();
    writer.segment([source]);
    writer.segment(values(&parts.outputs));
    writer.segment(values(parts.carries.iter().flat_map(|c| &c.outgoing)));
    writer.segment(values(parts.carries.iter().flat_map(|c| &c.incoming)));
    writer.segment(parts.carries.iter().filter_map(|c| c.valid));
    writer.segment(origins(&buffers));
    writer.set_strings("dims", parts.dims.iter().map(|d| d.name.as_str()));
    writer.set_buffers(&buffers, parts.dims.len());
    writer.set_outputs(parts);
    writer.finish(
        ops::mdh::OUT_VIEW,
        location,
        &result_types(parts),
        Vec::new(),
    )
}

/// The type `!mdh.mda<shape, components>`.
pub fn mda_type<'c>(context: &'c Context, shape: &[i64], components: &[Type<'c>]) -> Type<'c> {
    let size = |s: &i64| {
        if *s == DYNAMIC {
            "?".to_owned()
        } else {
            s.to_string()
        }
    };
    let shape: Vec<String> = shape.iter().map(size).collect();
    let components: Vec<String> = components.iter().map(|t| format!(", {t}")).collect();
    let text = format!("!mdh.mda<{}{}>", shape.join("x"), components.concat());
    Type::parse(context, &text).unwrap_or_else(|| panic!("{text} is a type of the dialect"))
}
