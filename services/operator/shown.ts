import { visible, visibleLines } from '../domain/visible-text.ts';

/** Returns a command's result as it is printed. */
export function shown(result: unknown, output: 'text' | 'json'): string {
  return visibleLines(output === 'json' ? JSON.stringify(result) : asText(result));
}

/** Prints one line per item; an empty list has a line of its own. */
function asText(result: unknown): string {
  if (typeof result === 'string') return result;
  if (!Array.isArray(result)) return lines(result, '\n');
  return result.length === 0 ? 'none' : result.map((item) => lines(item, '  ')).join('\n');
}

function lines(item: unknown, separator: string): string {
  const entries = Object.entries(item as Record<string, unknown>).filter(([, value]) => value !== null);
  return entries
    .map(
      ([name, value]) => `${name}=${visible(typeof value === 'object' ? JSON.stringify(value) : `${value}`)}`,
    )
    .join(separator);
}
