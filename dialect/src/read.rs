//! Reads [`Parts`] from operations, and finds mistakes among them.

use melior::ir::Attribute;
use melior::ir::operation::OperationLike;

use crate::index_function;
use crate::ir::{self, Errors, Op, Val, array, count, integers, strings};
use crate::parts::{Bound, BufferPart, CarryPart, Dim, Laws, Parts, Threads};
use crate::types::DYNAMIC;

/// The operands of one segment after the other.
struct Segments<'c> {
    op: Op<'c>,
    sizes: Vec<i64>,
}

impl<'c> Segments<'c> {
    fn new(op: Op<'c>) -> Self {
        Segments {
            op,
            sizes: integers(op, "operandSegmentSizes"),
        }
    }

    fn get(&self, segment: usize) -> Vec<Val<'c>> {
        let start: i64 = self.sizes.iter().take(segment).sum();
        let count = self.sizes.get(segment).copied().unwrap_or(0);
        (start..start + count)
            .filter_map(|i| self.op.operand(i as usize).ok())
            .map(ir::value)
            .collect()
    }
}

/// The attributes that describe buffers, read in the buffers' order.
struct BufferReader<'c> {
    names: Vec<String>,
    maps: Vec<Attribute<'c>>,
    static_origins: Vec<Attribute<'c>>,
    pads: Vec<Attribute<'c>>,
    components: Vec<i64>,
    origins: Vec<Val<'c>>,
    dims: usize,
    next: usize,
    next_origin: usize,
    next_component: usize,
    errors: Errors,
}

impl<'c> BufferReader<'c> {
    fn new(op: Op<'c>, origins: Vec<Val<'c>>, buffers: usize) -> Self {
        let reader = BufferReader {
            names: strings(op, "names"),
            maps: array(op, "maps"),
            static_origins: array(op, "static_origins"),
            pads: array(op, "pads"),
            components: integers(op, "components"),
            origins,
            dims: array(op, "dims").len(),
            next: 0,
            next_origin: 0,
            next_component: 0,
            errors: Vec::new(),
        };
        reader.with_counts_checked(buffers)
    }

    fn with_counts_checked(mut self, buffers: usize) -> Self {
        let counts = [
            ("name", self.names.len()),
            ("list of index functions", self.maps.len()),
            ("origin", self.static_origins.len()),
        ];
        for (what, found) in counts {
            if found != buffers {
                self.errors.push(format!(
                    "has {} but {}: expected one for each buffer",
                    count(buffers, "buffer"),
                    count(found, what)
                ));
            }
        }
        self
    }

    fn read(&mut self, value: Val<'c>, is_output: bool) -> BufferPart<'c> {
        let b = self.next;
        self.next += 1;
        let name = self.names.get(b).cloned().unwrap_or_default();
        let maps = self.maps.get(b).map_or(Vec::new(), |m| ir::elements(*m));
        let mut accesses = Vec::new();
        for map in &maps {
            if index_function::num_dims(*map) != self.dims {
                self.errors.push(format!(
                    "buffer '{name}' has an index function of {} dimensions, but the domain has \
                     {}",
                    index_function::num_dims(*map),
                    self.dims
                ));
            }
            match index_function::from_map(*map) {
                Some(access) => accesses.push(access),
                None => self.errors.push(format!(
                    "buffer '{name}' has an index function with symbols ({map}): expected \
                     dimensions only"
                )),
            }
        }
        if maps.is_empty() && b < self.maps.len() {
            self.errors.push(format!(
                "buffer '{name}' has no access: expected at least one"
            ));
        }
        let components = if is_output {
            self.take_components(maps.len())
        } else {
            Vec::new()
        };
        let origin = self.read_origin(b, &name);
        let pad = self.pads.get(b).copied().filter(|pad| !ir::is_unit(*pad));
        BufferPart {
            value,
            name,
            accesses,
            components,
            origin,
            pad,
            inside: Vec::new(),
        }
    }

    fn take_components(&mut self, count: usize) -> Vec<usize> {
        let start = self.next_component;
        self.next_component += count;
        let taken = self.components.iter().skip(start).take(count);
        taken
            .map(|c| usize::try_from(*c).unwrap_or(usize::MAX))
            .collect()
    }

    fn read_origin(&mut self, buffer: usize, name: &str) -> Vec<Bound<'c>> {
        let constants = self
            .static_origins
            .get(buffer)
            .map_or(Vec::new(), |o| ir::dense_integers(*o));
        let mut origin = Vec::new();
        for constant in constants {
            match bound(constant, &self.origins, &mut self.next_origin) {
                Some(bound) => origin.push(bound),
                None => self
                    .errors
                    .push(format!("an operand is missing in the origin of '{name}'")),
            }
        }
        origin
    }

    fn finish(mut self) -> Errors {
        if self.next_component != self.components.len() {
            self.errors.push(format!(
                "has {} to outputs but {}: expected one component for each access",
                count(self.next_component, "access"),
                count(self.components.len(), "component")
            ));
        }
        if self.next_origin != self.origins.len() {
            self.errors.push(format!(
                "has {} but {} for them",
                count(self.next_origin, "dynamic origin"),
                count(self.origins.len(), "operand")
            ));
        }
        self.errors
    }
}

fn bound<'c>(constant: i64, operands: &[Val<'c>], next: &mut usize) -> Option<Bound<'c>> {
    if constant != DYNAMIC {
        return Some(Bound::Static(constant));
    }
    let operand = operands.get(*next).copied();
    *next += 1;
    operand.map(Bound::Dynamic)
}

/// The domain of an `mdh.inp_view` or `mdh.compute`.
fn domain<'c>(op: Op<'c>, operands: &[Val<'c>]) -> Result<Vec<Dim<'c>>, Errors> {
    let (names, constants) = (strings(op, "dims"), integers(op, "static_bounds"));
    if names.is_empty() {
        return Err(vec!["has no dimensions: expected at least one".into()]);
    }
    if constants.len() != 4 * names.len() {
        return Err(vec![format!(
            "has {} but {}: expected four for each dimension (lower, upper, step, width)",
            count(names.len(), "dimension"),
            count(constants.len(), "static bound")
        )]);
    }
    let mut next = 0;
    let mut dims = Vec::new();
    for (name, constants) in names.into_iter().zip(constants.chunks(4)) {
        let mut bounds = Vec::new();
        for constant in constants {
            bounds.extend(bound(*constant, operands, &mut next));
        }
        let [lower, upper, step, width] = bounds[..] else {
            return Err(vec![format!(
                "an operand is missing in the bounds of '{name}'"
            )]);
        };
        dims.push(Dim {
            name,
            lower,
            upper,
            step,
            width,
        });
    }
    if next != operands.len() {
        return Err(vec![format!(
            "has {} but {} for them",
            count(next, "dynamic bound"),
            count(operands.len(), "operand")
        )]);
    }
    Ok(dims)
}

/// The carries of an `mdh.out_view` or `mdh.compute`; outgoing buffers stand first.
fn carries<'c>(
    op: Op<'c>,
    segments: [Vec<Val<'c>>; 3],
    reader: &mut BufferReader<'c>,
) -> Vec<CarryPart<'c>> {
    let [outs, ins, valids] = segments;
    let dims = integers(op, "carry_dims");
    let (has_valid, has_out) = (integers(op, "carry_valids"), integers(op, "carry_has_outs"));
    let out_count = has_out.iter().filter(|o| **o != 0).count();
    let buffers = [&outs, &ins, &valids].map(Vec::len);
    if let Some(mistake) = carry_mistake(op, &dims, [&has_valid, &has_out], buffers) {
        reader.errors.push(mistake);
        return Vec::new();
    }
    let mut outgoing: Vec<_> = outs.into_iter().map(|v| reader.read(v, false)).collect();
    let mut incoming: Vec<_> = ins.into_iter().map(|v| reader.read(v, false)).collect();
    let mut valids = valids.into_iter();
    let mut parts = Vec::new();
    let in_size = incoming.len() / dims.len().max(1);
    let out_size = outgoing.len() / out_count.max(1);
    for ((dim, has_valid), has_out) in dims.into_iter().zip(has_valid).zip(has_out) {
        parts.push(CarryPart {
            dim: usize::try_from(dim).unwrap_or(usize::MAX),
            incoming: incoming.drain(..in_size).collect(),
            valid: if has_valid != 0 { valids.next() } else { None },
            outgoing: outgoing
                .drain(..if has_out != 0 { out_size } else { 0 })
                .collect(),
        });
    }
    parts
}

/// Returns the mistake in the dimensions of carries, or in how many buffers there are for them: outgoing
/// and incoming ones, and valid bits.
fn carry_mistake(
    op: Op,
    dims: &[i64],
    [has_valid, has_out]: [&[i64]; 2],
    [outs, ins, valids]: [usize; 3],
) -> Option<String> {
    if has_valid.len() != dims.len() || has_out.len() != dims.len() {
        return Some(format!(
            "has {} but {} and {}: expected one of both for each",
            count(dims.len(), "carry"),
            count(has_valid.len(), "mark of a valid bit"),
            count(has_out.len(), "mark of outputs")
        ));
    }
    let rank = strings(op, "dims").len();
    if let Some(dim) = dims.iter().find(|d| !(0..rank as i64).contains(*d)) {
        return Some(format!(
            "has a carry in dimension {dim}, but it has {}",
            count(rank, "dimension")
        ));
    }
    let out_count = has_out.iter().filter(|o| **o != 0).count();
    let valid_count = has_valid.iter().filter(|v| **v != 0).count();
    let divides = |total: usize, parts: usize| {
        if parts == 0 {
            total == 0
        } else {
            total.is_multiple_of(parts)
        }
    };
    if !divides(ins, dims.len()) || !divides(outs, out_count) || valids != valid_count {
        return Some(format!(
            "has {} with {}, {out_count} of them with {}, and {}: expected one buffer for each \
             component of each carry",
            count(dims.len(), "carry"),
            count(ins, "buffer"),
            count(outs, "output"),
            count(valids, "valid bit")
        ));
    }
    None
}

fn pads(inputs: usize, pads: usize) -> String {
    format!(
        "has {} but {}: expected one for each input, or unit",
        count(inputs, "input"),
        count(pads, "padding value")
    )
}

/// The parts of an `mdh.compute`.
pub fn compute(op: Op) -> Result<Parts, Errors> {
    let segments = Segments::new(op);
    let [ins, outs, carry_outs, carry_ins, valids, bounds, origins] =
        [0, 1, 2, 3, 4, 5, 6].map(|s| segments.get(s));
    let dims = domain(op, &bounds)?;
    let buffers = ins.len() + outs.len() + carry_outs.len() + carry_ins.len();
    let mut reader = BufferReader::new(op, origins, buffers);
    if reader.pads.len() != ins.len() {
        reader.errors.push(pads(ins.len(), reader.pads.len()));
    }
    let inputs = ins.into_iter().map(|v| reader.read(v, false)).collect();
    reader.pads.clear();
    let outputs = outs.into_iter().map(|v| reader.read(v, true)).collect();
    let carries = carries(op, [carry_outs, carry_ins, valids], &mut reader);
    let combine = array(op, "combine");
    let mut errors = reader.finish();
    if combine.len() != dims.len() {
        errors.push(format!(
            "has {} but {}: expected one for each dimension",
            count(dims.len(), "dimension"),
            count(combine.len(), "combine operator")
        ));
    }
    if errors.is_empty() {
        Ok(Parts {
            dims,
            combine,
            inputs,
            outputs,
            carries,
            laws: laws(op),
            in_place: ir::attribute(op, "in_place").is_some(),
            threads: threads(op)?,
        })
    } else {
        Err(errors)
    }
}

/// The domain and inputs of an `mdh.inp_view`.
pub fn inp_view(op: Op) -> Result<Parts, Errors> {
    let segments = Segments::new(op);
    let [ins, bounds, origins] = [0, 1, 2].map(|s| segments.get(s));
    let dims = domain(op, &bounds)?;
    let mut reader = BufferReader::new(op, origins, ins.len());
    if reader.pads.len() != ins.len() {
        reader.errors.push(pads(ins.len(), reader.pads.len()));
    }
    let inputs = ins.into_iter().map(|v| reader.read(v, false)).collect();
    let errors = reader.finish();
    if errors.is_empty() {
        Ok(Parts {
            dims,
            inputs,
            ..Parts::default()
        })
    } else {
        Err(errors)
    }
}

/// The outputs and carries of an `mdh.out_view`, and its names of the dimensions.
pub fn out_view(op: Op) -> Result<(Vec<String>, Parts), Errors> {
    let segments = Segments::new(op);
    let [outs, carry_outs, carry_ins, valids, origins] = [1, 2, 3, 4, 5].map(|s| segments.get(s));
    let buffers = outs.len() + carry_outs.len() + carry_ins.len();
    let mut reader = BufferReader::new(op, origins, buffers);
    let outputs = outs.into_iter().map(|v| reader.read(v, true)).collect();
    let carries = carries(op, [carry_outs, carry_ins, valids], &mut reader);
    let errors = reader.finish();
    if errors.is_empty() {
        Ok((
            strings(op, "dims"),
            Parts {
                outputs,
                carries,
                ..Parts::default()
            },
        ))
    } else {
        Err(errors)
    }
}

/// The laws that an `mdh.compute` or `mdh.combine` declares.
pub fn laws(op: Op) -> Laws {
    Laws {
        commutative: ir::attribute(op, "commutative").is_some(),
        associative: ir::attribute(op, "associative").is_some(),
        neutral: ir::attribute(op, "neutral").map(ir::elements),
    }
}

/// Reads the work of a GPU's threads on an `mdh.compute`.
pub fn threads(op: Op) -> Result<Threads, Errors> {
    let is_there = |name: &str| ir::attribute(op, name).is_some();
    let pair = |name: &str, expected: &str| {
        let names = strings(op, name);
        match <[String; 2]>::try_from(names) {
            _ if !is_there(name) => Ok(None),
            Ok(pair) => Ok(Some(pair)),
            Err(names) => Err(vec![format!(
                "has {} for '{name}': expected two, {expected}",
                count(names.len(), "name")
            )]),
        }
    };
    Ok(Threads {
        cooperative: is_there("cooperative"),
        asynchronous: is_there("asynchronous"),
        matrix: pair("matrix", "the dimensions of rows and columns")?,
        lanes: pair("lanes", "a dimension and the level of its threads")?,
    })
}
