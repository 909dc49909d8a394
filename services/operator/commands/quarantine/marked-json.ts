import type { ContentFault } from '../../../domain/content/content-fault.ts';
import { markedLines } from '../../../domain/content/marked-lines.ts';
import { visible } from '../../../domain/text/visible-text.ts';
import { plain, WIDTH } from '../../../messages/text-layout.ts';

/**
 * Returns JSON in indented lines. Below the line on which a faulty value begins there is a line for each of its faults:
 * `^ /data/amountFiat must be …`. What is not there is marked at the nearest object around its place.
 */
export function markedJson(value: unknown, faults: readonly ContentFault[]): string {
  return markedLines(value, faults)
    .flatMap(({ text, indent, faults: own }) => [text, ...own.map((fault) => markLine(fault, indent))])
    .join('\n');
}

/** Returns the line that marks a fault. Its pointer is foreign text: a name in it must not begin a line of its own. */
function markLine({ pointer, detail }: ContentFault, indent: string): string {
  return plain.fold(visible(`${indent}^ ${pointer} ${detail}`), WIDTH);
}
