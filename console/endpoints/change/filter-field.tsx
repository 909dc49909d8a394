import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { typesOf } from '../../../services/domain/catalog/catalog.ts';
import type { ApiVersion } from '../../../services/domain/endpoint.ts';
import { EVENT_TYPES, type EventType } from '../../../services/domain/event.ts';
import { Check } from '../../parts/controls.tsx';
import { ErrorPanel } from '../../parts/screen.tsx';
import { matchedBy } from '../counts.ts';
import { lastWeekQuery } from '../endpoint-reads.ts';

export type Filter = EventType[] | null;

interface Props {
  readonly filter: Filter;
  readonly version: ApiVersion;
  readonly onChange: (filter: Filter) => void;
  readonly fault: string | undefined;
}

/** The types that an endpoint gets, each with how many events there were last week. */
export function FilterField({ filter, version, onChange, fault }: Props) {
  const name = useId();
  const { data: week, error } = useQuery(lastWeekQuery);
  const known = typesOf(version);
  const toggle = (type: EventType, isOn: boolean) => {
    const types = filter ?? [];
    onChange(EVENT_TYPES.filter((one) => (one === type ? isOn : types.includes(one))));
  };
  return (
    <fieldset className="stack">
      <legend>Event types</legend>
      <label>
        <input type="radio" name={name} checked={filter === null} onChange={() => onChange(null)} /> All, also
        those that are added later
      </label>
      <label>
        <input type="radio" name={name} checked={filter !== null} onChange={() => onChange(filter ?? [])} />{' '}
        Only these
      </label>
      {filter === null ? null : (
        <ul className="columns types">
          {EVENT_TYPES.map((type) => (
            <li key={type} className="row">
              <Check isOn={filter.includes(type)} onChange={(isOn) => toggle(type, isOn)}>
                {type}
              </Check>
              <span className="note">
                {known.includes(type) ? '' : `not in ${version} · `}
                {week === undefined ? '' : `${week.byType.get(type) ?? 0} last week`}
              </span>
            </li>
          ))}
        </ul>
      )}
      {week === undefined ? null : <p className="note">{matchedBy(filter, version, week)}</p>}
      <ErrorPanel error={error} />
      {fault === undefined ? null : <p className="fault">{fault}</p>}
    </fieldset>
  );
}
