import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { formatDuration } from '../../client/duration.ts';
import { visible } from '../../services/domain/text/visible-text.ts';
import { DeliveryLink, EndpointName } from '../parts/endpoint.tsx';
import { Countdown, Outcome, Time, Trigger } from '../parts/text.tsx';
import { inWords, shortId } from '../parts/words.ts';
import type { LiveRow, Result } from './live-row.ts';

interface Props {
  readonly row: LiveRow;
  readonly style: { readonly transform: string; readonly height: number };
  readonly index: number;
}

/** One row: the whole of it leads to the delivery, its transaction to the story. */
export function LiveLine({ row, style, index }: Props) {
  const { at, type, subType, subject, endpoint, trigger, result } = row;
  return (
    <div role="row" className="line" style={style} aria-rowindex={index + 1}>
      <span role="cell" className="kind time">
        <Time at={at} />
      </span>
      <span role="cell" className="event">
        <Way row={row}>
          <span className="kind">{type}/</span>
          {subType}
        </Way>
        <Trigger of={trigger} />
      </span>
      <span role="cell" className="subject">
        <Link to="/subjects/$id" params={{ id: subject }} title={`The story of ${visible(subject)}`}>
          {shortId(subject)}
        </Link>
      </span>
      <span role="cell" className="endpoint">
        {endpoint === null ? '–' : <EndpointName uuid={endpoint} />}
      </span>
      <span role="cell" className="result">
        <ResultOf result={result} />
      </span>
    </div>
  );
}

function Way({ row, children }: { readonly row: LiveRow; readonly children: ReactNode }) {
  const { delivery, endpoint, event } = row;
  if (delivery === null || endpoint === null) {
    return (
      <Link className="whole" to="/events/$id" params={{ id: event }}>
        {children}
      </Link>
    );
  }
  return (
    <DeliveryLink className="whole" endpoint={endpoint} id={delivery}>
      {children}
    </DeliveryLink>
  );
}

function ResultOf({ result }: { readonly result: Result }) {
  if (result.kind === 'pending') return <Outcome tone="wait">being sent</Outcome>;
  if (result.kind === 'skipped') return <Outcome tone="none">{inWords(result.reason)}</Outcome>;
  if (result.kind === 'cancelled') return <Outcome tone="bad">cancelled: {inWords(result.reason)}</Outcome>;
  const { status, answered, failure, durationMs } = result;
  const isGood = status === 'delivered';
  return (
    <>
      <Outcome tone={isGood ? 'good' : 'bad'}>{answered ?? failure ?? inWords(status)}</Outcome>{' '}
      {durationMs === null ? null : <span className="kind took">{formatDuration(durationMs)}</span>}
      <AttemptOf result={result} />
    </>
  );
}

/** The attempt that is told of, and when the next one comes. */
function AttemptOf({ result }: { readonly result: Extract<Result, { kind: 'tried' }> }) {
  const { status, attempt, attemptsMax, nextAt } = result;
  if (status === 'delivered') return attempt > 1 ? <span className="note">attempt {attempt}</span> : null;
  if (status !== 'failed' || nextAt === null)
    return <span className="note">{`${inWords(status)} after ${attempt}`}</span>;
  return (
    <span className="note">
      attempt {attempt + 1}/{attemptsMax} <Countdown to={nextAt} />
    </span>
  );
}
