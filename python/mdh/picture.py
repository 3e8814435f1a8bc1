"""Pictures of compiled computations for notebooks: tables in HTML, loop nests in SVG.

What a picture shows is what `Compiled.explain` and `Compiled.schedule` say. The schedule is read as data. Of the
report, which is text, lines that open with a known word become rows of a table; the whole of it stands below, so that
nothing is lost where its words change. Everything is built as a tree of elements: the result is well-formed XML, and
names that come from programs are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, SubElement, tostring

from .errors import Error

if TYPE_CHECKING:
    from .compiled import Compiled

# What no XML may contain.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# Opening words of the report's lines about a computation, and what their rows are called.
_ROWS = {
    "points:": "points",
    "reads": "reads",
    "writes": "writes",
    "work:": "work",
    "bound by": "bound by",
}

# Kinds of layers, by the colours of their boxes: dark text on a light box is legible on any page.
_PARALLEL = frozenset(["node", "core", "block", "warp", "thread"])
_LANES = frozenset(["simd", "mma"])
_COLOURS = {"parallel": "#fde3c4", "lanes": "#e5dbf5", "register": "#d9efd6", "loop": "#dce9f7"}

# Sizes in pixels: of a row of text, of the margin between nested boxes, of the boxes, and of the text beside them.
_ROW, _MARGIN, _BOXES, _BESIDE = 24, 9, 440, 330


@dataclass(frozen=True)
class Report:
    """A computation's part of the report: rows of a table, sizes of dimensions, and cycles by what takes them."""

    position: str
    name: str
    rows: list[tuple[str, str]] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    cycles: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Level:
    """A loop of a schedule: a layer and a dimension, with the number and the size of its parts.

    `count` and `part` are None where the sizes that they follow from are not known. `buffers` says what is staged or
    combined from this level on.
    """

    layer: str
    dimension: str
    count: int | None
    part: int | None
    buffers: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The level as schedules write it."""
        return f"{self.layer}.{self.dimension}"

    @property
    def kind(self) -> str:
        """`parallel`, `lanes`, `register` or `loop`."""
        if self.layer in _PARALLEL:
            return "parallel"
        if self.layer in _LANES:
            return "lanes"
        return "register" if self.layer == "register" else "loop"

    @property
    def extent(self) -> str:
        """The number of parts, their size in points, and how they are gone through, in words."""
        count = "parts" if self.count is None else f"{self.count} {'part' if self.count == 1 else 'parts'}"
        if self.kind == "lanes" and self.part == 1:
            return "lanes" if self.count is None else f"{self.count} lanes"
        manner = {"parallel": ", at the same time", "register": ", in registers"}.get(self.kind, "")
        return f"{count}{'' if self.part is None else f' of {self.part}'}{manner}"


def page(compiled: Compiled) -> str:
    """Returns a compiled computation as HTML: what it computes, what bounds it, and its loops.

    Where the command that reports is not to be had, that is said, and the program's name is all that is shown.
    """
    whole = Element("div")
    _add(_add(whole, "p"), "code", repr(compiled))
    try:
        report, schedule = compiled.explain(), compiled.schedule
    except Error as error:
        _add(whole, "pre", str(error))
        return _text(whole)
    schedules = by_computation(schedule)
    for part in read_report(report):
        _add(whole, "p", f"computation {part.position}: {part.name}")
        whole.append(table(part.rows))
        if part.cycles:
            whole.append(bars(part.cycles))
        chosen = schedules.pop(part.name, None)
        if chosen is None:
            chosen = schedules.pop(part.position, None)
        if chosen is not None:
            whole.append(nest(chosen, part.sizes))
    for name, left in schedules.items():
        # A computation may have a schedule, and no part of the report.
        _add(whole, "p", name)
        whole.append(nest(left, {}))
    details = SubElement(whole, "details")
    _add(details, "summary", "explain()")
    _add(details, "pre", report)
    return _text(whole)


def by_computation(schedule: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Returns schedules by the name or the position of their computation; a schedule alone is that of position 0."""
    if "computations" in schedule:
        return dict(schedule["computations"])
    return {"0": schedule}


def read_report(report: str) -> list[Report]:
    """Returns what is known of each computation from the lines that `explain` prints. Other lines are passed over."""
    parts: list[Report] = []
    for line in report.splitlines():
        heading = re.match(r"computation (.+?): (.*?)(?: \([^()]*\))?$", line)
        if heading:
            parts.append(Report(heading[1], heading[2]))
        if not parts or not re.match(r"  \S", line):
            continue
        text = line.strip()
        for opening, name in _ROWS.items():
            if text.startswith(opening + " "):
                parts[-1].rows.append((name, text.removeprefix(opening).strip()))
        if text.startswith("points: "):
            found = re.findall(r"(\S+) = (\d+)\b", text)
            parts[-1].sizes.update((name, int(size)) for name, size in found)
        if text.startswith("cycles: "):
            parts[-1].cycles.update(_cycles(text.removeprefix("cycles: ")))
    return parts


_UNITS = {"": 1, "thousand": 10**3, "million": 10**6, "billion": 10**9}


def _cycles(text: str) -> dict[str, int]:
    """Cycles by what takes them; nothing where an item is none that is known, rather than a part of them."""
    cycles = {}
    for item in text.split(", "):
        match = re.fullmatch(r"(.+) ([\d.]+)(?: (thousand|million|billion))?", item)
        if match is None:
            return {}
        cycles[match[1]] = round(float(match[2]) * _UNITS[match[3] or ""])
    return cycles


def levels(schedule: Mapping[str, Any], sizes: Mapping[str, int], phase: str = "decompose") -> list[Level]:
    """Returns the loops of a schedule, outermost first: those of more than one part, and those where buffers are staged.

    Args:
        schedule: one computation's, as data.
        sizes: of dimensions, for the part counts that follow from them (`*`). What is computed in a loop of another
            computation has those of a tile, which are not known.
        phase: the one whose order the loops have.
    """
    layers = [(layer, dict(counts)) for entry in schedule.get("layers", []) for layer, counts in entry.items()]
    staged = _buffers(schedule)
    order = list(schedule.get(phase, {}).get("order", []))
    written = [f"{layer}.{dimension}" for layer, counts in layers for dimension in counts]
    known = {} if "compute_at" in schedule else sizes
    nested = []
    for name in dict.fromkeys([*order, *written, *staged]):
        layer, _, dimension = name.partition(".")
        counts = _counts(layers, dimension, known)
        at = next((at for at, (other, _) in enumerate(layers) if other == layer), len(layers))
        count = counts[at] if at < len(layers) else 1
        if count != 1 or name in staged:
            nested.append(Level(layer, dimension, count, _product(counts[at + 1 :]), tuple(staged.get(name, ()))))
    return nested


def _counts(layers: list[tuple[str, dict[str, Any]]], dimension: str, sizes: Mapping[str, int]) -> list[int | None]:
    """The part counts of a dimension by layer. One is derived, such that all of them cover it: `*`, else that of the
    outermost layer if it is not written. It is None where the size is not known."""
    written: list[Any] = [parts.get(dimension, 1) for _, parts in layers]
    counts: list[int | None] = written
    derived = written.index("*") if "*" in written else 0
    if layers and ("*" in written or dimension not in layers[0][1]):
        counts[derived] = 1
        covered = _product(counts) or 1
        counts[derived] = max(1, -(-sizes[dimension] // covered)) if dimension in sizes else None
    return counts


def _product(counts: list[int | None]) -> int | None:
    """The product of part counts; None where one of them is not known."""
    product = 1
    for count in counts:
        if count is None:
            return None
        product *= count
    return product


def _buffers(schedule: Mapping[str, Any]) -> dict[str, list[str]]:
    """Staged and combined buffers, in words, by the level from which on it is."""
    words: dict[str, list[str]] = {}
    for kind, verb in (("inputs", "staged"), ("outputs", "combined")):
        for name, entry in schedule.get(kind, {}).items():
            layouts = entry.get("layout", {})
            for level, region in entry.get("stage" if kind == "inputs" else "combine", {}).items():
                text = f"{name}: {verb} in {region}"
                if level in layouts:
                    text += f", {_layout(layouts[level])}"
                if kind == "inputs" and entry.get("stages", 1) > 1:
                    text += f", {entry['stages']} buffers"
                words.setdefault(level, []).append(text)
    return words


def _layout(layout: Any) -> str:
    """A layout as schedules write it: `blocked(512, 64)`."""
    if isinstance(layout, list):
        return ", ".join(_layout(step) for step in layout)
    if isinstance(layout, Mapping):
        return ", ".join(f"{name}({', '.join(str(number) for number in numbers)})" for name, numbers in layout.items())
    return str(layout)


def _remarks(schedule: Mapping[str, Any]) -> Iterator[str]:
    """Facts of a schedule that are no box, in words: other orders, assignments, the loop that a computation is in, the order of tiles."""
    if "compute_at" in schedule:
        yield f"computed in the loop {schedule['compute_at']['level']} of {schedule['compute_at']['consumer']}"
    order = schedule.get("decompose", {}).get("order")
    for phase in ("scalar", "recompose"):
        other = schedule.get(phase, {}).get("order", order)
        if other != order:
            yield f"{phase}: {', '.join(other)}"
    for phase in ("decompose", "scalar", "recompose"):
        for level, target in schedule.get(phase, {}).get("assign", {}).items():
            yield f"{phase}: {level} is {target}"
    if "tile_order" in schedule:
        tiles = schedule["tile_order"]
        yield f"tiles of {', '.join(tiles['levels'])}: {tiles['layout']}"


def nest(schedule: Mapping[str, Any], sizes: Mapping[str, int]) -> Element:
    """Returns the picture of a loop nest: a box for each level in the one of the level around it, from the outermost to
    the lanes, with extents; buffers stand beside the level from which on they are staged or combined."""
    boxes = levels(schedule, sizes)
    remarks = list(_remarks(schedule))
    height = max(1, len(boxes)) * (_ROW + _MARGIN) + _ROW
    picture = _picture(_BOXES + _BESIDE, height + _ROW * len(remarks) + _MARGIN)
    if not boxes:
        _box(picture, 0, 0, _BOXES, height, "loop")
        _label(picture, _MARGIN, _ROW - 7, "plain loops over all points")
    for depth, level in enumerate(boxes):
        left, top = depth * _MARGIN, depth * _ROW
        bottom = height - depth * _MARGIN
        box = _box(picture, left, top, _BOXES - 2 * left, bottom - top, level.kind)
        _add(box, "title", f"{level.name}: {level.kind}")
        _label(picture, left + _MARGIN, top + _ROW - 7, f"{level.name}: {level.extent}")
        if level.buffers:
            _line(picture, _BOXES - left, top + _ROW // 2, _BOXES + _MARGIN)
            _label(picture, _BOXES + 2 * _MARGIN, top + _ROW - 7, "; ".join(level.buffers))
    for number, remark in enumerate(remarks):
        _label(picture, _MARGIN, height + _ROW * (number + 1) - 7, remark)
    return picture


def bars(cycles: Mapping[str, int]) -> Element:
    """Returns the picture of what bounds a computation: a bar for the cycles that computing and each memory take. The
    longest one is the bound; the others are hidden behind it, at most."""
    most = max([*cycles.values(), 1])
    picture = _picture(_BOXES + _BESIDE, _ROW * len(cycles))
    for number, (name, count) in enumerate(cycles.items()):
        top = number * _ROW
        _label(picture, 0, top + _ROW - 7, name)
        kind = "parallel" if count == most else "loop"
        _box(picture, 150, top + 3, max(1, round(400 * count / most)), _ROW - 6, kind)
        _label(picture, 560, top + _ROW - 7, f"{count:,} cycles, {count / most:.0%}")
    return picture


def table(rows: list[tuple[str, str]]) -> Element:
    """Returns rows of a name and a text as a table."""
    element = Element("table")
    body = SubElement(element, "tbody")
    for name, text in rows:
        row = SubElement(body, "tr")
        _add(row, "th", name).set("style", "text-align: left")
        _add(row, "td", text).set("style", "text-align: left")
    return element


def _picture(width: int, height: int) -> Element:
    sizes = {"width": str(width), "height": str(height), "viewBox": f"0 0 {width} {height}"}
    style = "display: block; margin: 6px 0; font: 13px sans-serif"
    picture = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "style": style, **sizes})
    SubElement(picture, "rect", {"width": str(width), "height": str(height), "fill": "#ffffff"})
    return picture


def _box(picture: Element, left: int, top: int, width: int, height: int, kind: str) -> Element:
    place = {"x": str(left), "y": str(top), "width": str(width), "height": str(height)}
    style = {"fill": _COLOURS[kind], "stroke": "#5b6470", "rx": "3"}
    return SubElement(picture, "rect", {**place, **style})


def _label(picture: Element, left: int, bottom: int, text: str) -> Element:
    label = _add(picture, "text", text)
    label.attrib.update({"x": str(left), "y": str(bottom), "fill": "#15191f"})
    return label


def _line(picture: Element, left: int, top: int, right: int) -> None:
    place = {"x1": str(left), "x2": str(right), "y1": str(top), "y2": str(top)}
    SubElement(picture, "line", {**place, "stroke": "#5b6470", "stroke-dasharray": "3 2"})


def _add(parent: Element, tag: str, text: str | None = None) -> Element:
    element = SubElement(parent, tag)
    element.text = None if text is None else _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
    return element


def _text(element: Element) -> str:
    return tostring(element, encoding="unicode", short_empty_elements=False)
