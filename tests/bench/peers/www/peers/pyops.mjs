// The Python text of each item, for NumPy. Names of inputs are those of spec.mjs. `xp` is the package.
export const numpy = {
  matmul: () => 'A @ B',
  matmul_f16: () => null,
  chain: () => 'np.tanh(A * B + C) * np.float32(0.5)',
  sum: (s) => (s.axis === null ? 'X.sum()' : `X.sum(axis=${s.axis})`),
  argmax: () => 'X.argmax(axis=1)',
  softmax: () => 'softmax(X)',
  layernorm: () => 'layernorm(X, G, B)',
  cumsum: () => 'np.cumsum(X, axis=1)',
  conv: () => 'conv(X, W)',
  attn: (s) => `attn(Q, K, V, ${s.causal ? 'True' : 'False'})`,
  sort: () => 'np.sort(X)',
  argsort: () => 'np.argsort(X)',
  fft: () => 'np.fft.fft(Zc)',
  tiny: () => 'tiny(X, B)',
  readback: () => 'X.sum()',
};
export const definitions = `
import numpy as np
def softmax(X):
    e = np.exp(X - X.max(axis=-1, keepdims=True)); return e / e.sum(axis=-1, keepdims=True)
def layernorm(X, G, B):
    m = X.mean(axis=-1, keepdims=True); d = X - m
    return d / np.sqrt((d * d).mean(axis=-1, keepdims=True) + np.float32(1e-5)) * G + B
def conv(X, W):
    x = np.pad(X[0], ((0, 0), (1, 1), (1, 1))); v = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))
    return np.tensordot(W, v, axes=((1, 2, 3), (0, 3, 4)))[None]
def attn(Q, K, V, causal):
    l = Q @ K.swapaxes(-1, -2) * np.float32(Q.shape[-1] ** -0.5)
    if causal: l = np.where(np.tri(l.shape[-2], l.shape[-1], dtype=bool), l, np.float32(-np.inf))
    return softmax(l) @ V
def tiny(X, B):
    x = X
    for _ in range(1000): x = x + B
    return x
`;
