import { formatCountdown } from '../../client/duration.ts';
import { useNow } from './now.ts';

const zone = new Intl.DateTimeFormat(undefined, { timeZoneName: 'long' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const clockTime = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const clockMinutes = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

function zoneAt(date: Date): string {
  return zone.formatToParts(date).find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

/** A time of the reader's zone; where the pointer rests, the zone and the time as the API has it. */
export function Time({
  at,
  digits = 'seconds',
}: {
  readonly at: string;
  readonly digits?: 'minutes' | 'seconds' | 'milliseconds';
}) {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  const fraction = digits === 'milliseconds' ? `.${String(date.getMilliseconds()).padStart(3, '0')}` : '';
  return (
    <time dateTime={at} title={`${zoneAt(date)}\n${at}`}>
      {isToday ? '' : `${day.format(date)} `}
      {(digits === 'minutes' ? clockMinutes : clockTime).format(date)}
      {fraction}
    </time>
  );
}

/** Says in how long something is due; it counts down. */
export function Countdown({ to }: { readonly to: string }) {
  const leftMs = Date.parse(to) - useNow();
  return (
    <time dateTime={to} title={to} className="countdown">
      {leftMs > 0 ? `in ${formatCountdown(leftMs)}` : 'due now'}
    </time>
  );
}
