import { expect, it } from 'vitest';
import type { Broker } from '../../services/broker/broker.ts';
import { Directory } from '../../services/domain/directory.ts';
import type { DomainEvent } from '../../services/domain/event.ts';
import { runServed } from '../../services/operator/commands/command.ts';
import { RECORD_STORE_COMMANDS } from '../../services/operator/commands/record-stores.ts';
import { fanOut } from '../../services/router/fan-out.ts';
import { anEvent, merchantChange } from '../support/records/broker-records.ts';
import { NO_PLACES } from '../support/service/no-places.ts';
import type { GiveBench } from './broker-bench.ts';

/** Two events never reach receivers under one id, whatever an operator replays. */
export function conflictGuarantees(bench: GiveBench): void {
  const MERCHANT = 'merchant-1';
  const directory = new Directory();
  directory.apply(merchantChange(MERCHANT, 1));

  /** Opens a broker whose router keeps what it routed. */
  async function opened(): Promise<{ readonly broker: Broker; readonly routed: DomainEvent[] }> {
    const broker = await bench().open();
    const routed: DomainEvent[] = [];
    await broker.events.consume(
      (input) => {
        const result = fanOut(input, { directory, acceptsSimulated: true, now: bench().clock.now() });
        if (result.kind === 'routed' && input.decoded.ok) routed.push(input.decoded.event);
        return result;
      },
      { inFlightMax: 10 },
    );
    return { broker, routed };
  }

  /** Publishes two events under one id, and returns the first, the second, and the second's position in quarantine. */
  async function conflict(broker: Broker, routed: readonly DomainEvent[]) {
    const first = anEvent({ merchantId: MERCHANT });
    const second = { ...first, occurredAt: first.occurredAt + 1 };
    await broker.publishEvents([first]);
    await broker.publishEvents([second]);
    await bench().eventually('the first is routed', () => routed.length === 1);
    const [kept] = await bench().eventually('the second is in quarantine', async () => {
      const list = await broker.quarantine.list({ limit: 10 });
      return list.length === 1 ? list : undefined;
    });
    return { first, second, position: kept?.position ?? '' };
  }

  const audited: unknown[] = [];
  const replay = (broker: Broker, given: Readonly<Record<string, unknown>>) =>
    runServed(RECORD_STORE_COMMANDS['quarantine replay'], given, {
      ...NO_PLACES,
      broker: (use) =>
        use(broker, {
          now: bench().clock.now(),
          audit: async (_, details) => {
            audited.push(details);
          },
        }),
    });
  const left = async (broker: Broker) =>
    (await broker.quarantine.list({ limit: 10 })).map(({ record }) => [record.reason, record.eventId]);

  it.each([{ all: true }, { reason: 'event_id_conflict' }, { merchant: MERCHANT }])(
    'leaves conflicts out of a replay of many, and says so: %o',
    async (filter) => {
      const { broker, routed } = await opened();
      const { first } = await conflict(broker, routed);
      expect(await replay(broker, filter)).toEqual({
        replayed: 0,
        conflicts: { leftOut: 1, detail: expect.stringContaining('--as-new-event') },
      });
      expect(await left(broker)).toEqual([['event_id_conflict', first.eventId]]);
      expect(routed).toHaveLength(1);
    },
  );

  it('refuses a conflict that is named, with the reason', async () => {
    const { broker, routed } = await opened();
    const { position } = await conflict(broker, routed);
    expect(await replay(broker, { positions: [position] })).toEqual({
      replayed: 0,
      refused: 1,
      refusals: [{ position, detail: expect.stringContaining('another event has this id') }],
    });
    expect(await left(broker)).toHaveLength(1);
  });

  it('publishes a conflict under a new id on request, which the answer and the audit have', async () => {
    const { broker, routed } = await opened();
    const { first, second, position } = await conflict(broker, routed);
    audited.length = 0;
    const answer = (await replay(broker, { positions: [position], asNewEvent: true })) as {
      readonly newEvents: readonly { readonly newEventId: string }[];
    };
    const newEventId = answer.newEvents[0]?.newEventId ?? '';
    expect(answer).toEqual({ replayed: 1, newEvents: [{ position, eventId: first.eventId, newEventId }] });
    expect(audited).toEqual([{ records: 1, positions: [position], newEventIds: [newEventId] }]);
    const last = await bench().eventually('the second is routed', () => routed[1]);
    expect(newEventId).not.toBe(first.eventId);
    expect(last).toMatchObject({ ...second, eventId: newEventId });
    expect(await left(broker)).toEqual([]);
  });

  it('makes one event of the same conflict that came twice', async () => {
    const { broker, routed } = await opened();
    const { second } = await conflict(broker, routed);
    await broker.publishEvents([second]);
    await bench().eventually('it is in quarantine twice', async () => (await left(broker)).length === 2);
    await replay(broker, { all: true, asNewEvent: true });
    await bench().eventually('it is routed', () => routed.length === 2);
    const marker = anEvent({ merchantId: MERCHANT, entityId: second.entityId });
    await broker.publishEvents([marker]);
    await bench().eventually('what came after it is routed', () => routed.at(-1)?.eventId === marker.eventId);
    expect(routed).toHaveLength(3);
    expect(await left(broker)).toEqual([]);
  });

  it('takes an event that is put back for a conflict when its id belongs to another one by then', async (context) => {
    const { broker, routed } = await opened();
    if (broker.capabilities.recognisesRepeatedEvents) return context.skip();
    const { first, position } = await conflict(broker, routed);
    // As a tool asks that does not know the rule.
    await broker.quarantine.requeue([position]);
    await bench().eventually('it is in quarantine again', async () => {
      const list = await broker.quarantine.list({ limit: 10 });
      return list.length === 1 && list[0]?.position !== position;
    });
    expect(routed.map(({ eventId }) => eventId)).toEqual([first.eventId]);
  });
}
