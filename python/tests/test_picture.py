"""Pictures of compiled computations: well-formed, complete, and safe with any names."""

from xml.etree import ElementTree

import numpy as np
import pytest

import mdh
from mdh import picture

SVG = "{http://www.w3.org/2000/svg}"

# Of the schedule of docs/schedule.md, as an explanation has it.
LOOPS = [
    {"layer": layer, "dimension": dimension, "kind": kind, "parts": parts, "points": points, "buffers": []}
    for layer, dimension, kind, parts, points in [
        ("main", "j", "loop", 2, 1024),
        ("main", "k", "loop", None, 512),
        ("core", "j", "parallel", 2, 512),
        ("L3", "i", "loop", 5, 240),
        ("L1", "j", "loop", 8, 64),
        ("register", "k", "register", 512, 1),
        ("simd", "j", "lanes", 16, 1),
    ]
]


def with_buffers(loop, *buffers):
    """A loop from which on buffers are staged or combined."""
    keys = ("buffer", "how", "memory", "layout", "stages")
    return {**loop, "buffers": [dict(zip(keys, buffer)) for buffer in buffers]}


def parsed(element):
    """The element as a reader of XML has it."""
    return ElementTree.fromstring(ElementTree.tostring(element, encoding="unicode"))


def labels(tree):
    return [text.text for text in tree.iter(f"{SVG}text")]


def boxes(tree):
    """The boxes of levels as left, top, right and bottom; the first rectangle is the background."""
    found = []
    for box in list(tree.iter(f"{SVG}rect"))[1:]:
        left, top, width, height = (float(box.get(name)) for name in ("x", "y", "width", "height"))
        found.append((left, top, left + width, top + height))
    return found


def test_loops_have_their_extents():
    assert [picture.label(loop) for loop in LOOPS] == [
        "main.j: 2 parts of 1024",
        "main.k: ? parts of 512",
        "core.j: 2 parts of 512, at the same time",
        "L3.i: 5 parts of 240",
        "L1.j: 8 parts of 64",
        "register.k: 512 parts of 1, in registers",
        "simd.j: 16 lanes",
    ]


def test_every_loop_is_a_box_in_the_one_before():
    tree = parsed(picture.nest({}, LOOPS))
    nested = boxes(tree)
    assert labels(tree) == [picture.label(loop) for loop in LOOPS]
    assert len(nested) == len(LOOPS)
    for outer, inner in zip(nested, nested[1:]):
        assert outer[0] < inner[0] < inner[2] < outer[2] and outer[1] < inner[1] < inner[3] < outer[3]
    assert float(tree.get("height")) >= nested[0][3]


def test_buffers_stand_beside_their_loop():
    loops = [
        with_buffers(LOOPS[3], ("B", "staged", "L3", "blocked(512, 64)", None), ("A", "staged", "L3", None, 3)),
        with_buffers(LOOPS[5], ("C", "combined", "register", None, None)),
    ]
    tree = parsed(picture.nest({}, loops))
    heights = {text.text: text.get("y") for text in tree.iter(f"{SVG}text")}
    beside = "B: staged in L3, blocked(512, 64); A: staged in L3, 3 buffers"
    assert heights[beside] == heights["L3.i: 5 parts of 240"]
    assert heights["C: combined in register"] == heights["register.k: 512 parts of 1, in registers"]


def test_what_is_no_box_is_said():
    schedule = {
        "layers": [{"L1": {"i": 4}}],
        "decompose": {"order": ["L1.i"], "assign": {"L1.i": "core.x"}},
        "recompose": {"order": ["L2.i", "L1.i"]},
        "compute_at": {"consumer": "y", "level": "L2.i"},
        "tile_order": {"levels": ["L1.i"], "layout": "GenP([4],hilbert)"},
    }
    assert labels(parsed(picture.nest(schedule, LOOPS)))[-4:] == [
        "computed in the loop L2.i of y",
        "recompose: L2.i, L1.i",
        "decompose: L1.i is core.x",
        "tiles of L1.i: GenP([4],hilbert)",
    ]


def test_an_empty_schedule_is_plain_loops():
    assert labels(parsed(picture.nest({}, []))) == ["plain loops over all points"]


def test_names_are_escaped():
    name = "<script>&\"'\0\x1b"
    loop = {"layer": "L1", "dimension": name, "kind": "loop", "parts": 4, "points": 1}
    tree = parsed(picture.nest({}, [with_buffers(loop, (name, "staged", name, None, None))]))
    shown = "<script>&\"'\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"
    assert labels(tree) == [f"L1.{shown}: 4 parts of 1", f"{shown}: staged in {shown}"]
    assert not list(tree.iter(f"{SVG}script"))
    lines = parsed(picture.table([(name, name)]))
    assert [cell.text for cell in lines.iter() if cell.tag in ("th", "td")] == [shown, shown]


PART = {
    "dimensions": [{"name": "i", "points": 64, "combine": "cc"}, {"name": "k", "points": None, "combine": "pw(addf)"}],
    "reads": [{"name": "A", "accesses": ["[i, k]"], "shape": [64, None], "element": "f32"}],
    "writes": [{"name": "C", "accesses": ["[i]"], "shape": [64], "element": "f32"}],
    "operations": 520192.0,
    "bytes": 49152.0,
    "cost": {
        "unit": "cycles",
        "parts": [{"what": "computing", "time": 4064.0}, {"what": "moving from L1", "time": 12.0}],
        "bound": "computing",
        "share": 0.5,
        "gain": {"change": "all 2 cores, of which 1 has work", "factor": 2.0},
    },
}


def test_an_explanation_becomes_rows_and_bars():
    assert picture.rows(PART) == [
        ("points", "i = 64 cc, k = ? pw(addf)"),
        ("reads", "A[i, k] of 64x?xf32"),
        ("writes", "C[i] of 64xf32"),
        ("work", "520,192 operations on 49,152 bytes"),
        ("bound by", "computing, 50% of the limit"),
        ("most to gain", "2.00x by all 2 cores, of which 1 has work"),
    ]
    shown = labels(parsed(picture.bars(PART["cost"])))
    assert shown == ["computing", "4,064 cycles, 100%", "moving from L1", "12 cycles, 0%"]
    unknown = {**PART, "operations": None, "cost": None}
    assert [name for name, _ in picture.rows(unknown)] == ["points", "reads", "writes"]


@pytest.fixture
def row_sums():
    @mdh.mdh(
        mdh.out(w=mdh.Buffer[mdh.fp32]), mdh.inp(M=mdh.Buffer[mdh.fp32]), mdh.combine_ops(mdh.cc, mdh.pw(mdh.add))
    )
    def row_sums(w, M):
        for i in range(M.shape[0]):
            for k in range(M.shape[1]):
                w[i] = M[i, k]

    return row_sums.compile(np.zeros((30, 50), np.float32))


@pytest.mark.runs
def test_a_compiled_computation_shows_itself(row_sums, tmp_path, monkeypatch):
    monkeypatch.setenv("MDH_CACHE", str(tmp_path))
    row_sums.schedule = {
        "layers": [{"L1": {"i": "*", "k": "*"}}, {"simd": {"k": 16}}],
        "decompose": {"order": ["L1.i", "L1.k", "simd.k"]},
    }
    tree = ElementTree.fromstring(row_sums._repr_html_())
    assert {cell.text for cell in tree.iter("th")} >= {"points", "work"}
    shown = labels(tree)
    assert [label for label in shown if "." in label.partition(":")[0]] == [
        "L1.i: 30 parts of 1",
        "L1.k: 4 parts of 16",
        "simd.k: 16 lanes",
    ]
    (text,) = (element.text for element in tree.iter("pre"))
    assert text == row_sums.explain()


@pytest.mark.runs
@pytest.mark.filterwarnings("ignore:note")
def test_several_computations_have_a_picture_each(tmp_path, monkeypatch):
    monkeypatch.setenv("MDH_CACHE", str(tmp_path))
    text = """
    func.func @softmax(%x: tensor<6x20xf32>) -> tensor<6x20xf32> {
      %none = tensor.empty() : tensor<6x20xf32>
      %y = linalg.softmax dimension(1) ins(%x : tensor<6x20xf32>) outs(%none : tensor<6x20xf32>) -> tensor<6x20xf32>
      return %y : tensor<6x20xf32>
    }
    """
    for size in ("6x20", "4096x4096"):
        compiled = mdh.compile(text.replace("6x20", size))
        tree = ElementTree.fromstring(compiled._repr_html_())
        headings = [part.text for part in tree.iter("p") if part.text]
        names = [heading.partition(": ")[2] for heading in headings]
        assert len(names) >= 3 and set(names) == set(compiled.schedule["computations"])
        assert len(list(tree.iter(f"{SVG}svg"))) >= len(names)


@pytest.mark.runs
def test_without_a_report_the_name_is_shown(row_sums, monkeypatch):
    def fails(*_):
        raise mdh.ResourceError("no memory for <that>")

    monkeypatch.setattr(type(row_sums), "_command", fails)
    tree = ElementTree.fromstring(row_sums._repr_html_())
    assert [element.text for element in tree.iter("pre")] == ["no memory for <that>"]
