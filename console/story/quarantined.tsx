import type { Story } from '../api/shapes.ts';
import { Foreign } from '../parts/foreign.tsx';
import { inWords, Outcome } from '../parts/outcome.tsx';
import { Sentence } from '../parts/sentence.tsx';
import { Time } from '../parts/time.tsx';

/** Events that could not be routed: no endpoint gets them before the platform has corrected the fault. */
export function Quarantined({ quarantine }: { readonly quarantine: Story['quarantine'] }) {
  const { events, note } = quarantine;
  if (events.length === 0 && note === null) return null;
  return (
    <section className="panel">
      <h2>Quarantine</h2>
      {note === null ? null : (
        <p className="note">
          <Sentence text={note} />
        </p>
      )}
      <ul className="lines">
        {events.map((event) => (
          <li key={`${event.event_uuid} ${event.quarantined_at}`}>
            <span>
              <Time at={event.quarantined_at} />{' '}
              <Foreign text={[event.type, event.subType].filter((part) => part !== null).join('/')} />
            </span>
            <Outcome tone="bad">{inWords(event.reason)}</Outcome>
            <p>
              <Sentence text={event.explanation} />
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
