// Draws on 2D canvases: small pictures, and charts with axes. Knows nothing of the examples.

const SHARP = 2; // pixels of the canvas for one of the page
export const BLUE = "#0f62be", ORANGE = "#ea580c";
const SOFT = "#6b7785";
const DARK_TO_BRIGHT = [[8, 8, 24], [66, 20, 105], [150, 40, 110], [228, 92, 60], [252, 180, 70], [252, 250, 200]];

const mix = (a, b, part) => a.map((x, k) => x + part * (b[k] - x));

/** A colour of a dark to bright scale, 0 to 1. */
export function heat(value) {
  const at = Math.min(Math.max(value, 0), 1) * (DARK_TO_BRIGHT.length - 1), k = Math.min(Math.floor(at), DARK_TO_BRIGHT.length - 2);
  return mix(DARK_TO_BRIGHT[k], DARK_TO_BRIGHT[k + 1], at - k);
}
/** Light to dark, 0 to 1; and blue through white to orange, -1 to 1. */
export const gray = (value) => mix([248, 250, 252], [28, 39, 51], Math.min(Math.max(value, 0), 1));
export const signed = (value) => mix([255, 255, 255], value < 0 ? [15, 98, 190] : [234, 88, 12], Math.min(Math.abs(value), 1));

/** An image of width x height whose pixels are what colour(x, y) gives: [red, green, blue]. */
export function image(width, height, colour) {
  const made = new ImageData(width, height);
  for (let y = 0, k = 0; y < height; y++)
    for (let x = 0; x < width; x++, k += 4) made.data.set([...colour(x, y), 255], k);
  return made;
}

/** An ImageData at its own size, as large as the page allows. */
export function show(canvas, picture) {
  [canvas.width, canvas.height] = [picture.width, picture.height];
  canvas.getContext("2d").putImageData(picture, 0, 0);
}

function surface(canvas, width, height) {
  [canvas.width, canvas.height] = [SHARP * width, SHARP * height];
  const context = canvas.getContext("2d");
  context.scale(SHARP, SHARP);
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, width, height);
  context.font = "12px system-ui, sans-serif";
  context.imageSmoothingEnabled = false;
  return context;
}

function text(context, words, x, y, { align = "center", colour = SOFT } = {}) {
  [context.fillStyle, context.textAlign, context.textBaseline] = [colour, align, "middle"];
  context.fillText(words, x, y);
}

/** Draws an ImageData into a box of a context (putImageData knows no scale). */
function place(context, picture, ...box) {
  const small = new OffscreenCanvas(picture.width, picture.height);
  small.getContext("2d").putImageData(picture, 0, 0);
  context.drawImage(small, ...box);
}

/** Square pictures with a caption below each: [{ picture, caption }], `columns` in a row. */
export function tiles(canvas, pictures, { columns, side = 76, gap = 12 }) {
  const step = side + gap, rows = Math.ceil(pictures.length / columns);
  const context = surface(canvas, columns * step + gap, rows * (step + 14) + gap);
  pictures.forEach(({ picture, caption }, k) => {
    const x = gap + (k % columns) * step, y = gap + Math.floor(k / columns) * (step + 14);
    place(context, picture, x, y, side, side);
    text(context, caption, x + side / 2, y + side + 10);
  });
}

/** About five round numbers between two. */
function ticks(low, high) {
  const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((k) => k * power >= rough) * power;
  const made = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) made.push(k * step);
  return made.map((at) => ({ at, name: String(Number(at.toPrecision(6))) }));
}

/** A chart: axes with ticks and names, and what the methods draw between them. */
export class Chart {
  constructor(canvas, { x, y, xName, yName, width = 420, height = 300 }) {
    this.box = { left: 58, top: 12, right: width - 14, bottom: height - 44 };
    Object.assign(this, { x, y, context: surface(canvas, width, height) });
    const { context, box } = this;
    context.strokeStyle = "#dde3e9";
    for (const { at, name } of ticks(...x)) {
      this.path([[at, y[0]], [at, y[1]]]);
      text(context, name, this.toX(at), box.bottom + 13);
    }
    for (const { at, name } of ticks(...y)) {
      this.path([[x[0], at], [x[1], at]]);
      text(context, name, box.left - 7, this.toY(at), { align: "right" });
    }
    text(context, xName, (box.left + box.right) / 2, box.bottom + 32);
    context.save();
    context.translate(13, (box.top + box.bottom) / 2);
    context.rotate(-Math.PI / 2);
    text(context, yName, 0, 0);
    context.restore();
  }

  toX(value) {
    const { left, right } = this.box;
    return left + ((value - this.x[0]) / (this.x[1] - this.x[0])) * (right - left);
  }

  toY(value) {
    const { top, bottom } = this.box;
    return bottom - ((value - this.y[0]) / (this.y[1] - this.y[0])) * (bottom - top);
  }

  /** Runs `draw` with nothing drawn outside the axes. */
  inside(draw) {
    const { left, top, right, bottom } = this.box;
    this.context.save();
    this.context.beginPath();
    this.context.rect(left, top, right - left, bottom - top);
    this.context.clip();
    draw();
    this.context.restore();
  }

  path(points) {
    this.context.beginPath();
    for (const [x, y] of points) this.context.lineTo(this.toX(x), this.toY(y));
    this.context.stroke();
  }

  line(points, { colour = BLUE, width = 1.5, dash = [] } = {}) {
    this.inside(() => {
      [this.context.strokeStyle, this.context.lineWidth] = [colour, width];
      this.context.setLineDash(dash);
      this.path(points);
    });
  }

  /** The area between two lines of as many points. */
  band(low, high, colour) {
    this.inside(() => {
      this.context.beginPath();
      for (const [x, y] of [...low, ...high.toReversed()]) this.context.lineTo(this.toX(x), this.toY(y));
      this.context.fillStyle = colour;
      this.context.fill();
    });
  }

  /** An ImageData between two points. */
  picture(made, [x0, y0], [x1, y1]) {
    const left = this.toX(x0), top = this.toY(y1);
    this.inside(() => place(this.context, made, left, top, this.toX(x1) - left, this.toY(y0) - top));
  }

  words(words, x, y, options) {
    text(this.context, words, this.toX(x), this.toY(y), options);
  }
}
