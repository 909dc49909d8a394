import type { CSSProperties } from 'react';
import { formatDuration } from '../../client/duration.ts';
import { endOf, plannedGap, scaleOf } from '../../client/schedule.ts';
import { ATTEMPTS_MAX, retryDelaySeconds, TIERS } from '../../services/domain/retry.ts';
import { isEnded } from '../api/reads.ts';
import type { Attempt, DeliveryDetail } from '../api/shapes.ts';
import { Button } from '../parts/controls.tsx';
import { Countdown, Time } from '../parts/text.tsx';

const MARKS: Readonly<Record<DotState, string>> = {
  ...{ delivered: '✓', failed: '✗', next: '…', later: '·', unused: '' },
};
/** The class of each state; the first three have the colours of a tone. */
const CLASSES: Readonly<Record<DotState, string>> = {
  ...{ delivered: 'good', failed: 'bad', next: 'wait', later: 'later', unused: 'unused' },
};

interface Props {
  readonly delivery: DeliveryDetail;
  readonly shown: number;
  readonly onShow: (attempt: number) => void;
}

/** The attempts of the schedule on a line of time, which is logarithmic: from seconds to half a day. */
export function ScheduleLine({ delivery, shown, onShow }: Props) {
  return (
    <ol className="schedule" aria-label="Attempts">
      {dotsOf(delivery).map((dot) => (
        <li
          key={dot.number}
          className={`${CLASSES[dot.state]} ${dot.number === shown ? 'shown' : ''}`}
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

interface MarkProps {
  readonly dot: Dot;
  readonly isShown: boolean;
  readonly onShow: Props['onShow'];
}

function Mark({ dot: { number, state, attempt }, isShown, onShow }: MarkProps) {
  const mark = (
    <>
      {number}
      <span aria-hidden="true">{MARKS[state]}</span>
    </>
  );
  if (attempt === undefined) return <span className="dot">{mark}</span>;
  return (
    <Button
      className="dot"
      aria-pressed={isShown}
      aria-label={`Show attempt ${number}, ${state}`}
      onClick={() => onShow(number)}
    >
      {mark}
    </Button>
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

/** `unused`: the delivery ended before. */
type DotState = 'delivered' | 'failed' | 'next' | 'later' | 'unused';

/** An attempt of the schedule: made, due, or not needed any more. */
interface Dot {
  readonly number: number;
  readonly state: DotState;
  /** From 0, the first attempt, to 1, the last one of the schedule, on a logarithmic scale of time. */
  readonly place: number;
  /** When it was made or is due; null when it is not known. */
  readonly at: string | null;
  /** The pause before it, milliseconds. */
  readonly gapMs: number | null;
  readonly attempt: Attempt | undefined;
}

/** Seconds from the first attempt to attempt n, by the schedule. */
const SINCE_FIRST = Array.from({ length: ATTEMPTS_MAX }, (_, index) =>
  TIERS.slice(0, index).reduce<number>((sum, tier) => sum + tier, 0),
);

function placeOf(number: number, max: number): number {
  if (max <= 1) return 0;
  const log = (attempt: number) => Math.log10(1 + (SINCE_FIRST[attempt - 1] ?? 0));
  return log(number) / log(max);
}

/** Returns the attempts of a delivery: as they were made, and as they are due. */
function dotsOf(delivery: DeliveryDetail): readonly Dot[] {
  const { attempts, status, next_attempt_at: next } = delivery;
  const max = Math.max(1, Math.min(delivery.attempts_max, ATTEMPTS_MAX));
  const made = attempts.length;
  const planned = plannedGap(delivery);
  const scale = scaleOf(made, planned);
  const isOver = isEnded(status);
  let dueAt = next === null ? null : Date.parse(next);
  return Array.from({ length: max }, (_, index): Dot => {
    const number = index + 1;
    const [attempt, before] = [attempts[index], attempts[index - 1]];
    const about = { number, place: placeOf(number, max), attempt };
    if (attempt !== undefined) {
      const gapMs = before === undefined ? null : Math.max(0, Date.parse(attempt.started_at) - endOf(before));
      const state = attempt.failure_code === null ? 'delivered' : 'failed';
      return { ...about, state, at: attempt.started_at, gapMs };
    }
    const plannedMs = number === 1 ? null : (retryDelaySeconds(index) * 1000) / scale;
    if (isOver) return { ...about, state: 'unused', at: null, gapMs: null };
    if (number > made + 1 && dueAt !== null) dueAt += plannedMs ?? 0;
    const at = dueAt === null ? null : new Date(dueAt).toISOString();
    const gapMs = number === made + 1 ? (planned ?? null) : plannedMs;
    return { ...about, state: number === made + 1 ? 'next' : 'later', at, gapMs };
  });
}
