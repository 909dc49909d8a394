/** Kills a service again and again while causes of operational notices happen. Shared by the engines. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '../../../../services/samples/chance.ts';
import { eventually } from '../../eventually.ts';
import { type Causes, HAPPENS_MS_MAX } from './causes.ts';

/** A kill comes within this time after a cause: before its notice is looked for, while it is sent, or after it. */
const KILL_WITHIN_MS = 1500;
/** Leaves time for the other causes. */
const ROTATION_PAUSE_MS = 400;
/** The settings of such a service. */
export const NOTICE_LOOP_ENVIRONMENT = {
  HOOKRAIL_RETRY_SCALE: '10000',
  HOOKRAIL_AUTO_DISABLE_HOURS: '24',
  HOOKRAIL_AUTO_DISABLE_ATTEMPTS: '5',
};

interface Killed {
  readonly causes: Causes;
  readonly chance: Chance;
  readonly kills: number;
  /** Kills the process that records causes and sends notices, and starts it again. */
  readonly kill: () => Promise<void>;
  /** Causes beside the others, again and again until the kills are over. */
  readonly beside?: () => Promise<void>;
}

/** Kills a service after causes, while secrets are rotated and an endpoint is disabled and recovers again and again. */
export async function killWhileCausing({ causes, chance, kills, kill, beside }: Killed) {
  let isOver = false;
  const again = async (cause: () => Promise<void>) => {
    do await cause();
    while (!isOver);
  };
  const [rotating, gone] = [await causes.endpoint('rotating'), await causes.endpoint('gone')];
  const causing = [
    again(async () => {
      await causes.rotate(rotating);
      await sleep(ROTATION_PAUSE_MS);
    }),
    again(() => causes.switchOff(gone)),
    ...(beside ? [again(beside)] : []),
  ];
  const killing = (async () => {
    for (let killed = 0; killed < kills; killed += 1) {
      const before = causes.lines.length;
      await eventually('there is a cause', () => causes.lines.length > before, HAPPENS_MS_MAX);
      await sleep(chance.below(KILL_WITHIN_MS));
      await kill();
    }
  })().finally(() => {
    isOver = true;
  });
  await Promise.all([killing, ...causing]);
}
