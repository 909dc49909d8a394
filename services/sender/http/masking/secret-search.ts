import { codingOf, DECOMPRESSED_BYTES_MAX, decompressed } from './compressed.ts';
import { decodedRuns } from './encoded-runs.ts';
import { openEscapeLength, unescaped } from './escapes.ts';
import { EDGE, FORM_MIN, keptOf, type SecretForms, VISIBLE } from './secret-forms.ts';
import { placesOf, type Range, rangeOf, spreadView, type View, wholeView } from './view.ts';

/** Base64 or hexadecimal of each other, as often as this, are undone. */
const DEPTH_MAX = 4;
/** A shorter beginning of the secret at the end of a response is kept: it reveals nothing, and ordinary text may end so. */
export const BEGINNING_MIN = 6;

/** The cost of each place where the secret is found, in bytes read: its source must be computed. */
const FINDING_COST = 256;

/** How much may be searched, bytes. Each reading of a response counts. */
export interface SearchAllowance {
  /** Takes `bytes` from it. Returns false when that much is not left. */
  take(bytes: number): boolean;
}

/**
 * Finds a secret in a response in every reading of it: escapes undone, base64, hexadecimal, lists of numbers and
 * compressed texts decoded, and these within each other. Never backtracks: each reading takes time linear in its length.
 */
export class SecretSearch {
  readonly #forms: SecretForms;
  readonly #allowance: SearchAllowance;
  readonly #found: Range[] = [];
  #responseLength = 0;
  #isWithin = true;

  constructor(forms: SecretForms, allowance: SearchAllowance) {
    this.#forms = forms;
    this.#allowance = allowance;
  }

  /**
   * Returns where the secret is, in order, or null when the response cannot be searched within the allowance. `isTail`:
   * the response may have been cut off, so that its end may be the beginning of the secret.
   */
  in(response: Buffer, isTail: boolean): Range[] | null {
    this.#responseLength = response.length;
    if (!this.#search(wholeView(response, isTail), 0) || !this.#isWithin) return null;
    return merged(this.#found);
  }

  /** Returns false when not all of it was searched. */
  #search(view: View, depth: number): boolean {
    if (!this.#allowance.take(view.bytes.length * 2)) return false;
    for (const form of this.#forms.exact) this.#findExact(view, form, 0);
    const plain = unescaped(view);
    if (!plain || (plain !== view && !this.#allowance.take(view.bytes.length * 2))) return false;
    if (plain !== view) {
      for (const form of this.#forms.unescaped) this.#findExact(plain, form, EDGE);
      // An escape that is none, such as the `=4f` of `key=4f…`, hides the beginning of a secret that is cut off.
      if (view.isTail) this.#findKept(view);
    }
    this.#findKept(plain);
    if (!this.#isWithin) return false;
    if (depth === DEPTH_MAX) return true;
    for (const decoded of decodedRuns(plain)) {
      if (!this.#searchDecoded(decoded, depth + 1)) return false;
    }
    return true;
  }

  #searchDecoded(view: View, depth: number): boolean {
    if (!this.#search(view, depth)) return false;
    const coding = codingOf(view.bytes);
    if (coding === null || view.bytes.length === 0) return true;
    if (!this.#allowance.take(DECOMPRESSED_BYTES_MAX / 16)) return false;
    const bytes = decompressed(view.bytes, coding);
    if (!bytes || bytes.length === 0) return true;
    return this.#search(spreadView(view, bytes), depth);
  }

  #findExact(view: View, form: Buffer, edge: number): void {
    const { bytes } = view;
    if (bytes.length >= form.length - 2 * edge) {
      for (const [at, length] of occurrences(bytes, form, edge)) this.#add(rangeOf(view, at, length));
    }
    if (!view.isTail) return;
    const length = beginningAtEnd(bytes, bytes.length, form, form.length - 1);
    if (length > 0) this.#add([view.startOf(bytes.length - length), this.#responseLength]);
  }

  /** Finds what every copy of the secret keeps, whatever stands between. */
  #findKept(view: View): void {
    const { keeps, kept, visible } = this.#forms;
    const { bytes } = view;
    const letters = keptOf(bytes, keeps);
    if (kept.length >= FORM_MIN && letters.length >= kept.length - 2 * EDGE) {
      const firstOf = placesOf(bytes, keeps, 0);
      const lastOf = placesOf(bytes, keeps, 0);
      for (const [at, length] of occurrences(letters, kept, EDGE)) {
        this.#add([view.startOf(firstOf(at)), view.endOf(lastOf(at + length - 1))]);
      }
    }
    if (!view.isTail) return;
    this.#findBeginning(view, keeps, kept, letters);
    if (keeps !== VISIBLE) this.#findBeginning(view, VISIBLE, visible, keptOf(bytes, VISIBLE));
  }

  /** Finds the beginning of the secret at the end of a view, before an escape that may have been cut off. */
  #findBeginning(view: View, keeps: Uint8Array, form: Buffer, letters: Buffer): void {
    const { bytes } = view;
    const open = keptOf(bytes.subarray(bytes.length - openEscapeLength(bytes)), keeps).length;
    for (const length of open > 0 ? [letters.length, letters.length - open] : [letters.length]) {
      const size = beginningAtEnd(letters, length, form, form.length - EDGE - 1);
      if (size > 0) this.#add([view.startOf(placesOf(bytes, keeps, 0)(length - size)), this.#responseLength]);
    }
  }

  #add(range: Range): void {
    this.#isWithin &&= this.#allowance.take(FINDING_COST);
    this.#found.push(range);
  }
}

/**
 * Returns where a form is within some bytes, and how long it is there: up to `edge` characters may be missing at either
 * end.
 */
function occurrences(bytes: Buffer, form: Buffer, edge: number): [at: number, length: number][] {
  const core = form.subarray(edge, form.length - edge);
  const result: [number, number][] = [];
  for (let at = bytes.indexOf(core); at >= 0; at = bytes.indexOf(core, at + core.length)) {
    let first = at;
    let end = at + core.length;
    for (let i = edge - 1; i >= 0 && first > 0 && bytes[first - 1] === form[i]; i -= 1) first -= 1;
    for (let i = form.length - edge; i < form.length && bytes[end] === form[i]; i += 1) end += 1;
    result.push([first, end - first]);
  }
  return result;
}

/**
 * Returns the length of the longest beginning of a form, without its edge or with it, that the first `length` bytes end
 * with, or 0. A longer one than `sizeMax` is found as a whole.
 */
function beginningAtEnd(bytes: Buffer, length: number, form: Buffer, sizeMax: number): number {
  for (let size = Math.min(length, sizeMax); size >= BEGINNING_MIN; size -= 1) {
    const at = length - size;
    const isBeginning = bytes[at] === form[0] && isSame(bytes, at, form, 0, size);
    const isLater =
      size + EDGE <= form.length && bytes[at] === form[EDGE] && isSame(bytes, at, form, EDGE, size);
    if (isBeginning || isLater) return size;
  }
  return 0;
}

function isSame(bytes: Buffer, at: number, form: Buffer, from: number, size: number): boolean {
  for (let i = 1; i < size; i += 1) if (bytes[at + i] !== form[from + i]) return false;
  return true;
}

/** Returns the ranges in order, with those that touch or overlap made one. */
function merged(ranges: readonly Range[]): Range[] {
  const result: [number, number][] = [];
  for (const [from, to] of [...ranges].sort(([one], [other]) => one - other)) {
    const last = result.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else result.push([from, to]);
  }
  return result;
}
