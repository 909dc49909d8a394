/** Returns the bytes of base64 text, leniently, as Node decodes it: with or without padding, and also base64url. */
export function base64Bytes(text: string): Uint8Array<ArrayBuffer> {
  const [start = ''] = text.split('=');
  const clean = start
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/[^A-Za-z0-9+/]/g, '');
  // A last character alone has no whole byte.
  const whole = clean.length % 4 === 1 ? clean.slice(0, -1) : clean;
  return Uint8Array.from(atob(whole), (character) => character.charCodeAt(0));
}
