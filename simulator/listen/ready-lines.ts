import { formatCountdown } from '../../client/duration.ts';
import { secretHint } from '../../services/domain/secret.ts';
import type { Output } from '../output.ts';
import type { ForwardTarget } from './forward-target.ts';
import type { EndpointTrouble, ReadyListener } from './listener.ts';

interface ReadyNotes {
  /** The file that has the secret now. */
  readonly envFile: string | undefined;
  readonly events: readonly string[] | null;
  readonly hasApp: boolean;
  readonly hasKeys: boolean;
}

const ORIGINS = {
  kept: 'the same as before',
  new: 'new, and the same from now on',
  replaced: 'replaced, because the one before is not known here any more',
} as const;

/** Prints that events are forwarded now, with the secret that the app needs. */
export function sayReady(
  output: Output,
  ready: ReadyListener,
  target: ForwardTarget,
  notes: ReadyNotes,
): void {
  output.item(readyJson(ready, target, notes.events), () => {
    const written = notes.envFile === undefined ? '' : `; it is WEBHOOK_SECRET in ${notes.envFile}`;
    const noApp = `nothing listens at ${target.host} yet: start it`;
    const rows = [
      ['secret', output.paint('bold', ready.secret)],
      ['', `${ORIGINS[ready.origin]}${written}`],
      ['endpoint', ready.uuid],
      ...(notes.hasApp ? [] : [['your app', output.paint('yellow', noApp)]]),
      ...missedRow(ready.missed, output, notes.hasKeys),
    ];
    const what = notes.events === null ? 'every event goes' : `${notes.events.join(', ')} goes`;
    const head = `${output.paint('bold', 'ready')}: ${what} to ${output.paint('bold', target.url.href)}`;
    return `${output.prose(head)}\n\n${output.table(rows.map(([name = '', text = '']) => [`  ${name}`, text]))}\n`;
  });
}

function missedRow(missed: number | null, output: Output, hasKeys: boolean): string[][] {
  if (missed === null || missed === 0) return [];
  const events = missed === 1 ? '1 event was' : `${missed} events were`;
  const how = `${hasKeys ? 'r gets them now' : '--catch-up gets them'}, or: ${output.asTyped('hookrail sim missed')}`;
  return [
    ['missed', output.paint('yellow', `${events} not delivered to you while you were away`)],
    ['', how],
  ];
}

export function readyJson(
  ready: ReadyListener,
  target: ForwardTarget,
  events: readonly string[] | null,
): object {
  return {
    kind: 'ready',
    forward_to: target.url.href,
    endpoint_uuid: ready.uuid,
    url: ready.url,
    secret_hint: secretHint(ready.secret),
    secret_origin: ready.origin,
    events,
    missed: ready.missed,
    missed_since: ready.since,
  };
}

/** Returns what a lost connection means for a person. */
export function lostText(reason: string): string {
  const words: Readonly<Record<string, string>> = {
    ECONNREFUSED: 'the sandbox is not running',
    shutting_down: 'the sandbox stops',
    'HTTP 401': 'the API does not take the key any more',
    'HTTP 429': 'the key has too many open streams, or too many requests',
    'HTTP 503': 'the API is not ready',
    key_revoked: 'the key was revoked',
    replaced: 'a newer stream of the key has taken the place of this one, so it waits a minute',
  };
  return `${words[reason] ?? `the connection to the API was lost (${reason})`}; trying again`;
}

/** Returns what is wrong with the endpoint since another command changed it, and the line that helps. */
export function troubleAdvice(trouble: EndpointTrouble, target: ForwardTarget) {
  const again = `start it again: hookrail sim listen --forward-to ${target.url.href}`;
  switch (trouble.kind) {
    case 'active':
      return { says: 'its endpoint is active again', next: [] };
    case 'deleted':
      return { says: 'its endpoint was deleted: nothing arrives any more', next: [again] };
    case 'rotated':
      return { says: 'its secret was rotated elsewhere: what arrives is refused', next: [again] };
    case 'disabled': {
      const why = trouble.reason === 'gone' ? ': your app answered 410' : '';
      return {
        says: `its endpoint is ${trouble.status}${why}; nothing arrives any more`,
        next: [`hookrail sim endpoints enable ${trouble.uuid}`],
      };
    }
  }
}

/** Returns the text of the line at the foot while the connection is lost. */
export function lostSince(since: number): () => string {
  return () => `reconnecting to the sandbox, for ${formatCountdown(Date.now() - since)}`;
}
