// Two pairs of words as two pairs of normal numbers: a point of the plane each, by its distance from 0 and its angle.

// -2 log(u) of a word w: the zeros at its lower end are a geometric number k, w 2^-32 beside them a uniform t, and u is
// 2^-k (1 - t/2). All terms are positive, t has all its digits near 0, and w = 0 (k = 32, t = 0) is the greatest.
fn random_distance2(w: vec2u) -> vec2f {
  let k = vec2f(countOneBits(~w & (w - 1u)));
  let t = vec2f(w) * 2.3283064365e-10f;
  var p = fma(fma(fma(vec2f(5.5245501e-3f), t, vec2f(-1.2804985e-2f)), t, vec2f(1.8878743e-2f)), t, vec2f(-5.6480439e-3f));
  p = fma(fma(fma(p, t, vec2f(1.6477263e-2f)), t, vec2f(3.0461291e-2f)), t, vec2f(8.3407894e-2f));
  p = fma(fma(p, t, vec2f(0.24999762f)), t, vec2f(1.0f));
  return fma(k, vec2f(1.3862944f), t * p);
}

// r (cos, sin) of an angle: 30 bits of a word say where it is in the quarter around 0, the bit above them exchanges both
// coordinates, the uppermost one mirrors the first.
fn random_polar(w: vec4u) -> vec4f {
  let r = sqrt(random_distance2(w.xz));
  let v = w.yw;
  let a = vec2f(bitcast<vec2i>(v << vec2u(2u))) * 3.6572953e-10f;
  let u = a * a;
  let s = r * fma(a * u, fma(fma(vec2f(-1.9518292e-4f), u, vec2f(8.332189e-3f)), u, vec2f(-0.16666655f)), a);
  let c = fma(fma(fma(vec2f(-1.3591017e-3f), u, vec2f(4.1655716e-2f)), u, vec2f(-0.49999884f)), u, vec2f(1.0f));
  let m = r * bitcast<vec2f>(bitcast<vec2u>(c) ^ (v & vec2u(0x80000000u)));
  let turned = (v & vec2u(0x40000000u)) != vec2u();
  let x = select(m, s, turned);
  let y = select(s, m, turned);
  return vec4f(x.x, y.x, x.y, y.y);
}
