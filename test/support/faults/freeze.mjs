// Loaded into a service by `node --import`: the main thread stands still where it meets the text FREEZE. `FREEZE <n> ms`
// lets it go on after so long, once. In a response or its headers, in the JSON of a request, or in an event that is routed.
// It sleeps. After `FREEZE COMPUTING` it computes instead: on a busy machine it then waits for a CPU, and the watchdog does
// not count that time.
import { isMainThread } from 'node:worker_threads';

const WORD = /FREEZE(?: (\d+) ms| (COMPUTING))?/;
const NOBODY_WAKES = new Int32Array(new SharedArrayBuffer(4));
let hasPaused = false;

/** @param {string} text */
function meet(text) {
  const found = WORD.exec(text);
  if (!found) return;
  const isPause = found[1] !== undefined;
  if (isPause && hasPaused) return;
  hasPaused ||= isPause;
  while (found[2] !== undefined);
  Atomics.wait(NOBODY_WAKES, 0, 0, isPause ? Number(found[1]) : Number.POSITIVE_INFINITY);
}

if (isMainThread) {
  const { from } = Buffer;
  const { parse, stringify } = JSON;
  Buffer.from = (value, ...rest) => {
    if (Buffer.isBuffer(value) && value.length < 100_000) meet(value.toString('latin1'));
    return from(value, ...rest);
  };
  JSON.parse = (text, ...rest) => {
    if (typeof text === 'string' && text.includes('FREEZE REQUEST')) meet('FREEZE');
    return parse(text, ...rest);
  };
  JSON.stringify = (value, ...rest) => {
    const text = stringify(value, ...rest);
    if (text?.includes('FREEZE EVENT') && new Error().stack?.includes('fan-out')) meet('FREEZE');
    return text;
  };
}
