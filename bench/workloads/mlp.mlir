// The two layers of a transformer between its attentions: y = GELU(x W1' + b1) W2' + b2, as torch-mlir imports it from
// torch.nn.Linear, torch.nn.GELU and torch.nn.Linear: weights are transposed, the rows of all sequences are one axis.
{% set sequences %}tensor<{{ b }}x{{ s }}x{{ e }}x{{ T }}>{% endset -%}
{% set narrow %}tensor<{{ b * s }}x{{ e }}x{{ T }}>{% endset -%}
{% set wide %}tensor<{{ b * s }}x{{ f }}x{{ T }}>{% endset -%}
{% set up %}tensor<{{ f }}x{{ e }}x{{ T }}>{% endset -%}
{% set down %}tensor<{{ e }}x{{ f }}x{{ T }}>{% endset -%}
{% set wide_vector %}tensor<{{ f }}x{{ T }}>{% endset -%}
{% set vector %}tensor<{{ e }}x{{ T }}>{% endset -%}
#points = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
func.func @mlp(%x: {{ sequences }}, %w1: {{ up }}, %b1: {{ wide_vector }},
    %w2: {{ down }}, %b2: {{ vector }}) -> {{ sequences }} {
  %zero = arith.constant 0.000000e+00 : {{ T }}
  %half = arith.constant 5.000000e-01 : {{ T }}
  %one = arith.constant 1.000000e+00 : {{ T }}
  %root = arith.constant 1.41421354 : {{ T }}
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : {{ sequences }} into {{ narrow }}
  %0 = tensor.empty() : {{ down }}
  %w1t = linalg.transpose ins(%w1 : {{ up }}) outs(%0 : {{ down }}) permutation = [1, 0]
  %1 = tensor.empty() : {{ wide }}
  %2 = linalg.fill ins(%zero : {{ T }}) outs(%1 : {{ wide }}) -> {{ wide }}
  %3 = linalg.matmul ins(%rows, %w1t : {{ narrow }}, {{ down }})
      outs(%2 : {{ wide }}) -> {{ wide }}
  %4 = linalg.generic {indexing_maps = [#points, #column, #points], iterator_types = ["parallel", "parallel"]}
      ins(%3, %b1 : {{ wide }}, {{ wide_vector }}) outs(%1 : {{ wide }}) {
  ^bb0(%in: {{ T }}, %in_0: {{ T }}, %out: {{ T }}):
    %a = arith.addf %in, %in_0 : {{ T }}
    linalg.yield %a : {{ T }}
  } -> {{ wide }}
  %5 = linalg.generic {indexing_maps = [#points, #points], iterator_types = ["parallel", "parallel"]}
      ins(%4 : {{ wide }}) outs(%1 : {{ wide }}) {
  ^bb0(%in: {{ T }}, %out: {{ T }}):
    %a = arith.divf %in, %root : {{ T }}
    %b = math.erf %a : {{ T }}
    %c = arith.addf %b, %one : {{ T }}
    %d = arith.mulf %c, %half : {{ T }}
    %e = arith.mulf %in, %d : {{ T }}
    linalg.yield %e : {{ T }}
  } -> {{ wide }}
  %6 = tensor.empty() : {{ up }}
  %w2t = linalg.transpose ins(%w2 : {{ down }}) outs(%6 : {{ up }}) permutation = [1, 0]
  %7 = tensor.empty() : {{ narrow }}
  %8 = linalg.fill ins(%zero : {{ T }}) outs(%7 : {{ narrow }}) -> {{ narrow }}
  %9 = linalg.matmul ins(%5, %w2t : {{ wide }}, {{ up }})
      outs(%8 : {{ narrow }}) -> {{ narrow }}
  %10 = linalg.generic {indexing_maps = [#points, #column, #points], iterator_types = ["parallel", "parallel"]}
      ins(%9, %b2 : {{ narrow }}, {{ vector }}) outs(%7 : {{ narrow }}) {
  ^bb0(%in: {{ T }}, %in_0: {{ T }}, %out: {{ T }}):
    %a = arith.addf %in, %in_0 : {{ T }}
    linalg.yield %a : {{ T }}
  } -> {{ narrow }}
  %y = tensor.expand_shape %10 [[0, 1], [2]] output_shape [{{ b }}, {{ s }}, {{ e }}] : {{ narrow }} into {{ sequences }}
  return %y : {{ sequences }}
}
