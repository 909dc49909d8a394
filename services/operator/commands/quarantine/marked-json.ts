import type { ContentFault } from '../../../domain/content/content-fault.ts';
import { pointerPart } from '../../../domain/text/text-fault.ts';
import { visible } from '../../../domain/text/visible-text.ts';
import { plain, WIDTH } from '../../../messages/text-layout.ts';

interface Line {
  readonly text: string;
  /** Where the value that begins here is; undefined on a line that only ends one. */
  readonly pointer?: string;
}

/**
 * Returns JSON in indented lines. Below the line on which a faulty value begins there is a line for each of its faults:
 * `^ /data/amountFiat must be …`. What is not there is marked at the nearest object around its place.
 */
export function markedJson(value: unknown, faults: readonly ContentFault[]): string {
  const lines = [...linesOf(value, { indent: '', name: '', pointer: '', end: '' })];
  const pointers = new Set(lines.map(({ pointer }) => pointer));
  const marks = faults.map((fault) => ({ ...fault, at: nearest(fault.pointer, pointers) }));
  return lines
    .flatMap(({ text, pointer }) => {
      const indent = text.slice(0, text.search(/\S/));
      const own = pointer === undefined ? [] : marks.filter(({ at }) => at === pointer);
      return [text, ...own.map((mark) => markLine(mark, indent))];
    })
    .join('\n');
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

/** Returns the line that marks a fault. Its pointer is foreign text: a name in it must not begin a line of its own. */
function markLine({ pointer, detail }: ContentFault, indent: string): string {
  return plain.fold(visible(`${indent}^ ${pointer} ${detail}`), WIDTH);
}
