// Interpolation between two arrays.

// x + w (y - x), from the nearer end so that w = 0 and w = 1 are exact (torch.lerp).
fn lerp_f32(x: f32, y: f32, w: f32) -> f32 {
  let d = y - x;
  return select(fma(-d, 1.0f - w, y), fma(w, d, x), w < 0.5f);
}
