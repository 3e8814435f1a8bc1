//! The header of a `.npy` file: a magic text, a version, a length and a Python dictionary.

use std::fs::File;
use std::io;

use npyz::NpyHeader;

use super::read_fully;

/// The longest header that is read, in bytes: NumPy's own limit.
const LONGEST_HEADER: usize = 10_000;

/// The deepest nesting of brackets that is read: that of a record of records of arrays, which is
/// deeper than that of any type that is accepted. The parser reads what stands in a bracket twice
/// (in a brace, three times), and so the whole up to 2 to the power of this.
const DEEPEST: usize = 6;

/// Message about a text that cannot be parsed.
const STRANGE: &str = "its header is not what numpy.save writes";

/// The bytes of a file up to where the data starts.
pub fn read(file: &mut File) -> io::Result<Vec<u8>> {
    let wrong = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
    let mut header = vec![0; 12];
    let bytes = read_fully(file, &mut header[..10])?;
    if bytes < 10 || !header.starts_with(b"\x93NUMPY") {
        return Err(wrong(
            "it is not a .npy file (numpy.save writes such files)".to_string(),
        ));
    }
    if !(1..=3).contains(&header[6]) {
        let version = header[6];
        return Err(wrong(format!(
            "its format has version {version}, expected 1, 2 or 3"
        )));
    }
    let start = text_start(&header);
    let mut complete = read_fully(file, &mut header[10..start])? == start - 10;
    header.truncate(start);
    let mut length = [0; 4];
    length[..start - 8].copy_from_slice(&header[8..start]);
    let length = u32::from_le_bytes(length) as usize;
    if complete && length > LONGEST_HEADER {
        return Err(wrong(format!(
            "its header has {length} bytes, more than the {LONGEST_HEADER} of any simple array"
        )));
    }
    header.resize(start + length, 0);
    complete = complete && read_fully(file, &mut header[start..])? == length;
    match complete {
        true => Ok(header),
        false => Err(wrong(
            "it is truncated: its header is incomplete".to_string(),
        )),
    }
}

/// Returns the start of a header's text: version 1 has two bytes for its length, later ones four.
fn text_start(header: &[u8]) -> usize {
    if header[6] == 1 { 10 } else { 12 }
}

/// Parses a header.
pub fn parse(header: &[u8]) -> io::Result<NpyHeader> {
    if !is_flat(&header[text_start(header)..]) {
        return Err(io::Error::other(STRANGE));
    }
    NpyHeader::from_reader(header).map_err(|error| {
        // The parser of the header's text draws where in it the error is.
        let text = error.to_string();
        if text.starts_with("invalid type string") {
            io::Error::other("its dtype is not one of NumPy's")
        } else if text.lines().count() > 1 {
            io::Error::other(STRANGE)
        } else {
            error
        }
    })
}

/// Returns whether the brackets outside of strings are nested no deeper than [`DEEPEST`], and braces in
/// nothing. Where the parser may see the end of a string elsewhere, the answer is no.
fn is_flat(text: &[u8]) -> bool {
    let (mut depth, mut quote, mut is_named) = (0usize, None, false);
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            // What is escaped ends no string; a character by its name may have quotes in that.
            (b'\\', Some(_)) => is_named |= bytes.next() == Some(&b'N'),
            (b'"' | b'\'', None) => quote = Some(byte),
            (_, Some(open)) if byte == open => quote = None,
            (b'{', None) if depth > 0 => return false,
            (b'(' | b'[' | b'{', None) => depth += 1,
            (b')' | b']' | b'}', None) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST || is_named {
            return false;
        }
    }
    true
}
