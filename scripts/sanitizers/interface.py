"""Arguments of compiled functions (runtime/mdhrt/src/interface.rs has the grammar), and C that calls them."""

import re

TYPES = {"i1": "bool", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t",
         "f16": "mdh_f16", "bf16": "mdh_bf16", "f32": "float", "f64": "double"}

OPERATIONS = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
              "floordiv": lambda a, b: a // b, "ceildiv": lambda a, b: -(-a // b),
              "min": min, "max": max}


def interfaces(code):
    """The text of each function, as LLVM IR carries it."""
    texts = re.findall(r'^@interface[.\d]* = internal constant \[\d+ x i8\] c"(.*)"', code, re.M)
    return [re.sub(r"\\([0-9A-F]{2})", lambda byte: chr(int(byte[1], 16)), text) for text in texts]


def evaluated(formula, shapes, given):
    """A number that follows from the extents and the values of other parameters, in postfix order.
    None if it needs a value that is random."""
    stack = []
    for term in formula.split(","):
        if term in OPERATIONS:
            b, a = stack.pop(), stack.pop()
            stack.append(OPERATIONS[term](a, b))
        elif term.startswith("v"):
            number = int(term[1:])
            file = given[number][1] if number < len(given) else None
            if file is None:
                return None
            stack.append(int.from_bytes(file.read_bytes(), "little", signed=True))
        elif "." in term:
            parameter, axis = map(int, term.split("."))
            stack.append(shapes[parameter][axis])
        else:
            stack.append(int(term))
    return stack.pop()


def extents(text, given, shapes, usual):
    """The extents of a buffer: what the interface says; what is open is of the usual size."""
    numbers = []
    for extent in text:
        if extent == "?":
            numbers.append(usual)
        elif extent.startswith("?="):
            number = evaluated(extent[2:], shapes, given)
            numbers.append(usual if number is None else max(number, 0))
        else:
            numbers.append(int(extent))
    return numbers


def reach(shape, layout):
    """Counts the elements from the first to the last, and gives the strides that are open."""
    if layout == ["rows"]:
        strides, offset = None, 0
    else:
        offset, strides = int(layout[1]), layout[2:]
    dense, count = [], 1
    for extent in reversed(shape):
        dense.insert(0, count)
        count *= max(extent, 1)
    if strides is None:
        return (0 if 0 in shape else count), []
    numbers = [d if s == "?" else int(s) for s, d in zip(strides, dense)]
    last = offset + sum((extent - 1) * s for extent, s in zip(shape, numbers))
    return (0 if 0 in shape else last + 1), [n for s, n in zip(strides, numbers) if s == "?"]


def call(interface, given, usual):
    """C that calls a function once. `given` has a pair for each argument: its shape, and the file
    that holds its elements, None if they are random."""
    name, *parameters = interface.split("\n")
    lines, values, shapes = [], [], []
    for n, parameter in enumerate(parameters):
        kind, _, element, *rest = parameter.split(" ")
        shape, file = given[n] if n < len(given) else (None, None)
        type, count, more = TYPES[element], 1, []
        if kind == "buffer":
            split = next(i for i, word in enumerate(rest) if word in ("rows", "strides"))
            shape = extents(rest[1:split], given, shapes, usual) if shape is None else shape
            count, strides = reach(shape, rest[split:])
            open_extents = [e for e, word in zip(shape, rest[1:split]) if word.startswith("?")]
            more = [f"INT64_C({number})" for number in open_extents + strides]
        shapes.append(shape or [])
        source = f'"{file}"' if file else "NULL"
        lines.append(f'{type} *p{n} = caller_memory({count}, "{element}", {source});')
        values.append(", ".join([f"*p{n}" if kind == "value" else f"p{n}", *more]))
    lines.append(f'caller_check({name}({", ".join(values)}), "{name}");')
    lines += [f"free(p{n});" for n in range(len(parameters))]
    return name, lines


def program(header, calls):
    """A C program that makes the calls of the function that its argument names."""
    lines = ["#include <stdlib.h>", "#include <string.h>", f'#include "{header}"',
             '#include "caller.h"', "int main(int count, char **arguments) {", "(void)count;"]
    for name, body in calls:
        lines += [f'if (!strcmp(arguments[1], "{name}")) {{', *body, "}"]
    return "\n".join(lines + ["return 0;", "}", ""])
