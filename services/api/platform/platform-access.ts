import type { Request, RequestHandler, Response } from 'express';
import { PERSON_CHARACTERS_MAX, personInHeader } from '../../domain/access/person-name.ts';
import { type PlatformScope, permits } from '../../domain/access/platform-scopes.ts';
import { ApiError } from '../problem.ts';

const ON_BEHALF_OF = 'on-behalf-of';

/** Refuses a key of the platform that lacks the scope. */
export function requireScope(scope: PlatformScope): RequestHandler {
  return (_request, response, next) => {
    refuseWithout(scope, response);
    next();
  };
}

/** Throws scope_missing where the key of the request lacks the scope. */
export function refuseWithout(scope: PlatformScope, { locals }: Response): void {
  if (permits(locals.scopes, scope)) return;
  throw new ApiError('scope_missing', `This needs a key with the scope ${scope}.`, { extra: { scope } });
}

/** Reads the person for whom the platform's backend asks: the audit has the name beside the key. */
export const readPerson: RequestHandler = (request, response, next) => {
  response.locals.person = personOfRequest(request);
  next();
};

function personOfRequest(request: Request): string | undefined {
  const header = request.get(ON_BEHALF_OF);
  if (header === undefined) return undefined;
  const person = personInHeader(header);
  if (person !== undefined) return person;
  const detail = `must be a name of 1 to ${PERSON_CHARACTERS_MAX} visible characters, percent-encoded (UTF-8)`;
  throw new ApiError('validation_error', `On-Behalf-Of ${detail}.`, {
    errors: [{ pointer: `/headers/${ON_BEHALF_OF}`, code: 'invalid_format', detail }],
  });
}
