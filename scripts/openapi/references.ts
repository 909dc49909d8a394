/** Returns what a reference such as `#/components/schemas/Name` names in a document. Throws with the file's name when there is nothing. */
export function named(document: unknown, reference: string, file: string): unknown {
  const found = reference
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (inside, part) => (inside as Readonly<Record<string, unknown>> | undefined)?.[part],
      document,
    );
  if (found === undefined) throw new Error(`${file} has no ${reference}`);
  return found;
}
