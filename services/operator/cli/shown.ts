import { visible, visibleLines } from '../../domain/text/visible-text.ts';
import { relativeTime } from '../../messages/relative-time.ts';
import { plain, WIDTH } from '../../messages/text-layout.ts';
import type { Command } from '../commands/command.ts';

type Shape = { readonly [Name in 'columns' | 'isNewestFirst' | 'text']?: Command[Name] | undefined };
type Fields = Readonly<Record<string, unknown>>;

/** Returns a command's result as it is printed. */
export function shown(
  result: unknown,
  { text, columns = [], isNewestFirst }: Shape,
  { isJson, now }: { readonly isJson: boolean; readonly now: number },
): string {
  if (isJson) return visibleLines(JSON.stringify(result));
  if (text) return visibleLines(text(result, (fields) => fieldLines(fields as Fields, now)));
  if (isPage(result)) {
    const rows = shown(result.items, { columns, isNewestFirst }, { isJson, now });
    return result.next === null ? rows : `${rows}\nolder ones: --after ${visible(result.next)}`;
  }
  if (!Array.isArray(result)) return withBody(result as Fields, now);
  if (result.length === 0) return 'none';
  return table(isNewestFirst ? result.toReversed() : result, columns, now);
}

/** A page of a list, and the cursor of the next one. */
interface Page {
  readonly items: readonly Fields[];
  readonly next: string | null;
}

function isPage(result: unknown): result is Page {
  return typeof result === 'object' && result !== null && 'items' in result && 'next' in result;
}

/** The fields, and below them the body, where there is one: indented if it is JSON. */
function withBody({ body, ...fields }: Fields, now: number): string {
  const lines = fieldLines(fields, now);
  return typeof body === 'string' ? `${lines}\nbody:\n${visibleLines(indented(body))}` : lines;
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** A line for each field; what has no value is left out. */
function fieldLines(fields: Fields, now: number): string {
  const rows = filled(fields).map(([name, value]) => {
    const time = timeIn(name, value);
    return [name, time === undefined ? cell(value) : `${value} (${relativeTime(time, now)})`];
  });
  return plain.columns(rows, WIDTH);
}

/** A row for each item, below the names of the columns. Fields that do not fit beside them follow with their names. */
function table(items: readonly Fields[], wanted: readonly string[], now: number): string {
  const texts = items.map((item) =>
    filled(item).map(([name, value]) => {
      const time = timeIn(name, value);
      return [name, time === undefined ? cell(value) : relativeTime(time, now)] as const;
    }),
  );
  const columns = fitting(wanted, texts);
  const rows = texts.map((item) => {
    const others = item.filter(([name]) => !columns.includes(name));
    const cells = new Map(item);
    const rest = others.map(([name, text]) => `${name}=${text}`).join('  ');
    return [...columns.map((name) => cells.get(name) ?? ''), rest];
  });
  return plain.columns([[...columns, ''], ...rows], WIDTH);
}

/** Returns the first columns, as many as fit into a line. */
function fitting(
  columns: readonly string[],
  items: readonly (readonly (readonly [string, string])[])[],
): readonly string[] {
  let end = 0;
  return columns.filter((column) => {
    const cells = items.flatMap((item) => item.filter(([name]) => name === column));
    end += Math.max(column.length, ...cells.map(([, text]) => text.length)) + 2;
    return end <= WIDTH + 2;
  });
}

function filled(fields: Fields): readonly (readonly [string, unknown])[] {
  return Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
}

const NAME_OF_TIME = /^(at|oldest|newest|since|until)$|(At|Time)$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Returns the time that a field has, in milliseconds since the epoch; undefined for any other field. */
function timeIn(name: string, value: unknown): number | undefined {
  return typeof value === 'string' && NAME_OF_TIME.test(name) && TIME.test(value)
    ? Date.parse(value)
    : undefined;
}

/** Lists and fields within a field are written out, so that they can be broken between words. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(cell).join(', ');
  if (typeof value !== 'object') return visible(`${value}`);
  return `{${filled(value as Fields)
    .map(([name, each]) => `${name}=${cell(each)}`)
    .join(' ')}}`;
}
