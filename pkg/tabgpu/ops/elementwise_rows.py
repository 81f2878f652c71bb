"""The table of elementwise functions: one row each, under NumPy's names with the array API's as aliases.

A row's expressions are WGSL over x, y, z by kind (b bool, i i32, u u32, f f32, c vec2f); the functions they call are in
kernels/lib, which also says how each is computed. `ulp` is the greatest error against float64, on every adapter that
keeps WGSL's own promises (docs/numerics.md, complex numbers too); 0 means exact. Functions made of several rows are
in elementwise.py, activations in nn, gamma and erf in special.
"""

from __future__ import annotations

from .rows import binary, elementwise, ternary, unary

NOT_HERE = {
    "isnat": "there are no datetimes on the GPU",
    "matmul": "a product, in ops/products.py",
    "matvec": "a product, in ops/contractions.py",
    "vecmat": "a product, in ops/contractions.py",
    "vecdot": "a product, in ops/contractions.py",
}
"""NumPy's ufuncs that this table does not hold, and why."""

# fmt: off
# --- arithmetic ---
add = binary("add", {"b": "x | y", "i": "x + y", "u": "x + y", "f": "x + y", "c": "x + y"}, like="numpy.add",
             doc="x + y. Integers wrap; of bools it is `or`.")
subtract = binary("subtract", {"i": "x - y", "u": "x - y", "f": "x - y", "c": "x - y"}, like="numpy.subtract",
                  doc="x - y. Integers wrap; bools are refused, as NumPy does.")
multiply = binary("multiply", {"b": "x & y", "i": "x * y", "u": "x * y", "f": "x * y", "c": "multiply_c64(x, y)"},
                  like="numpy.multiply",
                  doc="x * y. Integers wrap; of bools it is `and`.")
divide = binary("divide", {"f": "div_f32(x, y)", "c": "divide_c64(x, y)"}, promote="float", ulp=1, like="numpy.divide",
                doc="x / y in float32, also of integers.")
floor_divide = binary(
    "floor_divide", {"i": "floor_divide_i32(x, y)", "u": "floor_divide_u32(x, y)", "f": "floor_divide_f32(x, y)"},
    promote="int", ulp=2, like="numpy.floor_divide",
    doc="floor(x / y). Integers: x // 0 is 0 and -2**31 // -1 wraps.")
remainder = binary(
    "remainder", {"i": "remainder_i32(x, y)", "u": "remainder_u32(x, y)", "f": "remainder_f32(x, y)"}, promote="int",
    like="numpy.remainder", doc="x - y * floor(x / y), exact, with the sign of y. Integers: x % 0 is 0.")
fmod = binary("fmod", {"i": "fmod_i32(x, y)", "u": "remainder_u32(x, y)", "f": "fmod_f32(x, y)"}, promote="int",
              like="numpy.fmod",
              doc="x - y * trunc(x / y), exact, with the sign of x. Integers: fmod(x, 0) is 0.", exact=True)
negative = unary("negative", {"i": "-x", "u": "0u - x", "f": "negative_f32(x)", "c": "negative_c64(x)"},
                 like="numpy.negative",
                 doc="-x: flips the sign, also of zeros and NaN. Integers wrap.")
positive = unary("positive", {"i": "x", "u": "x", "f": "x", "c": "x"}, like="numpy.positive", doc="x.", exact=True)
conjugate = unary("conjugate", {"i": "x", "u": "x", "f": "x", "c": "conjugate_c64(x)"}, promote="int",
                  like="numpy.conjugate",
                  doc="The complex conjugate: x itself for real x.", exact=True)
absolute = unary("absolute", {"b": "x", "i": "absolute_i32(x)", "u": "x", "f": "absolute_f32(x)",
                              "c": "hypot_f32(x.x, x.y)"}, out={"c": "f"}, ulp=1, like="numpy.absolute",
                 doc="|x|; float32 of complex64. The least integer stays: abs(-2**31) is -2**31.")
fabs = unary("fabs", {"f": "absolute_f32(x)"}, promote="float", like="numpy.fabs", doc="|x| in float32.", exact=True)
sign = unary("sign", {"i": "sign_i32(x)", "u": "sign_u32(x)", "f": "sign_f32(x)", "c": "sign_c64(x)"},
             like="numpy.sign",
             doc="-1, 0 or 1; NaN stays NaN.", exact=True)
square = unary("square", {"i": "x * x", "u": "x * x", "f": "x * x", "c": "square_c64(x)"}, promote="int",
               like="numpy.square", doc="x * x.")
reciprocal = unary("reciprocal", {"i": "reciprocal_i32(x)", "u": "reciprocal_u32(x)", "f": "div_f32(1.0f, x)",
                   "c": "reciprocal_c64(x)"},
                   promote="int", ulp=1, like="numpy.reciprocal",
                   doc="1 / x. Integers truncate: 0 but for 1 and -1; 1 / 0 is 0.")
_power = binary("power", {"i": "power_i32(x, y)", "u": "power_u32(x, y)", "f": "pow_f32(x, y)",
                "c": "power_c64(x, y)"}, promote="int",
                   ulp=2, like="numpy.power", doc="x ** y.")
float_power = binary("float_power", {"f": "pow_f32(x, y)", "c": "power_c64(x, y)"}, promote="float", ulp=2,
                     like="numpy.float_power",
                     doc="x ** y in float32, also of integers.")
lerp = ternary("lerp", {"f": "lerp_f32(x, y, z)"}, promote="float", ulp=2, domain=(0.0, 1.0), like="torch.lerp",
               doc="x + z * (y - x); exactly x for z = 0 and y for z = 1.")

# --- exponentials and logarithms ---
exp = unary("exp", {"f": "exp_f32(x)", "c": "exp_c64(x)"}, promote="float", ulp=1, domain=(-100.0, 90.0),
            like="numpy.exp",
            doc="e ** x.")
exp2 = unary("exp2", {"f": "exp2_f32(x)", "c": "exp2_c64(x)"}, promote="float", ulp=1, domain=(-140.0, 130.0),
             like="numpy.exp2",
             doc="2 ** x.")
expm1 = unary("expm1", {"f": "expm1_f32(x)", "c": "expm1_c64(x)"}, promote="float", ulp=1, domain=(-20.0, 90.0),
              like="numpy.expm1",
              doc="e ** x - 1, accurate near 0.")
log = unary("log", {"f": "log_f32(x)", "c": "log_c64(x)"}, promote="float", ulp=1, domain=(0.0, 10.0), like="numpy.log",
            doc="Natural logarithm: -inf at 0, NaN below.")
log2 = unary("log2", {"f": "log2_f32(x)", "c": "log2_c64(x)"}, promote="float", ulp=1, domain=(0.0, 10.0),
             like="numpy.log2",
             doc="Base-2 logarithm, exact at powers of 2.")
log10 = unary("log10", {"f": "log10_f32(x)", "c": "log10_c64(x)"}, promote="float", ulp=1, domain=(0.0, 10.0),
              like="numpy.log10",
              doc="Base-10 logarithm.")
log1p = unary("log1p", {"f": "log1p_f32(x)", "c": "log1p_c64(x)"}, promote="float", ulp=1, domain=(-1.0, 10.0),
              like="numpy.log1p",
              doc="log(1 + x), accurate near 0.")
logaddexp = binary("logaddexp", {"f": "logaddexp_f32(x, y)"}, promote="float", ulp=2, domain=(0.0, 60.0),
                   like="numpy.logaddexp", doc="log(e**x + e**y) without overflow.")
logaddexp2 = binary("logaddexp2", {"f": "logaddexp2_f32(x, y)"}, promote="float", ulp=2, domain=(0.0, 60.0),
                    like="numpy.logaddexp2", doc="log2(2**x + 2**y) without overflow.")

# --- roots ---
sqrt = unary("sqrt", {"f": "sqrt_f32(x)", "c": "sqrt_c64(x)"}, promote="float", ulp=1, domain=(0.0, 100.0),
             like="numpy.sqrt",
             doc="Square root: NaN below 0, -0 for -0.")
rsqrt = unary("rsqrt", {"f": "rsqrt_f32(x)"}, promote="float", ulp=1, domain=(0.0, 100.0), like="torch.rsqrt",
              doc="1 / sqrt(x).")
cbrt = unary("cbrt", {"f": "cbrt_f32(x)"}, promote="float", ulp=1, like="numpy.cbrt", doc="Cube root.")
hypot = binary("hypot", {"f": "hypot_f32(x, y)"}, promote="float", ulp=1, like="numpy.hypot",
               doc="sqrt(x**2 + y**2) without overflow.")

# --- trigonometry ---
sin = unary("sin", {"f": "sin_f32(x)", "c": "sin_c64(x)"}, promote="float", ulp=2, like="numpy.sin",
          doc="Sine, reduced exactly for every x.")
cos = unary("cos", {"f": "cos_f32(x)", "c": "cos_c64(x)"}, promote="float", ulp=2, like="numpy.cos",
          doc="Cosine, reduced exactly for every x.")
tan = unary("tan", {"f": "tan_f32(x)", "c": "tan_c64(x)"}, promote="float", ulp=4, like="numpy.tan",
          doc="Tangent, reduced exactly for every x.")
arcsin = unary("arcsin", {"f": "asin_f32(x)", "c": "asin_c64(x)"}, promote="float", ulp=3, domain=(-1.0, 1.0),
               like="numpy.arcsin",
               doc="Inverse sine: NaN outside [-1, 1].")
arccos = unary("arccos", {"f": "acos_f32(x)", "c": "acos_c64(x)"}, promote="float", ulp=3, domain=(-1.0, 1.0),
               like="numpy.arccos",
               doc="Inverse cosine: NaN outside [-1, 1].")
arctan = unary("arctan", {"f": "atan_f32(x)", "c": "atan_c64(x)"}, promote="float", ulp=3, like="numpy.arctan",
               doc="Inverse tangent.")
arctan2 = binary("arctan2", {"f": "atan2_f32(x, y)"}, promote="float", ulp=5, like="numpy.arctan2",
                 doc="The angle of the point (y, x): arctan(x / y) in the right quadrant, signed zeros as in C.")
sinc = unary("sinc", {"f": "sinc_f32(x)"}, promote="float", ulp=4, domain=(-10.0, 10.0), like="numpy.sinc",
             doc="sin(pi x) / (pi x), 1 at 0.")
deg2rad = unary("deg2rad", {"f": "x * 0.017453292f"}, promote="float", ulp=1, like="numpy.deg2rad",
                doc="Degrees to radians.")
rad2deg = unary("rad2deg", {"f": "x * 57.29578f"}, promote="float", ulp=1, like="numpy.rad2deg",
                doc="Radians to degrees.")

# --- hyperbolic ---
sinh = unary("sinh", {"f": "sinh_f32(x)", "c": "sinh_c64(x)"}, promote="float", ulp=2, domain=(-90.0, 90.0),
             like="numpy.sinh",
             doc="Hyperbolic sine.")
cosh = unary("cosh", {"f": "cosh_f32(x)", "c": "cosh_c64(x)"}, promote="float", ulp=2, domain=(-90.0, 90.0),
             like="numpy.cosh",
             doc="Hyperbolic cosine.")
tanh = unary("tanh", {"f": "tanh_f32(x)", "c": "tanh_c64(x)"}, promote="float", ulp=3, domain=(-10.0, 10.0),
             like="numpy.tanh",
             doc="Hyperbolic tangent.")
arcsinh = unary("arcsinh", {"f": "asinh_f32(x)", "c": "asinh_c64(x)"}, promote="float", ulp=3, like="numpy.arcsinh",
                doc="Inverse hyperbolic sine.")
arccosh = unary("arccosh", {"f": "acosh_f32(x)", "c": "acosh_c64(x)"}, promote="float", ulp=3,
                domain=(1.0, 100.0), like="numpy.arccosh",
                doc="Inverse hyperbolic cosine: NaN below 1.")
arctanh = unary("arctanh", {"f": "atanh_f32(x)", "c": "atanh_c64(x)"}, promote="float", ulp=3,
                domain=(-1.0, 1.0), like="numpy.arctanh",
                doc="Inverse hyperbolic tangent: +-inf at +-1, NaN beyond.")

# --- rounding ---
_SELF = {"b": "x", "i": "x", "u": "x"}
floor = unary("floor", _SELF | {"f": "floor_f32(x)"}, like="numpy.floor",
              doc="Greatest integer not above x.", exact=True)
ceil = unary("ceil", _SELF | {"f": "ceil_f32(x)"}, like="numpy.ceil", doc="Least integer not below x.", exact=True)
trunc = unary("trunc", _SELF | {"f": "trunc_f32(x)"}, like="numpy.trunc", doc="x without its fraction.", exact=True)
rint = unary("rint", {"f": "rint_f32(x)", "c": "vec2f(rint_f32(x.x), rint_f32(x.y))"}, promote="float",
             like="numpy.rint",
             doc="Nearest integer, halves to even.", exact=True)

# --- parts of a complex number ---
real = unary("real", _SELF | {"f": "x", "c": "x.x"}, out={"c": "f"}, like="numpy.real",
             doc="The real part: float32 of complex64, x itself of real x.", exact=True)
imag = unary("imag", {"b": "x != x", "i": "x ^ x", "u": "x ^ x", "f": "imag_f32(x)", "c": "x.y"}, out={"c": "f"},
             like="numpy.imag", doc="The imaginary part: float32 of complex64, 0 of real x.", exact=True)
complex_of = binary("complex_of", {"f": "complex_f32(x, y)"}, promote="float", out="c", like="torch.complex",
                    doc="x + iy of real x and y, whatever their values (NaN and inf among them).")

# --- parts of a float ---
ldexp = binary("ldexp", {"f": "ldexp_f32(x, y)"}, operand_kinds="fi", like="numpy.ldexp",
               doc="x * 2**y for integer y, rounded once.")
frexp_mantissa = unary("frexp_mantissa", {"f": "frexp_mantissa_f32(x)"}, promote="float", like="numpy.frexp:0",
                       doc="The significand in [0.5, 1): frexp's first result.", exact=True)
frexp_exponent = unary("frexp_exponent", {"f": "frexp_exponent_f32(x)"}, promote="float", out="i",
                       like="numpy.frexp:1",
                       doc="The exponent of 2: frexp's second result.")
modf_fraction = unary("modf_fraction", {"f": "fraction_f32(x)"}, promote="float", like="numpy.modf:0",
                      doc="The fraction with the sign of x: modf's first result.", exact=True)
modf_integer = unary("modf_integer", {"f": "trunc_f32(x)"}, promote="float", like="numpy.modf:1",
                     doc="x without its fraction: modf's second result.", exact=True)
nextafter = binary("nextafter", {"f": "nextafter_f32(x, y)", "float16": "nextafter_f16(x, y)",
                                 "bfloat16": "nextafter_bf16(x, y)"}, promote="float", like="numpy.nextafter",
                   doc="The next float of x's dtype after x towards y.")
spacing = unary("spacing", {"f": "spacing_f32(x)", "float16": "spacing_f16(x)", "bfloat16": "spacing_bf16(x)"},
                promote="float", like="numpy.spacing", doc="Distance to the next float of that dtype away from zero.")
copysign = binary("copysign", {"f": "copysign_f32(x, y)"}, promote="float", like="numpy.copysign",
                  doc="|x| with y's sign.", exact=True)
nextpow2 = unary("nextpow2", {"f": "nextpow2_f32(x)"}, promote="float", like="matlab.nextpow2",
                 doc="ceil(log2(|x|)), exact; 0 for 0.")

# --- predicates ---
_NO, _YES = {"b": "x != x", "i": "x != x", "u": "x != x"}, {"b": "x == x", "i": "x == x", "u": "x == x"}
isnan = unary("isnan", _NO | {"f": "isnan_f32(x)", "c": "isnan_c64(x)"}, out="b", like="numpy.isnan",
              doc="Whether x is NaN; of complex x, either part.")
isinf = unary("isinf", _NO | {"f": "isinf_f32(x)", "c": "isinf_c64(x)"}, out="b", like="numpy.isinf",
              doc="Whether x is inf or -inf; of complex x, either part.")
isfinite = unary("isfinite", _YES | {"f": "isfinite_f32(x)", "c": "isfinite_c64(x)"}, out="b", like="numpy.isfinite",
                 doc="Whether x is neither inf nor NaN.")
isposinf = unary("isposinf", _NO | {"f": "isposinf_f32(x)"}, out="b", like="numpy.isposinf", doc="Whether x is inf.")
isneginf = unary("isneginf", _NO | {"f": "isneginf_f32(x)"}, out="b", like="numpy.isneginf", doc="Whether x is -inf.")
signbit = unary("signbit", {"b": "x != x", "i": "signbit_i32(x)", "u": "x != x", "f": "signbit_f32(x)"}, out="b",
                like="numpy.signbit", doc="Whether the sign bit is set: negative x, -0, NaN with a sign.")

# --- comparisons: exact for denormals, False with NaN (but !=) ---
equal = binary("equal", {"b": "x == y", "i": "x == y", "u": "x == y", "f": "equal_f32(x, y)", "c": "equal_c64(x, y)"},
               out="b", like="numpy.equal", doc="x == y.")
not_equal = binary("not_equal", {"b": "x != y", "i": "x != y", "u": "x != y", "f": "not_equal_f32(x, y)",
                                 "c": "!equal_c64(x, y)"}, out="b",
                   like="numpy.not_equal", doc="x != y.")
less = binary("less", {"b": "!x & y", "i": "x < y", "u": "x < y", "f": "less_f32(x, y)"}, out="b",
              like="numpy.less", doc="x < y.")
less_equal = binary("less_equal", {"b": "!x | y", "i": "x <= y", "u": "x <= y", "f": "less_equal_f32(x, y)"}, out="b",
                    like="numpy.less_equal", doc="x <= y.")
greater = binary("greater", {"b": "x & !y", "i": "x > y", "u": "x > y", "f": "less_f32(y, x)"}, out="b",
                 like="numpy.greater", doc="x > y.")
greater_equal = binary("greater_equal", {"b": "x | !y", "i": "x >= y", "u": "x >= y", "f": "less_equal_f32(y, x)"},
                       out="b", like="numpy.greater_equal", doc="x >= y.")

# --- extrema ---
maximum = binary("maximum", {"b": "x | y", "i": "max(x, y)", "u": "max(x, y)", "f": "maximum_f32(x, y)"},
                 like="numpy.maximum", doc="The greater; NaN if either is NaN; +0 is above -0.", exact=True)
minimum = binary("minimum", {"b": "x & y", "i": "min(x, y)", "u": "min(x, y)", "f": "minimum_f32(x, y)"},
                 like="numpy.minimum", doc="The lesser; NaN if either is NaN; -0 is below +0.", exact=True)
fmax = binary("fmax", {"b": "x | y", "i": "max(x, y)", "u": "max(x, y)", "f": "fmax_f32(x, y)"}, like="numpy.fmax",
              doc="The greater, ignoring NaN.", exact=True)
fmin = binary("fmin", {"b": "x & y", "i": "min(x, y)", "u": "min(x, y)", "f": "fmin_f32(x, y)"}, like="numpy.fmin",
              doc="The lesser, ignoring NaN.", exact=True)
_CLAMP = "min(max(x, y), z)"
_clip = ternary("clip", {"b": "(x | y) & z", "i": _CLAMP, "u": _CLAMP, "f": "clip_f32(x, y, z)"},
                   like="numpy.clip", doc="minimum(maximum(x, y), z).", exact=True)
heaviside = binary("heaviside", {"f": "heaviside_f32(x, y)"}, promote="float", like="numpy.heaviside",
                   doc="0 for x < 0, y for x = 0, 1 for x > 0.", exact=True)

# --- logic: NaN and denormals are true ---
_WIDE = {"i": "i32", "u": "u32", "f": "f32", "c": "c64"}


def _logical(operator: str) -> dict[str, str]:
    return {"b": f"x {operator} y"} | {k: f"truth_{t}(x) {operator} truth_{t}(y)" for k, t in _WIDE.items()}


logical_and = binary("logical_and", _logical("&"), out="b", like="numpy.logical_and", doc="x and y, as truth values.")
logical_or = binary("logical_or", _logical("|"), out="b", like="numpy.logical_or", doc="x or y, as truth values.")
logical_xor = binary("logical_xor", _logical("!="), out="b", like="numpy.logical_xor",
                     doc="Whether just one is true.")
logical_not = unary("logical_not", {"b": "!x"} | {k: f"!truth_{t}(x)" for k, t in _WIDE.items()}, out="b",
                    like="numpy.logical_not", doc="Whether x is zero.")
_where = elementwise("where", 3, {"b": "select(z, y, x)", "i": "select(z, y, x)", "u": "select(z, y, x)",
                                     "f": "pick_f32(z, y, x)", "c": "pick_c64(z, y, x)"}, operand_kinds="b**",
                    like="numpy.where", doc="y where x is true, else z.", exact=True)

# --- bits ---
bitwise_and = binary("bitwise_and", {"b": "x & y", "i": "x & y", "u": "x & y"}, like="numpy.bitwise_and",
                     doc="x & y.", exact=True)
bitwise_or = binary("bitwise_or", {"b": "x | y", "i": "x | y", "u": "x | y"}, like="numpy.bitwise_or",
                    doc="x | y.", exact=True)
bitwise_xor = binary("bitwise_xor", {"b": "x != y", "i": "x ^ y", "u": "x ^ y"}, like="numpy.bitwise_xor",
                     doc="x ^ y.", exact=True)
bitwise_not = unary("bitwise_not", {"b": "!x", "i": "~x", "u": "~x"}, like="numpy.bitwise_not", doc="~x.")
bitwise_count = unary("bitwise_count", {"i": "bitcount_i32(x)", "u": "bitcount_u32(x)"}, promote="int",
                      out="uint8", like="numpy.bitwise_count", doc="Number of 1 bits of |x|, as uint8.")
left_shift = binary("left_shift", {"i": "left_shift_i32(x, y)", "u": "left_shift_u32(x, y)"}, promote="int",
                    like="numpy.left_shift", doc="x << y; 0 for counts of 32 and more and for negative ones.")
right_shift = binary("right_shift", {"i": "right_shift_i32(x, y)", "u": "right_shift_u32(x, y)"}, promote="int",
                     like="numpy.right_shift", doc="x >> y, copying the sign; all bits go for counts outside 0..31.")
gcd = binary("gcd", {"i": "gcd_i32(x, y)", "u": "gcd_u32(x, y)"}, like="numpy.gcd",
             doc="Greatest common divisor of |x| and |y|.")
lcm = binary("lcm", {"i": "lcm_i32(x, y)", "u": "lcm_u32(x, y)"}, like="numpy.lcm",
             doc="Least common multiple of |x|, |y|; wraps.")

# --- other spellings ---
true_divide, mod, abs, fix, conj = divide, remainder, absolute, trunc, conjugate
degrees, radians = rad2deg, deg2rad
asin, acos, atan, atan2, asinh, acosh, atanh = arcsin, arccos, arctan, arctan2, arcsinh, arccosh, arctanh
invert = bitwise_invert = bitwise_not
bitwise_left_shift, bitwise_right_shift = left_shift, right_shift
# fmt: on
