const SHOWN_BYTES_MAX = 200;

/** Returns text as it is, anything else as hexadecimal digits; cut when it is long. */
export function shownBytes(bytes: Uint8Array): string {
  const beginning = Buffer.from(bytes.subarray(0, SHOWN_BYTES_MAX));
  const text = beginning.toString();
  const isText = /^[\x20-\x7e]*$/.test(text);
  const shown = isText ? text : `0x${beginning.toString('hex')}`;
  return bytes.length > SHOWN_BYTES_MAX ? `${shown}…` : shown;
}
