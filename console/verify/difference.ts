/** The first place at which a body is not the one that was sent. */
interface Difference {
  /** Counted from 1, in characters. */
  readonly at: number;
  readonly sent: string;
  readonly yours: string;
  /** The same data: only the writing of it differs. */
  readonly isSameData: boolean;
}

const BEFORE = 12;
const AFTER = 28;

/** Returns where a body leaves the one that was sent; undefined where both are equal. */
export function differenceOf(sent: string, yours: string): Difference | undefined {
  if (sent === yours) return undefined;
  let at = 0;
  while (at < sent.length && sent[at] === yours[at]) at += 1;
  const around = (text: string) => {
    const from = Math.max(0, at - BEFORE);
    const end = at + AFTER;
    const shown = text.slice(from, end).replaceAll('\n', '⏎');
    return `${from > 0 ? '…' : ''}${shown}${text.length > end ? '…' : ''}`;
  };
  return {
    at: at + 1,
    sent: around(sent),
    yours: around(yours),
    isSameData: sameData(sent) === sameData(yours),
  };
}

/** Returns JSON with sorted keys; a text that is no JSON as it is. */
function sameData(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), (_, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    );
  } catch {
    return text;
  }
}
