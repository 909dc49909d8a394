import type { KeyRing } from '../../keys/keyring.ts';
import type { Clock } from '../../process/clock.ts';
import { type Actor, OPERATOR } from '../../store/change.ts';
import type { RecordsSealed, Resealed, SealedThing } from '../../store/maintenance.ts';
import type { Store } from '../../store/store.ts';
import { published } from './published.ts';

/** Values sealed anew in one transaction: few, so that merchants' own changes do not wait behind it. */
const AT_ONCE = 100;
const LOOK_AGAIN_MS = 10;
/** The longest wait of each step for the relay, which stands still while no broker is reachable. */
const RELAYED_MS_MAX = 1000;

export interface Rewrapped {
  readonly endpoints: number;
  readonly answers: number;
  /** Merchants and endpoints, deleted ones included, that got a new seal beside the endpoints above. */
  readonly records: number;
  /** Values that their key does not open: altered, or sealed with another key of that name. */
  readonly notOpened: readonly string[];
  /** Records that have no seal, or do not fit it: something other than hookrail has written them. */
  readonly refused: readonly string[];
}

interface RewrapDeps {
  readonly store: Pick<Store, 'sealings' | 'outbox' | 'leases'>;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly actor?: Actor;
}

/**
 * Seals everything with the ring's active key, in small steps, while the service continues. Values rotated meanwhile
 * are skipped: they are sealed with the active key already. Run again after a crash, it does the rest.
 */
export async function rewrap(deps: RewrapDeps): Promise<Rewrapped> {
  const { notOpened, ...values } = await rewrapValues(deps);
  const { records, refused } = await rewrapRecords(deps);
  return {
    ...values,
    records,
    notOpened: notOpened.filter((id) => !refused.includes(`endpoint:${id}`)),
    refused,
  };
}

/** Seals every merchant and endpoint whose seal is of another key. */
async function rewrapRecords(deps: RewrapDeps): Promise<Pick<Rewrapped, 'records' | 'refused'>> {
  const refused: string[] = [];
  let records = 0;
  for (let after: string | null | undefined; after !== null; ) {
    const step: RecordsSealed = await deps.store.sealings.sealRecords({
      limit: AT_ONCE,
      ...(after === undefined ? {} : { after }),
    });
    records += step.sealed;
    refused.push(...step.refused);
    after = step.next;
    await betweenSteps(deps);
  }
  return { records, refused };
}

/** Seals the endpoints' secrets and the stored responses. */
async function rewrapValues(deps: RewrapDeps): Promise<Omit<Rewrapped, 'records' | 'refused'>> {
  const { store, clock, keyRing, actor = OPERATOR } = deps;
  const notOpened: string[] = [];
  let [endpoints, answers] = [0, 0];
  for (let after: string | undefined; ; ) {
    const now = Math.floor(clock.wall());
    const options = { now, limit: AT_ONCE, ...(after === undefined ? {} : { after }) };
    const things = await store.sealings.notSealedWith(keyRing.active, options);
    after = things.at(-1)?.cursor;
    if (after === undefined) return { endpoints, answers, notOpened };
    const resealed: Resealed[] = [];
    for (const thing of things) {
      const anew = sealedAnew(thing, keyRing);
      if (anew) resealed.push(anew);
      else notOpened.push(thing.id);
    }
    const replaced = await store.sealings.replace(resealed, { at: now, actor });
    endpoints += replaced.endpoints;
    answers += replaced.answers;
    await betweenSteps(deps);
  }
}

/**
 * Waits for the relay. Changes are published in order: without a wait, a merchant's rotation would queue behind all of
 * ours.
 */
async function betweenSteps(deps: Pick<RewrapDeps, 'store' | 'clock'>): Promise<void> {
  if (await deps.store.leases.isHeld('api'))
    await published(deps, { everyMs: LOOK_AGAIN_MS, atMostMs: RELAYED_MS_MAX });
}

function sealedAnew({ kind, id, sealed }: SealedThing, keyRing: KeyRing): Resealed | null {
  let plain: string;
  try {
    plain = keyRing.open(sealed, id);
  } catch {
    return null;
  }
  return { kind, id, sealed, resealed: keyRing.seal(plain, id) };
}
