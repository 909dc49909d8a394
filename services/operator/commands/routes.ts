import { createHash, timingSafeEqual } from 'node:crypto';
import express, { type RequestHandler, type Router } from 'express';
import { type Judges, refusalsOf } from '../../api/producer/event-refusals.ts';
import type { DomainEvent } from '../../domain/event.ts';
import { refusalText } from '../../domain/quarantine.ts';
import { messageOf } from '../../messages/error-message.ts';
import { FailedAttempts } from '../../process/access/failed-attempts.ts';
import { isFromHere } from '../../process/access/this-machine.ts';
import { personOf } from '../../store/change.ts';
import type { Logger } from '../../telemetry/logger.ts';
import {
  auditOf,
  type OperatedBroker,
  type OperatorDeps,
  type Places,
  runServed,
  type SandboxTime,
} from './command.ts';
import type { RecordStores } from './erase-entity.ts';
import { OperatorError, UsageError } from './operator-error.ts';
import { ASSUMED_HEADER, actorIn, PERSON_HEADER, requireNamed } from './person.ts';
import { pathOf, SERVED } from './served.ts';
import { placeToken } from './token-file.ts';

/** Enough for some thousand positions of a record store. */
const BODY_BYTES_MAX = 128 * 1024;
const TOKEN_BYTES = 32;
/** Requests with a wrong token that an address may send in a minute. */
const FAILED_TOKENS_MAX = 60;

interface ServiceDeps extends Omit<OperatorDeps, 'withRecordStores' | 'actor'> {
  readonly broker: RecordStores & OperatedBroker;
  readonly directory: Judges['directory'];
  /** Absent in production: the commands on the clock are not there. */
  readonly sandboxTime?: SandboxTime;
  readonly dataDir: string;
  readonly operatorTokenFile: string;
  readonly log: Logger;
}

/**
 * The operator interface of a running service, `POST /<command>` with JSON arguments: the service has locked the
 * embedded store, so the operator's tool asks it. Mount it on the operations server. Makes a new token at each start,
 * unless one is given: whoever can read it is the operator. The token and what commands answer never cross a network,
 * where they could be read: commands are taken from this machine only.
 */
export function operatorRoutes(given: ServiceDeps, commands = SERVED): Router {
  const deps = {
    ...given,
    withRecordStores: <T>(use: (stores: RecordStores) => Promise<T>) => use(given.broker),
  };
  const there = new Map(
    Object.entries(commands)
      .filter(([, { on }]) => on !== 'clock' || deps.sandboxTime)
      .map(([name, command]) => [pathOf(name), command]),
  );
  const token = placeToken(deps, () => Buffer.from(deps.random.bytes(TOKEN_BYTES)).toString('base64url'));
  const router = express.Router();
  router.use(
    refuseOtherMachines,
    requireToken(token, new FailedAttempts({ ...deps, perMinuteMax: FAILED_TOKENS_MAX })),
  );
  router.post('/:command', express.json({ limit: BODY_BYTES_MAX }), async (request, response) => {
    const { command } = request.params;
    try {
      const actor = actorIn(request.get(PERSON_HEADER));
      const found = there.get(command);
      if (found === undefined)
        throw new OperatorError(
          `there is no command "${command}"; there are ${[...there.keys()].join(', ')}`,
        );
      const isNamed = personOf(actor) !== null && request.get(ASSUMED_HEADER) === undefined;
      requireNamed([command, found], request.body ?? {}, { environment: deps.environment, isNamed });
      const result = await runServed(found, request.body ?? {}, placesOf({ ...deps, actor }));
      deps.log.info({ event: 'operator_command', command, person: personOf(actor) });
      response.setHeader('Cache-Control', 'no-store').json({ result });
    } catch (error) {
      if (error instanceof OperatorError)
        return void response.status(error instanceof UsageError ? 400 : 422).json({ error: error.message });
      const reason = messageOf(error);
      deps.log.error({ event: 'operator_command_failed', command, reason });
      response.status(503).json({ error: reason });
    }
  });
  return router;
}

const refuseOtherMachines: RequestHandler = ({ socket }, response, next) => {
  if (isFromHere(socket.remoteAddress ?? '', socket.localAddress)) return next();
  const error =
    'commands are taken from the machine or container of the service only, since this connection is not encrypted: run ' +
    'the operator there, for example with docker compose exec api hookrail operator';
  response.status(403).json({ error });
};

/** Requires the token. Says nothing of where it is: the operator's tool knows, and a stranger need not. */
function requireToken(token: string, failed: FailedAttempts): RequestHandler {
  const expected = digest(`Bearer ${token}`);
  return (request, response, next) => {
    if (timingSafeEqual(digest(request.headers.authorization ?? ''), expected)) return next();
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

function placesOf(deps: OperatorDeps & Pick<ServiceDeps, 'broker' | 'sandboxTime' | 'directory'>): Places {
  const audit = auditOf(deps);
  const stillRefused = async (event: DomainEvent) => {
    const now = deps.clock.now();
    const refusal = (await refusalsOf([event], deps, now)).get(event);
    return refusal ? refusalText(refusal, event, now) : null;
  };
  return {
    store: (use) => use(deps, undefined),
    broker: (use) => use(deps.broker, { now: deps.clock.now(), audit, stillRefused }),
    clock: (use) => use(deps.sandboxTime as SandboxTime, audit),
  };
}

/** Hashes a token for comparison: equal lengths, so that the comparison takes the same time for every token. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
