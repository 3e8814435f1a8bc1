//! The page of an explanation: `mdh explain --html`.

use serde::Serialize;

use super::cost::Unit;
use super::summary::{Explanation, Summary};
use super::{drawing, loops, roofline};
use crate::error::Result;
use crate::html::render;

/// All that the page shows.
#[derive(Serialize)]
struct Page<'a> {
    title: &'a str,
    function: &'a str,
    machine: &'a str,
    head: [String; 6],
    rows: Vec<[String; 6]>,
    computations: Vec<Section>,
}

/// A computation's part of the page.
#[derive(Serialize)]
struct Section {
    heading: String,
    points: String,
    buffers: Vec<(&'static str, String)>,
    by: String,
    layers: String,
    reasons: Vec<String>,
    refusals: Vec<String>,
    times: Option<String>,
    gain: Option<String>,
    /// SVG.
    loops: Option<String>,
    /// SVG.
    roofline: Option<String>,
    /// The unit of the roofline's upright axis.
    per: &'static str,
}

/// Renders the page of an explanation of a file.
pub fn html(explanation: &Explanation, file: &str) -> Result<String> {
    let summaries = &explanation.computations;
    render(
        include_str!("page.html"),
        &Page {
            title: file,
            function: &explanation.function,
            machine: &explanation.machine,
            head: explanation.columns(),
            rows: summaries.iter().map(Summary::row).collect(),
            computations: summaries.iter().map(section).collect(),
        },
    )
}

fn section(summary: &Summary) -> Section {
    let work = &summary.work;
    let dimensions = work.dimensions.iter().map(|dimension| dimension.text());
    let reads = work.reads.iter().map(|buffer| ("reads", buffer.text()));
    let writes = work.writes.iter().map(|buffer| ("writes", buffer.text()));
    let refusals = summary.refusal.iter().flat_map(|own| &own.findings);
    let unit = summary.cost.as_ref().map(|cost| cost.unit);
    Section {
        heading: summary.heading().trim().to_string(),
        points: dimensions.collect::<Vec<_>>().join(", "),
        buffers: reads.chain(writes).collect(),
        by: summary.by.clone(),
        layers: summary.schedule.as_ref().map_or(String::new(), loops::line),
        reasons: summary.reasons.clone(),
        refusals: refusals.cloned().collect(),
        times: summary.cost.as_ref().map(|cost| cost.parts_text()),
        gain: summary.gain().map(|line| line.trim().to_string()),
        loops: drawing::svg(summary),
        roofline: roofline::svg(summary),
        per: match unit {
            Some(Unit::Seconds) => "a second",
            _ => "a cycle",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::tests::product;

    #[test]
    fn a_page_has_everything() {
        let page = html(&product(), "<product>.mlir").unwrap();
        for part in [
            "<title>&lt;product&gt;.mlir</title>",
            "<td>0 C</td>",
            "given by &#x27;s.txt&#x27;",
            "core.i: 2 parts of 512, at the same time",
            "moving from L1",
            "operations for each byte",
        ] {
            assert!(page.contains(part), "{part}\n{page}");
        }
        assert_eq!(page.matches("<svg ").count(), 2);
        assert_eq!(page.matches("</svg>").count(), 2);
    }
}
