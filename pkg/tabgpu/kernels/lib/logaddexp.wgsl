// log(e^x + e^y) and log2(2^x + 2^y): the larger operand plus log1p of the rest. inf and -inf are exact.
// use ieee
// use order
// use exp
// use log

fn logaddexp_f32(x: f32, y: f32) -> f32 {
  let m = maximum_f32(x, y);
  let d = pick_f32(absolute_f32(x - y), 0.0f, isinf_f32(m) & (bitcast<u32>(x) == bitcast<u32>(y)));
  return pick_f32(m + log1p_f32(exp_f32(negative_f32(d))), m, isinf_f32(m) | isnan_f32(m));
}

fn logaddexp2_f32(x: f32, y: f32) -> f32 {
  let m = maximum_f32(x, y);
  let d = absolute_f32(x - y);
  return pick_f32(m + 1.442695f * log1p_f32(exp2_f32(negative_f32(d))), m, isinf_f32(m) | isnan_f32(m));
}
