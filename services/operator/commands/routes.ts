import { createHash, timingSafeEqual } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import express, { type Router } from 'express';
import type { Broker } from '../../broker/broker.ts';
import { messageOf } from '../../messages/error-message.ts';
import { personOf } from '../../store/change.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { auditOf } from './arguments.ts';
import { isBrokerCommand, runBrokerCommand } from './broker-commands.ts';
import type { ClockCommands } from './clock.ts';
import { type Arguments, type OperatorDeps, OperatorError, runOperatorCommand } from './commands.ts';
import type { RecordStores } from './erase-entity.ts';
import { actorIn, PERSON_HEADER } from './person.ts';
import { operatorTokenFile } from './token-file.ts';

/** Enough for some thousand positions of a record store. */
const BODY_BYTES_MAX = 128 * 1024;
const TOKEN_BYTES = 32;

/**
 * The operator interface of a running service, `POST /<command>` with JSON arguments: the service has locked the
 * embedded store, so the operator's tool asks it. Mount it on the operations server, which listens on loopback. Makes a
 * new token at each start: whoever can read the data directory is the operator.
 */
export function operatorRoutes(
  given: Omit<OperatorDeps, 'withRecordStores' | 'actor'> & {
    readonly broker: RecordStores & Pick<Broker, 'losses'>;
    /** Absent in production. */
    readonly clockCommands?: ClockCommands;
    readonly dataDir: string;
    readonly log: Logger;
  },
): Router {
  const deps = {
    ...given,
    withRecordStores: <T>(use: (stores: RecordStores) => Promise<T>) => use(given.broker),
  };
  const token = Buffer.from(deps.random.bytes(TOKEN_BYTES)).toString('base64url');
  writeToken(deps.dataDir, token);
  const expected = digest(`Bearer ${token}`);
  const router = express.Router();
  router.use((request, response, next) => {
    if (timingSafeEqual(digest(request.headers.authorization ?? ''), expected)) return next();
    const error = `the token does not match ${operatorTokenFile(deps.dataDir)}`;
    response.status(401).setHeader('WWW-Authenticate', 'Bearer').json({ error });
  });
  router.post('/:command', express.json({ limit: BODY_BYTES_MAX }), async (request, response) => {
    const { command } = request.params;
    try {
      const args = request.body ?? {};
      const actor = actorIn(request.get(PERSON_HEADER));
      const result = await run({ ...deps, actor }, command, args);
      deps.log.info({ event: 'operator_command', command, person: personOf(actor) });
      response.setHeader('Cache-Control', 'no-store').json({ result });
    } catch (error) {
      if (error instanceof OperatorError) return void response.status(422).json({ error: error.message });
      const reason = messageOf(error);
      deps.log.error({ event: 'operator_command_failed', command, reason });
      response.status(503).json({ error: reason });
    }
  });
  return router;
}

function run(
  deps: OperatorDeps & Pick<Parameters<typeof operatorRoutes>[0], 'broker' | 'clockCommands'>,
  command: string,
  args: Arguments,
): Promise<unknown> {
  const audit = auditOf(deps);
  const clockCommand = deps.clockCommands?.find(command);
  if (clockCommand) return clockCommand(args, audit);
  if (isBrokerCommand(command))
    return runBrokerCommand(deps.broker, command, args, { now: deps.clock.now(), audit });
  return runOperatorCommand(deps, command, args);
}

/** Hashes a token for comparison: equal lengths, so that the comparison takes the same time for every token. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Writes a file beside it and renames it: the token's file is never incomplete or in another mode. */
function writeToken(dataDir: string, token: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = operatorTokenFile(dataDir);
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${token}\n`, { mode: 0o600 });
  renameSync(fresh, file);
}
