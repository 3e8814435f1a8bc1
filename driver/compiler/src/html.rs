//! Pages of HTML that need nothing else: one frame and one style for the reports of all commands, on light and dark
//! screens. Pictures are SVG in the page.

use std::fmt::Display;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;

use crate::error::{Error, Result};

/// Renders a page, whose template extends `frame.html`. Texts are escaped; what is SVG passes `safe`.
pub fn render(template: &str, page: &impl Serialize) -> Result<String> {
    let failed = |error: minijinja::Error| Error::bug(format!("a page: {error:#}"));
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let frame = environment.add_template("frame.html", include_str!("html/frame.html"));
    frame.map_err(failed)?;
    let rendered = environment.render_str(template, Serde(page));
    rendered.map_err(failed)
}

/// A text as content of an element, or as an attribute in double quotes.
pub fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

/// A picture: elements of SVG, and the size of what they fill.
#[derive(Default)]
pub struct Svg {
    elements: String,
}

impl Svg {
    /// Adds an element with attributes, and without content.
    pub fn add(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        self.elements += &format!("<{name}{}/>\n", spelled(attributes));
    }

    /// Adds a text. Its place is its base line, at the anchor `start`, `middle` or `end`.
    pub fn text(&mut self, (x, y): (f64, f64), anchor: &str, class: &str, text: &str) {
        let (x, y) = (rounded(x), rounded(y));
        let attributes = spelled(&[
            ("x", &x),
            ("y", &y),
            ("text-anchor", &anchor),
            ("class", &class),
        ]);
        self.elements += &format!("<text{attributes}>{}</text>\n", escaped(text));
    }

    /// Adds a line between two points.
    pub fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(rounded);
        let ends: [(&str, &dyn Display); 5] = [
            ("x1", &x1),
            ("y1", &y1),
            ("x2", &x2),
            ("y2", &y2),
            ("class", &class),
        ];
        self.add("line", &ends);
    }

    /// Adds a box.
    pub fn rectangle(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), class: &str) {
        let [x, y, width, height] = [x, y, width, height].map(rounded);
        let attributes: [(&str, &dyn Display); 6] = [
            ("x", &x),
            ("y", &y),
            ("width", &width),
            ("height", &height),
            ("rx", &3),
            ("class", &class),
        ];
        self.add("rect", &attributes);
    }

    /// The picture, with a name for those who do not see it.
    pub fn finish(self, (width, height): (f64, f64), name: &str) -> String {
        let (width, height) = (rounded(width), rounded(height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-size=\"12\" role=\"img\" aria-label=\"{}\">\n{}</svg>",
            escaped(name),
            self.elements
        )
    }
}

fn spelled(attributes: &[(&str, &dyn Display)]) -> String {
    let attributes = attributes.iter();
    attributes
        .map(|(name, value)| format!(" {name}=\"{}\"", escaped(&value.to_string())))
        .collect()
}

/// A length of one decimal.
fn rounded(length: f64) -> f64 {
    (length * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        let mut svg = Svg::default();
        svg.text((1.04, 2.0), "end", "a\"b", "<i & \"j\">");
        let picture = svg.finish((10.0, 20.0), "x < y");
        assert!(
            picture.contains(
                "<text x=\"1\" y=\"2\" text-anchor=\"end\" class=\"a&quot;b\">&lt;i &amp; &quot;j&quot;&gt;</text>"
            ),
            "{picture}"
        );
        assert!(picture.contains("aria-label=\"x &lt; y\""), "{picture}");
    }

    #[test]
    fn pages_stand_alone() {
        #[derive(Serialize)]
        struct Page {
            title: &'static str,
        }
        let template =
            "{% extends \"frame.html\" %}{% block content %}<p>{{ title }}</p>{% endblock %}";
        let page = render(template, &Page { title: "<a>" }).unwrap();
        assert!(page.contains("<title>&lt;a&gt;</title>"), "{page}");
        assert!(page.contains("<p>&lt;a&gt;</p>"), "{page}");
        assert!(page.contains("prefers-color-scheme: dark"), "{page}");
        for outside in ["http:", "https:", "<script", "<link"] {
            assert!(!page.contains(outside), "{outside} {page}");
        }
    }
}
