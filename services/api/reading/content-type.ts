import { MIMEType } from 'node:util';

/** Returns why a body of this Content-Type is not taken as JSON in UTF-8, or undefined. */
export function contentTypeFault(header: string | undefined): string | undefined {
  if (header === undefined) return 'The request came with no Content-Type.';
  const type = parsed(header);
  if (type?.essence !== 'application/json') return 'The request came with a different Content-Type.';
  const charset = type.params.get('charset');
  return charset === null || isUtf8(charset) ? undefined : 'The body’s charset is not UTF-8.';
}

function parsed(header: string): MIMEType | undefined {
  try {
    return new MIMEType(header);
  } catch {
    return undefined;
  }
}

/** Whether a label names UTF-8, by the labels of the WHATWG Encoding Standard: utf-8, utf8, unicode-1-1-utf-8 … */
function isUtf8(label: string): boolean {
  try {
    return new TextDecoder(label).encoding === 'utf-8';
  } catch {
    return false;
  }
}
