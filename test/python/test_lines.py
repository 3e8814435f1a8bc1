"""Outputs larger than the caches, whose rows begin anywhere in a line: every element is right."""

import os
import tempfile
import unittest

import numpy as np

from mdh import Program

ROWS, COLUMNS = 2999, 2887
PROGRAM = f"""
func.func @sums(%x: tensor<{ROWS}x{COLUMNS + 2}xf32>) -> tensor<{ROWS}x{COLUMNS}xf32> {{
  %init = tensor.empty() : tensor<{ROWS}x{COLUMNS}xf32>
  %points = mdh.inp_view (i = {ROWS}, j = {COLUMNS})
      (%x[i, j][i, j + 2] : tensor<{ROWS}x{COLUMNS + 2}xf32>) : !mdh.mda<{ROWS}x{COLUMNS}, f32, f32>
  %sums = mdh.hom(addf, (cc, cc)) %points
      : !mdh.mda<{ROWS}x{COLUMNS}, f32, f32> -> !mdh.mda<{ROWS}x{COLUMNS}, f32>
  %y = mdh.out_view (i, j) %sums -> (y = %init[i, j] : tensor<{ROWS}x{COLUMNS}xf32>)
      : !mdh.mda<{ROWS}x{COLUMNS}, f32>
  return %y : tensor<{ROWS}x{COLUMNS}xf32>
}}
"""


class Lines(unittest.TestCase):
    def test_every_element_of_rows_that_are_no_whole_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "sums.mlir")
            with open(file, "w") as out:
                out.write(PROGRAM)
            program = Program(file)
            inputs = program.random_inputs(np.random.default_rng(5))
            x = inputs["x"]
            found, = program(**inputs)
        np.testing.assert_array_equal(found, x[:, :-2] + x[:, 2:])


if __name__ == "__main__":
    unittest.main()
