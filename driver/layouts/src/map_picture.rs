//! A small space as a picture: the index of the original space at each place.

use mdh_algebra::domain::{Grid, points, total_points};
use mdh_algebra::index::{Expr, IndexProgram};
use mdh_algebra::mapping::Mapping;

use mdh_compiler::error::{Error, Result};

/// So many rows and columns are shown at most.
const ROWS: i64 = 16;
const COLUMNS: i64 = 32;

/// The space after so many steps, one line for each row; nothing if it has symbols, is large, or
/// has no or more than two dimensions. `..` is no point, or one that is discarded.
pub fn picture(mapping: &Mapping, steps: usize) -> Result<String> {
    let chain = mapping.chain()[..steps].to_vec();
    let part = Mapping::new(mapping.original().clone(), chain, mapping.facts());
    let part = part.map_err(|e| Error::input(e.message))?;
    let (Some(grids), Some(_)) = (part.mapped().numbers(), part.original().numbers()) else {
        return Ok(String::new());
    };
    let extent = |g: &Grid| g.upper - g.lower;
    let (rows, columns) = match &grids[..] {
        [columns] => (Grid::dense(1), *columns),
        [rows, columns] => (*rows, *columns),
        _ => return Ok(String::new()),
    };
    let few = extent(&rows) <= ROWS && extent(&columns) <= COLUMNS;
    if !few || total_points(&grids).is_none_or(|n| n == 0) {
        return Ok(String::new());
    }
    let names = part.index_names();
    let index: Vec<Expr> = names.iter().map(|n| Expr::symbol(n)).collect();
    let back = part.back(&index);
    let outputs = [back.index.as_slice(), &back.exits].concat();
    let program = IndexProgram::with_inputs(&names, &outputs);
    let mut cells = vec![vec![None; extent(&columns) as usize]; extent(&rows) as usize];
    for point in points(&grids) {
        let run = program.run(&point);
        let result = run.map_err(|e| Error::input(e.to_string()))?;
        let (index, exits) = result.split_at(back.index.len());
        let row = point[..point.len() - 1]
            .first()
            .map_or(0, |i| i - rows.lower);
        let column = point[point.len() - 1] - columns.lower;
        if !exits.contains(&0) {
            cells[row as usize][column as usize] = Some(index.to_vec());
        }
    }
    Ok(drawn(&cells))
}

fn drawn(cells: &[Vec<Option<Vec<i64>>>]) -> String {
    let places = cells.iter().flatten().flatten().flatten();
    let digits = places.clone().all(|i| (0..10).contains(i));
    let separator = if digits { "" } else { "," };
    let cell = |index: &Option<Vec<i64>>| match index {
        None => "..".to_string(),
        Some(index) => {
            let index: Vec<String> = index.iter().map(i64::to_string).collect();
            index.join(separator)
        }
    };
    let width = cells.iter().flatten().map(|c| cell(c).len()).max();
    let width = width.unwrap_or(0);
    let line = |row: &Vec<Option<Vec<i64>>>| {
        let row: Vec<String> = row.iter().map(|c| format!("{:>width$}", cell(c))).collect();
        format!("  {}\n", row.join(" "))
    };
    cells.iter().map(line).collect()
}
