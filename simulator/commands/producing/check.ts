import type { components } from '../../../client/generated/merchant-api.ts';
import { eventToJson } from '../../../services/codec/event-json.ts';
import type { DomainEvent } from '../../../services/domain/event.ts';
import { bodyOf } from '../../client/api-client.ts';
import { counted } from '../../counted.ts';
import { CommandFailure, EXIT, usage } from '../../exit.ts';
import type { Output } from '../../output.ts';
import type { Session } from '../../session.ts';
import { EVENTS_PER_REQUEST_MAX } from '../../sinks/sinks.ts';
import { whyLines } from './why-lines.ts';

type Judged = components['schemas']['PublishedEvents']['results'][number];

/**
 * Asks the service what would become of events if they were published now; publishes nothing. Fails with exit code 1 when
 * one would be put into quarantine.
 */
export async function checkEvents(session: Session, events: readonly DomainEvent[]): Promise<void> {
  const { output } = session;
  if (events.length > EVENTS_PER_REQUEST_MAX)
    throw usage(`--check takes at most ${EVENTS_PER_REQUEST_MAX} events: give a lower --count`);
  const request = session.producer().rest.POST('/producer/events', {
    params: { query: { dry_run: true } },
    body: events.map(eventToJson),
  });
  const { results } = await bodyOf(request, { lists: { results: { texts: ['event_id', 'status'] } } });
  for (const judged of results) output.item(judged, () => describe(judged, output));
  output.remark('nothing was published');
  const refused = results.filter(({ status }) => status === 'quarantined').length;
  if (refused > 0)
    throw new CommandFailure(
      EXIT.expectation,
      events.length === 1
        ? 'the event would be put into quarantine'
        : `${refused} of ${events.length} events would be put into quarantine`,
    );
}

function describe(judged: Judged, output: Output): string {
  const { event_id: id, status, code, title = '', detail = '', remedy = '', endpoints } = judged;
  if (status === 'quarantined')
    return [
      `${output.paint('yellow', 'would be quarantined')}  ${id}`,
      ...whyLines({ title, detail, remedy }, output, `${code}`),
    ].join('\n');
  const start = output.paint(
    status === 'accepted' ? 'green' : 'yellow',
    status === 'accepted' ? 'would be accepted' : 'would be dropped: its id was published before',
  );
  return output.row([
    `${start}  ${id}`,
    ...(endpoints
      ? [
          `to ${counted(endpoints.routed, 'endpoint')}`,
          `${counted(endpoints.skipped, 'endpoint')} would not get it`,
        ]
      : []),
  ]);
}
