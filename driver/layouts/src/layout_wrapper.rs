//! Layouts for C and C++: functions, and a class whose `[i][j]` goes where the layout says (LEGO
//! paper, section 6.2).

use mdh_algebra::index::emit::{self, EmitError, Function, Width};
use mdh_algebra::index::simplify::simplify;
use mdh_algebra::index::{Expr, Name};
use mdh_algebra::layout::{Layout, Pair, Perm};

/// Returns the prelude, and C functions `name_apply` and `name_inv`. Behind an index or an offset,
/// both take all symbols of the sizes, in the same order.
pub fn functions(
    layout: &Layout,
    name: &str,
    width: Width,
) -> Result<(Vec<String>, String), EmitError> {
    let symbols = layout.symbols();
    let indices = layout.index_names();
    let index: Vec<Expr> = indices.iter().map(|n| Expr::symbol(n)).collect();
    let facts = layout.facts_of_index(&indices);
    let offset = simplify(&facts, &[layout.apply(&index)]);
    let x = layout.offset_name();
    let facts_back = layout.facts_of_offset(&x);
    let back = simplify(&facts_back, &layout.inv(&Expr::symbol(&x)));
    let (forward, backward) = (format!("{name}_apply"), format!("{name}_inv"));
    let functions = [
        Function {
            name: &forward,
            inputs: &[indices, symbols.clone()].concat(),
            outputs: &offset,
            facts: &facts,
        },
        Function {
            name: &backward,
            inputs: &[vec![x], symbols].concat(),
            outputs: &back,
            facts: &facts_back,
        },
    ];
    emit::c_parts(&functions, width)
}

/// The same with an accessor: a macro `name_at(base, i, j)` for C, and for C++ a class `name<T>`
/// over memory, whose `a[i][j]` and `a(i, j)` are the elements. Sizes that are symbols are the
/// last arguments of both.
pub fn class(
    layout: &Layout,
    name: &str,
    width: Width,
) -> Result<(Vec<String>, String), EmitError> {
    if let Some(table) = table_at_run_time(layout) {
        return Err(EmitError(format!(
            "the table '{table}' is given at run time, expected its entries: an accessor has no \
             place for it"
        )));
    }
    let (helpers, functions) = functions(layout, name, width)?;
    let (indices, symbols) = (layout.index_names(), layout.symbols());
    let names = list(&[indices.clone(), symbols.clone()].concat());
    let macro_arguments = list(&[vec!["base".into()], indices.clone(), symbols.clone()].concat());
    let mut text = functions;
    text += &format!("#define {name}_at({macro_arguments}) ((base)[{name}_apply({names})])\n");
    text += "#ifdef __cplusplus\n";
    text += MEMBER;
    text += &cpp(name, &indices, &symbols, width);
    text += "#endif\n";
    Ok((helpers, text))
}

fn table_at_run_time(layout: &Layout) -> Option<Name> {
    let perms = layout.chain().iter().flat_map(|order| &order.perms);
    perms.into_iter().find_map(|perm| match perm {
        Perm::Gen {
            pair: Pair::Tables { forward, .. },
            ..
        } if forward.values.is_none() => Some(forward.name.clone()),
        _ => None,
    })
}

/// Members of classes run where the functions do.
const MEMBER: &str = "\
#ifndef MDH_MEMBER
#ifdef __CUDACC__
#define MDH_MEMBER __host__ __device__
#else
#define MDH_MEMBER
#endif
#endif
";

fn cpp(name: &str, indices: &[Name], symbols: &[Name], width: Width) -> String {
    let ty = match width {
        Width::Bits32 => "int32_t",
        Width::Bits64 => "int64_t",
    };
    let typed = |names: &[Name]| -> Vec<String> {
        names.iter().map(|n| format!("const {ty} {n}")).collect()
    };
    let members: String = typed(symbols).iter().map(|m| format!("  {m};\n")).collect();
    let last = indices.len() - 1;
    let names = list(&[indices.to_vec(), symbols.to_vec()].concat());
    let mut text = format!("template <typename T> struct {name} {{\n  T *const base;\n{members}");
    let parameters = [vec!["T *base".to_string()], typed(symbols)]
        .concat()
        .join(", ");
    let bindings: Vec<String> = symbols.iter().map(|n| format!(", {n}({n})")).collect();
    text += &format!(
        "  MDH_MEMBER {name}({parameters}) : base(base){} {{}}\n  MDH_MEMBER T &operator()({}) const \
         {{\n    return base[{name}_apply({names})];\n  }}\n",
        bindings.concat(),
        typed(indices).join(", ")
    );
    // From the inside out: what `a[i][j]` still needs is defined before `a[i]`.
    for level in (1..=last).rev() {
        let fixed = &indices[..level];
        let held: String = typed(fixed).iter().map(|m| format!("    {m};\n")).collect();
        text += &format!(
            "  struct At{level} {{\n    const {name} &array;\n{held}{}  }};\n",
            subscript(&indices[..=level], last, ty, "array", "    ")
        );
    }
    text += &subscript(&indices[..1], last, ty, "(*this)", "  ");
    text + "};\n"
}

/// `operator[]` for the last of these indices.
fn subscript(indices: &[Name], last: usize, ty: &str, array: &str, blanks: &str) -> String {
    let level = indices.len() - 1;
    let given = list(indices);
    let (returns, body) = match level == last {
        true => ("T &".to_string(), format!("return {array}({given})")),
        false => {
            let whole = if array == "array" { "array" } else { "*this" };
            let next = level + 1;
            (
                format!("At{next} "),
                format!("return At{next}{{{whole}, {given}}}"),
            )
        }
    };
    let index = &indices[level];
    format!(
        "{blanks}MDH_MEMBER {returns}operator[](const {ty} {index}) const {{\n{blanks}  {body};\n{blanks}}}\n"
    )
}

fn list(names: &[Name]) -> String {
    let names: Vec<&str> = names.iter().map(|n| &**n).collect();
    names.join(", ")
}
