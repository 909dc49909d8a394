/** A bug that the tests must find: one edit of the code, and the tests that fail because of it. */
export interface PlantedBug {
  /** Short, unique, with hyphens. */
  readonly id: string;
  /** What goes wrong with it. */
  readonly bug: string;
  readonly file: string;
  /** Found exactly once in the file. */
  readonly text: string;
  readonly replacement: string;
  /** The test file that fails. */
  readonly test: string;
  /** Only tests whose titles contain this are run. */
  readonly title?: string;
  /** The test wants brokers. */
  readonly needsKafka?: true;
  /** Planted with `--slow` only. */
  readonly isSlow?: true;
}

/** Returns the text with the bug in it. Throws where the text to replace is not there exactly once. */
export function plant({ id, file, text, replacement }: PlantedBug, source: string): string {
  const times = source.split(text).length - 1;
  if (times !== 1) {
    const what = JSON.stringify(text);
    throw new Error(
      `found ${times} times in ${file}: ${what}. scripts/planted quotes the code as it is: ${id}`,
    );
  }
  if (text === replacement) throw new Error(`changes nothing in ${file}: ${JSON.stringify(text)}`);
  return source.replace(text, () => replacement);
}
