import { type CSSProperties, useEffect, useState } from 'react';
import type { Window } from './missed-search.ts';

const MINUTE_MS = 60_000;
/** The shortest steps of the sliders: a fifteenth of a column. */
const STEPS = 15;
/** A range is counted when it has stood still for so long. */
const SETTLED_MS = 400;

export interface Range {
  readonly from: number;
  readonly to: number;
}

interface Props {
  readonly window: Window;
  readonly range: Range;
  readonly onChange: (range: Range) => void;
}

const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** Returns a time as a date field has it, in the zone of the reader. */
function fieldOf(at: number): string {
  return new Date(at - new Date(at).getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}

/** The range: two thumbs of a slider, and two date fields. */
export function RangeFields({ window, range, onChange }: Props) {
  const { from, to } = range;
  const [draft, setDraft] = useState<Range>(range);
  useEffect(() => setDraft({ from, to }), [from, to]);
  useEffect(() => {
    if ((draft.from === from && draft.to === to) || draft.from >= draft.to) return;
    const timer = setTimeout(() => onChange(draft), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [draft, from, to, onChange]);
  const ends = [
    ['from', 'From'],
    ['to', 'To'],
  ] as const;
  const percent = (at: number) =>
    `${Math.min(100, Math.max(0, ((at - window.from) / (window.to - window.from)) * 100))}%`;
  return (
    <div className="range-fields">
      <div
        className="slider"
        style={{ '--from': percent(draft.from), '--to': percent(draft.to) } as CSSProperties}
      >
        {ends.map(([end, label]) => (
          <input
            key={end}
            type="range"
            aria-label={`${label}, slider`}
            aria-valuetext={dateTime.format(draft[end])}
            min={window.from}
            max={window.to}
            step={window.stepMs / STEPS}
            value={draft[end]}
            onChange={({ target }) => setDraft({ ...draft, [end]: Number(target.value) })}
          />
        ))}
      </div>
      {ends.map(([end, label]) => (
        <label key={end}>
          {label}
          <input
            type="datetime-local"
            value={fieldOf(draft[end])}
            onChange={({ target }) => {
              const at = new Date(target.value).getTime();
              if (Number.isFinite(at)) setDraft({ ...draft, [end]: at });
            }}
          />
        </label>
      ))}
      {draft.from >= draft.to ? (
        <p className="warning" role="alert">
          The range ends before it begins. Move its end on.
        </p>
      ) : null}
    </div>
  );
}
