import type { ReactNode } from 'react';

export { inWords } from './words.ts';

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
  delivered: 'good',
  received: 'good',
  active: 'good',
  pending: 'wait',
  owed: 'wait',
  failed: 'wait',
  exhausted: 'bad',
  refused: 'bad',
  not_received: 'bad',
  auto_disabled: 'bad',
};

/** Returns the tone of a status or an outcome; one that this console does not know has none. */
export function toneOf(status: string): Tone {
  return TONES[status] ?? 'none';
}

/** Returns the console's word for why a delivery was made. */
export function triggerOf(trigger: string): string {
  return trigger === 'manual' ? 'resend' : trigger;
}
