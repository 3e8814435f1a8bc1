"""Documentation of every public name: it is there, and it has the parameters, errors and units."""

import ast
import importlib.resources
import inspect
import pathlib
import re
import textwrap
import types

import pytest

import mdh
from mdh import functions

NAMES = list(dict.fromkeys([*mdh.__all__, *mdh._LATE]))
FUNCTIONS = {name: getattr(mdh, name) for name in NAMES if isinstance(getattr(mdh, name), types.FunctionType)}
CLASSES = {name: getattr(mdh, name) for name in NAMES if isinstance(getattr(mdh, name), type)}

# Scalar functions: their arguments are numbers or symbolic values, whose names say nothing.
SCALAR = set(functions.__all__)

# They take arrays or programs, so that their documentation has shapes, and what is raised.
OF_ARRAYS = ["einsum", "compile_einsum", "reduce", "scan", "histogram", "reduce_text", "scan_text", "histogram_text"]

IN_RADIANS = ["sin", "cos", "tan", "asin", "acos", "atan", "atan2"]


def methods(described):
    """The public methods and properties of a class that this package defines, by name."""
    for name, member in vars(described).items():
        if name == "__call__" or not name.startswith("_"):
            function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if isinstance(function, types.FunctionType) and function.__module__.startswith("mdh"):
                yield name, function


MEMBERS = {f"{name}.{member}": function for name, described in CLASSES.items() for member, function in methods(described)}
DOCUMENTED = {**FUNCTIONS, **MEMBERS}


def documentation(name, function):
    """The text about a function; calls of an object are explained by its class."""
    owner = name.rpartition(".")[0]
    text = function.__doc__ or ""
    return text + (CLASSES[owner].__doc__ if name.endswith("__call__") else "")


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_documented(name):
    text = getattr(mdh, name).__doc__
    assert text and text.strip()


@pytest.mark.parametrize("name", [name for name in NAMES if isinstance(getattr(mdh, name), mdh.Operator)])
def test_operators_say_what_they_combine(name):
    assert getattr(mdh, name).__doc__ != mdh.Operator.__doc__


@pytest.mark.parametrize("name", sorted(MEMBERS))
def test_every_method_is_documented(name):
    assert documentation(name, MEMBERS[name]).strip()


@pytest.mark.parametrize("name", sorted(DOCUMENTED))
def test_parameters_are_annotated(name):
    signature = inspect.signature(DOCUMENTED[name])
    left_out = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.annotation is parameter.empty and parameter.name != "self"
    ]
    assert not left_out and signature.return_annotation is not signature.empty


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - SCALAR))
def test_parameters_are_mentioned(name):
    text = FUNCTIONS[name].__doc__
    parameters = [text for text in inspect.signature(FUNCTIONS[name]).parameters if not text.startswith("_")]
    assert [parameter for parameter in parameters if not re.search(rf"\b{parameter}\b", text)] == []


def raised(function):
    """The errors that the function itself raises."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    for node in ast.walk(tree):
        error = node.func if isinstance(node, ast.Call) else None
        if isinstance(error, ast.Name):
            name = "TraceError" if error.id == "trace_error" else error.id
            if isinstance(getattr(mdh, name, None), type) and issubclass(getattr(mdh, name), mdh.Error):
                yield name


@pytest.mark.parametrize("name", sorted(DOCUMENTED))
def test_errors_are_mentioned(name):
    text = documentation(name, DOCUMENTED[name])
    assert [error for error in raised(DOCUMENTED[name]) if error not in text] == []


@pytest.mark.parametrize("name", OF_ARRAYS)
def test_shapes_and_errors_of_arrays(name):
    text = FUNCTIONS[name].__doc__
    assert re.search(r"shape|size|axes", text) and "Raises" in text


@pytest.mark.parametrize("name", IN_RADIANS)
def test_angles_have_a_unit(name):
    assert "radians" in getattr(mdh, name).__doc__


def test_seconds_are_named():
    assert "seconds" in mdh.Compiled.tune.__doc__


@pytest.mark.parametrize("path", sorted(pathlib.Path(mdh.__file__).parent.glob("*.py")), ids=lambda path: path.stem)
def test_modules_are_documented(path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or path.stem == "__main__"


def test_names_that_are_loaded_late_are_known_to_type_checkers():
    tree = ast.parse(pathlib.Path(mdh.__file__).read_text(encoding="utf-8"))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 1:
            imported.update((alias.asname or alias.name, node.module) for alias in node.names)
    assert [name for name, module in mdh._LATE.items() if (name, module) not in imported] == []
    assert importlib.resources.files("mdh").joinpath("py.typed").is_file()
