/** The time for a browser to take a file. */
const TAKEN_MS = 60_000;

/** Saves a text as a file of the reader. */
export function save(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), TAKEN_MS);
}

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
