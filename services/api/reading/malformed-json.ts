import { ApiError } from '../problem.ts';
import { jsonTextFault, positionIn } from './json-text.ts';

/** The byte order mark: some editors put it before a text. It is not part of the JSON. */
const BYTE_ORDER_MARK = '\ufeff';

/** Returns the error for a body that is not JSON: where it stops being it, and what would be right there. */
export function malformedJson(bytes: Buffer): ApiError {
  const whole = bytes.toString('utf8');
  const text = whole.startsWith(BYTE_ORDER_MARK) ? whole.slice(BYTE_ORDER_MARK.length) : whole;
  const fault = jsonTextFault(text);
  // JSON.parse and our look at the text agree; should they ever not, the place is not known.
  if (fault?.kind !== 'malformed') return new ApiError('malformed_json', 'The body cannot be parsed.');
  const before = whole.length - text.length;
  return faultAt({
    whole,
    at: fault.at + before,
    isAtEnd: fault.at === text.length,
    expected: fault.expected,
    pointer: fault.pointer,
  });
}

/** Returns the error for bytes that are not UTF-8: where the first of them is. */
export function notUtf8(bytes: Buffer): ApiError {
  const byteOffset = firstInvalid(bytes);
  const { line, column } = positionIn(bytes.toString('utf8', 0, byteOffset), byteOffset);
  const place = `line ${line}, column ${column} (byte ${byteOffset})`;
  return new ApiError('malformed_json', `The body is not UTF-8: ${place}.`, {
    extra: { position: { line, column, byte_offset: byteOffset } },
  });
}

function faultAt({
  whole,
  at,
  isAtEnd,
  expected,
  pointer,
}: {
  readonly whole: string;
  readonly at: number;
  readonly isAtEnd: boolean;
  readonly expected: string;
  readonly pointer: string;
}): ApiError {
  const { byteOffset, ...shown } = positionIn(whole, at);
  const column = shown.line === 1 && whole.startsWith(BYTE_ORDER_MARK) ? shown.column - 1 : shown.column;
  const place = `line ${shown.line}, column ${column}`;
  const inside = pointer === '' ? '' : `, in ${pointer}`;
  const what = isAtEnd ? `${expected}, but the body ends` : expected;
  return new ApiError(
    'malformed_json',
    `The body cannot be parsed: ${place}: ${what} (byte ${byteOffset}${inside}).`,
    {
      extra: { position: { line: shown.line, column, byte_offset: byteOffset, pointer } },
    },
  );
}

/** Decoding puts U+FFFD in the place of invalid bytes: the first that the bytes do not have is where they begin. */
function firstInvalid(bytes: Buffer): number {
  const text = bytes.toString('utf8');
  let offset = 0;
  for (let from = 0; ; ) {
    const at = text.indexOf('\ufffd', from);
    if (at < 0) return offset;
    offset += Buffer.byteLength(text.slice(from, at));
    if (bytes.toString('latin1', offset, offset + 3) !== '\xef\xbf\xbd') return offset;
    offset += 3;
    from = at + 1;
  }
}
