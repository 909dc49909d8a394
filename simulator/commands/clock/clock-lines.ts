import { formatDuration } from '../../../client/duration.ts';
import { visible } from '../../../services/domain/text/visible-text.ts';
import { MerchantApi } from '../../client/merchant-api.ts';
import type { ClockEntry, ClockState } from '../../client/operations.ts';
import type { Session } from '../../session.ts';
import { notFound } from '../delivery-advice.ts';

/** Prints what happens while the clock moves. */
export class ClockLines {
  readonly #session: Session;
  /** The endpoints whose status and commands were printed. */
  readonly #explained = new Set<string>();
  #attempts = 0;
  #cancelled = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  async print(entry: ClockEntry): Promise<void> {
    if (entry.kind === 'auto_disabled') return this.#disabled(entry.endpoint_uuid);
    if (entry.kind === 'cancelled') return this.#cancel(entry);
    this.#attempts += 1;
    const { output } = this.#session;
    const isDelivered = entry.outcome === 'delivered';
    const mark = isDelivered ? output.paint('green', '✓') : output.paint('red', '✗');
    const result = entry.response_status === null ? (entry.failure_code ?? '-') : `${entry.response_status}`;
    const cells = [
      `${mark} ${shortTime(entry.at)}`,
      `${entry.type}/${entry.sub_type}`,
      `attempt ${entry.number}`,
      result,
      follows(entry),
    ];
    output.item(entry, () => output.row(cells));
  }

  async #disabled(uuid: string): Promise<void> {
    const { output } = this.#session;
    this.#explained.add(uuid);
    const endpoint = await this.#endpoint(uuid);
    const { description, url, status, disabled_reason: reason } = endpoint;
    const datum = {
      kind: 'auto_disabled',
      endpoint_uuid: uuid,
      url,
      description,
      status,
      disabled_reason: reason,
    };
    const next = output.asTyped(`hookrail sim endpoints enable ${uuid}`);
    const name = visible(description || url);
    const says = `endpoint ${name}: ${output.paint('red', status)}${reason === null ? '' : ` (${reason})`}`;
    output.item(datum, () => output.prose(`${says} → ${next}`));
  }

  #endpoint(uuid: string) {
    return new MerchantApi(this.#session.api()).endpoint(uuid);
  }

  /** Prints a delivery that ended without an attempt and, once per endpoint, the commands that bring back what it missed. */
  async #cancel(entry: ClockEntry & { kind: 'cancelled' }): Promise<void> {
    this.#cancelled += 1;
    const { output } = this.#session;
    const { at, type, sub_type: subType, endpoint_uuid: uuid, reason } = entry;
    const mark = `${output.paint('yellow', '-')} ${shortTime(at)}`;
    output.item(entry, () => output.row([mark, `${type}/${subType}`, 'cancelled', reason]));
    if (this.#explained.has(uuid)) return;
    this.#explained.add(uuid);
    const endpoint = await this.#endpoint(uuid).catch(notFound);
    if (endpoint === undefined) {
      output.remark(`endpoint ${uuid} is deleted: nothing is sent to it any more`);
      return;
    }
    const { description, url, status } = endpoint;
    const next = [`hookrail sim missed --endpoint ${uuid}`];
    if (status !== 'active') next.unshift(`hookrail sim endpoints enable ${uuid}`);
    output.advise({ says: `endpoint ${visible(description || url)}: ${status}`, next });
  }

  end(state: ClockState): void {
    const { output } = this.#session;
    const { now, ahead_ms, next_due_at } = state;
    const counts = { attempts: this.#attempts, cancelled: this.#cancelled };
    const datum = { kind: 'clock', now, ahead_ms, next_due_at, ...counts };
    output.item(datum, () => describeClock(state, this.#session));
    if (this.#attempts + this.#cancelled > 0) return;
    const hint = 'no attempt of this merchant was due; make one: hookrail sim trigger KYC/FULL_USER';
    output.remark(next_due_at === null ? hint : 'to the next attempt: hookrail sim clock advance next-retry');
  }
}

export function describeClock({ now, ahead_ms, next_due_at }: ClockState, { output }: Session): string {
  const ahead = ahead_ms === 0 ? "the system's time" : `${formatDuration(ahead_ms)} ahead`;
  const waits = next_due_at === null ? 0 : Date.parse(next_due_at) - Date.parse(now);
  const due = next_due_at === null ? 'no attempt waits' : `in ${formatDuration(Math.max(0, waits))}`;
  return output.table([
    ['clock', `${now} (${ahead})`],
    ['next', due],
  ]);
}

function follows({ outcome, at, duration_ms, next_attempt_at }: ClockEntry & { kind: 'attempt' }): string {
  if (outcome !== 'retry') return `→ ${outcome}`;
  if (next_attempt_at === null) return '';
  const waits = Date.parse(next_attempt_at) - Date.parse(at) - duration_ms;
  return `next in ${formatDuration(waits)}`;
}

/** The day too: the clock goes on for days. */
function shortTime(time: string): string {
  return time.slice(5, 19).replace('T', ' ');
}
