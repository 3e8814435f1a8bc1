//! Cost of an access of many lanes at once: conflicts of banks, and sectors of memory.

use std::collections::{BTreeMap, BTreeSet};

use mdh_algebra::amounts::counted;
use mdh_algebra::index::lex::Cursor;
use mdh_algebra::index::parse::{Scope, expr};
use mdh_algebra::index::{Expr, IndexProgram, Name};
use mdh_algebra::layout::Layout;

use crate::cli::Banks;
use crate::layout_command::compiled;
use mdh_compiler::error::{Error, Result};
use mdh_schedule::asm::facts::SECTOR;

/// The elements that lanes access together.
pub struct Access<'a> {
    /// The banks; as many lanes access them together.
    pub banks: Banks,
    /// Bytes of an element.
    pub element: i64,
    /// The index of lane `t`; along each dimension in turn if there is none.
    pub index: Option<&'a str>,
}

/// A line for each access.
pub fn report(layout: &Layout, access: &Access) -> Result<String> {
    let (program, sizes) = compiled(layout)?;
    let lanes = access.banks.count;
    if let Some(text) = access.index {
        let indices = given(text, &sizes, lanes)?;
        return line(&program, access, "", &indices);
    }
    let mut text = String::new();
    for (d, n) in sizes.iter().enumerate() {
        let index = |t: i64| {
            let mut index = vec![0; sizes.len()];
            index[d] = t;
            index
        };
        let indices: Vec<Vec<i64>> = (0..lanes.min(*n)).map(index).collect();
        let what = format!("along dimension {}: ", d + 1);
        text += &line(&program, access, &what, &indices)?;
    }
    Ok(text)
}

fn line(
    program: &IndexProgram,
    access: &Access,
    what: &str,
    indices: &[Vec<i64>],
) -> Result<String> {
    let Banks { count, bytes } = access.banks;
    let mut words: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
    let mut sectors = BTreeSet::new();
    for index in indices {
        let offset = program
            .run(index)
            .map_err(|e| Error::input(e.to_string()))?[0];
        let first = offset * access.element;
        for byte in [first, first + access.element - 1] {
            sectors.insert(byte / SECTOR);
            let word = byte / bytes;
            words.entry(word % count).or_default().insert(word);
        }
    }
    let most = words.values().map(BTreeSet::len).max().unwrap_or(0);
    let conflict = match most {
        0 | 1 => "no bank conflict".to_string(),
        n => format!("{n}-way bank conflict"),
    };
    let (lanes, bytes) = (indices.len(), sectors.len() as i64 * SECTOR);
    Ok(format!(
        "{what}{lanes} lanes, {conflict}, {} sectors of {SECTOR} bytes ({bytes} bytes for {})\n",
        sectors.len(),
        lanes as i64 * access.element
    ))
}

/// The indices of all lanes.
fn given(text: &str, sizes: &[i64], lanes: i64) -> Result<Vec<Vec<i64>>> {
    let wrong = |e: mdh_algebra::index::lex::SyntaxError| Error::usage(e.in_source(text));
    let t: Name = "t".into();
    let scope = Scope::new(std::slice::from_ref(&t));
    let mut cursor = Cursor::new(text).map_err(wrong)?;
    let mut components: Vec<Expr> = vec![expr(&mut cursor, &scope).map_err(wrong)?];
    while cursor.take(",") {
        components.push(expr(&mut cursor, &scope).map_err(wrong)?);
    }
    cursor.end().map_err(wrong)?;
    if components.len() != sizes.len() {
        return Err(Error::usage(format!(
            "the access '{text}' has {}, expected {}, one for each size of the view",
            counted(components.len(), "component"),
            sizes.len()
        )));
    }
    let program = IndexProgram::with_inputs(&[t], &components);
    let mut indices = Vec::new();
    for lane in 0..lanes {
        let index = program
            .run(&[lane])
            .map_err(|e| Error::usage(e.to_string()))?;
        if let Some((d, n)) = (0..)
            .zip(sizes)
            .find(|(d, n)| !(0..**n).contains(&index[*d]))
        {
            return Err(Error::usage(format!(
                "component {} of the access '{text}' is {} for t = {lane}, expected 0 to {}",
                d + 1,
                index[d],
                n - 1
            )));
        }
        indices.push(index);
    }
    Ok(indices)
}
