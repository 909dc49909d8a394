import { type MarkedLine, markedLines } from '../../../services/domain/content/marked-lines.ts';
import { Id } from '../../parts/controls.tsx';
import { Facts, Panel, Shown, useTitle, Way } from '../../parts/screen.tsx';
import { foreign, Outcome, Time } from '../../parts/text.tsx';
import { inWords } from '../../parts/words.ts';
import { useId, useLook } from '../api.ts';
import { MerchantName, ProducerName } from '../names.tsx';
import type { ShownRecord } from '../shapes.ts';
import { Replay } from './replay.tsx';

/** One record in clear text, with its fault marked, and what a replay would do. */
export function RecordPage() {
  const position = useId();
  useTitle('Quarantined record');
  const record = useLook('quarantine-show', { position });
  return <Shown query={record}>{(shown) => <Record shown={shown} />}</Shown>;
}

function Record({ shown }: { readonly shown: ShownRecord }) {
  const { position, title, detail, cause, remedy, reason, eventId, wouldReturn, asNewEvent } = shown;
  return (
    <>
      <Panel heading="h1" kind={inWords(reason)} title={title}>
        <Origin shown={shown} />
        <p className="strong">{foreign(detail)}</p>
        <p>{foreign(`${cause}. ${remedy}`)}</p>
        <h2>What a replay would do</h2>
        <p>
          <Outcome tone={wouldReturn === null ? 'good' : 'bad'}>
            {wouldReturn === null ? 'It goes back where it came from' : 'It stays'}
          </Outcome>{' '}
          {foreign(wouldReturn ?? '')}
        </p>
        {wouldReturn === null ? <Replay label="Put it back" given={{ positions: [position] }} /> : null}
        {asNewEvent === undefined ? null : (
          <>
            <p>
              Another event has the same id:{' '}
              {eventId === null ? null : <Way to={`/events/${eventId}`}>the one that was sent</Way>}.
            </p>
            <Replay
              label={`Publish it under the new id ${asNewEvent}`}
              given={{ positions: [position], asNewEvent: true }}
            />
          </>
        )}
      </Panel>
      <Content shown={shown} />
    </>
  );
}

/** Since when the record is in quarantine, what it is about and who published it. */
function Origin({ shown: { at, eventId, merchantId, publishedBy, place } }: { readonly shown: ShownRecord }) {
  const by = publishedBy === null && place !== null;
  return (
    <Facts>
      <span>
        since <Time at={at} />
      </span>
      {eventId === null ? null : (
        <>
          event <Id id={eventId} what="the event's id" />
        </>
      )}
      {merchantId === null ? null : (
        <>
          of <MerchantName id={merchantId} />
        </>
      )}
      <span>by {by ? foreign(place) : <ProducerName publishedBy={publishedBy} />}</span>
    </Facts>
  );
}

function Content({ shown }: { readonly shown: ShownRecord }) {
  const { unreadable, event, task, journal, faults, base64 } = shown;
  if (unreadable !== null)
    return (
      <Panel title="Bytes">
        <p>It cannot be shown in clear text: {foreign(unreadable)}</p>
        <pre className="wrapped">{base64}</pre>
      </Panel>
    );
  return (
    <Panel title="Content">
      <p className="note">The audit has that you looked: it may be personal data.</p>
      <div className="body">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
        <section className="code" tabIndex={0} aria-label="The record in clear text">
          <pre>
            {markedLines(event ?? task ?? journal, faults).map((line, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines of one record never move
              <Line key={index} line={line} />
            ))}
          </pre>
        </section>
      </div>
    </Panel>
  );
}

function Line({ line: { text, indent, faults } }: { readonly line: MarkedLine }) {
  const words = foreign(text.slice(indent.length));
  return (
    <div>
      {indent}
      {faults.length === 0 ? words : <mark>{words}</mark>}
      {faults.map(({ pointer, detail }) => (
        <div key={detail} className="fault">
          {indent}^ {foreign(`${pointer} ${detail}`)}
        </div>
      ))}
    </div>
  );
}
