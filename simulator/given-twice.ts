/**
 * Returns an option that a line gives more than once although it takes one value; the parser has made a list of the
 * values. `help` returns the help of the line's command, which marks the options that take several.
 */
export async function givenTwice(
  args: readonly string[],
  parsed: Readonly<Record<string, unknown>>,
  help: () => Promise<string>,
): Promise<string | undefined> {
  const suspects = Object.keys(parsed).filter(
    (name) => Array.isArray(parsed[name]) && timesOf(name, args) > 1,
  );
  if (suspects.length === 0) return undefined;
  const entries = (await help()).split(/^(?= {2,}-)/m);
  const takesSeveral = (name: string) =>
    entries.some((entry) => optionOf(entry) === name && entry.includes('[array]'));
  return suspects.find((name) => !takesSeveral(name));
}

/** Returns the name of the option that an entry of a help is about. */
function optionOf(entry: string): string | undefined {
  return /^ +(?:-\w, )?--([\w-]+)/.exec(entry)?.[1];
}

function timesOf(name: string, args: readonly string[]): number {
  return args.filter((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`)).length;
}
