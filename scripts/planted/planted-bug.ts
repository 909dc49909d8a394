/** A bug that the tests must catch: one edit of the code, and the tests that fail because of it. */
export interface PlantedBug {
  /** Short and unique, words joined by hyphens. */
  readonly id: string;
  /** The faulty behaviour that it causes. */
  readonly bug: string;
  readonly file: string;
  /** Must occur exactly once in the file. */
  readonly text: string;
  readonly replacement: string;
  /** The test file that must fail. */
  readonly test: string;
  /** Runs only the tests whose titles contain this. */
  readonly title?: string;
  /** The test needs Kafka brokers. */
  readonly needsKafka?: true;
  /** Planted with `--slow` only. */
  readonly isSlow?: true;
}

/** Returns the source with the bug in it. Throws unless the text to replace occurs exactly once. */
export function plant({ id, file, text, replacement }: PlantedBug, source: string): string {
  const times = source.split(text).length - 1;
  if (times !== 1) {
    const what = JSON.stringify(text);
    throw new Error(
      `found ${times} times in ${file}: ${what}. Update the bug ${id} in scripts/planted to match the code`,
    );
  }
  if (text === replacement) throw new Error(`changes nothing in ${file}: ${JSON.stringify(text)}`);
  return source.replace(text, () => replacement);
}
