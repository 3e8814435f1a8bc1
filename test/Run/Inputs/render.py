"""Prints a workload of `mdh bench` at a size: render.py FILE NAME=NUMBER..

Its template has {% set NAME %}TEXT{% endset -%} and {{ EXPRESSION }} only.
"""

import re
import sys


def main():
    values = {"T": "f32"}
    for text in sys.argv[2:]:
        name, number = text.split("=")
        values[name] = int(number)

    def render(text):
        return re.sub(r"\{\{ (.*?) \}\}", lambda found: str(eval(found[1], {}, values)), text)

    def define(found):
        values[found[1]] = render(found[2])
        return ""

    with open(sys.argv[1]) as file:
        text = re.sub(r"\{% set (\w+) %\}(.*?)\{% endset -%\}\n", define, file.read())
    print(render(text), end="")


if __name__ == "__main__":
    main()
