import { Fragment, type ReactNode, useSyncExternalStore } from 'react';
import { formatCountdown } from '../../client/duration.ts';
import { visibleLines } from '../../services/domain/text/visible-text.ts';
import { clock } from '../api/api.ts';
import { inWords } from './words.ts';

interface Props {
  readonly text: string;
}

/** Returns a text that a stranger wrote, to be shown as text: characters that hide or reorder it are spelt out. */
export function foreign(text: string): string {
  return visibleLines(text);
}

const TIMES = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** A sentence of the service, with its times in the zone of the reader. */
export function Sentence({ text }: Props) {
  return text.split(TIMES).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of one sentence never move
    <Fragment key={index}>{index % 2 === 1 ? <Time at={part} /> : foreign(part)}</Fragment>
  ));
}

/** A text of the documentation, in which code stands between backticks. */
export function Marked({ text }: Props) {
  return text.split('`').map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text never move
    <Fragment key={index}>{index % 2 === 1 ? <code>{part}</code> : foreign(part)}</Fragment>
  ));
}

/** How good something is, for its colour. The mark says the same to those who do not see the colour. */
export type Tone = 'good' | 'bad' | 'wait' | 'none';

const MARKS: Readonly<Record<Tone, string>> = { good: '✓', bad: '✗', wait: '…', none: '–' };

export function Outcome({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return (
    <span className={`outcome ${tone}`}>
      <span aria-hidden="true">{MARKS[tone]}</span> {children}
    </span>
  );
}

const TONES: Readonly<Record<string, Tone>> = {
  ...{ delivered: 'good', received: 'good', active: 'good' },
  ...{ pending: 'wait', owed: 'wait', failed: 'wait' },
  ...{ exhausted: 'bad', refused: 'bad', not_received: 'bad', auto_disabled: 'bad' },
};

/** Returns the tone of a status or an outcome; one that this console does not know has none. */
export function toneOf(status: string): Tone {
  return TONES[status] ?? 'none';
}

/** A status or an outcome of the API, in its colour. */
export function Status({ of: status }: { readonly of: string }) {
  return <Outcome tone={toneOf(status)}>{inWords(status)}</Outcome>;
}

/** Says why a delivery was made, unless its event was. */
export function Trigger({ of: trigger }: { readonly of: string }) {
  if (trigger === 'live') return null;
  return <span className="chip">{trigger === 'manual' ? 'resend' : trigger}</span>;
}

const SECOND_MS = 1000;

const watchers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = clock.now();

function tick(): void {
  now = clock.now();
  for (const watch of watchers) watch();
}

function watched(watch: () => void): () => void {
  watchers.add(watch);
  timer ??= setInterval(tick, SECOND_MS);
  return () => {
    watchers.delete(watch);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function read(): number {
  if (Math.abs(clock.now() - now) > SECOND_MS) now = clock.now();
  return now;
}

/** Returns the service's time, again each second; one timer serves the whole page. */
export function useNow(): number {
  return useSyncExternalStore(watched, read);
}

const zone = new Intl.DateTimeFormat(undefined, { timeZoneName: 'long' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const clockTime = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const clockMinutes = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

function zoneAt(date: Date): string {
  return zone.formatToParts(date).find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

interface TimeProps {
  readonly at: string;
  readonly digits?: 'minutes' | 'seconds' | 'milliseconds';
}

/** A time of the reader's zone; where the pointer rests, the zone and the time as the API has it. */
export function Time({ at, digits = 'seconds' }: TimeProps) {
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
