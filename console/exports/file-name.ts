/** Returns a file name of these parts; what a file system or a shell would obey is left out. */
export function fileNameOf(parts: readonly string[], ending: string): string {
  const plain = parts.map((part) =>
    part
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 60),
  );
  return `${plain.filter((part) => part !== '').join('_')}.${ending}`;
}

/** Returns a time for a file name, to the second, in UTC: 20250301t101530z. */
export function stampOf(at: number | string): string {
  return new Date(at).toISOString().replace(/[-:]|\.\d+/g, '');
}
