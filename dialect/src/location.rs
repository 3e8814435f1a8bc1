//! Locations as places in files.

use std::fmt;

use melior::ir::Location;
use mlir_sys::*;

/// A place in a file. Lines and columns count from 1, columns in bytes, as MLIR counts; line 0
/// is the file as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file's name.
    pub file: String,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl SourceLocation {
    /// Returns a location's file, line and column; the first place of one that is made of several.
    pub fn from_location(location: Location) -> Option<SourceLocation> {
        let mut location = location.to_raw();
        // SAFETY: the location is valid; its kind is checked before anything is read.
        unsafe {
            loop {
                if mlirLocationIsAFileLineColRange(location) {
                    return Some(SourceLocation::of_range(location));
                }
                location = inner(location)?;
            }
        }
    }

    /// # Safety
    /// The location is a range in a file.
    unsafe fn of_range(location: MlirLocation) -> SourceLocation {
        let number = |n: i32| usize::try_from(n).unwrap_or(0);
        // SAFETY: by this function's contract; identifiers live as long as the context.
        unsafe {
            let file = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location));
            let file = match file.length {
                0 => &[],
                length => std::slice::from_raw_parts(file.data.cast::<u8>(), length),
            };
            SourceLocation {
                file: String::from_utf8_lossy(file).into_owned(),
                line: number(mlirLocationFileLineColRangeGetStartLine(location)),
                column: number(mlirLocationFileLineColRangeGetStartColumn(location)),
            }
        }
    }
}

/// `file:line:column`
impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}:{}", self.file, self.column),
        }
    }
}

/// The first location that another is made of.
///
/// # Safety
/// The location is valid.
unsafe fn inner(location: MlirLocation) -> Option<MlirLocation> {
    // SAFETY: by this function's contract; the kind is checked before anything is read.
    unsafe {
        if mlirLocationIsAName(location) {
            return Some(mlirLocationNameGetChildLoc(location));
        }
        if mlirLocationIsACallSite(location) {
            return Some(mlirLocationCallSiteGetCallee(location));
        }
        if !mlirLocationIsAFused(location) {
            return None;
        }
        let count = mlirLocationFusedGetNumLocations(location) as usize;
        let mut parts = vec![location; count];
        mlirLocationFusedGetLocations(location, parts.as_mut_ptr());
        parts.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use melior::Context;

    #[test]
    fn the_first_place_is_found() {
        let context = Context::new();
        let file = |line| Location::new(&context, "a.mlir", line, 7);
        let shown =
            |location| SourceLocation::from_location(location).map(|place| place.to_string());
        assert_eq!(shown(file(3)).as_deref(), Some("a.mlir:3:7"));
        assert_eq!(shown(file(0)).as_deref(), Some("a.mlir"));
        let named = Location::name(&context, "n", file(4));
        assert_eq!(shown(named).as_deref(), Some("a.mlir:4:7"));
        let call = Location::call_site(named, file(9));
        assert_eq!(shown(call).as_deref(), Some("a.mlir:4:7"));
        let nothing = melior::ir::Attribute::unit(&context);
        let fused = Location::fused(&context, &[call, file(9)], nothing);
        assert_eq!(shown(fused).as_deref(), Some("a.mlir:4:7"));
        assert_eq!(shown(Location::unknown(&context)), None);
    }
}
