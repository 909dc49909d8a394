import {
  type CustomHeader,
  HEADERS_LENGTH_MAX,
  type HeaderGiven,
  headersFault,
  headersLength,
  headersText,
  parseHeaders,
} from '../../domain/controls/custom-headers.ts';
import type { Endpoint, SealedHeaders } from '../../domain/endpoint.ts';
import type { HeadersChange } from '../../store/endpoints.ts';
import type { ApiContext } from '../context.ts';
import type { FieldCode } from '../field-codes.ts';
import { ApiError } from '../problem.ts';

type Context = Pick<ApiContext, 'keyRing'>;
type Headed = Pick<Endpoint, 'uuid' | 'headers'>;

const FIELD_CODE = {
  header_name_invalid: 'invalid_format',
  header_reserved: 'not_allowed',
  header_repeated: 'repeated_field',
  header_value_invalid: 'invalid_format',
} as const;

/** Returns the headers of a new endpoint, sealed; undefined: it has none. Throws header_not_allowed. */
export function newHeaders(
  context: Context,
  uuid: string,
  given: readonly HeaderGiven[] | null | undefined,
): SealedHeaders | undefined {
  return headersAfter(context, { uuid }, given)?.to ?? undefined;
}

/** Returns the change of an endpoint's headers; undefined: none is asked for. Throws header_not_allowed. */
export function headersAfter(
  context: Context,
  before: Headed,
  given: readonly HeaderGiven[] | null | undefined,
): HeadersChange | undefined {
  if (given === undefined) return undefined;
  const seen = before.headers ?? null;
  if (given === null || given.length === 0) return { to: null, seen };
  const fault = headersFault(given);
  if (fault) throw refused(`/headers/${fault.index}/${fault.field}`, FIELD_CODE[fault.code], fault.detail);
  const headers = given.some(({ value }) => value === undefined)
    ? withKept(given, openedHeaders(context, before))
    : (given as readonly CustomHeader[]);
  const length = headersLength(headers);
  if (length > HEADERS_LENGTH_MAX) {
    const detail = `names and values have ${length} characters together; the limit is ${HEADERS_LENGTH_MAX}`;
    throw refused('/headers', 'too_long', detail);
  }
  const names = headers.map(({ name }) => name);
  return { to: { names, sealed: context.keyRing.seal(headersText(headers), before.uuid) }, seen };
}

/** Gives headers without a value the one that is stored under their name. */
function withKept(
  given: readonly HeaderGiven[],
  stored: readonly CustomHeader[] | undefined,
): readonly CustomHeader[] {
  const values = new Map(stored?.map(({ name, value }) => [name.toLowerCase(), value]));
  return given.map(({ name, value = values.get(name.toLowerCase()) }, index) => {
    if (value !== undefined) return { name, value };
    const why = stored ? 'no value is stored under this name' : 'the stored values cannot be opened';
    throw refused(`/headers/${index}/value`, 'required', `${name} needs a value: ${why}`);
  });
}

/** Returns an endpoint's headers in plain text; undefined: the key ring does not open them. */
export function openedHeaders(
  { keyRing }: Context,
  { uuid, headers }: Headed,
): readonly CustomHeader[] | undefined {
  if (!headers) return [];
  const text = keyRing.tryOpen(headers.sealed, uuid);
  return text === undefined ? undefined : parseHeaders(text);
}

function refused(pointer: string, code: FieldCode, detail: string): ApiError {
  return new ApiError('header_not_allowed', `${pointer}: ${detail}.`, {
    errors: [{ pointer, code, detail }],
  });
}
