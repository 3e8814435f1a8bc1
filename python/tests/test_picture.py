"""Pictures of compiled computations: well-formed, complete, and safe with any names."""

from xml.etree import ElementTree

import numpy as np
import pytest

import mdh
from mdh import picture

SVG = "{http://www.w3.org/2000/svg}"

# Of docs/schedule.md.
SCHEDULE = {
    "asm": "cpu",
    "layers": [
        {"main": {"k": "*"}},
        {"core": {"j": 2}},
        {"L3": {"i": "*"}},
        {"L1": {"j": 8}},
        {"L2": {"i": 40}},
        {"register": {"i": 6, "j": 4, "k": 512}},
        {"simd": {"j": 16}},
    ],
    "decompose": {
        "order": [
            "main.j",
            "main.k",
            "core.j",
            "L3.i",
            "L1.j",
            "L2.i",
            "register.k",
            "register.i",
            "register.j",
            "simd.j",
        ]
    },
    "inputs": {
        "A": {"scalar": "register"},
        "B": {"stage": {"L3.i": "L3"}, "layout": {"L3.i": {"blocked": [512, 64]}}, "scalar": "register"},
    },
    "outputs": {"C": {"combine": {"register.k": "register"}}},
}


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


def test_levels_have_their_extents():
    sizes = {"i": 1021, "j": 2048, "k": 2000}
    extents = {level.name: (level.count, level.part) for level in picture.levels(SCHEDULE, sizes)}
    assert extents == {
        "main.j": (2, 1024),
        "main.k": (4, 512),
        "core.j": (2, 512),
        "L3.i": (5, 240),
        "L1.j": (8, 64),
        "L2.i": (40, 6),
        "register.k": (512, 1),
        "register.i": (6, 1),
        "register.j": (4, 16),
        "simd.j": (16, 1),
    }


def test_parts_of_open_sizes_are_not_counted():
    extents = {level.name: level.extent for level in picture.levels(SCHEDULE, {})}
    assert extents["main.k"] == "parts of 512"
    assert extents["core.j"] == "2 parts of 512, at the same time"
    assert extents["simd.j"] == "16 lanes"


def test_parts_hold_what_is_derived_in_them():
    schedule = {
        "layers": [{"core": {"i": 2}}, {"L2": {"i": "*", "j": "*"}}, {"simd": {"j": 16}}],
        "decompose": {"order": ["core.i", "L2.i", "L2.j", "simd.j"]},
    }
    known = {level.name: (level.count, level.part) for level in picture.levels(schedule, {"i": 4096, "j": 100})}
    assert known == {"core.i": (2, 2048), "L2.i": (2048, 1), "L2.j": (7, 16), "simd.j": (16, 1)}
    extents = [level.extent for level in picture.levels(schedule, {})]
    assert extents == ["2 parts, at the same time", "parts of 1", "parts of 16", "16 lanes"]
    # Sizes of a tile are other ones than those of the computation.
    fused = {**schedule, "compute_at": {"consumer": "y", "level": "L2.i"}}
    assert [level.extent for level in picture.levels(fused, {"i": 4096, "j": 100})] == extents


def test_every_level_is_a_box_in_the_one_before():
    sizes = {"i": 1021, "j": 2048, "k": 2000}
    tree = parsed(picture.nest(SCHEDULE, sizes))
    nested = boxes(tree)
    named = [label.partition(":")[0] for label in labels(tree)]
    assert [name for name in named if "." in name] == SCHEDULE["decompose"]["order"]
    assert len(nested) == 10
    for outer, inner in zip(nested, nested[1:]):
        assert outer[0] < inner[0] < inner[2] < outer[2] and outer[1] < inner[1] < inner[3] < outer[3]
    assert float(tree.get("height")) >= nested[0][3]


def test_buffers_stand_beside_their_level():
    tree = parsed(picture.nest(SCHEDULE, {}))
    heights = {text.text: text.get("y") for text in tree.iter(f"{SVG}text")}
    assert heights["B: staged in L3, blocked(512, 64)"] == heights["L3.i: parts of 240"]
    assert heights["C: combined in register"] == heights["register.k: 512 parts of 1, in registers"]


def test_levels_of_one_part_are_left_out_but_for_buffers():
    schedule = {
        "layers": [{"L1": {"i": 4}}, {"simd": {"j": 8}}],
        "decompose": {"order": ["L2.j", "L1.i", "simd.j"]},
        "inputs": {"x": {"stage": {"L2.j": "L2"}, "stages": 3}},
    }
    assert [level.name for level in picture.levels(schedule, {"i": 4, "j": 8})] == ["L2.j", "L1.i", "simd.j"]
    assert "x: staged in L2, 3 buffers" in labels(parsed(picture.nest(schedule, {})))
    del schedule["inputs"]
    assert [level.name for level in picture.levels(schedule, {"i": 4, "j": 8})] == ["L1.i", "simd.j"]


def test_what_is_no_box_is_said():
    schedule = {
        "layers": [{"L1": {"i": 4}}],
        "decompose": {"order": ["L1.i"], "assign": {"L1.i": "core.x"}},
        "recompose": {"order": ["L2.i", "L1.i"]},
        "compute_at": {"consumer": "y", "level": "L2.i"},
        "tile_order": {"levels": ["L1.i"], "layout": "GenP([4],hilbert)"},
    }
    assert labels(parsed(picture.nest(schedule, {})))[-4:] == [
        "computed in the loop L2.i of y",
        "recompose: L2.i, L1.i",
        "decompose: L1.i is core.x",
        "tiles of L1.i: GenP([4],hilbert)",
    ]


def test_an_empty_schedule_is_plain_loops():
    assert labels(parsed(picture.nest({}, {}))) == ["plain loops over all points"]


def test_names_are_escaped():
    name = "<script>&\"'\0\x1b"
    schedule = {
        "layers": [{"L1": {name: 4}}],
        "decompose": {"order": [f"L1.{name}"]},
        "inputs": {name: {"stage": {f"L1.{name}": name}}},
    }
    tree = parsed(picture.nest(schedule, {}))
    shown = "<script>&\"'\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"
    assert labels(tree) == [f"L1.{shown}: 4 parts of 1", f"{shown}: staged in {shown}"]
    assert not list(tree.iter(f"{SVG}script"))
    rows = parsed(picture.table([(name, name)]))
    assert [cell.text for cell in rows.iter() if cell.tag in ("th", "td")] == [shown, shown]


REPORT = """matmul: 1 computation

computation 0: C (program.mlir:9)
  points: i = 64 cc, j = ? cc, k = 64 pw(addf)
  reads A[i, k] of 64x64xf32, 16.0 KiB
  work: 520 thousand operations on 48.0 KiB, 10.58 operations for each byte
  schedule: given
    points: of the reasons
  something new: 7
  cycles: computing 4.06 thousand, moving from L1 12
  bound by computing (at usual rates)

computation of the compiler's: exp (program.mlir:19)
  position: none
  points: i = 6 cc
"""


def test_lines_of_the_report_become_rows():
    report, made = picture.read_report(REPORT)
    assert (made.name, made.rows) == ("exp", [("points", "i = 6 cc")])
    assert (report.position, report.name) == ("0", "C")
    assert report.sizes == {"i": 64, "k": 64}
    assert [name for name, _ in report.rows] == ["points", "reads", "work", "bound by"]
    assert report.rows[-1] == ("bound by", "computing (at usual rates)")
    assert report.cycles == {"computing": 4060, "moving from L1": 12}
    shown = labels(parsed(picture.bars(report.cycles)))
    assert shown == ["computing", "4,060 cycles, 100%", "moving from L1", "12 cycles, 0%"]


@pytest.mark.parametrize("text", ["", "no computation", "computation 0: C\n  cycles: many, computing 3"])
def test_reports_of_other_words_are_no_error(text):
    assert all(report.cycles == {} and report.rows == [] for report in picture.read_report(text))


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
