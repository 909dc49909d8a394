import type { Story } from '../api/shapes.ts';
import { Panel, Table } from '../parts/screen.tsx';
import { Countdown, foreign, Status } from '../parts/text.tsx';
import { shortId } from '../parts/words.ts';

type Counts = Omit<Story['endpoints'][number], 'description'> & { readonly description?: string | null };

/** Counts the deliveries of the story by endpoint, for merchants and for operators. */
export function Endpoints({ endpoints }: { readonly endpoints: readonly Counts[] }) {
  if (endpoints.length === 0) return null;
  return (
    <Panel title="Endpoints">
      <Table
        label="Counts per endpoint"
        rows={endpoints}
        keyOf={(endpoint) => endpoint.endpoint_uuid}
        numbers={['received', 'owed', 'not received']}
        columns={{
          endpoint: ({ description, url, endpoint_uuid: uuid }) => (
            <span title={url ?? undefined}>
              {foreign(description || url || `${shortId(uuid)} (deleted)`)}
            </span>
          ),
          received: ({ received }) => received,
          owed: ({ owed }) => <span className={owed > 0 ? 'waits' : ''}>{owed}</span>,
          'not received': ({ not_received: lost }) => (
            <span className={lost > 0 ? 'strong' : ''}>{lost}</span>
          ),
          'next attempt': ({ next_attempt_at: next }) => (next === null ? '–' : <Countdown to={next} />),
          'status now': ({ status }) => <Status of={status ?? 'deleted'} />,
        }}
      />
    </Panel>
  );
}
