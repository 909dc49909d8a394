import { createHash, timingSafeEqual } from 'node:crypto';
import { type Judges, stillRefusedBy } from '../../api/producer/event-refusals.ts';
import { auditOf } from '../../management/audit.ts';
import { personOf } from '../../store/change.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Unchecked } from './arguments.ts';
import {
  type OperatedBroker,
  type OperatorDeps,
  type Places,
  runServed,
  type SandboxTime,
} from './command.ts';
import type { RecordStores } from './erase-entity.ts';
import { OperatorError } from './operator-error.ts';
import { type Person, requireNamed } from './person.ts';
import { pathOf, SERVED } from './served.ts';
import { placeToken } from './token-file.ts';

const TOKEN_BYTES = 32;

export interface ServiceDeps extends Omit<OperatorDeps, 'withRecordStores' | 'actor'> {
  readonly broker: RecordStores & OperatedBroker;
  readonly directory: Judges['directory'];
  /** Absent in production: the commands on the clock are not there. */
  readonly sandboxTime?: SandboxTime;
  readonly dataDir: string;
  readonly operatorTokenFile: string;
  readonly log: Logger;
}

/** Carries out operators' commands in a running service: for the operator's tool, and for the operator's console. */
export interface OperatorService
  extends Pick<ServiceDeps, 'clock' | 'random' | 'environment' | 'dataDir' | 'log'> {
  /** Compares in the same time for every text. */
  isToken(text: string): boolean;
  /** Runs a command by its name in paths, "merchants-create". Throws OperatorError. `logsReads`: true unless given. */
  run(command: string, given: Unchecked, by: Person & { readonly logsReads?: boolean }): Promise<unknown>;
}

/** Makes a new token at each start, unless one is given: whoever can read it is the operator. */
export function operatorService(given: ServiceDeps, commands = SERVED): OperatorService {
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
  const expected = digest(token);
  return {
    ...deps,
    isToken: (text) => timingSafeEqual(digest(text), expected),
    run: async (command, values, { actor, isNamed, logsReads = true }) => {
      const found = there.get(command);
      if (found === undefined)
        throw new OperatorError(
          `there is no command "${command}"; there are ${[...there.keys()].join(', ')}`,
        );
      requireNamed([command, found], values, { environment: deps.environment, isNamed });
      const result = await runServed(found, values, placesOf({ ...deps, actor }));
      if (logsReads || !found.isRead)
        deps.log.info({ event: 'operator_command', command, person: personOf(actor) });
      return result;
    },
  };
}

function placesOf(deps: OperatorDeps & Pick<ServiceDeps, 'broker' | 'sandboxTime' | 'directory'>): Places {
  const audit = auditOf(deps);
  const stillRefused = stillRefusedBy(deps);
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
