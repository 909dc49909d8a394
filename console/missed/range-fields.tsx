import { useEffect, useState } from 'react';
import type { Window } from './missed-search.ts';

const MINUTE_MS = 60_000;
/** The steps of the sliders: a fifteenth of a column. */
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

const ENDS = [
  ['from', 'From'],
  ['to', 'To'],
] as const;

/** Returns a time as a date field has it, in the zone of the reader. */
function fieldOf(at: number): string {
  return new Date(at - new Date(at).getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}

/** The ends of the range, each by a date field and a slider. */
export function RangeFields({ window, range, onChange }: Props) {
  const { from, to } = range;
  const [draft, setDraft] = useState<Range>(range);
  useEffect(() => setDraft({ from, to }), [from, to]);
  useEffect(() => {
    if ((draft.from === from && draft.to === to) || draft.from >= draft.to) return;
    const timer = setTimeout(() => onChange(draft), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [draft, from, to, onChange]);
  return (
    <div className="columns range-fields">
      {ENDS.map(([end, label]) => (
        <fieldset key={end} className="row">
          <legend>{label}</legend>
          <input
            type="datetime-local"
            aria-label={label}
            value={fieldOf(draft[end])}
            onChange={({ target }) => {
              const at = new Date(target.value).getTime();
              if (Number.isFinite(at)) setDraft({ ...draft, [end]: at });
            }}
          />
          <input
            type="range"
            aria-label={`${label}, on the time line`}
            aria-valuetext={new Date(draft[end]).toLocaleString()}
            min={window.from}
            max={window.to}
            step={window.stepMs / STEPS}
            value={draft[end]}
            onChange={({ target }) => setDraft({ ...draft, [end]: Number(target.value) })}
          />
        </fieldset>
      ))}
      {draft.from >= draft.to ? (
        <p className="warning" role="alert">
          The range ends before it begins. Move its end on.
        </p>
      ) : null}
    </div>
  );
}
