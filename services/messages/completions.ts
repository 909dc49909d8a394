import type { Argv } from 'yargs';

/**
 * Returns the words that may stand in place of the last one of a line, as a parser knows them. The parser is used up.
 */
export async function completions(parser: Argv, words: readonly string[]): Promise<readonly string[]> {
  let printed = '';
  // The first word is the program's.
  const line = ['--get-yargs-completions', '$0', ...words];
  await parser.completion('completion', false).parseAsync(line, {}, (_error, _argv, text) => {
    printed = text;
  });
  // In a zsh, yargs adds descriptions.
  return printed.split('\n').flatMap((word) => (word === '' ? [] : [word.replace(/:.*/s, '')]));
}
