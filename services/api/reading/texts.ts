import type { Request, RequestHandler } from 'express';
import { pointerPart, type TextFault, textFaultsIn } from '../../domain/text/text-fault.ts';
import { queryOf } from '../pagination.ts';
import { ApiError, type FieldError } from '../problem.ts';

const ERRORS_MAX = 20;

/** Refuses texts of the query and the body that could not be kept unchanged, or not in every store. */
export const refuseTexts: RequestHandler = (request, _response, next) => {
  // The body has been read with a limit on its values.
  const errors = [...queryFaults(request), ...fieldErrors(textFaultsIn(request.body))].slice(0, ERRORS_MAX);
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
    const pointer = `/query/${pointerPart(name)}`;
    return fieldErrors([...textFaultsIn(name, pointer), ...textFaultsIn(value, pointer)].slice(0, 1));
  });
}

function fieldErrors(faults: readonly TextFault[]): FieldError[] {
  return faults.map((fault) => ({ ...fault, code: 'invalid_format' }));
}
