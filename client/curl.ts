/** Returns a curl command that posts a body with headers, for a POSIX shell. */
export function curlOf(url: string, headers: Readonly<Record<string, string>>, body: string): string {
  const parts = [
    `curl ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    // Not --data: it would drop line breaks, and read a file for a body that begins with @.
    `--data-raw ${quoted(body)}`,
  ];
  return parts.join(' \\\n  ');
}

/** Returns a text in quotation marks, for a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
