import type { Request } from 'express';
import { pointerPart } from '../../domain/text/text-fault.ts';
import { didYouMean } from '../../messages/did-you-mean.ts';
import { queryOf } from '../pagination.ts';
import { ApiError, type FieldError } from '../problem.ts';

/**
 * Reads the only parameter of an operation, which is true or false; absent is false. Refuses every other one: what the
 * flag prevents must not happen because its name was misspelt.
 */
export function queryFlag(request: Request, name: string): boolean {
  const query = queryOf(request);
  for (const given of query.keys()) {
    if (given === name) continue;
    const detail = `is not a parameter of this operation${didYouMean(given, [name])}`;
    throw refused({ pointer: `/query/${pointerPart(given)}`, code: 'unknown_field', detail });
  }
  const [value = 'false', ...others] = query.getAll(name);
  if (others.length === 0 && (value === 'true' || value === 'false')) return value === 'true';
  throw refused({ pointer: `/query/${name}`, code: 'invalid_enum', detail: 'must be true or false' });
}

function refused(error: FieldError): ApiError {
  return new ApiError('validation_error', `${error.pointer} ${error.detail}.`, { errors: [error] });
}
