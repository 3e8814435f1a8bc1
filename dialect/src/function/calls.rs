//! Functions that are called, and memory that all of them share.

use std::sync::Arc;

use mdh_algebra::program::{Statement, ValueId};
use melior::ir::operation::OperationLike;
use melior::ir::{RegionLike, Type};
use mlir_sys::{mlirAttributeIsAUnit, mlirTypeAttrGetValue};

use super::constants::elements;
use super::translator::{Translator, Unknown};
use crate::code::arguments;
use crate::ir::{self, Op, Val};
use crate::types::{self, BufferType};

/// Calls of calls may have so many statements together: each is read as often as it is called.
const STATEMENTS: usize = 1 << 20;

impl<'c> Translator<'c> {
    /// `func.call`: what the function does, with the caller's values as its arguments.
    pub(super) fn call(
        &mut self,
        op: Op<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), Unknown<'c>> {
        let here = |message: String| Unknown { op, message };
        let name = ir::attribute(op, "callee").and_then(ir::symbol);
        let name = name.ok_or_else(|| here("calls nothing that has a name".into()))?;
        let callee = self.symbol(op, name).ok_or_else(|| {
            here(format!(
                "calls '@{name}', which is not in the module: expected a function"
            ))
        })?;
        let region = ir::region(callee, 0);
        let first = region.first_block().ok_or_else(|| {
            here(format!(
                "calls '@{name}', which is declared only: expected a function with a body, since the \
                 oracle reads what it does; give it one, or run without a check"
            ))
        })?;
        if let Some(start) = self.calls.iter().position(|open| *open == name) {
            let cycle = self.calls[start..].iter().chain([&name]);
            let cycle: Vec<String> = cycle.map(|name| format!("@{name}")).collect();
            return Err(here(format!(
                "calls '@{name}' while that runs ({}): expected functions that do not lead to \
                 themselves, since the oracle reads each call as what it does; write a loop",
                cycle.join(" -> ")
            )));
        }
        if self.origins.len() > STATEMENTS {
            return Err(here(format!(
                "is one of calls that have more than {STATEMENTS} operations together, each counted as \
                 often as it is called: expected fewer; write loops, or run without a check"
            )));
        }
        let operands: Vec<Val<'c>> = op.operands().map(ir::value).collect();
        let ids = self.ids(&operands).map_err(here)?;
        for (argument, id) in arguments(first).into_iter().zip(ids) {
            self.name(argument, id);
        }
        self.calls.push(name);
        let yields = self.blocks(op, region, statements);
        self.calls.pop();
        let results: Vec<Val<'c>> = op.results().map(ir::value).collect();
        for (result, id) in results.into_iter().zip(yields?) {
            self.name(result, id);
        }
        Ok(())
    }

    /// Finds a symbol in the module of an operation, or of the one that it stands for.
    fn symbol(&self, op: Op<'c>, name: &str) -> Option<Op<'c>> {
        ir::lookup_symbol(self.instead.unwrap_or(op), name)
    }

    /// `memref.get_global`: memory that is there before anything runs, once for all that name it.
    pub(super) fn global(&mut self, op: Op<'c>) -> Result<(), String> {
        let name = ir::attribute(op, "name").and_then(ir::symbol);
        let name = name.ok_or("names nothing")?;
        let known = self.globals.get(name).copied();
        let id = match known {
            Some(id) => id,
            None => {
                let global = self.symbol(op, name);
                let global =
                    global.ok_or_else(|| format!("names '@{name}', which is not there"))?;
                let id = self.fresh();
                let statement = held(global, name, id)?;
                let origin = self.instead.unwrap_or(op);
                self.start.push((origin, statement));
                self.globals.insert(name.to_owned(), id);
                id
            }
        };
        let result = ir::result(op, 0).ok_or("has no result")?;
        self.name(result, id);
        Ok(())
    }
}

/// The contents of a global variable at the start.
fn held(global: Op, name: &str, result: ValueId) -> Result<Statement, String> {
    let BufferType { element, shape, .. } =
        type_of(global).ok_or_else(|| format!("names '@{name}', which is of an unknown type"))?;
    let initial = ir::attribute(global, "initial_value").ok_or_else(|| {
        format!(
            "names '@{name}', which is declared only: expected a variable with a value, since the \
             oracle reads what is in it; give it one (or 'uninitialized'), or run without a check"
        )
    })?;
    // SAFETY: the attribute is the operation's.
    if unsafe { mlirAttributeIsAUnit(melior::ir::AttributeLike::to_raw(&initial)) } {
        return Ok(Statement::Empty {
            result,
            element,
            shape,
            sizes: Vec::new(),
        });
    }
    let values = elements(initial, element).ok_or_else(|| {
        format!(
            "names '@{name}', whose value the oracle does not read: {initial}; expected a dense one"
        )
    })?;
    let shape: Option<Vec<i64>> = shape.into_iter().collect();
    Ok(Statement::Literal {
        result,
        element,
        shape: shape.ok_or("names a variable of unknown shape")?,
        values: Arc::from(values),
    })
}

/// The type of a global variable.
fn type_of(global: Op) -> Option<BufferType> {
    let ty = ir::attribute(global, "type")?;
    // SAFETY: the attribute is the type of a variable, as its definition has it.
    let ty =
        unsafe { Type::from_raw(mlirTypeAttrGetValue(melior::ir::AttributeLike::to_raw(&ty))) };
    types::buffer_type(ty)
}
