// A layer of attention over h heads of d, as torch-mlir imports it: projections of the rows of all sequences, heads split
// off and brought to the front, softmax over scaled products (its maximum comes with its index, which nobody uses), and the
// projection back.
{% set sequences %}tensor<{{ b }}x{{ s }}x{{ h * d }}x{{ T }}>{% endset -%}
{% set rows %}tensor<{{ b * s }}x{{ h * d }}x{{ T }}>{% endset -%}
{% set square %}tensor<{{ h * d }}x{{ h * d }}x{{ T }}>{% endset -%}
{% set vector %}tensor<{{ h * d }}x{{ T }}>{% endset -%}
{% set split %}tensor<{{ b }}x{{ s }}x{{ h }}x{{ d }}x{{ T }}>{% endset -%}
{% set heads %}tensor<{{ b }}x{{ h }}x{{ s }}x{{ d }}x{{ T }}>{% endset -%}
{% set keys %}tensor<{{ b }}x{{ h }}x{{ d }}x{{ s }}x{{ T }}>{% endset -%}
{% set flat_heads %}tensor<{{ b * h }}x{{ s }}x{{ d }}x{{ T }}>{% endset -%}
{% set flat_keys %}tensor<{{ b * h }}x{{ d }}x{{ s }}x{{ T }}>{% endset -%}
{% set flat_scores %}tensor<{{ b * h }}x{{ s }}x{{ s }}x{{ T }}>{% endset -%}
{% set scores %}tensor<{{ b }}x{{ h }}x{{ s }}x{{ s }}x{{ T }}>{% endset -%}
{% set best %}tensor<{{ b }}x{{ h }}x{{ s }}x1x{{ T }}>{% endset -%}
{% set places %}tensor<{{ b }}x{{ h }}x{{ s }}x1xi64>{% endset -%}
#points = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
#all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#row = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
func.func @attention(%x: {{ sequences }},
    %wq: {{ square }}, %bq: {{ vector }}, %wk: {{ square }}, %bk: {{ vector }},
    %wv: {{ square }}, %bv: {{ vector }}, %wo: {{ square }}, %bo: {{ vector }}) -> {{ sequences }} {
  %zero = arith.constant 0.000000e+00 : {{ T }}
  %lowest = arith.constant 0xFF800000 : {{ T }}
  %none = arith.constant 0 : i64
  %size = arith.constant {{ d }}.0 : {{ T }}
  %root = math.sqrt %size : {{ T }}
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : {{ sequences }} into {{ rows }}
  %square = tensor.empty() : {{ square }}
  %row = tensor.empty() : {{ rows }}
  %start = linalg.fill ins(%zero : {{ T }}) outs(%row : {{ rows }}) -> {{ rows }}
  %heads = tensor.empty() : {{ heads }}
  %q_t = linalg.transpose ins(%wq : {{ square }}) outs(%square : {{ square }}) permutation = [1, 0]
  %q_product = linalg.matmul ins(%rows, %q_t : {{ rows }}, {{ square }}) outs(%start : {{ rows }}) -> {{ rows }}
  %q_rows = linalg.generic {indexing_maps = [#points, #column, #points], iterator_types = ["parallel", "parallel"]}
      ins(%q_product, %bq : {{ rows }}, {{ vector }}) outs(%row : {{ rows }}) {
  ^bb0(%in: {{ T }}, %in_0: {{ T }}, %out: {{ T }}):
    %sum = arith.addf %in, %in_0 : {{ T }}
    linalg.yield %sum : {{ T }}
  } -> {{ rows }}
  %q_split = tensor.expand_shape %q_rows [[0, 1], [2, 3]] output_shape [{{ b }}, {{ s }}, {{ h }}, {{ d }}] : {{ rows }} into {{ split }}
  %q_heads = linalg.transpose ins(%q_split : {{ split }}) outs(%heads : {{ heads }}) permutation = [0, 2, 1, 3]
  %k_t = linalg.transpose ins(%wk : {{ square }}) outs(%square : {{ square }}) permutation = [1, 0]
  %k_product = linalg.matmul ins(%rows, %k_t : {{ rows }}, {{ square }}) outs(%start : {{ rows }}) -> {{ rows }}
  %k_rows = linalg.generic {indexing_maps = [#points, #column, #points], iterator_types = ["parallel", "parallel"]}
      ins(%k_product, %bk : {{ rows }}, {{ vector }}) outs(%row : {{ rows }}) {
  ^bb0(%in: {{ T }}, %in_0: {{ T }}, %out: {{ T }}):
    %sum = arith.addf %in, %in_0 : {{ T }}
    linalg.yield %sum : {{ T }}
  } -> {{ rows }}
  %k_split = tensor.expand_shape %k_rows [[0, 1], [2, 3]] output_shape [{{ b }}, {{ s }}, {{ h }}, {{ d }}] : {{ rows }} into {{ split }}
  %k_heads = linalg.transpose ins(%k_split : {{ split }}) outs(%heads : {{ heads }}) permutation = [0, 2, 1, 3]
  %v_t = linalg.transpose ins(%wv : {{ square }}) outs(%square : {{ square }}) permutation = [1, 0]
  %v_product = linalg.matmul ins(%rows, %v_t : {{ rows }}, {{ square }}) outs(%start : {{ rows }}) -> {{ rows }}
  %v_rows = linalg.generic {indexing_maps = [#points, #column, #points], iterator_types = ["parallel", "parallel"]}
      ins(%v_product, %bv : {{ rows }}, {{ vector }}) outs(%row : {{ rows }}) {
  ^bb0(%in: {{ T }}, %in_0: {{ T }}, %out: {{ T }}):
    %sum = arith.addf %in, %in_0 : {{ T }}
    linalg.yield %sum : {{ T }}
  } -> {{ rows }}
  %v_split = tensor.expand_shape %v_rows [[0, 1], [2, 3]] output_shape [{{ b }}, {{ s }}, {{ h }}, {{ d }}] : {{ rows }} into {{ split }}
  %v_heads = linalg.transpose ins(%v_split : {{ split }}) outs(%heads : {{ heads }}) permutation = [0, 2, 1, 3]
  %keys = tensor.empty() : {{ keys }}
  %k_keys = linalg.transpose ins(%k_heads : {{ heads }}) outs(%keys : {{ keys }}) permutation = [0, 1, 3, 2]
  %q = tensor.collapse_shape %q_heads [[0, 1], [2], [3]] : {{ heads }} into {{ flat_heads }}
  %k = tensor.collapse_shape %k_keys [[0, 1], [2], [3]] : {{ keys }} into {{ flat_keys }}
  %v = tensor.collapse_shape %v_heads [[0, 1], [2], [3]] : {{ heads }} into {{ flat_heads }}
  %0 = tensor.empty() : {{ flat_scores }}
  %1 = linalg.fill ins(%zero : {{ T }}) outs(%0 : {{ flat_scores }}) -> {{ flat_scores }}
  %2 = linalg.batch_matmul ins(%q, %k : {{ flat_heads }}, {{ flat_keys }}) outs(%1 : {{ flat_scores }}) -> {{ flat_scores }}
  %3 = tensor.expand_shape %2 [[0, 1], [2], [3]] output_shape [{{ b }}, {{ h }}, {{ s }}, {{ s }}] : {{ flat_scores }} into {{ scores }}
  %4 = tensor.empty() : {{ scores }}
  %5 = linalg.generic {indexing_maps = [#all, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%3 : {{ scores }}) outs(%4 : {{ scores }}) {
  ^bb0(%in: {{ T }}, %out: {{ T }}):
    %a = arith.divf %in, %root : {{ T }}
    linalg.yield %a : {{ T }}
  } -> {{ scores }}
  %6 = tensor.empty() : {{ places }}
  %7 = linalg.fill ins(%none : i64) outs(%6 : {{ places }}) -> {{ places }}
  %8 = tensor.empty() : {{ best }}
  %9 = linalg.fill ins(%lowest : {{ T }}) outs(%8 : {{ best }}) -> {{ best }}
  %10:2 = linalg.generic {indexing_maps = [#all, #row, #row],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%5 : {{ scores }}) outs(%9, %7 : {{ best }}, {{ places }}) {
  ^bb0(%in: {{ T }}, %out: {{ T }}, %out_0: i64):
    %a = linalg.index 3 : index
    %b = arith.index_cast %a : index to i64
    %c = arith.maximumf %in, %out : {{ T }}
    %d = arith.cmpf ogt, %in, %out : {{ T }}
    %e = arith.select %d, %b, %out_0 : i64
    linalg.yield %c, %e : {{ T }}, i64
  } -> ({{ best }}, {{ places }})
  %11 = linalg.generic {indexing_maps = [#all, #row, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%5, %10#0 : {{ scores }}, {{ best }}) outs(%4 : {{ scores }}) {
  ^bb0(%in: {{ T }}, %in_0: {{ T }}, %out: {{ T }}):
    %a = arith.subf %in, %in_0 : {{ T }}
    linalg.yield %a : {{ T }}
  } -> {{ scores }}
  %12 = linalg.generic {indexing_maps = [#all, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%11 : {{ scores }}) outs(%4 : {{ scores }}) {
  ^bb0(%in: {{ T }}, %out: {{ T }}):
    %a = math.exp %in : {{ T }}
    linalg.yield %a : {{ T }}
  } -> {{ scores }}
  %13 = linalg.fill ins(%zero : {{ T }}) outs(%8 : {{ best }}) -> {{ best }}
  %14 = linalg.generic {indexing_maps = [#all, #row],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%12 : {{ scores }}) outs(%13 : {{ best }}) {
  ^bb0(%in: {{ T }}, %out: {{ T }}):
    %a = arith.addf %in, %out : {{ T }}
    linalg.yield %a : {{ T }}
  } -> {{ best }}
  %15 = linalg.generic {indexing_maps = [#all, #row, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%12, %14 : {{ scores }}, {{ best }}) outs(%4 : {{ scores }}) {
  ^bb0(%in: {{ T }}, %in_0: {{ T }}, %out: {{ T }}):
    %a = arith.divf %in, %in_0 : {{ T }}
    linalg.yield %a : {{ T }}
  } -> {{ scores }}
  %16 = tensor.collapse_shape %15 [[0, 1], [2], [3]] : {{ scores }} into {{ flat_scores }}
  %17 = tensor.empty() : {{ flat_heads }}
  %18 = linalg.fill ins(%zero : {{ T }}) outs(%17 : {{ flat_heads }}) -> {{ flat_heads }}
  %19 = linalg.batch_matmul ins(%16, %v : {{ flat_scores }}, {{ flat_heads }}) outs(%18 : {{ flat_heads }}) -> {{ flat_heads }}
  %20 = tensor.expand_shape %19 [[0, 1], [2], [3]] output_shape [{{ b }}, {{ h }}, {{ s }}, {{ d }}] : {{ flat_heads }} into {{ heads }}
  %21 = tensor.empty() : {{ split }}
  %22 = linalg.transpose ins(%20 : {{ heads }}) outs(%21 : {{ split }}) permutation = [0, 2, 1, 3]
  %mixed = tensor.collapse_shape %22 [[0, 1], [2, 3]] : {{ split }} into {{ rows }}
  %o_t = linalg.transpose ins(%wo : {{ square }}) outs(%square : {{ square }}) permutation = [1, 0]
  %o_product = linalg.matmul ins(%mixed, %o_t : {{ rows }}, {{ square }}) outs(%start : {{ rows }}) -> {{ rows }}
  %o_rows = linalg.generic {indexing_maps = [#points, #column, #points], iterator_types = ["parallel", "parallel"]}
      ins(%o_product, %bo : {{ rows }}, {{ vector }}) outs(%row : {{ rows }}) {
  ^bb0(%in: {{ T }}, %in_0: {{ T }}, %out: {{ T }}):
    %sum = arith.addf %in, %in_0 : {{ T }}
    linalg.yield %sum : {{ T }}
  } -> {{ rows }}
  %y = tensor.expand_shape %o_rows [[0, 1], [2]] output_shape [{{ b }}, {{ s }}, {{ h * d }}] : {{ rows }} into {{ sequences }}
  return %y : {{ sequences }}
}
