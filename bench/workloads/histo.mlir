// h[b] = how many x[i] are b
func.func @histo(%x: tensor<{{ i }}x{{ T }}>) -> tensor<{{ b }}xi32> {
  %init = tensor.empty() : tensor<{{ b }}xi32>
  %points = mdh.inp_view (b = {{ b }}, i = {{ i }}) (%x[i] : tensor<{{ i }}x{{ T }}>) : !mdh.mda<{{ b }}x{{ i }}, {{ T }}>
  %counts = mdh.hom((%x_i: {{ T }}) {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %bin = arith.index_cast %x_i : {{ T }} to index
      %b = mdh.index 0 : index
      %here = arith.cmpi eq, %b, %bin : index
      %count = arith.select %here, %one, %zero : i32
      mdh.yield %count : i32
  }, (cc, pw(addi))) %points : !mdh.mda<{{ b }}x{{ i }}, {{ T }}> -> !mdh.mda<{{ b }}x1, i32>
  %h = mdh.out_view (b, i) %counts -> (h = %init[b] : tensor<{{ b }}xi32>) : !mdh.mda<{{ b }}x1, i32>
  return %h : tensor<{{ b }}xi32>
}
