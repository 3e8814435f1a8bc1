// A block of ResNet-50: convolutions of 1 x 1, 3 x 3 and 1 x 1, each with the normalisation of its channels as a scale and a
// shift, and what came in added, as torch-mlir imports it: channels before space, edges padded by tensor.pad.
{% set image %}tensor<{{ n }}x{{ c }}x{{ p }}x{{ p }}x{{ T }}>{% endset -%}
{% set inner %}tensor<{{ n }}x{{ m }}x{{ p }}x{{ p }}x{{ T }}>{% endset -%}
{% set padded %}tensor<{{ n }}x{{ m }}x{{ p + 2 }}x{{ p + 2 }}x{{ T }}>{% endset -%}
{% set filter1 %}tensor<{{ m }}x{{ c }}x1x1x{{ T }}>{% endset -%}
{% set filter2 %}tensor<{{ m }}x{{ m }}x3x3x{{ T }}>{% endset -%}
{% set filter3 %}tensor<{{ c }}x{{ m }}x1x1x{{ T }}>{% endset -%}
{% set channels3 %}tensor<{{ c }}x1x1x{{ T }}>{% endset -%}
{% set inner3 %}tensor<{{ m }}x1x1x{{ T }}>{% endset -%}
{% set channels %}tensor<{{ c }}x{{ T }}>{% endset -%}
{% set inner1 %}tensor<{{ m }}x{{ T }}>{% endset -%}
#all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#channel = affine_map<(d0, d1, d2, d3) -> (d1, 0, 0)>
func.func @resnet_block(%x: {{ image }},
    %w1: {{ filter1 }}, %scale1: {{ inner1 }}, %shift1: {{ inner1 }},
    %w2: {{ filter2 }}, %scale2: {{ inner1 }}, %shift2: {{ inner1 }},
    %w3: {{ filter3 }}, %scale3: {{ channels }}, %shift3: {{ channels }}) -> {{ image }} {
  %zero = arith.constant 0.000000e+00 : {{ T }}
  %empty1 = tensor.empty() : {{ inner }}
  %start1 = linalg.fill ins(%zero : {{ T }}) outs(%empty1 : {{ inner }}) -> {{ inner }}
  %conv1 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%x, %w1 : {{ image }}, {{ filter1 }}) outs(%start1 : {{ inner }}) -> {{ inner }}
  %scale1_3 = tensor.expand_shape %scale1 [[0, 1, 2]] output_shape [{{ m }}, 1, 1] : {{ inner1 }} into {{ inner3 }}
  %scaled1 = linalg.generic {indexing_maps = [#all, #channel, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%conv1, %scale1_3 : {{ inner }}, {{ inner3 }}) outs(%empty1 : {{ inner }}) {
  ^bb0(%in: {{ T }}, %in_0: {{ T }}, %out: {{ T }}):
    %a = arith.mulf %in, %in_0 : {{ T }}
    linalg.yield %a : {{ T }}
  } -> {{ inner }}
  %shift1_3 = tensor.expand_shape %shift1 [[0, 1, 2]] output_shape [{{ m }}, 1, 1] : {{ inner1 }} into {{ inner3 }}
  %shifted1 = linalg.generic {indexing_maps = [#all, #channel, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%scaled1, %shift1_3 : {{ inner }}, {{ inner3 }}) outs(%empty1 : {{ inner }}) {
  ^bb0(%in: {{ T }}, %in_0: {{ T }}, %out: {{ T }}):
    %a = arith.addf %in, %in_0 : {{ T }}
    linalg.yield %a : {{ T }}
  } -> {{ inner }}
  %relu1 = linalg.generic {indexing_maps = [#all, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%shifted1 : {{ inner }}) outs(%empty1 : {{ inner }}) {
  ^bb0(%in: {{ T }}, %out: {{ T }}):
    %a = arith.cmpf ugt, %in, %zero : {{ T }}
    %b = arith.select %a, %in, %zero : {{ T }}
    linalg.yield %b : {{ T }}
  } -> {{ inner }}
  %padded = tensor.pad %relu1 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a0: index, %a1: index, %a2: index, %a3: index):
    tensor.yield %zero : {{ T }}
  } : {{ inner }} to {{ padded }}
  %empty2 = tensor.empty() : {{ inner }}
  %start2 = linalg.fill ins(%zero : {{ T }}) outs(%empty2 : {{ inner }}) -> {{ inner }}
  %conv2 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%padded, %w2 : {{ padded }}, {{ filter2 }}) outs(%start2 : {{ inner }}) -> {{ inner }}
  %scale2_3 = tensor.expand_shape %scale2 [[0, 1, 2]] output_shape [{{ m }}, 1, 1] : {{ inner1 }} into {{ inner3 }}
  %scaled2 = linalg.generic {indexing_maps = [#all, #channel, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%conv2, %scale2_3 : {{ inner }}, {{ inner3 }}) outs(%empty2 : {{ inner }}) {
  ^bb0(%in: {{ T }}, %in_0: {{ T }}, %out: {{ T }}):
    %a = arith.mulf %in, %in_0 : {{ T }}
    linalg.yield %a : {{ T }}
  } -> {{ inner }}
  %shift2_3 = tensor.expand_shape %shift2 [[0, 1, 2]] output_shape [{{ m }}, 1, 1] : {{ inner1 }} into {{ inner3 }}
  %shifted2 = linalg.generic {indexing_maps = [#all, #channel, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%scaled2, %shift2_3 : {{ inner }}, {{ inner3 }}) outs(%empty2 : {{ inner }}) {
  ^bb0(%in: {{ T }}, %in_0: {{ T }}, %out: {{ T }}):
    %a = arith.addf %in, %in_0 : {{ T }}
    linalg.yield %a : {{ T }}
  } -> {{ inner }}
  %relu2 = linalg.generic {indexing_maps = [#all, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%shifted2 : {{ inner }}) outs(%empty2 : {{ inner }}) {
  ^bb0(%in: {{ T }}, %out: {{ T }}):
    %a = arith.cmpf ugt, %in, %zero : {{ T }}
    %b = arith.select %a, %in, %zero : {{ T }}
    linalg.yield %b : {{ T }}
  } -> {{ inner }}
  %empty3 = tensor.empty() : {{ image }}
  %start3 = linalg.fill ins(%zero : {{ T }}) outs(%empty3 : {{ image }}) -> {{ image }}
  %conv3 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%relu2, %w3 : {{ inner }}, {{ filter3 }}) outs(%start3 : {{ image }}) -> {{ image }}
  %scale3_3 = tensor.expand_shape %scale3 [[0, 1, 2]] output_shape [{{ c }}, 1, 1] : {{ channels }} into {{ channels3 }}
  %scaled3 = linalg.generic {indexing_maps = [#all, #channel, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%conv3, %scale3_3 : {{ image }}, {{ channels3 }}) outs(%empty3 : {{ image }}) {
  ^bb0(%in: {{ T }}, %in_0: {{ T }}, %out: {{ T }}):
    %a = arith.mulf %in, %in_0 : {{ T }}
    linalg.yield %a : {{ T }}
  } -> {{ image }}
  %shift3_3 = tensor.expand_shape %shift3 [[0, 1, 2]] output_shape [{{ c }}, 1, 1] : {{ channels }} into {{ channels3 }}
  %shifted3 = linalg.generic {indexing_maps = [#all, #channel, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%scaled3, %shift3_3 : {{ image }}, {{ channels3 }}) outs(%empty3 : {{ image }}) {
  ^bb0(%in: {{ T }}, %in_0: {{ T }}, %out: {{ T }}):
    %a = arith.addf %in, %in_0 : {{ T }}
    linalg.yield %a : {{ T }}
  } -> {{ image }}
  %sum = linalg.generic {indexing_maps = [#all, #all, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%shifted3, %x : {{ image }}, {{ image }}) outs(%empty3 : {{ image }}) {
  ^bb0(%in: {{ T }}, %in_0: {{ T }}, %out: {{ T }}):
    %a = arith.addf %in, %in_0 : {{ T }}
    linalg.yield %a : {{ T }}
  } -> {{ image }}
  %relu3 = linalg.generic {indexing_maps = [#all, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%sum : {{ image }}) outs(%empty3 : {{ image }}) {
  ^bb0(%in: {{ T }}, %out: {{ T }}):
    %a = arith.cmpf ugt, %in, %zero : {{ T }}
    %b = arith.select %a, %in, %zero : {{ T }}
    linalg.yield %b : {{ T }}
  } -> {{ image }}
  return %relu3 : {{ image }}
}
