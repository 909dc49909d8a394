import { CLOCK_COMMANDS } from './clock.ts';
import type { ServedCommand } from './command.ts';
import { KEY_COMMANDS } from './keys.ts';
import { DELIVERY_COMMANDS } from './look/deliveries.ts';
import { ENDPOINT_COMMANDS } from './look/endpoints.ts';
import { EVENT_COMMANDS } from './look/events.ts';
import { FIND_COMMANDS } from './look/find.ts';
import { MERCHANT_LOOKS } from './look/merchant.ts';
import { NEWEST_COMMANDS } from './look/newest.ts';
import { STORY_COMMANDS } from './look/story.ts';
import { MAINTENANCE_COMMANDS } from './maintenance.ts';
import { MERCHANT_COMMANDS } from './merchants.ts';
import { PORTAL_COMMANDS } from './portal.ts';
import { RECORD_STORE_COMMANDS } from './record-stores.ts';
import { REPLAY_COMMANDS } from './replays.ts';
import { STREAM_COMMANDS } from './streams.ts';

export type ServedCommands = Readonly<Record<string, ServedCommand>>;

const ALL = {
  ...MERCHANT_COMMANDS,
  ...MERCHANT_LOOKS,
  ...KEY_COMMANDS,
  ...PORTAL_COMMANDS,
  ...ENDPOINT_COMMANDS,
  ...DELIVERY_COMMANDS,
  ...EVENT_COMMANDS,
  ...STORY_COMMANDS,
  ...FIND_COMMANDS,
  ...NEWEST_COMMANDS,
  ...MAINTENANCE_COMMANDS,
  ...RECORD_STORE_COMMANDS,
  ...STREAM_COMMANDS,
  ...REPLAY_COMMANDS,
  ...CLOCK_COMMANDS,
};

/** The commands that a running service carries out, by their names. */
export const SERVED: ServedCommands = ALL;

type Run = (...given: never[]) => Promise<unknown>;
/** The results of the commands, by their names in paths. */
export type ServedAnswers = {
  readonly [Name in keyof typeof ALL as Dashed<Name>]: Awaited<
    ReturnType<Extract<(typeof ALL)[Name]['run'], Run>>
  >;
};
type Dashed<Name extends string> = Name extends `${infer Group} ${infer Word}` ? `${Group}-${Word}` : Name;

/** Returns the name of a command in the paths of the operations server: "merchants-create". */
export function pathOf(name: string): string {
  return name.replace(' ', '-');
}
