/**
 * Lines that people type, each with the line that they mean: words, `--options`, and `<names>` that stand for a word each.
 * Whatever else was typed follows. A meant line that begins with `hookrail` is of another tool.
 */
export type MeantLines = Readonly<Record<string, string>>;

/** Returns whether a word can stand in the place of a name; a name without a rule takes every word. */
export type WordRules = Readonly<Record<string, (word: string) => boolean>>;

export interface Meant {
  /** The meant line without what was typed besides. */
  readonly says: string;
  /** The names that the row has, with the words that stand for them. */
  readonly named: ReadonlyMap<string, string>;
  /** The options that the row replaces. */
  readonly options: readonly string[];
  readonly args: readonly string[];
}

/** Returns the line that is meant by the first row which the typed line fits; undefined when there is none. */
export function meantLine(args: readonly string[], rows: MeantLines, rules: WordRules): Meant | undefined {
  for (const [typed, line] of Object.entries(rows)) {
    const fitted = matched(args, typed.split(' '), rules);
    if (fitted === undefined) continue;
    const { named, rest } = fitted;
    const words = line.replace(/<\w+>/g, (name) => named.get(name) ?? name).split(' ');
    const options = typed.split(' ').filter((word) => word.startsWith('-'));
    return { says: words.join(' '), named, options, args: [...words, ...rest] };
  }
  return undefined;
}

interface Fitted {
  readonly named: ReadonlyMap<string, string>;
  /** The words and options that the row does not mention. */
  readonly rest: readonly string[];
}

/** Options may stand anywhere, so they are looked for first; the words that are left are in the row's order. */
function matched(args: readonly string[], row: readonly string[], rules: WordRules): Fitted | undefined {
  const rest = [...args];
  const named = new Map<string, string>();
  const takes = (token: string, word: string | undefined): boolean => {
    if (word === undefined || !token.startsWith('<')) return token === word;
    if (word.startsWith('-') || word.includes(' ') || rules[token]?.(word) === false) return false;
    named.set(token, word);
    return true;
  };
  const firstOption = row.findIndex((token) => token.startsWith('-'));
  const words = firstOption === -1 ? row : row.slice(0, firstOption);
  const [option, value] = firstOption === -1 ? [] : row.slice(firstOption);
  if (option !== undefined) {
    const at = rest.findIndex((arg) => arg === option || arg.startsWith(`${option}=`));
    const given = rest[at];
    if (given === undefined) return undefined;
    const isJoined = given !== option;
    if (
      value === undefined ? isJoined : !takes(value, isJoined ? given.slice(option.length + 1) : rest[at + 1])
    ) {
      return undefined;
    }
    rest.splice(at, value === undefined || isJoined ? 1 : 2);
  }
  for (const token of words) {
    const at = rest.findIndex((arg) => !arg.startsWith('-'));
    if (at === -1 || !takes(token, rest[at])) return undefined;
    rest.splice(at, 1);
  }
  return { named, rest };
}
