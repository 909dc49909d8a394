import type { Behaviour } from './behaviours.ts';
import type { Arrival } from './receiver.ts';

/** Fails the first attempt of every other webhook, beginning with the first. Every retry succeeds. */
export function flaky(): (headers: Arrival['headers']) => Behaviour {
  let failsNext = true;
  return (headers) => {
    if (headers['webhook-attempt'] !== '1') return 'ok';
    const answer = failsNext ? '500' : 'ok';
    failsNext = !failsNext;
    return answer;
  };
}
