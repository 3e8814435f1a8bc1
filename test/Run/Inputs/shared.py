"""Prints the softmax of the rows of an array.

    shared.py 3x5 f32
"""

import sys

shape, element = sys.argv[1:]
rows, columns = shape.split("x")
domain, all_, one = f"(i = {rows}, j = {columns})", f"tensor<{shape}x{element}>", f"tensor<{rows}x{element}>"
print(f"""
func.func @softmax(%x: {all_}) -> {all_} {{
  %row = tensor.empty() : {one}
  %all = tensor.empty() : {all_}
  %m = mdh.compute {domain}
    out_view(m = %row[i] : {one})
    md_hom(id, (cc, pw(maximumf)))
    inp_view(x = %x[i, j] : {all_})
  %s = mdh.compute {domain}
    out_view(s = %row[i] : {one})
    md_hom((%x_ij: {element}, %m_i: {element}) {{
      %less = arith.subf %x_ij, %m_i : {element}
      %e = math.exp %less : {element}
      mdh.yield %e : {element}
    }}, (cc, pw(addf)))
    inp_view(x = %x[i, j] : {all_}, m = %m[i] : {one})
  %y = mdh.compute {domain}
    out_view(y = %all[i, j] : {all_})
    md_hom((%x_ij: {element}, %m_i: {element}, %s_i: {element}) {{
      %less = arith.subf %x_ij, %m_i : {element}
      %e = math.exp %less : {element}
      %q = arith.divf %e, %s_i : {element}
      mdh.yield %q : {element}
    }}, (cc, cc))
    inp_view(x = %x[i, j] : {all_}, m = %m[i] : {one}, s = %s[i] : {one})
  return %y : {all_}
}}""")
