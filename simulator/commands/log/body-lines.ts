import { visible } from '../../../services/domain/text/visible-text.ts';
import type { Output } from '../../output.ts';

/** Returns the exact body or, to a person, the same with a line for each field; a long value is below its name. */
export function bodyLines(body: string, output: Output): string {
  if (!output.isInteractive) return visible(body);
  return JSON.stringify(JSON.parse(body), null, 2)
    .split('\n')
    .map(visible)
    .map((line) => (line.length <= output.width ? line : line.replace(/^( *)("[^"]*":) /, '$1$2\n$1  ')))
    .join('\n');
}
