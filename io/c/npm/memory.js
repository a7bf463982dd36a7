// Calls into a module: arguments are copied into its memory, answers out of it.

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Instance of a module from a URL, bytes, a response or a compiled module. */
export async function instance(source, usual) {
  let module = source ?? usual;
  if (module instanceof URL && module.protocol === "file:") {
    const { readFile } = await import("node:fs/promises");
    module = await readFile(module);
  } else if (module instanceof URL || typeof module === "string") {
    module = await fetch(module);
  }
  if (typeof Response !== "undefined" && module instanceof Response) {
    if (!module.ok) {
      throw new Error(`invalid response for ${module.url}: found status ${module.status}, allowed 200`);
    }
    module = await module.arrayBuffer();
  }
  const compiled = module instanceof WebAssembly.Module ? module : await WebAssembly.compile(module);
  const { exports } = await WebAssembly.instantiate(compiled, {});
  return { compiled, exports };
}

/** Bytes of a text or of a typed array. */
function bytes(value) {
  if (typeof value === "string") {
    return encoder.encode(value);
  }
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

/**
 * Calls `exports[name]` with texts and typed arrays, each as its address and its length, and numbers. Returns the
 * document and the array of the answer; an error of the request becomes a RangeError.
 */
export function call(exports, name, values) {
  const blocks = [];
  const place = (value) => {
    if (typeof value === "number") {
      return [value];
    }
    const content = bytes(value);
    if (content.length === 0) {
      return [0, 0];
    }
    const address = exports.groundwave_allocate(content.length);
    if (address === 0) {
      throw new RangeError(`invalid size of an argument: found ${content.length} bytes, allowed what memory there is`);
    }
    blocks.push([address, content.length]);
    // The memory may have grown, and its buffer with it.
    new Uint8Array(exports.memory.buffer).set(content, address);
    return [address, typeof value === "string" ? content.length : value.length];
  };
  let answer;
  try {
    answer = exports[name](...values.flatMap(place));
  } finally {
    for (const [address, length] of blocks) {
      exports.groundwave_release(address, length);
    }
  }
  try {
    const { buffer } = exports.memory;
    const text = decoder.decode(
      new Uint8Array(buffer, exports.groundwave_answer_text(answer), exports.groundwave_answer_text_length(answer)),
    );
    if (exports.groundwave_answer_valid(answer) === 0) {
      throw new RangeError(text);
    }
    const length = exports.groundwave_answer_values_length(answer);
    const Kind = exports.groundwave_answer_value_bytes(answer) === 8 ? Float64Array : Float32Array;
    const array = length === 0 ? new Kind(0) : new Kind(buffer, exports.groundwave_answer_values(answer), length).slice();
    return { document: text === "" ? undefined : JSON.parse(text), array };
  } finally {
    exports.groundwave_answer_free(answer);
  }
}
