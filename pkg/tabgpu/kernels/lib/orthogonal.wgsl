// Orthogonal polynomials by their recurrences, binomial coefficients and falling factorials by products.
// use ieee
// use div
// use exp
// use gamma
// use beta
// use zeta

// At most 10,000 terms, so that no launch lasts long: p_{k+1} = (a_k x + b_k) p_k - c_k p_{k-1}; kind 0 Legendre, 1 Chebyshev T, 2 U, 3 Hermite H, 4 He, 5 Laguerre.
fn orthogonal_f32(kind: i32, n: i32, x: f32) -> f32 {
  if ((n < 0) | (n > 10000)) { return nan_if_f32(0.0f, true); }
  var p = 1.0f;
  var q = x;
  if ((kind == 2) | (kind == 3)) { q = 2.0f * x; }
  if (kind == 5) { q = 1.0f - x; }
  if (n == 0) { return keep_nan_f32(1.0f, x); }
  for (var k = 1; k < n; k++) {
    let m = f32(k);
    var r = 0.0f;
    switch kind {
      case 0: { r = x * q + (m / (m + 1.0f)) * fma(x, q, -p); }
      case 1, 2: { r = fma(2.0f * x, q, -p); }
      case 3: { r = 2.0f * fma(x, q, -m * p); }
      case 4: { r = fma(x, q, -m * p); }
      default: { r = q + fma(m, q - p, -x * q) / (m + 1.0f); }
    }
    p = q;
    q = r;
  }
  return keep_nan_f32(q, x);
}

fn eval_legendre_f32(n: i32, x: f32) -> f32 { return orthogonal_f32(0, n, x); }
fn eval_chebyt_f32(n: i32, x: f32) -> f32 { return orthogonal_f32(1, abs(n), x); }
fn eval_chebyu_f32(n: i32, x: f32) -> f32 { return orthogonal_f32(2, n, x); }
fn eval_hermite_f32(n: i32, x: f32) -> f32 { return orthogonal_f32(3, n, x); }
fn eval_hermitenorm_f32(n: i32, x: f32) -> f32 { return orthogonal_f32(4, n, x); }
fn eval_laguerre_f32(n: i32, x: f32) -> f32 { return orthogonal_f32(5, n, x); }

// Products of up to 66 factors (beyond, the central coefficients overflow): in integers as long as they fit.
fn binom_small(n: f32, k: i32) -> f32 {
  var r = 1.0f;
  var u = 1u;
  var whole = (floor(n) == n) & (n >= 0.0f) & (n < 16777216.0f);
  for (var i = 1; i <= min(k, 70); i++) {
    let m = n - f32(k - i);
    let d = f32(i);
    if (whole & (f32(u) * m < 4e9f)) {
      u = u * u32(m) / u32(i);
      r = f32(u);
    } else {
      whole = false;
      r = select(div_f32(r * m, d), r * (m / d), abs(r) > 1e30f);
    }
  }
  return r;
}

// scipy.special.binom for real n and k.
fn binom_f32(n: f32, k: f32) -> f32 {
  let whole = (floor(k) == k) & (abs(k) < 1e7f);
  if (whole) {
    if (k < 0.0f) { return nan_if_f32(0.0f, isnan_f32(n) | ((floor(n) == n) & (n < 0.0f))); }
    let even = (floor(n) == n) & (n >= 0.0f);
    if (even & (k > n)) { return keep_nan_f32(0.0f, n); }
    let j = select(k, min(k, n - k), even);
    if (j <= 66.0f) { return keep_nan_f32(binom_small(n, i32(j)), n); }
    if (even) { return inf_if_f32(n, true); }
  }
  let r = div_f32(1.0f, (n + 1.0f) * beta_f32(1.0f + n - k, 1.0f + k));
  return nan_if_f32(r, isnan_f32(n) | isnan_f32(k));
}

// scipy.special.comb of whole numbers: 0 outside 0 <= k <= n.
fn comb_f32(n: f32, k: f32) -> f32 {
  let none = (k > n) | (n < 0.0f) | (k < 0.0f);
  return nan_if_f32(pick_f32(binom_f32(n, k), 0.0f, none), isnan_f32(n) | isnan_f32(k));
}

// n (n - 1) .. (n - k + 1); 0 outside 0 <= k <= n. More than 36 factors overflow.
fn perm_f32(n: f32, k: f32) -> f32 {
  var r = 1.0f;
  for (var i = 0; i < i32(min(k, 40.0f)); i++) {
    r = bitcast<f32>(min(bitcast<u32>(r * (n - f32(i))), 0x7f800000u));
    if (bitcast<u32>(r) == 0x7f800000u) { break; }
  }
  let none = (k > n) | (n < 0.0f) | (k < 0.0f);
  return nan_if_f32(pick_f32(r, 0.0f, none), isnan_f32(n) | isnan_f32(k));
}
