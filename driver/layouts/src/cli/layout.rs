//! Command line of `mdh layout`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};

use mdh_compiler::cli::{Json, OutFile, is_name};

/// Arguments of `mdh layout`.
#[derive(Args, Debug)]
#[command(after_help = LAYOUT_EXAMPLES)]
pub struct LayoutArguments {
    /// The layout, such as 'OrderBy(Col([4,6])).GroupBy([4,6])', or CuTe's shape:stride.
    pub layout: String,
    /// The offset of this index: numbers, or expressions of sizes and indices. With --emit
    /// triton, ':' is all of a dimension.
    #[arg(long, value_name = "I,J", allow_hyphen_values = true)]
    pub apply: Option<String>,
    /// The index of this offset.
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    pub inv: Option<String>,
    /// The form in which it is printed. It is code of offset and index as functions.
    #[arg(long, value_name = "CODE", value_enum)]
    pub emit: Option<Code>,
    /// The integers of the code.
    #[arg(long, value_enum, default_value = "64")]
    pub bits: Bits,
    /// Prints all offsets.
    #[arg(long)]
    pub table: bool,
    /// Draws a picture to a file. It has offsets, tiles and their order.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Checks that it is a bijection; exit code 3 if that is not proven.
    #[arg(long)]
    pub check: bool,
    /// Counts bank conflicts and sectors of an access by as many lanes as there are banks.
    #[arg(long, value_name = "BANKSxBYTES")]
    pub banks: Option<Banks>,
    /// The index that lane t accesses, such as 't,0'; along each dimension if it is not given.
    #[arg(
        long,
        value_name = "I,J",
        requires = "banks",
        allow_hyphen_values = true
    )]
    pub access: Option<String>,
    /// Bytes of an element; those of a bank if it is not given.
    #[arg(long, value_name = "BYTES", requires = "banks", value_parser = clap::value_parser!(u8).range(1..))]
    pub element: Option<u8>,
    /// Sizes of symbols, or their bounds.
    #[arg(long, value_name = "DIM=N|DIM=LOW..HIGH", num_args = 1.., action = clap::ArgAction::Append)]
    pub size: Vec<Assumed>,
    /// The file that is written.
    #[command(flatten)]
    pub out: OutFile,
    /// The answers as one JSON object.
    #[command(flatten)]
    pub json: Json,
}

const LAYOUT_EXAMPLES: &str = "\
Examples:
  mdh layout 'OrderBy(Col([4,6])).GroupBy([4,6])' --apply 1,2
  mdh layout 'GenP([8,8],hilbert)' --table --svg hilbert.svg
  mdh layout 'TileBy([m,k],[BM,BK]).OrderBy(Row([m*BM,k*BK]))' --size m=1..64 k=1..64 BM=32 BK=32 \\
    --emit triton --apply pid,step,:,:
  mdh layout 'GenP([32,32],xor)' --banks 32x4 --access t,0";

/// Code that a layout is printed as.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// A function on index for each: affine.apply, or arith.
    Mlir,
    /// C, which is CUDA too.
    C,
    /// The same with an accessor: a macro for C, a class with a[i][j] for C++.
    Wrapper,
    /// Offset and index in Python, for Triton's kernels.
    Triton,
    /// Expressions that this program reads.
    Text,
    /// CuTe's shape:stride, if there is one.
    Cute,
}

/// Integers of code.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    /// Of 32 bits.
    #[value(name = "32")]
    B32,
    /// Of 64 bits.
    #[value(name = "64")]
    B64,
}

/// `32x4`: 32 banks of words of 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Banks {
    /// Number of banks.
    pub count: i64,
    /// Bytes of a word.
    pub bytes: i64,
}

impl FromStr for Banks {
    type Err = String;

    fn from_str(text: &str) -> Result<Banks, String> {
        let numbers = text
            .split_once('x')
            .map(|(count, bytes)| (count.parse(), bytes.parse()));
        match numbers {
            Some((Ok(count @ 1..=1024), Ok(bytes @ 1..=64))) => Ok(Banks { count, bytes }),
            _ => Err("expected BANKSxBYTES, such as 32x4".to_string()),
        }
    }
}

/// `n=4`, `n=1..64` or `n=16..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumed {
    /// The symbol.
    pub symbol: String,
    /// Its smallest value.
    pub min: i64,
    /// Its largest value, if there is one.
    pub max: Option<i64>,
}

impl FromStr for Assumed {
    type Err = String;

    fn from_str(text: &str) -> Result<Assumed, String> {
        let expected = || "expected N=4, N=1..64 or N=16..".to_string();
        let (symbol, values) = text.split_once('=').ok_or_else(expected)?;
        let number = |text: &str| text.parse::<i64>().map_err(|_| expected());
        let (min, max) = match values.split_once("..") {
            None => (number(values)?, Some(number(values)?)),
            Some((min, "")) => (number(min)?, None),
            Some((min, max)) => (number(min)?, Some(number(max)?)),
        };
        if !is_name(symbol) || max.is_some_and(|max| max < min) {
            return Err(expected());
        }
        let symbol = symbol.to_string();
        Ok(Assumed { symbol, min, max })
    }
}
