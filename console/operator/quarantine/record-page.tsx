import { type MarkedLine, markedLines } from '../../../services/domain/content/marked-lines.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { Id } from '../../parts/id.tsx';
import { inWords, Outcome } from '../../parts/outcome.tsx';
import { Shown } from '../../parts/shown.tsx';
import { Time } from '../../parts/time.tsx';
import { useTitle } from '../../parts/title.ts';
import { useLook } from '../api.ts';
import { useId } from '../parts/address.ts';
import { MerchantName, ProducerName } from '../parts/names.tsx';
import { Panel } from '../parts/screen.tsx';
import { Way } from '../parts/way.tsx';
import { Replay } from './replay.tsx';
import type { ShownRecord } from './shapes.ts';

/** One record in clear text, with its fault marked, and what a replay would do. */
export function RecordPage() {
  const position = useId();
  useTitle('Quarantined record');
  const record = useLook<ShownRecord>('quarantine-show', { position });
  return <Shown query={record}>{(shown) => <Record shown={shown} />}</Shown>;
}

function Record({ shown }: { readonly shown: ShownRecord }) {
  const { position, at, title, detail, cause, remedy, reason, eventId, merchantId, publishedBy, place } =
    shown;
  const isConflict = shown.asNewEvent !== undefined;
  return (
    <>
      <section className="panel">
        <h1>
          <span className="kind">{inWords(reason)}</span> <Foreign text={title} />
        </h1>
        <p className="facts">
          since <Time at={at} />
          {eventId === null ? null : (
            <>
              {' '}
              · event <Id id={eventId} what="the event's id" />
            </>
          )}
          {merchantId === null ? null : (
            <>
              {' '}
              · of <MerchantName id={merchantId} />
            </>
          )}
          {' · by '}
          {publishedBy === null && place !== null ? (
            <Foreign text={place} />
          ) : (
            <ProducerName publishedBy={publishedBy} />
          )}
        </p>
        <p className="strong">
          <Foreign text={detail} />
        </p>
        <p>
          <Foreign text={`${cause}. ${remedy}`} />
        </p>
        <h2>What a replay would do</h2>
        <p>
          <Outcome tone={shown.wouldReturn === null ? 'good' : 'bad'}>
            {shown.wouldReturn === null ? 'It goes back where it came from' : 'It stays'}
          </Outcome>{' '}
          <Foreign text={shown.wouldReturn ?? ''} />
        </p>
        {shown.wouldReturn === null ? <Replay label="Put it back" given={{ positions: [position] }} /> : null}
        {isConflict ? (
          <>
            <p>
              Another event has the same id:{' '}
              {eventId === null ? null : <Way to={`/events/${eventId}`}>the one that was sent</Way>}.
            </p>
            <Replay
              label={`Publish it under the new id ${shown.asNewEvent}`}
              given={{ positions: [position], asNewEvent: true }}
            />
          </>
        ) : null}
      </section>
      <Content shown={shown} />
    </>
  );
}

function Content({ shown }: { readonly shown: ShownRecord }) {
  const { unreadable, event, task, journal, faults, base64 } = shown;
  if (unreadable !== null)
    return (
      <Panel title="Bytes">
        <p>
          It cannot be shown in clear text: <Foreign text={unreadable} />
        </p>
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
  const words = <Foreign text={text.slice(indent.length)} />;
  return (
    <div>
      {indent}
      {faults.length === 0 ? words : <mark>{words}</mark>}
      {faults.map(({ pointer, detail }) => (
        <div key={detail} className="fault">
          {indent}^ <Foreign text={`${pointer} ${detail}`} />
        </div>
      ))}
    </div>
  );
}
