//! Empty dimensions and carries.

use super::*;
use crate::computation::Carry;

fn carry(dimension: usize) -> Carry {
    Carry {
        dimension,
        incoming: vec![Buffer::new("c", F32, &[Some(8)]).access(0, &[d(0)])],
        has_valid_bit: false,
        outgoing: vec![],
    }
}

#[test]
fn empty_pw() {
    let mut c = matvec();
    c.dimensions[1].upper = Some(0);
    finds(&c, &[]);
    c.operators = vec![Operator::User(user("minus"))];
    finds(
        &c,
        &[(
            Rule::EmptyPw,
            "combines no points in dimension 'k' (0 to 0) by '@minus', which has no neutral \
             element: expected at least one point, a carry that is always there, or \
             'neutral(...)' on the operator",
        )],
    );
    let mut carried = c.clone();
    carried.carries = vec![carry(1)];
    finds(&carried, &[]);
    carried.carries[0].has_valid_bit = true;
    finds(&carried, &[]);
    assert_eq!(
        obligations(&carried),
        [Obligation::EmptyPw { dimension: 1 }]
    );
    let mut nothing = c.clone();
    nothing.dimensions[0].upper = Some(0);
    finds(&nothing, &[]);
    let mut unknown = c;
    unknown.dimensions[1].upper = None;
    assert!(obligations(&unknown).contains(&Obligation::EmptyPw { dimension: 1 }));
}

#[test]
fn carries() {
    let mut c = matvec();
    c.carries = vec![carry(1)];
    finds(&c, &[]);
    c.carries.push(carry(1));
    c.carries.push(carry(0));
    c.carries[0].incoming[0].element = I32;
    c.carries[0].outgoing = vec![];
    c.carries[1].incoming.clear();
    finds(
        &c,
        &[
            (
                Rule::CarryType,
                "receives a carry of types (i32) in dimension 'k': expected the types that are \
                 combined, (f32)",
            ),
            (
                Rule::CarryTwice,
                "has two carries for dimension 'k': expected one",
            ),
            (
                Rule::CarryArity,
                "receives 0 buffers as the carry of dimension 'k': expected one for each of 1 \
                 component",
            ),
            (
                Rule::CarryDimension,
                "has a carry for dimension 'i', which is concatenated: parts of a 'cc' dimension \
                 are independent; expected a 'pw' or 'ps' dimension",
            ),
            (
                Rule::CarryMap,
                "uses dimension 'i' in 'c', part of the carry of dimension 'i': a carry does not \
                 depend on its own dimension; drop it from the index function",
            ),
        ],
    );
    c = matvec();
    c.carries = vec![carry(1)];
    c.carries[0].incoming[0].accesses[0].map = vec![d(0) + 3];
    c.carries[0].outgoing = vec![Buffer::new("o", F32, &[Some(8)]).access(0, &[Expr::Const(0)])];
    let rules: Vec<_> = check(&c).into_iter().map(|f| f.rule).collect();
    assert_eq!(rules, [Rule::ReadRange, Rule::Injective]);
}
