import express, { type RequestHandler, type Router } from 'express';
import { messageOf } from '../../messages/error-message.ts';
import { FailedAttempts } from '../../process/access/failed-attempts.ts';
import { isFromHere } from '../../process/access/this-machine.ts';
import { personOf } from '../../store/change.ts';
import { OperatorError, UsageError } from './operator-error.ts';
import type { OperatorService } from './operator-service.ts';
import { ASSUMED_HEADER, actorIn, PERSON_HEADER } from './person.ts';

/** Enough for some thousand positions of a record store. */
export const BODY_BYTES_MAX = 128 * 1024;
/** Requests with a wrong token that an address may send in a minute. */
const FAILED_TOKENS_MAX = 60;

/**
 * The operator interface of a running service, `POST /<command>` with JSON arguments: the service has locked the
 * embedded store, so the operator's tool asks it. Mount it on the operations server. The token and what commands answer
 * never cross a network, where they could be read: commands are taken from this machine only.
 */
export function operatorRoutes(service: OperatorService): Router {
  const router = express.Router();
  const remedy = 'run the operator there, for example with docker compose exec api hookrail operator';
  router.use(refuseOtherMachines('commands are taken', remedy), requireToken(service));
  router.post('/:command', express.json({ limit: BODY_BYTES_MAX }), async (request, response) => {
    const { command } = request.params;
    try {
      const actor = actorIn(request.get(PERSON_HEADER));
      const isNamed = personOf(actor) !== null && request.get(ASSUMED_HEADER) === undefined;
      const result = await service.run(command, request.body ?? {}, { actor, isNamed });
      response.setHeader('Cache-Control', 'no-store').json({ result });
    } catch (error) {
      if (error instanceof OperatorError)
        return void response.status(error instanceof UsageError ? 400 : 422).json({ error: error.message });
      const reason = messageOf(error);
      service.log.error({ event: 'operator_command_failed', command, reason });
      response.status(503).json({ error: reason });
    }
  });
  return router;
}

/** Takes requests from this machine only: the connection is not encrypted. `remedy`: what else to do. */
export function refuseOtherMachines(what: string, remedy: string): RequestHandler {
  return ({ socket }, response, next) => {
    if (isFromHere(socket.remoteAddress ?? '', socket.localAddress)) return next();
    const error = `${what} from the machine or container of the service only, since this connection is not encrypted: ${remedy}`;
    response.status(403).json({ error });
  };
}

/** Requires the token. Says nothing of where it is: the operator's tool knows, and a stranger need not. */
function requireToken(service: OperatorService): RequestHandler {
  const failed = new FailedAttempts({ ...service, perMinuteMax: FAILED_TOKENS_MAX });
  return (request, response, next) => {
    const [, token = ''] = /^Bearer (.*)$/.exec(request.headers.authorization ?? '') ?? [];
    if (service.isToken(token)) return next();
    const { remoteAddress = '' } = request.socket;
    const againInMs = failed.refusedForMs(remoteAddress);
    if (againInMs === 0) {
      failed.count(remoteAddress);
      return void response
        .status(401)
        .setHeader('WWW-Authenticate', 'Bearer')
        .json({ error: 'the token is wrong' });
    }
    response.status(429).setHeader('Retry-After', Math.ceil(againInMs / 1000));
    response.json({ error: `the limit is ${FAILED_TOKENS_MAX} wrong tokens a minute` });
  };
}
