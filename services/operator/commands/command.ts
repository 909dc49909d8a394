import type { Environment } from '../../api/auth.ts';
import type { Broker, RequeueOptions } from '../../broker/broker.ts';
import type { Config } from '../../config/config.ts';
import type { KeyRing } from '../../keys/keyring.ts';
import type { AddToAudit } from '../../management/audit.ts';
import { Refused } from '../../management/refused.ts';
import type { Clock } from '../../process/clock.ts';
import type { Random } from '../../process/random.ts';
import type { Actor } from '../../store/change.ts';
import type { Store } from '../../store/store.ts';
import { type Arguments, checked, type Given, type Unchecked, type Values } from './arguments.ts';
import type { RecordStores } from './erase-entity.ts';
import { UsageError, wordedRefusal } from './operator-error.ts';

/**
 * One operator command is one entry of a table: its arguments, what it does, where it runs and how its result is shown.
 * The command line, the operations server and the documentation are made from the entries.
 */

export interface OperatorDeps {
  readonly store: Pick<
    Store,
    | 'merchants'
    | 'keys'
    | 'endpoints'
    | 'outbox'
    | 'log'
    | 'lists'
    | 'replays'
    | 'notices'
    | 'audit'
    | 'sealings'
    | 'erasures'
    | 'leases'
    | 'backup'
    | 'portalSessions'
  >;
  readonly clock: Clock;
  readonly random: Random;
  readonly environment: Environment;
  /** The address of the console in links; null where it is not known. */
  readonly consoleUrl: string | null;
  /** The operator who gives the command. */
  readonly actor: Actor;
  /** Throws KeyRingError when there is none. */
  readonly keyRing: () => KeyRing;
  /** Lends the broker's record stores; where no service runs they are opened for the call. */
  readonly withRecordStores: <T>(use: (recordStores: RecordStores) => Promise<T>) => Promise<T>;
}

/** The streams of a broker that commands are about. */
export type OperatedBroker = Pick<Broker, 'quarantine' | 'deadLetters' | 'stalls' | 'losses'>;

/** The context of a command on the broker's records. */
export interface BrokerContext {
  readonly now: number;
  readonly audit: AddToAudit;
  /** Returns why the router would refuse an event, or null. Absent where no service runs that knows the merchants. */
  readonly stillRefused?: RequeueOptions['stillRefused'];
}

/** Where the feed of a merchant is read from. */
interface FeedPlace {
  readonly merchant: string | undefined;
  readonly after: string | undefined;
}

/** The clock of a sandbox, which can be moved. */
export interface SandboxTime {
  show(place: FeedPlace): Promise<unknown>;
  step(given: FeedPlace & { readonly until: string }, audit: AddToAudit): Promise<unknown>;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** The means of a command that the tool carries out itself. */
export interface ToolMeans {
  readonly environment: Variables;
  readonly isJson: boolean;
  /** Returns the configuration; `over`: variables in the place of the environment's. */
  readonly config: (over?: Variables) => Config;
  readonly actor: () => Actor;
  /** Prints progress. */
  readonly print: (line: string) => void;
  /** Gives a command to the service, or carries it out where none runs. */
  readonly ask: (name: string, given?: Unchecked) => Promise<unknown>;
}

interface Described<As extends Arguments, Result> {
  readonly describe: string;
  readonly args?: As;
  /** Returns what is wrong with arguments that are right one by one. */
  refuse?(given: Given<As>): string | undefined;
  /** No command line has the name of this command: another one, or the simulator, gives it. */
  readonly hasNoLine?: true;
  /** It changes nothing, so production accepts it from an operator who has given no name. */
  readonly isRead?: true;
  /** Whether a command that changes nothing shows personal data: that needs a name as a change does. */
  showsPersonal?(given: Given<As>): boolean;
  /** It may take minutes. */
  readonly isLong?: true;
  /** Its change is in force once a process with the role api has published it. */
  readonly isRelayed?: true;
  /** Where it runs, when the tool carries it out itself. */
  readonly runs?: string;
  /** The fields that have a column of their own in a list; the others follow with their names. */
  readonly columns?: readonly string[];
  /** The JSON has the newest item first; a table has it last. */
  readonly isNewestFirst?: true;
  /** Changes the result as the tool's own arguments ask. */
  shape?(result: Result, given: Given<As>): unknown;
  /** Returns the text that a person reads, where it is no table. `fieldLines` lays fields out, a line for each. */
  text?(result: Result, fieldLines: (fields: object) => string): string;
  /** Whether the result is one that scripts must notice: the exit code is that of a failure. */
  isFailure?(result: Result): boolean;
}

/** Where a command runs, what it is lent there, and the context of the call. */
interface Means {
  readonly store: readonly [OperatorDeps, undefined];
  readonly broker: readonly [OperatedBroker, BrokerContext];
  readonly clock: readonly [SandboxTime, AddToAudit];
  readonly tool: readonly [ToolMeans, undefined];
}
type Place = keyof Means;

interface Run<P extends Place, As extends Arguments, Result> extends Described<As, Result> {
  run(means: Means[P][0], given: Given<As>, context: Means[P][1]): Promise<Result>;
}
type On<P extends Place, As extends Arguments, Result> = Run<P, As, Result> & { readonly on: P };

export type Command = { readonly [P in Place]: On<P, Arguments, unknown> }[Place];
/** A command that the service carries out. */
export type ServedCommand = Exclude<Command, { readonly on: 'tool' }>;
/** Commands by their names, as they are typed: "merchants create". */
export type Commands = Readonly<Record<string, Command>>;

/** Returns the entry of a command that runs at a place. */
export function on<P extends Place, const As extends Arguments, Result>(
  place: P,
  entry: Run<P, As, Result>,
): On<P, As, Result> {
  return { on: place, ...entry };
}

/** Returns the arguments that a service is sent: all but those that the tool uses itself. */
export function sentArguments({ args = {} }: Pick<Command, 'args'>): Arguments {
  return Object.fromEntries(Object.entries(args).filter(([, { local }]) => !local));
}

/** Checks what is given to a command. Throws UsageError. */
export function checkedFor(
  { args = {}, refuse }: Pick<Command, 'args' | 'refuse'>,
  given: Unchecked,
): Values {
  const values = checked(args, given);
  const fault = refuse?.(values);
  if (fault !== undefined) throw new UsageError(fault);
  return values;
}

/** Lends what commands run on, for a call. */
export type Places = {
  readonly [P in ServedCommand['on']]: <T>(use: (...means: Means[P]) => Promise<T>) => Promise<T>;
};

/** Checks the arguments and runs a command. Throws UsageError, or OperatorError when it cannot be carried out. */
export async function runServed(command: ServedCommand, given: Unchecked, places: Places): Promise<unknown> {
  const values = checkedFor({ ...command, args: sentArguments(command) }, given);
  try {
    switch (command.on) {
      case 'store':
        return await places.store((deps, context) => command.run(deps, values, context));
      case 'broker':
        return await places.broker((broker, context) => command.run(broker, values, context));
      case 'clock':
        return await places.clock((clock, context) => command.run(clock, values, context));
    }
  } catch (error) {
    throw error instanceof Refused ? wordedRefusal(error) : error;
  }
}
