"""Pictures of compiled computations for notebooks: tables in HTML, loop nests in SVG.

What a picture shows is what `Compiled.explain` says, which the command gives as data (`mdh explain --json`). Everything is
built as a tree of elements: the result is well-formed XML, and names that come from programs are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, SubElement, tostring

from .errors import Error

if TYPE_CHECKING:
    from .compiled import Compiled

# What no XML may contain.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# The colours of boxes by kinds of loops: dark text on a light box is legible on any page.
_COLOURS = {"parallel": "#fde3c4", "lanes": "#e5dbf5", "register": "#d9efd6", "loop": "#dce9f7"}

# Sizes in pixels: of a row of text, of the margin between nested boxes, of the boxes, and of the text beside them.
_ROW, _MARGIN, _BOXES, _BESIDE = 24, 9, 440, 330


def page(compiled: Compiled) -> str:
    """Returns a compiled computation as HTML: what it computes, what bounds it, and its loops.

    Where the command that reports is not to be had, that is said, and the program's name is all that is shown.
    """
    whole = Element("div")
    _add(_add(whole, "p"), "code", repr(compiled))
    try:
        report, explanation = compiled.explain(), compiled.explanation()
    except Error as error:
        _add(whole, "pre", str(error))
        return _text(whole)
    for part in explanation["computations"]:
        position = "of the compiler's" if part["position"] is None else part["position"]
        _add(whole, "p", f"computation {position}: {part['name']}")
        whole.append(table(rows(part)))
        if part["cost"] is not None:
            whole.append(bars(part["cost"]))
        if part["schedule"] is not None:
            whole.append(nest(part["schedule"], part["loops"]))
    details = SubElement(whole, "details")
    _add(details, "summary", "explain()")
    _add(details, "pre", report)
    return _text(whole)


def rows(part: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns what is known of a computation, one of an explanation as data, as rows of a name and a text."""
    sizes = (f"{d['name']} = {_known(d['points'])} {d['combine']}" for d in part["dimensions"])
    lines = [("points", ", ".join(sizes))]
    for name in ("reads", "writes"):
        for buffer in part[name]:
            shape = "x".join([*map(_known, buffer["shape"]), buffer["element"]])
            lines.append((name, f"{buffer['name']}{''.join(buffer['accesses'])} of {shape}"))
    if part["operations"] is not None:
        lines.append(("work", f"{part['operations']:,.0f} operations on {part['bytes']:,.0f} bytes"))
    if part["cost"] is not None:
        lines.append(("bound by", f"{part['cost']['bound']}, {part['cost']['share']:.0%} of the limit"))
        gain = part["cost"]["gain"]
        if gain is not None:
            lines.append(("most to gain", f"{gain['factor']:.2f}x by {gain['change']}"))
    return lines


def _known(number: int | None) -> str:
    return "?" if number is None else str(number)


def label(loop: Mapping[str, Any]) -> str:
    """Returns a loop in words: its level, the number and the size of its parts, and how they are gone through."""
    parts, points = loop["parts"], loop["points"]
    name = f"{loop['layer']}.{loop['dimension']}"
    if loop["kind"] == "lanes" and points == 1:
        return f"{name}: {_known(parts)} lanes"
    manner = {"parallel": ", at the same time", "register": ", in registers"}.get(loop["kind"], "")
    return f"{name}: {_known(parts)} {'part' if parts == 1 else 'parts'} of {_known(points)}{manner}"


def staged(buffer: Mapping[str, Any]) -> str:
    """Returns a buffer that is staged or combined from a loop on, in words."""
    layout = "" if buffer["layout"] is None else f", {buffer['layout']}"
    stages = "" if buffer["stages"] is None else f", {buffer['stages']} buffers"
    return f"{buffer['buffer']}: {buffer['how']} in {buffer['memory']}{layout}{stages}"


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


def nest(schedule: Mapping[str, Any], loops: list[Mapping[str, Any]]) -> Element:
    """Returns the picture of a loop nest: a box for each loop in the one of the loop around it, from the outermost to
    the lanes, with extents; buffers stand beside the loop from which on they are staged or combined."""
    remarks = list(_remarks(schedule))
    height = max(1, len(loops)) * (_ROW + _MARGIN) + _ROW
    picture = _picture(_BOXES + _BESIDE, height + _ROW * len(remarks) + _MARGIN)
    if not loops:
        _box(picture, 0, 0, _BOXES, height, "loop")
        _label(picture, _MARGIN, _ROW - 7, "plain loops over all points")
    for depth, loop in enumerate(loops):
        left, top = depth * _MARGIN, depth * _ROW
        bottom = height - depth * _MARGIN
        box = _box(picture, left, top, _BOXES - 2 * left, bottom - top, loop["kind"])
        _add(box, "title", f"{loop['layer']}.{loop['dimension']}: {loop['kind']}")
        _label(picture, left + _MARGIN, top + _ROW - 7, label(loop))
        if loop["buffers"]:
            _line(picture, _BOXES - left, top + _ROW // 2, _BOXES + _MARGIN)
            _label(picture, _BOXES + 2 * _MARGIN, top + _ROW - 7, "; ".join(map(staged, loop["buffers"])))
    for number, remark in enumerate(remarks):
        _label(picture, _MARGIN, height + _ROW * (number + 1) - 7, remark)
    return picture


def bars(cost: Mapping[str, Any]) -> Element:
    """Returns the picture of what bounds a computation: a bar for the time that computing and each memory take. The
    longest one is the bound; the others are hidden behind it, at most."""
    most = max([*(part["time"] for part in cost["parts"]), 1e-30])
    picture = _picture(_BOXES + _BESIDE, _ROW * len(cost["parts"]))
    for number, part in enumerate(cost["parts"]):
        top, share = number * _ROW, part["time"] / most
        _label(picture, 0, top + _ROW - 7, part["what"])
        kind = "parallel" if share == 1 else "loop"
        _box(picture, 150, top + 3, max(1, round(400 * share)), _ROW - 6, kind)
        time = f"{part['time']:,.0f} cycles" if cost["unit"] == "cycles" else f"{part['time'] * 1e6:,.2f} us"
        _label(picture, 560, top + _ROW - 7, f"{time}, {share:.0%}")
    return picture


def table(lines: list[tuple[str, str]]) -> Element:
    """Returns rows of a name and a text as a table."""
    element = Element("table")
    body = SubElement(element, "tbody")
    for name, text in lines:
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
