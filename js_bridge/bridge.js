// The door to WebGPU: open, upload, pipeline, submit, read. Python owns the buffer ids, this file owns the GPUBuffers.
// One ES module without dependencies; works on a page and in a worker. Nothing here knows arrays, dtypes or kernels.
// @ts-check

/** @typedef {{getBuffer(kind?: string): {data: Uint8Array<ArrayBuffer>, release(): void}, destroy?(): void}} Memory a Python buffer, seen through its proxy */
/** @typedef {{words: Uint32Array, hash: number, group: GPUBindGroup, next: Bound | undefined}} Bound a bind group: [pipeline, (buffer, offset, size) ..]; `next` has the same hash */
/** @typedef {{number: number, serial: number, kind: string, message: string}} Fault an error of one submit (serial 0: of none in particular, below: of a read), numbered in order */

const ALLOC = 1, FREE = 2, DISPATCH = 3, BASE = 5;
const WINDOW = 4096;
const MAX_BIND_GROUPS = 8192;
const PART = 128; // launches handed to the queue at a time: the GPU works on them while the next are encoded
const MAX_STAGING = 8;
const MAX_STAGED = 64 << 20; // bytes
// Transfers go in pieces: memory shared with the GPU process is dear when it is new and cheap when it is used again, and
// this side copies one piece while the other side copies the next.
const PIECE = 4 << 20, MIN_PIECE = 1 << 20;
const PIECES = 6; // of a read, in flight
const SMALL_PIECES = 16, LARGE_PIECES = 24; // of uploads, at most: 16 and 96 MiB
const LIFTED_FROM = 1 << 19; // bytes: below, writeBuffer is as quick
const SCOPES = /** @type {const} */ (["out-of-memory", "validation"]);
const IDLE = 5000; // ms after which memory for uploads is given back
const PROMPT_AFTER = 2, PROMPT_AWAITED = 8; // ms for which the browser is asked again after a submit, and while Python waits
const PAIRS = 2048; // launches a set of timestamp queries times: WebGPU allows 4,096 queries in one
const GIVEN_CHUNK = 64 << 20; // bytes in flight of a read into JavaScript's memory
const WANTED_FEATURES = ["shader-f16", "subgroups", "chromium-experimental-subgroup-matrix", "timestamp-query"];

/**
 * Asks for an adapter and a device with the adapter's own limits (lowered by `wanted`, never raised).
 * @param {string} options JSON {limits: {name: number}, powerPreference?: string}
 * @param {GPUDevice} [given] a page's own device, used as it is
 * @returns {Promise<Bridge>}
 */
export async function open(options, given) {
  const { limits = {}, powerPreference = "high-performance" } = JSON.parse(options);
  if (given) return new Bridge(given, given.adapterInfo, false, false);
  const adapter = await requestAdapter(powerPreference);
  const device = await deviceOf(adapter, limits);
  return new Bridge(device, adapter.info, /** @type {any} */ (adapter).isFallbackAdapter ?? adapter.info.isFallbackAdapter ?? false);
}

/** @param {GPUPowerPreference} powerPreference */
export async function requestAdapter(powerPreference) {
  const gpu = globalThis.navigator?.gpu;
  if (!gpu) throw new Error("no-webgpu");
  const adapter = await gpu.requestAdapter({ powerPreference });
  if (!adapter) throw new Error("no-adapter");
  return adapter;
}

/** A device with an adapter's own limits, lowered by `limits`. @param {GPUAdapter} adapter @param {Record<string, number>} limits */
export async function deviceOf(adapter, limits = {}) {
  /** @type {Record<string, number>} */
  const required = {};
  for (const name in adapter.limits) {
    const value = /** @type {any} */ (adapter.limits)[name];
    if (typeof value !== "number") continue;
    // Limits whose small values are the strong ones (alignments) are asked for as they are.
    required[name] = !name.startsWith("min") && name in limits ? Math.min(value, limits[name]) : value;
  }
  const features = /** @type {GPUFeatureName[]} */ (WANTED_FEATURES.filter((f) => adapter.features.has(f)));
  return adapter.requestDevice({ label: "tabgpu", requiredLimits: required, requiredFeatures: features });
}

/**
 * What the matrix units take, as names of features, say `matrix-f16-f32-16x16x16` (operands, sums, M N K). Only where all
 * subgroups have 32 threads, as our kernels want. @param {any} info
 */
function matrices(info) {
  if (info?.subgroupMinSize !== 32 || info.subgroupMaxSize !== 32) return [];
  const configs = /** @type {any[]} */ ([...(info.subgroupMatrixConfigs ?? [])]);
  return configs.map((c) => `matrix-${c.componentType}-${c.resultComponentType}-${c.M}x${c.N}x${c.K}`);
}

export class Bridge {
  /** @param {GPUDevice} device @param {GPUAdapterInfo} info @param {boolean} fallback @param {boolean} own made here */
  constructor(device, info, fallback, own = true) {
    this.device = device;
    this.own = own;
    this.info = info;
    this.fallback = fallback;
    /** @type {Map<number, GPUBuffer>} */
    this.buffers = new Map();
    /** @type {Set<number>} which of these are the page's: they are never destroyed here */
    this.lent = new Set();
    /** @type {Map<number, {pipeline: GPUComputePipeline, layout: GPUBindGroupLayout, label: string}>} */
    this.pipelines = new Map();
    /** @type {Map<string, GPUBindGroupLayout>} */
    this.layouts = new Map();
    /** @type {Map<number, Bound>} bind groups by a hash of their words, in order of creation: the oldest goes first */
    this.groups = new Map();
    this.groupsMade = 0;
    this.grouped = 0;
    /** @type {Map<number, Set<Bound>>} the bind groups that mention a buffer */
    this.mentions = new Map();
    this.offset = new Uint32Array(1); // of a parameter window, handed to setBindGroup without a new array
    /** @type {Map<number, string>} faults of pipelines, by id */
    this.broken = new Map();
    /** @type {Fault[]} told again until Python says it heard them: the read that was told may have been cancelled */
    this.faults = [];
    this.faultsSoFar = 0;
    this.reads = 0;
    /** @type {Set<Promise<void>>} error scopes not yet resolved */
    this.scopes = new Set();
    /** @type {GPUBuffer[]} */
    this.staging = [];
    this.lift = new Lift(device);
    this.prompt = new Prompt(device);
    this.step = device.limits.minUniformBufferOffsetAlignment;
    this.windowLayout = device.createBindGroupLayout({
      label: "parameters",
      entries: [{ binding: 0, visibility: GPUShaderStage.COMPUTE, buffer: { type: "uniform", hasDynamicOffset: true, minBindingSize: WINDOW } }],
    });
    /** @type {GPUBuffer | undefined} */
    this.uniform = undefined;
    /** @type {GPUBindGroup | undefined} */
    this.window = undefined;
    /** @type {Memory | undefined} where Python writes command streams, and its view */
    this.stream = undefined;
    /** @type {{data: Uint8Array<ArrayBuffer>, release(): void} | undefined} */
    this.streamView = undefined;
    /** @type {Clock | undefined} while somebody measures */
    this.clock = undefined;
    this.lostReason = "";
    /** @type {Promise<never>} */
    this.lost = device.lost.then((l) => {
      this.lostReason = `${l.reason || "unknown"}: ${l.message}`;
      throw new Error("lost " + this.lostReason);
    });
    this.lost.catch(() => {});
    device.addEventListener("uncapturederror", (event) => {
      const error = /** @type {GPUUncapturedErrorEvent} */ (event).error;
      event.preventDefault();
      this.fault(0, error);
    });
  }

  /** @param {number} serial @param {GPUError} error */
  fault(serial, error) {
    this.faults.push({ number: ++this.faultsSoFar, serial, kind: kindOf(error), message: error.message });
  }

  /** Forgets the faults up to a number. @param {number} number */
  heard(number) {
    this.faults = this.faults.filter((f) => f.number > number);
  }

  /** Name, features and limits, as JSON. */
  describe() {
    /** @type {Record<string, number>} */
    const limits = {};
    for (const name in this.device.limits) {
      const value = /** @type {any} */ (this.device.limits)[name];
      if (typeof value === "number") limits[name] = value;
    }
    const { vendor, architecture, device, description } = this.info;
    const { subgroupMinSize = 4, subgroupMaxSize = 128 } = this.info;
    const subgroups = [subgroupMinSize, subgroupMaxSize];
    return JSON.stringify({ vendor, architecture, device, description, subgroups, fallback: this.fallback, features: [...this.device.features, ...matrices(this.info)].sort(), limits });
  }

  /**
   * Collects the errors of what `work` hands to the device, as faults of submit `serial`. Only allocations can run out
   * of memory, so only they pay for the second scope; internal errors arrive as uncaptured ones.
   * @template R @param {number} serial @param {boolean} allocates @param {() => R} work @returns {R}
   */
  scoped(serial, allocates, work) {
    const device = this.device;
    if (allocates) device.pushErrorScope("out-of-memory");
    device.pushErrorScope("validation");
    try {
      return work();
    } finally {
      this.pop(serial);
      if (allocates) this.pop(serial);
    }
  }

  /** @param {number} serial */
  pop(serial) {
    /** @param {GPUError | null} error */
    const done = (error) => {
      this.scopes.delete(scope);
      if (error) this.fault(serial, error);
    };
    const scope = this.device.popErrorScope().then(done, () => done(null)); // rejected: lost, reported by `lost`
    this.scopes.add(scope);
  }

  /** @param {number} id @param {number} nbytes */
  alloc(id, nbytes) {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    this.buffers.set(id, this.device.createBuffer({ label: `buffer ${id}`, size: nbytes, usage }));
  }

  /** @param {number} id */
  free(id) {
    for (const bound of [...this.mentions.get(id) ?? []]) this.forget(bound);
    this.mentions.delete(id);
    if (!this.lent.delete(id)) this.buffers.get(id)?.destroy();
    this.buffers.delete(id);
  }

  /** A page's own buffer under an id of ours. @param {number} id @param {GPUBuffer} buffer */
  lend(id, buffer) {
    this.buffers.set(id, buffer);
    this.lent.add(id);
  }

  /**
   * Bytes first..end-1 of a URL, piece by piece into `into` if that is large enough: [status, Content-Range, array, bytes
   * of it].
   * @param {string} url @param {number} first @param {number} end @param {Uint8Array<ArrayBuffer> | undefined} into
   */
  async fetchRange(url, first, end, into) {
    const got = await fetch(url, { headers: { Range: `bytes=${first}-${end - 1}` } });
    const span = got.headers.get("Content-Range") ?? "";
    if (got.status !== 206 || !got.body) {
      const all = got.status === 200 ? new Uint8Array(await got.arrayBuffer()) : new Uint8Array();
      return [got.status, span, all, all.length];
    }
    const room = into && into.length >= end - first ? into : new Uint8Array(end - first);
    let n = 0;
    for (const reader = got.body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      const part = value.subarray(0, room.length - n);
      room.set(part, n);
      n += part.length;
    }
    // What streams bring is garbage that V8 does not count: some that it does count makes it collect in time.
    new ArrayBuffer(Math.min(4 * n, 1 << 25));
    return [got.status, span, room, n];
  }

  /**
   * Copies bytes of a page's buffer to one of ours (made here if `nbytes` is given).
   * @param {number} serial @param {number} id @param {number} nbytes @param {GPUBuffer} source @param {number} offset @param {number} size
   */
  copyIn(serial, id, nbytes, source, offset, size) {
    this.scoped(serial, nbytes > 0, () => {
      if (nbytes) this.alloc(id, nbytes);
      const encoder = this.device.createCommandEncoder({ label: "copy" });
      encoder.copyBufferToBuffer(source, offset, /** @type {GPUBuffer} */ (this.buffers.get(id)), 0, size);
      this.device.queue.submit([encoder.finish()]);
    });
  }

  /**
   * Copies host memory to a buffer (made here if `nbytes` is given). The data is taken at the call.
   * @param {number} serial @param {number} id @param {number} nbytes @param {Memory | ArrayBufferView<ArrayBuffer>} memory
   */
  upload(serial, id, nbytes, memory) {
    const own = ArrayBuffer.isView(memory); // the page's own typed array
    const view = own ? undefined : memory.getBuffer("u8");
    const data = own ? new Uint8Array(memory.buffer, memory.byteOffset, memory.byteLength) : /** @type {{data: Uint8Array<ArrayBuffer>}} */ (view).data;
    try {
      this.scoped(serial, nbytes > 0, () => {
        if (nbytes) this.alloc(id, nbytes);
        const buffer = /** @type {GPUBuffer} */ (this.buffers.get(id));
        const whole = data.byteLength & ~3, rest = data.byteLength - whole;
        const first = whole < LIFTED_FROM ? 0 : this.lift.upload(buffer, data, whole);
        for (let at = first; at < whole; at += PIECE) {
          this.device.queue.writeBuffer(buffer, at, data, at, Math.min(PIECE, whole - at));
          if (whole >= LIFTED_FROM) this.device.queue.submit([]); // sends the piece off now
        }
        if (rest) {
          const tail = new Uint8Array(4);
          tail.set(data.subarray(whole));
          this.device.queue.writeBuffer(buffer, whole, tail);
        }
      });
    } finally {
      view?.release();
      if (data.byteLength >= LIFTED_FROM) this.lift.grow();
    }
  }

  /** @param {string} access one letter a binding: r read-only storage, w storage */
  layoutOf(access) {
    let layout = this.layouts.get(access);
    if (!layout) {
      const entries = [...access].map((c, binding) => ({
        binding, visibility: GPUShaderStage.COMPUTE,
        buffer: { type: /** @type {GPUBufferBindingType} */ (c === "r" ? "read-only-storage" : "storage") },
      }));
      this.layouts.set(access, (layout = this.device.createBindGroupLayout({ label: access, entries })));
    }
    return layout;
  }

  /** @param {string} label @param {string} code @param {string} access */
  descriptor(label, code, access) {
    const layout = this.layoutOf(access);
    const module = this.device.createShaderModule({ label, code });
    const whole = this.device.createPipelineLayout({ bindGroupLayouts: [layout, this.windowLayout] });
    return { layout, module, descriptor: { label, layout: whole, compute: { module, entryPoint: "main" } } };
  }

  /**
   * Makes a pipeline now; a fault in it is found later and spoils the submits that use it.
   * @param {number} id @param {string} label @param {string} code @param {string} access
   */
  pipeline(id, label, code, access) {
    this.device.pushErrorScope("validation");
    const { layout, module, descriptor } = this.descriptor(label, code, access);
    const pipeline = this.device.createComputePipeline(descriptor);
    this.pipelines.set(id, { pipeline, layout, label });
    const scope = this.device.popErrorScope().then(async (error) => {
      if (error) this.broken.set(id, await explain(module, label, code, error.message));
    }, () => {}).finally(() => { this.scopes.delete(scope); });
    this.scopes.add(scope);
  }

  /** What the compiler says of a module, as JSON: [kind, line, message] ... @param {string} label @param {string} code */
  async diagnose(label, code) {
    this.device.pushErrorScope("validation");
    const module = this.device.createShaderModule({ label, code });
    this.device.popErrorScope().catch(() => {});
    const { messages } = await Promise.race([module.getCompilationInfo(), this.lost]);
    return JSON.stringify(messages.map((m) => [m.type, m.lineNum, m.message]));
  }

  /**
   * Makes a pipeline without holding up the page; resolves to "" or to what is wrong with the kernel.
   * @param {number} id @param {string} label @param {string} code @param {string} access
   * @returns {Promise<string>}
   */
  async pipelineAsync(id, label, code, access) {
    this.device.pushErrorScope("validation");
    const { layout, module, descriptor } = this.descriptor(label, code, access);
    const made = this.device.createComputePipelineAsync(descriptor);
    this.device.popErrorScope().catch(() => {});
    try {
      const pipeline = await Promise.race([made, this.lost]);
      this.pipelines.set(id, { pipeline, layout, label });
      return "";
    } catch (error) {
      if (this.lostReason) throw error;
      return explain(module, label, code, /** @type {Error} */ (error).message);
    }
  }

  /**
   * The bind group of a launch: n bindings from words[at] on, of pipeline words[at - 6].
   * @param {Uint32Array} words @param {number} at @param {number} n
   */
  group(words, at, n) {
    const id = words[at - 6], end = 3 * n;
    let hash = id;
    for (let k = 0; k < end; k++) hash = Math.imul(hash ^ words[at + k], 0x9e3779b1) ^ (hash >>> 15);
    const first = this.groups.get(hash);
    search: for (let bound = first; bound; bound = bound.next) {
      const had = bound.words;
      if (had.length !== end + 1 || had[0] !== id) continue;
      for (let k = 0; k < end; k++) if (had[k + 1] !== words[at + k]) continue search;
      return bound.group;
    }
    const entries = [];
    for (let k = 0; k < n; k++) {
      const buffer = words[at + 3 * k], offset = words[at + 3 * k + 1], size = words[at + 3 * k + 2];
      entries.push({ binding: k, resource: { buffer: /** @type {GPUBuffer} */ (this.buffers.get(buffer)), offset, ...(size ? { size } : {}) } });
    }
    const { layout } = /** @type {{layout: GPUBindGroupLayout}} */ (this.pipelines.get(id));
    const own = Uint32Array.of(id, ...words.subarray(at, at + end));
    const group = this.device.createBindGroup({ label: id + ":" + own.subarray(1).join(), layout, entries });
    if (this.grouped >= MAX_BIND_GROUPS) this.forget(/** @type {Bound} */ (this.groups.values().next().value));
    /** @type {Bound} */
    const bound = { words: own, hash, group, next: this.groups.get(hash) };
    this.groups.set(hash, bound);
    this.grouped++;
    this.groupsMade++;
    for (let k = 1; k <= end; k += 3) {
      let those = this.mentions.get(own[k]);
      if (!those) this.mentions.set(own[k], (those = new Set()));
      those.add(bound);
    }
    return group;
  }

  /** @param {Bound} bound */
  forget(bound) {
    const { words, hash, next } = bound;
    let before = this.groups.get(hash);
    if (before === bound) {
      if (next) this.groups.set(hash, next);
      else this.groups.delete(hash);
    } else {
      while (before && before.next !== bound) before = before.next;
      if (!before) return; // forgotten already
      before.next = next;
    }
    this.grouped--;
    for (let k = 1; k < words.length; k += 3) this.mentions.get(words[k])?.delete(bound);
  }

  /** Forgets a pipeline that is not used any more. @param {number} id */
  drop(id) {
    this.pipelines.delete(id);
    this.broken.delete(id);
    for (const first of [...this.groups.values()]) {
      for (let bound = /** @type {Bound | undefined} */ (first); bound;) {
        const next = bound.next;
        if (bound.words[0] === id) this.forget(bound);
        bound = next;
      }
    }
  }

  /**
   * The memory that command streams come in, from now on.
   * @param {Memory & {copy(): Memory}} memory u32 words
   */
  attach(memory) {
    this.streamView?.release();
    this.stream?.destroy?.();
    this.stream = memory.copy(); // this call's own proxy dies with it
    this.streamView = this.stream.getBuffer("u8");
  }

  /**
   * Runs the stream [commands.., parameter block..] in one encoder and one submit.
   * @param {number} serial @param {number} commands words before the parameters @param {number} n words in all
   * @param {boolean} allocates whether there are ALLOC commands
   */
  submit(serial, commands, n, allocates) {
    let bytes = this.streamView?.data;
    if (!bytes?.length && this.stream) { // wasm memory grew: the old view is detached
      this.streamView?.release();
      this.streamView = this.stream.getBuffer("u8");
      bytes = this.streamView.data;
    }
    if (!bytes) throw new Error("no stream");
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, n);
    this.scoped(serial, allocates, () => this.run(serial, words, commands));
    this.prompt.submitted();
  }

  /** @param {number} serial @param {Uint32Array<ArrayBuffer>} words @param {number} end */
  run(serial, words, end) {
    const device = this.device, params = words.length - end;
    if (params) {
      const need = params * 4 + WINDOW;
      if (!this.uniform || this.uniform.size < need) {
        this.uniform?.destroy(); // its last submit is already in the queue
        const size = Math.max(1 << 16, 2 ** Math.ceil(Math.log2(need)));
        this.uniform = device.createBuffer({ label: "parameters", size, usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST });
        this.window = device.createBindGroup({ layout: this.windowLayout, entries: [{ binding: 0, resource: { buffer: this.uniform, offset: 0, size: WINDOW } }] });
      }
      device.queue.writeBuffer(this.uniform, 0, words, end, params);
    }
    const clock = this.clock;
    let encoder = device.createCommandEncoder({ label: `submit ${serial}` });
    /** @type {GPUComputePassEncoder | undefined} */
    let pass;
    /** @type {number[]} */
    const freed = [];
    const window = /** @type {GPUBindGroup} */ (this.window), offset = this.offset;
    let bound = -1, told = -1, base = 0, left = PART; // the pipeline and the parameters that the pass has
    for (let at = 0; at < end;) {
      const verb = words[at];
      if (verb === DISPATCH) {
        const id = words[at + 1], n = words[at + 6];
        if (pass && (clock || !left)) {
          pass.end();
          pass = undefined;
          if (clock) encoder = clock.next(encoder, serial);
          else {
            device.queue.submit([encoder.finish()]);
            encoder = device.createCommandEncoder();
          }
        }
        if (!pass) { pass = encoder.beginComputePass(clock?.pass(serial)); bound = told = -1; left = PART; }
        if (bound !== id) {
          const found = this.pipelines.get(id);
          if (!found) throw new Error(`no pipeline ${id}`);
          pass.setPipeline(found.pipeline);
          bound = id;
        }
        pass.setBindGroup(0, this.group(words, at + 7, n));
        const parameters = base + words[at + 5];
        if (told !== parameters) {
          offset[0] = told = parameters;
          pass.setBindGroup(1, window, offset, 0, 1);
        }
        pass.dispatchWorkgroups(words[at + 2], words[at + 3], words[at + 4]);
        left--;
        at += 7 + 3 * n;
      } else if (verb === BASE) {
        base = words[at + 1];
        at += 2;
      } else if (verb === ALLOC) {
        this.alloc(words[at + 1], words[at + 2]);
        at += 3;
      } else if (verb === FREE) {
        freed.push(words[at + 1]);
        at += 2;
      } else throw new Error(`bad command ${verb} at ${at}`);
    }
    pass?.end();
    if (clock && pass) encoder = clock.next(encoder, serial);
    device.queue.submit([encoder.finish()]);
    clock?.submitted();
    for (const id of freed) this.free(id); // not before: this submit may be the last that reads them
  }

  /** @param {number} size */
  takeStaging(size) {
    const k = this.staging.findIndex((b) => b.size >= size && b.size <= 4 * size + 65536);
    if (k >= 0) return this.staging.splice(k, 1)[0];
    return this.device.createBuffer({ label: "staging", size: Math.max(4096, 2 ** Math.ceil(Math.log2(size))), usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  }

  /**
   * Reads one word, the shortest way. @param {number} id @param {number} offset a multiple of 4
   * @returns {Promise<number | string>} the word; where there are faults, their JSON with the word in it
   */
  async readWord(id, offset) {
    const serial = -++this.reads, k = this.staging.findIndex((b) => b.size === WINDOW);
    const start = () => {
      const staging = k < 0 ? this.takeStaging(4) : this.staging.splice(k, 1)[0];
      const encoder = this.device.createCommandEncoder({ label: "read" });
      encoder.copyBufferToBuffer(/** @type {GPUBuffer} */ (this.buffers.get(id)), offset, staging, 0, 4);
      this.device.queue.submit([encoder.finish()]);
      return { staging, mapped: staging.mapAsync(GPUMapMode.READ, 0, 4) };
    };
    const { staging, mapped } = k < 0 ? this.scoped(serial, true, start) : start(); // only new memory can be refused
    try {
      await this.prompt.awaited(mapped);
    } catch (error) {
      staging.destroy();
      return this.refused(serial, error);
    }
    const word = new Uint32Array(staging.getMappedRange(0, 4))[0];
    staging.unmap();
    this.keep(staging);
    const said = this.scopes.size || this.faults.length || this.lostReason ? await this.report(serial) : "";
    return said ? JSON.stringify({ ...JSON.parse(said), word }) : word;
  }

  /** What a read says whose memory could not be mapped: its fault, or the loss of the device. @param {number} serial @param {unknown} error */
  async refused(serial, error) {
    await this.settled();
    if (this.faults.some((f) => f.serial === serial)) return this.report(serial);
    await Promise.race([this.lost, new Promise((done) => setTimeout(done, 100))]); // the loss is told a little later
    throw error;
  }

  /** Keeps unmapped staging memory for the next read, or gives it back. @param {GPUBuffer} staging */
  keep(staging) {
    if (this.staging.length < MAX_STAGING && this.staging.reduce((sum, b) => sum + b.size, staging.size) <= MAX_STAGED) this.staging.push(staging);
    else staging.destroy();
  }

  /**
   * Reads byte ranges of buffers, one after the other, into host memory; in bounded chunks. Its own faults (no memory
   * for staging) come under a serial below 0, named in the report.
   * @param {Memory} request u32 words [id, offset, nbytes].. (offsets and sizes are multiples of 4)
   * @param {Memory} target receives all ranges, packed
   * @param {number} chunk bytes in flight at most
   * @returns {Promise<string>} the faults so far, as JSON, or ""
   */
  async read(request, target, chunk) {
    const serial = -++this.reads;
    const view = request.getBuffer("u8"), words = new Uint32Array(view.data.slice().buffer);
    view.release();
    let bytes = 0;
    for (let k = 2; k < words.length; k += 3) bytes += words[k];
    const size = Math.min(chunk, PIECE, Math.max(MIN_PIECE, bytes / PIECES & ~3));
    /** @type {{id: number, from: number, at: number, n: number}[][]} */
    const batches = [[]];
    let room = size, at = 0;
    for (let k = 0; k < words.length; k += 3) {
      for (let from = words[k + 1], left = words[k + 2]; left > 0;) {
        if (!room) { batches.push([]); room = size; }
        const n = Math.min(left, room);
        batches[batches.length - 1].push({ id: words[k], from, at, n });
        from += n; at += n; left -= n; room -= n;
      }
    }
    /** @type {{staging: GPUBuffer, mapped: Promise<undefined>, first: number, total: number}[]} */
    const flight = []; // while one piece is copied here, the next ones are copied there
    const todo = batches.filter((batch) => batch.length).reverse();
    const start = () => {
      const batch = todo.pop();
      if (!batch) return;
      const first = batch[0].at, total = batch.reduce((sum, b) => sum + b.n, 0);
      flight.push(this.scoped(serial, true, () => {
        const staging = this.takeStaging(total);
        const encoder = this.device.createCommandEncoder({ label: "read" });
        for (const b of batch) encoder.copyBufferToBuffer(/** @type {GPUBuffer} */ (this.buffers.get(b.id)), b.from, staging, b.at - first, b.n);
        this.device.queue.submit([encoder.finish()]);
        const mapped = staging.mapAsync(GPUMapMode.READ, 0, total);
        mapped.catch(() => {}); // those behind one that fails are not awaited
        return { staging, mapped, first, total };
      }));
    };
    for (let k = 0; k < Math.min(PIECES, Math.max(1, Math.floor(chunk / size))); k++) start();
    while (flight.length) {
      const { staging, mapped, first, total } = flight[0];
      try {
        await Promise.race([this.prompt.awaited(mapped), this.lost]);
      } catch (error) {
        for (const { staging } of flight) staging.destroy();
        return this.refused(serial, error);
      }
      flight.shift();
      const into = target.getBuffer("u8"); // taken after the map: wasm memory may have grown meanwhile
      into.data.set(new Uint8Array(staging.getMappedRange(0, total)), first);
      into.release();
      staging.unmap();
      this.keep(staging);
      start();
    }
    return this.report(serial);
  }

  /**
   * Reads into a typed array of JavaScript: {promise}, for a promise that a call returns is not what Python hands on.
   * Python is told of the end by `finish(number, serial, bytes, faults, loss)`: after it where all is well, before it
   * otherwise, since that raises what the promise is rejected with.
   * @param {number} id @param {number} offset a multiple of 4 @param {string} kind the array's class
   * @param {number} lead bytes of another element before it @param {number} size elements
   * @param {number} number @param {number} serial @param {(...what: any[]) => void} finish
   */
  give(id, offset, kind, lead, size, number, serial, finish) {
    return { promise: this.given(id, offset, kind, lead, size, (...what) => finish(number, serial, ...what)) };
  }

  /** @param {number} id @param {number} offset @param {string} kind @param {number} lead @param {number} size @param {(nbytes: number, said: string, loss: string) => void} finish */
  async given(id, offset, kind, lead, size, finish) {
    const Kind = /** @type {any} */ (globalThis)[kind], nbytes = lead + size * Kind.BYTES_PER_ELEMENT + 3 & ~3;
    const bytes = new Uint8Array(nbytes), request = new Uint8Array(Uint32Array.of(id, offset, nbytes).buffer);
    /** @param {Uint8Array<ArrayBuffer>} data @returns {Memory} */
    const memory = (data) => ({ getBuffer: () => ({ data, release() {} }) });
    let said = "", loss = "";
    try {
      said = await this.read(memory(request), memory(bytes), GIVEN_CHUNK);
    } catch (error) {
      loss = String(error);
    }
    if (said || loss) finish(nbytes, said, loss);
    else setTimeout(() => finish(nbytes, "", ""));
    return new Kind(bytes.buffer, lead, size);
  }

  /** A typed array with a copy of Python's memory. @param {Memory} memory @param {number} begin @param {string} kind @param {number} size */
  typed(memory, begin, kind, size) {
    const view = memory.getBuffer("u8"), Kind = /** @type {any} */ (globalThis)[kind];
    const bytes = view.data.slice(begin, begin + size * Kind.BYTES_PER_ELEMENT);
    view.release();
    return new Kind(bytes.buffer);
  }

  /**
   * Times each launch from now on, or no more. By timestamp queries if `precise` and the device has them.
   * @param {boolean} on @param {boolean} precise @returns {string} "gpu", "host", or "" for off
   */
  timing(on, precise) {
    this.clock?.close();
    this.clock = on ? new Clock(this.device, precise && this.device.features.has("timestamp-query")) : undefined;
    return this.clock ? (this.clock.precise ? "gpu" : "host") : "";
  }

  /** What is kept here, as JSON. */
  stats() {
    const staging = this.staging.reduce((sum, b) => sum + b.size, 0);
    return JSON.stringify({ bindGroups: this.grouped, bindGroupsMade: this.groupsMade, pipelines: this.pipelines.size, staging });
  }

  /** How many launches `timings` will tell of. */
  timed() {
    return this.clock?.count ?? 0;
  }

  /**
   * Tells of the launches timed so far, oldest first, and forgets them: (serial, begin, end), u64 each, ns.
   * @param {Memory} target room for all of `timed()`
   */
  async timings(target) {
    const taken = await Promise.race([/** @type {Clock} */ (this.clock).take(), this.lost]);
    const into = target.getBuffer("u8");
    into.data.set(new Uint8Array(taken.buffer, 0, Math.min(taken.byteLength, into.data.byteLength)));
    into.release();
  }

  /** Gives back the memory kept for reads and uploads. */
  trim() {
    this.lift.trim();
    for (const staging of this.staging.splice(0)) staging.destroy();
  }

  /** Resolves when the queue is empty. @returns {Promise<string>} as `read` */
  async wait() {
    await Promise.race([this.prompt.awaited(this.device.queue.onSubmittedWorkDone()), this.lost]);
    return this.report(0);
  }

  /** All error scopes opened so far have answered. */
  async settled() {
    await Promise.race([Promise.all(this.scopes), this.lost]);
  }

  /** @param {number} serial of the read that asks @returns {Promise<string>} */
  async report(serial) {
    await this.settled();
    if (this.lostReason) await this.lost;
    if (!this.faults.length) return "";
    return JSON.stringify({ faults: this.faults, read: serial, broken: [...this.broken].map(([id, text]) => [this.pipelines.get(id)?.label, text]) });
  }

  close() {
    this.lift.trim();
    if (this.own) this.device.destroy();
    else for (const [id, buffer] of this.buffers) if (!this.lent.has(id)) buffer.destroy(); // the page goes on with its device
    this.streamView?.release();
    this.stream?.destroy?.();
    this.stream = this.streamView = undefined;
    this.staging.length = 0;
    this.pipelines.clear();
    this.buffers.clear();
    this.groups.clear();
    this.mentions.clear();
  }
}

/** When launches began and ended: by timestamp queries, or, where there are none, by the host's clock and a submit for each. */
class Clock {
  /** @param {GPUDevice} device @param {boolean} precise */
  constructor(device, precise) {
    this.device = device;
    this.precise = precise;
    this.count = 0;
    /** @type {{queries: GPUQuerySet, serials: number[]}[]} the last one is being filled */
    this.sets = [];
    /** @type {GPUQuerySet[]} */
    this.spare = [];
    /** @type {{serials: number[], staging: GPUBuffer}[]} resolved, in order */
    this.batches = [];
    /** @type {Promise<bigint[]>[]} */
    this.seen = [];
  }

  /** The pass of one launch. @param {number} serial @returns {GPUComputePassDescriptor | undefined} */
  pass(serial) {
    this.count++;
    if (!this.precise) return undefined;
    let set = this.sets[this.sets.length - 1];
    if (!set || set.serials.length === PAIRS) {
      const queries = this.spare.pop() ?? this.device.createQuerySet({ label: "times", type: "timestamp", count: 2 * PAIRS });
      this.sets.push((set = { queries, serials: [] }));
    }
    const k = 2 * set.serials.length;
    set.serials.push(serial);
    return { timestampWrites: { querySet: set.queries, beginningOfPassWriteIndex: k, endOfPassWriteIndex: k + 1 } };
  }

  /** The encoder that goes on after a launch. @param {GPUCommandEncoder} encoder @param {number} serial */
  next(encoder, serial) {
    if (this.precise) return encoder;
    const queue = this.device.queue, begin = now();
    queue.submit([encoder.finish()]);
    this.seen.push(queue.onSubmittedWorkDone().then(() => [BigInt(serial), begin, now()], () => [BigInt(serial), 0n, 0n]));
    return this.device.createCommandEncoder();
  }

  /** What is full is resolved, so that few sets of queries serve any number of submits. */
  submitted() {
    while (this.sets.length > 1 || this.sets[0]?.serials.length === PAIRS) this.resolve();
  }

  resolve() {
    const set = this.sets.shift();
    if (!set) return;
    const size = 16 * set.serials.length, usage = GPUBufferUsage;
    const resolved = this.device.createBuffer({ label: "times", size, usage: usage.QUERY_RESOLVE | usage.COPY_SRC });
    const staging = this.device.createBuffer({ label: "times", size, usage: usage.COPY_DST | usage.MAP_READ });
    const encoder = this.device.createCommandEncoder({ label: "times" });
    encoder.resolveQuerySet(set.queries, 0, 2 * set.serials.length, resolved, 0);
    encoder.copyBufferToBuffer(resolved, 0, staging, 0, size);
    this.device.queue.submit([encoder.finish()]);
    resolved.destroy();
    this.batches.push({ serials: set.serials, staging });
    this.spare.push(set.queries);
  }

  /** @returns {Promise<BigUint64Array<ArrayBuffer>>} triples of what was timed so far */
  async take() {
    while (this.sets.length) this.resolve();
    const batches = this.batches.splice(0), seen = this.seen.splice(0);
    this.count = 0;
    /** @type {bigint[]} */
    const triples = (await Promise.all(seen)).flat();
    for (const { serials, staging } of batches) {
      try {
        await staging.mapAsync(GPUMapMode.READ);
        const times = new BigUint64Array(staging.getMappedRange());
        serials.forEach((serial, k) => triples.push(BigInt(serial), times[2 * k], times[2 * k + 1]));
      } finally {
        staging.destroy();
      }
    }
    return BigUint64Array.from(triples);
  }

  close() {
    for (const { queries } of this.sets) queries.destroy();
    for (const queries of this.spare) queries.destroy();
    for (const { staging } of this.batches) staging.destroy();
  }
}

/** Nanoseconds of the host's clock. */
function now() {
  return BigInt(Math.round(performance.now() * 1e6));
}

/**
 * Makes waits short. A browser looks whether the GPU is done when it gets commands, otherwise every 2 ms or so. After a
 * submit and while something is awaited it is therefore asked something that it answers at once, again and again for
 * some milliseconds.
 */
class Prompt {
  /** @param {GPUDevice} device */
  constructor(device) {
    this.device = device;
    this.fresh = this.running = false; // submitted since the last answer; whether there will be an answer
    this.pending = 0; // promises not settled
    this.end = 0; // ms
    this.turn = this.turn.bind(this);
  }

  /** Work went to the queue; whether anybody waits for it is not known here. */
  submitted() {
    this.fresh = true;
    if (!this.running) this.ask();
  }

  /** @template T @param {Promise<T>} promise settled by what the GPU does @returns {Promise<T>} the same */
  awaited(promise) {
    this.end = performance.now() + PROMPT_AWAITED;
    this.note(promise);
    if (!this.running) this.ask();
    return promise;
  }

  /** @param {Promise<unknown>} promise */
  note(promise) {
    const settled = () => { this.pending--; };
    this.pending++;
    promise.then(settled, settled);
  }

  ask() {
    this.running = true;
    this.device.pushErrorScope("validation");
    this.device.popErrorScope().then(this.turn, () => { this.running = false; }); // rejected: lost
  }

  turn() {
    const now = performance.now();
    if (this.fresh) {
      this.fresh = false;
      this.end = Math.max(this.end, now + PROMPT_AFTER);
      this.note(this.device.queue.onSubmittedWorkDone());
    }
    this.running = this.pending > 0 && now < this.end;
    if (this.running) this.ask();
  }
}

/**
 * Memory for uploads that waits mapped. Written and unmapped, a piece is copied by the other side while this side writes
 * the next one: two to three times as fast as writeBuffer, whose memory is new each time. There are as many pieces as
 * uploads wanted, and none when nothing was uploaded for a while.
 */
class Lift {
  /** @param {GPUDevice} device */
  constructor(device) {
    this.device = device;
    /** @type {{size: number, most: number, made: number, ready: GPUBuffer[], lacking: number}[]} */
    this.kinds = [{ size: PIECE, most: LARGE_PIECES, made: 0, ready: [], lacking: 0 }, { size: MIN_PIECE, most: SMALL_PIECES, made: 0, ready: [], lacking: 0 }];
    this.round = 0; // pieces of rounds before are destroyed instead of used again
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  /**
   * Uploads what the ready pieces hold and returns how many bytes that were; `grow` then makes those that were lacking.
   * @param {GPUBuffer} buffer @param {Uint8Array<ArrayBuffer>} data @param {number} whole bytes, a multiple of 4
   */
  upload(buffer, data, whole) {
    let at = 0;
    for (const kind of this.kinds) {
      if (kind.size === PIECE && whole <= SMALL_PIECES * MIN_PIECE) continue;
      let lacking = 0, left = whole - at;
      while (left >= LIFTED_FROM && (left >= kind.size || kind.size === MIN_PIECE)) {
        const n = Math.min(left, kind.size), piece = lacking ? undefined : kind.ready.pop();
        left -= n;
        if (!piece) { lacking++; continue; }
        new Uint8Array(piece.getMappedRange(0, n)).set(data.subarray(at, at + n));
        piece.unmap();
        const encoder = this.device.createCommandEncoder({ label: "upload" });
        encoder.copyBufferToBuffer(piece, 0, buffer, at, n);
        this.device.queue.submit([encoder.finish()]);
        this.map(piece, kind);
        at += n;
      }
      kind.lacking = lacking;
      if (lacking) break; // what follows goes another way
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.trim(), IDLE);
    return at;
  }

  /** Makes the pieces that the last upload lacked, at most as many as there are. */
  grow() {
    for (const kind of this.kinds) {
      const more = Math.min(kind.lacking, kind.most - kind.made, Math.max(4, kind.made));
      kind.lacking = 0;
      if (more <= 0) continue;
      for (const filter of SCOPES) this.device.pushErrorScope(filter); // then there are fewer: no work depends on them
      for (let k = 0; k < more; k++) {
        kind.made++;
        this.map(this.device.createBuffer({ label: "uploads", size: kind.size, usage: GPUBufferUsage.MAP_WRITE | GPUBufferUsage.COPY_SRC }), kind);
      }
      for (const _ of SCOPES) this.device.popErrorScope().catch(() => {});
    }
  }

  /** @param {GPUBuffer} piece @param {{ready: GPUBuffer[], made: number}} kind */
  map(piece, kind) {
    const round = this.round;
    piece.mapAsync(GPUMapMode.WRITE).then(
      () => { if (round === this.round) kind.ready.push(piece); else piece.destroy(); },
      () => { if (round === this.round) kind.made--; }, // no memory, or the device is lost: writeBuffer does it
    );
  }

  trim() {
    clearTimeout(this.timer);
    this.round++;
    for (const kind of this.kinds) {
      for (const piece of kind.ready.splice(0)) piece.destroy();
      kind.made = 0;
    }
  }
}

/** @param {GPUError} error */
function kindOf(error) {
  if (error instanceof GPUOutOfMemoryError) return "out-of-memory";
  return error instanceof GPUValidationError ? "validation" : "internal";
}

/**
 * What is wrong with a kernel, with its label and the WGSL line.
 * @param {GPUShaderModule} module @param {string} label @param {string} code @param {string} fallback
 */
async function explain(module, label, code, fallback) {
  const info = await module.getCompilationInfo().catch(() => undefined);
  const first = info?.messages.find((m) => m.type === "error");
  if (!first) return `kernel ${label}: ${fallback}`;
  const lines = code.split("\n"), at = first.lineNum - 1;
  let mark = at;
  while (mark >= 0 && !lines[mark].startsWith("//@")) mark--;
  if (mark >= 0 && lines[mark].length > 4) { // a user's line (codegen_custom)
    const text = /** @type {string} */ (lines[at].split("//= ").pop()).trim();
    return `kernel ${lines[mark].slice(4)}, line ${at - mark} of its WGSL: ${first.message} | ${text}`;
  }
  return `kernel ${label}, WGSL line ${first.lineNum}: ${first.message} | ${code.split("\n")[first.lineNum - 1]?.trim() ?? ""}`;
}

const STORE = "texts";
const STORAGE_PATIENCE = 1000; // ms: a storage that is blocked does not answer at all

/**
 * One request to IndexedDB; "" where storage is denied, blocked or broken.
 * @param {IDBTransactionMode} mode @param {(store: IDBObjectStore) => IDBRequest} ask @returns {Promise<string>}
 */
function stored(mode, ask) {
  return new Promise((resolve) => {
    const nothing = () => resolve("");
    setTimeout(nothing, STORAGE_PATIENCE);
    try {
      const opening = indexedDB.open("tabgpu", 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
      opening.onerror = (event) => { event.preventDefault(); nothing(); };
      opening.onsuccess = () => {
        const database = opening.result;
        database.onversionchange = () => database.close();
        try {
          const transaction = database.transaction(STORE, mode), request = ask(transaction.objectStore(STORE));
          request.onerror = (event) => event.preventDefault();
          transaction.onabort = () => { database.close(); nothing(); };
          transaction.oncomplete = () => { database.close(); resolve(String(request.result ?? "")); };
        } catch {
          database.close();
          nothing();
        }
      };
    } catch {
      nothing();
    }
  });
}

/** The text that was kept under a key, or "". @param {string} key */
export function recall(key) {
  return stored("readonly", (store) => store.get(key));
}

/**
 * Keeps a text beyond the page's life, or forgets it if it is empty; "" if that did not work.
 * @param {string} key @param {string} text
 */
export function keep(key, text) {
  return text ? stored("readwrite", (store) => store.put(text, key)) : stored("readwrite", (store) => (store.delete(key), store.count()));
}
