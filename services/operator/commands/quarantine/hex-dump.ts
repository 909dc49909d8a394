const LINE_BYTES = 16;
const SHOWN_BYTES_MAX = 256;

/** Returns the first bytes, 16 a line: where they are, their hexadecimal digits, and the printable ones as text. */
export function hexDump(bytes: Buffer): string {
  const shown = bytes.subarray(0, SHOWN_BYTES_MAX);
  const lines: string[] = [];
  for (let at = 0; at < shown.length; at += LINE_BYTES) {
    const line = shown.subarray(at, at + LINE_BYTES);
    const digits = [...line].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const text = line.toString('latin1').replaceAll(/[^\x20-\x7e]/g, '.');
    lines.push(`${at.toString(16).padStart(8, '0')}  ${digits.padEnd(3 * LINE_BYTES - 1)}  |${text}|`);
  }
  const left = bytes.length - shown.length;
  if (left > 0) lines.push(`… ${left} more bytes: --file writes all of them`);
  return lines.length === 0 ? 'it has no bytes' : lines.join('\n');
}
