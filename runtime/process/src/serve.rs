//! The side of a process that answers requests on its standard streams.

use std::io::{self, BufRead, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::worker::MARK;

/// The next request on standard input; none at its end. An error has the text that is no request.
pub fn next<Q: DeserializeOwned>() -> io::Result<Option<Q>> {
    let mut line = String::new();
    if io::stdin().lock().read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let request = serde_json::from_str(&line);
    request.map(Some).map_err(|error| {
        let text = format!("'{}' is no request: {error}", line.trim_end());
        io::Error::new(io::ErrorKind::InvalidData, text)
    })
}

/// Writes an answer to standard output.
pub fn say<A: Serialize>(answer: &A) -> io::Result<()> {
    let text = serde_json::to_string(answer)?;
    let mut output = io::stdout().lock();
    writeln!(output, "{MARK}{text}").and_then(|()| output.flush())
}
