import { pointerPart } from '../text/text-fault.ts';
import type { ContentFault } from './content-fault.ts';

interface Line {
  readonly text: string;
  /** Where the value that begins here is; undefined on a line that only ends one. */
  readonly pointer?: string;
}

/** A line of JSON, and the faults of the value that begins on it. */
export interface MarkedLine {
  readonly text: string;
  readonly indent: string;
  readonly faults: readonly ContentFault[];
}

/**
 * Returns JSON in indented lines, each with the faults of the value that begins there. A fault of what is not there belongs
 * to the nearest object around its place.
 */
export function markedLines(value: unknown, faults: readonly ContentFault[]): readonly MarkedLine[] {
  const lines = [...linesOf(value, { indent: '', name: '', pointer: '', end: '' })];
  const pointers = new Set(lines.map(({ pointer }) => pointer));
  const marks = faults.map((fault) => ({ fault, at: nearest(fault.pointer, pointers) }));
  return lines.map(({ text, pointer }) => ({
    text,
    indent: text.slice(0, text.search(/\S/)),
    faults: pointer === undefined ? [] : marks.filter(({ at }) => at === pointer).map(({ fault }) => fault),
  }));
}

function* linesOf(
  value: unknown,
  {
    indent,
    name,
    pointer,
    end,
  }: { readonly indent: string; readonly name: string; readonly pointer: string; readonly end: string },
): Generator<Line> {
  const start = `${indent}${name}`;
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (entries.length === 0) {
    yield { text: `${start}${JSON.stringify(value)}${end}`, pointer };
    return;
  }
  const isList = Array.isArray(value);
  yield { text: `${start}${isList ? '[' : '{'}`, pointer };
  for (const [index, [key, inner]] of entries.entries())
    yield* linesOf(inner, {
      indent: `${indent}  `,
      name: isList ? '' : `${JSON.stringify(key)}: `,
      pointer: `${pointer}/${pointerPart(key)}`,
      end: index === entries.length - 1 ? '' : ',',
    });
  yield { text: `${indent}${isList ? ']' : '}'}${end}` };
}

/** Returns the pointer itself, or that of the nearest value around it that is there. */
function nearest(pointer: string, there: ReadonlySet<string | undefined>): string {
  let found = pointer;
  while (found !== '' && !there.has(found)) found = found.slice(0, Math.max(0, found.lastIndexOf('/')));
  return found;
}
