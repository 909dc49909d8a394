import type { Request, RequestHandler } from 'express';
import { textFault } from '../../domain/text/text-fault.ts';
import { queryOf } from '../pagination.ts';
import { ApiError, type FieldError } from '../problem.ts';

const ERRORS_MAX = 20;
/** The most characters of a name in a pointer. */
const NAME_SHOWN_MAX = 60;

/** Refuses texts of the query and the body that could not be kept unchanged, or not in every store. */
export const refuseTexts: RequestHandler = (request, _response, next) => {
  const errors = [...queryFaults(request), ...bodyFaults(request.body, '')].slice(0, ERRORS_MAX);
  refuse(errors);
  next();
};

/** Like `refuseTexts`, where the body has a check of its own. */
export const refuseQueryTexts: RequestHandler = (request, _response, next) => {
  refuse(queryFaults(request).slice(0, ERRORS_MAX));
  next();
};

function refuse(errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  const where = errors.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ');
  throw new ApiError('validation_error', `${where}.`, { errors });
}

function queryFaults(request: Request): FieldError[] {
  return [...queryOf(request)].flatMap(([name, value]) => {
    const pointer = `/query/${part(name)}`;
    return [...faultOf(name, pointer), ...faultOf(value, pointer)].slice(0, 1);
  });
}

/** The body has been read with a limit on its values. */
function bodyFaults(value: unknown, pointer: string): FieldError[] {
  if (typeof value === 'string') return faultOf(value, pointer);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const at = `${pointer}/${part(name)}`;
    return [...faultOf(name, at), ...bodyFaults(inner, at)];
  });
}

function faultOf(text: string, pointer: string): FieldError[] {
  const detail = textFault(text);
  return detail === undefined ? [] : [{ pointer, code: 'invalid_format', detail }];
}

/** Escapes a name for a JSON pointer; what cannot be written is replaced. */
function part(name: string): string {
  const shown = name
    .slice(0, NAME_SHOWN_MAX)
    .replaceAll('\0', '\\u0000')
    .replaceAll(/\p{Surrogate}/gu, '\ufffd');
  return shown.replaceAll('~', '~0').replaceAll('/', '~1');
}
