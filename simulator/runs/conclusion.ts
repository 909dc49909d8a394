import type { Watched } from '../client/delivery-watch.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import type { Session } from '../session.ts';

const GIVEN_UP = ['exhausted', 'refused', 'cancelled'];

/**
 * Ends a command that followed deliveries. When the user asked to wait, a delivery that was given up is exit code 1,
 * and one that is still open, or failing, is 5; otherwise a remark says so.
 */
export function conclude({ output, signal }: Session, watched: readonly Watched[], isAsked: boolean): void {
  if (signal.aborted) return;
  const statuses = watched.flatMap(({ routed, deliveries }) =>
    routed ? [...deliveries.values()].map((delivery) => delivery?.status ?? 'pending') : ['pending'],
  );
  const lost = statuses.filter((status) => GIVEN_UP.includes(status)).length;
  const open = statuses.filter((status) => status !== 'delivered' && !GIVEN_UP.includes(status)).length;
  if (lost > 0) {
    const text = `${count(lost, 'delivery was', 'deliveries were')} given up`;
    const next = 'list them: hookrail sim deliveries list';
    if (isAsked) throw new CommandFailure(EXIT.expectation, text, [next]);
    output.remark(`${text}; ${next}`);
  }
  if (open > 0) {
    const next = 'list pending ones: hookrail sim deliveries list';
    if (isAsked) throw new CommandFailure(EXIT.timeout, 'some deliveries did not end in time', [next]);
    output.remark(`some deliveries are still pending; ${next}`);
  }
}

function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}
