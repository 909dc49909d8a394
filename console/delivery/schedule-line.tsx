import type { CSSProperties } from 'react';
import { formatDuration } from '../../client/duration.ts';
import type { DeliveryDetail } from '../api/shapes.ts';
import { Countdown, Time } from '../parts/time.tsx';
import { type Dot, type DotState, dotsOf } from './dots.ts';

const MARKS: Readonly<Record<DotState, string>> = {
  delivered: '✓',
  failed: '✗',
  next: '…',
  later: '·',
  unused: '',
};

interface Props {
  readonly delivery: DeliveryDetail;
  readonly shown: number;
  readonly onShow: (attempt: number) => void;
}

/** The attempts of the schedule on a line of time, which is logarithmic: from seconds to half a day. */
export function ScheduleLine({ delivery, shown, onShow }: Props) {
  const dots = dotsOf(delivery);
  return (
    <ol className="schedule" aria-label="Attempts">
      {dots.map((dot, index) => (
        <li
          key={dot.number}
          className={`${dot.state} ${dot.number === shown ? 'shown' : ''} ${index === dots.length - 1 ? 'last' : ''}`}
          style={{ '--place': `${dot.place * 100}%` } as CSSProperties}
        >
          <Mark dot={dot} isShown={dot.number === shown} onShow={onShow} />
          <span className="says">{saysOf(dot)}</span>
          <span className="at">
            <When dot={dot} />
          </span>
          {dot.gapMs === null ? null : <span className="gap">+{formatDuration(dot.gapMs)}</span>}
        </li>
      ))}
    </ol>
  );
}

function Mark({
  dot,
  isShown,
  onShow,
}: {
  readonly dot: Dot;
  readonly isShown: boolean;
  readonly onShow: Props['onShow'];
}) {
  const { number, state, attempt } = dot;
  const mark = (
    <>
      {number}
      <span aria-hidden="true">{MARKS[state]}</span>
    </>
  );
  if (attempt === undefined) return <span className="dot">{mark}</span>;
  return (
    <button
      type="button"
      className="dot"
      aria-pressed={isShown}
      aria-label={`Show attempt ${number}, ${state}`}
      onClick={() => onShow(number)}
    >
      {mark}
    </button>
  );
}

function saysOf({ state, attempt }: Dot): string {
  if (attempt === undefined) return state === 'unused' ? 'not needed' : '';
  const { response_status: status, failure_code: code, duration_ms: ms } = attempt;
  return `${status ?? code} · ${formatDuration(ms)}`;
}

function When({ dot: { state, at } }: { readonly dot: Dot }) {
  if (state === 'unused') return null;
  if (at === null) return 'not known yet';
  return state === 'next' ? <Countdown to={at} /> : <Time at={at} />;
}
